// What capture has cost the process and what it has brought back, and so what it may still spend.
#pragma once
#include <algorithm>
#include <cmath>

namespace terra::capture {

/// Accounts in microseconds of processor time. Costs are what a program without capture wouldn't have spent: watching a
/// frame, compiling, looking through guards in vain, a served call that takes longer than a plain one (the first one of
/// an entry touches its memory). What served calls save is brought back. The promise that nobody is slower for it is
/// the law
///
///     spent <= min(grace, early_share * time) + share * time the program has run + brought back
///
/// and is kept by asking before each purchase. Times are given in, so that tests need no clock.
class Ledger {
 public:
  static constexpr double grace = 20'000;      ///< what a short job may lose
  static constexpr double early_share = 0.02;  ///< of its time, as long as that is less
  static constexpr double share = 0.04;        ///< of the running time
  /// Of that, what recordings that no function has earned yet may cost.
  static constexpr double credit = 3'000, credit_share = 0.005;
  /// Of what seems to be saved only this part is lent again: plain times are those of some calls, not of all.
  static constexpr double trust = 0.5;

  /// Capture has worked for so long, while the program waited.
  void spend(double microseconds) { worked_ += microseconds; }
  /// Served calls have taken so much less than plain ones; negative: more.
  void bring_back(double microseconds) { (microseconds < 0 ? lost_ : brought_back_) += std::abs(microseconds); }

  /// What may be spent when the program has run for so long; negative after a purchase that cost more than it seemed.
  double room(double elapsed) const {
    return std::min(grace, early_share * elapsed) + share * elapsed + trust * brought_back_ - spent();
  }
  bool affords(double microseconds, double elapsed) const { return microseconds <= room(elapsed); }
  /// Whether a recording at that price is made on credit: then it is booked as such.
  bool lends(double microseconds, double elapsed) {
    if (lent_ + microseconds > credit + credit_share * elapsed) return false;
    lent_ += microseconds;
    return true;
  }

  /// Grows while capture works: what has been added meanwhile is not part of a call's own time.
  double worked() const { return worked_; }
  double spent() const { return worked_ + lost_; }
  double brought_back() const { return brought_back_; }

 private:
  double worked_ = 0, lost_ = 0, brought_back_ = 0, lent_ = 0;
};

inline constinit Ledger process_ledger;
/// Of the process; changed under the GIL.
inline Ledger& ledger() { return process_ledger; }

}  // namespace terra::capture
