// What may be spent on finding out whether co-execution pays.
#pragma once
#include <algorithm>

namespace terra::coexec {

/// Accounts in microseconds of the program's thread. Costs are what the frame tier alone would not have taken:
/// iterations that are watched, and those that run a way that turns out slower. The promise that nobody is slower for
/// it is the law
///
///     spent <= share * time the program has run
///
/// It is asked for each attempt, which begins when there is room for its price and ends when all has been spent. An
/// attempt that ended so was too cheap: the next one waits until it can have twice as much. Times are given in, so that
/// tests need no clock.
class Allowance {
 public:
  static constexpr double share = 0.02;
  static constexpr double first_price = 1'000;
  /// Of the time of an iteration of which nobody knows yet what the frame tier would make of it.
  static constexpr double presumed = 0.5;

  /// Negative: so much was saved. Savings make up for what the attempt has cost, and are not kept for later ones.
  void spend(double microseconds) { spent_ = std::max(0.0, spent_ + microseconds); }
  /// Whether an attempt may begin when the program has run for so long.
  bool affords(double elapsed) const { return spent_ + price_ <= share * elapsed; }
  bool is_used_up(double elapsed) const { return spent_ > share * elapsed; }
  /// The attempt ended before it led to anything.
  void failed() { price_ *= 2; }

 private:
  double spent_ = 0, price_ = first_price;
};

}  // namespace terra::coexec
