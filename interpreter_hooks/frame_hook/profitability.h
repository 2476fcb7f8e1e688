// Whether capturing a function pays: what its plain and its served calls take, what capture has cost it, and what
// follows from them: when to record, and when to leave the function alone.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace terra::capture {

/// The times of the last calls of one kind, in microseconds.
class Times {
 public:
  void add(double time) { times_[count_++ % size] = time; }
  size_t count() const { return count_; }
  /// The mean without the slowest quarter, which the machine or a first touch is to blame for; 0 before the first.
  double typical() const;
  double least() const;
  double most() const;
  double last() const { return count_ ? times_[(count_ - 1) % size] : 0; }

  static constexpr size_t size = 16;

 private:
  size_t kept() const { return count_ < size ? count_ : size; }

  std::array<double, size> times_{};
  size_t count_ = 0;
};

/// The times of pairs of calls that one entry could serve: one was served, the other ran plainly.
class Pairs {
 public:
  void add(double served, double plain);
  size_t count() const { return ratios_.count(); }
  /// Served time by plain time. Each is a mean of its own: where the calls of a pair differ by chance, ratios of single
  /// pairs without the largest ones would be too small.
  double typical() const { return served_.typical() / plain_.typical(); }
  double least() const { return ratios_.least(); }

 private:
  Times served_, plain_, ratios_;
};

/// The account of one function. Times are given in (microseconds), so that tests need no clock; what capture itself
/// took below a call is not part of the call's time.
class Profitability {
 public:
  /// What a call that an entry could serve is for: it is served, served and timed, or run plainly and timed to compare.
  enum class Sample : uint8_t { None, Served, Plain };
  enum class Verdict : uint8_t { Open, Pays, Loses };

  /// Of a function among its callers. What a caller that comes back again and again calls is captured with it.
  enum class Position : uint8_t {
    Outermost,
    Unsure,  ///< below one that was never called before: perhaps a main program, perhaps a model at work for the first
             ///< time
    Inner,   ///< below one that may be captured
  };

  // ---- what happened ----
  /// A call ran plainly because it had to, with so many tensor operations in it. `kernels`: the part of its time that
  /// large ones of their kernels took.
  void ran_plainly(double microseconds, uint64_t operations, double kernels);
  /// Whether such a call is to be timed: the clock costs something beside short ones. Counts those that are not.
  bool wants_plain_time(long call) {
    if (plain_.count() < enough || !(call & 15) || plain_.last() > always_timed) return true;
    count_plain(plain_.last());
    return false;
  }
  /// A search through entries of which none held; negative: like the last one that was timed. Returns what it cost.
  double searched(double microseconds) {
    if (microseconds >= 0) search_ = microseconds;
    spent_ += search_;
    return search_;
  }
  /// Searches in vain, this one included, that served calls have not made up for; `hits` of all calls were served.
  double searches_in_vain(long hits);
  /// A recording, with what it has compiled. The next call that is served is a sample.
  void recorded(double microseconds);
  /// A graph for other sizes has been made.
  void built(double microseconds) { spent_ += microseconds, unpaid_++; }
  /// A call was served and timed: by `entry`, the number `hits` of all that were served; those since the last sample
  /// count like it. Returns what they have brought back (negative: cost).
  double served(const void* entry, double microseconds, long hits);
  /// A call that the entry of the last such sample could have served was run plainly.
  void compared(double microseconds);

  /// What a served call does has changed, so that earlier ones say nothing of it.
  void reopen();
  /// Entries of the function leave gradients to be computed.
  void has_backward() { tolerance_ = tolerance_of_half; }

  // ---- what follows ----
  /// Call number `call` of the function is one for `sample`.
  bool is_due(long call) const { return call >= next_sample_; }
  Sample sample() const { return next_; }
  /// The entry of the last served sample, which the next plain one is compared with; null: of none.
  const void* awaited() const { return awaited_; }
  /// A call that was to be run plainly would be served by another entry. False: that has gone on for too long.
  bool waits() { return ++waited_ < most_waits; }
  /// After the sample that call number `call` was for, or could not be for.
  void sampled(long call);
  /// No samples for some calls.
  void wait(long call);
  Verdict verdict() const { return verdict_; }
  /// What another recording is likely to cost.
  double price() const;
  /// What a served call is likely to save.
  double saving() const;
  /// The function has run plainly so long since the last recording that another one, made then, would have paid by now.
  /// That is the rule of "ski rental": who buys when the rent has reached the price pays at most twice what he would
  /// have paid had he known how long the program runs. Recordings that have not paid for themselves make the next ones
  /// dearer, each by a factor of two.
  bool has_earned_recording() const;
  /// A recording so cheap that call number `calls` of the function may be recorded on credit. A call below a function
  /// that may be captured itself is not: it would be recorded twice.
  bool has_credit(Position position, long calls) const;
  /// By the same rule a graph is made for sizes that came for the time number `times_met`.
  bool is_worth_building(double price, int times_met) const;
  /// Capture has cost more than it has brought back and than may be lost on a function that runs for so long.
  bool is_a_loss() const { return spent_ - brought_back_ > most_lost + share_lost * plain_total_; }
  double cost() const { return spent_; }
  double brought_back() const { return brought_back_; }

  static constexpr size_t enough = 16;         ///< pairs of samples that decide
  static constexpr double longest = 1000;      ///< a served call longer than this is compared in case of doubt only
  static constexpr double always_timed = 100;  ///< the clock costs nothing beside a call of this length
  /// Served calls that take longer than plain ones times this lose. Of those with a backward half, which saves more
  /// than the forward one, only half is seen.
  static constexpr double tolerance_of_whole = 1.1, tolerance_of_half = 1.5;
  static constexpr double small_change = 2000;  ///< a recording as cheap as this may be made before it is earned
  static constexpr double most_lost = 4000, share_lost = 0.1;
  static constexpr int cheap_recordings = 3;   ///< so many, as long as they have not paid for themselves
  static constexpr double most_in_vain = 256;  ///< searches that are remembered

 private:
  static constexpr int most_waits = 8;

  double saved_by(double served) const;
  bool is_in_doubt() const;
  bool is_cheap(double price) const { return price <= small_change && unpaid_ < cheap_recordings; }
  /// What has to come back for something at that price.
  double dearer(double price) const;
  void count_plain(double microseconds) { plain_since_ += microseconds, plain_total_ += microseconds; }
  void judge();

  Times plain_;  ///< calls that had to run plainly
  Times served_;
  /// By entry: calls of other sizes, or of training and evaluation, take different times either way.
  Pairs pairs_;
  const void* awaited_ = nullptr;
  double awaited_time_ = 0;
  int waited_ = 0;
  double operations_ = 0;   ///< tensor operations of a plain call
  double kernels_ = 0;      ///< time of their large kernels
  double plain_since_ = 0;  ///< time of plain calls since the last recording
  double plain_total_ = 0;
  double spent_ = 0, brought_back_ = 0;
  double search_ = 5;
  double in_vain_ = 0;
  long hits_at_search_ = 0;
  double last_price_ = 0;
  int unpaid_ = 0;          ///< recordings since capture last broke even
  bool first_run_ = false;  ///< the next served call touches memory that the recording has led to
  long hits_noted_ = 0;
  long next_sample_ = 0;
  Sample next_ = Sample::Served;
  Verdict verdict_ = Verdict::Open;
  double tolerance_ = tolerance_of_whole;
};

}  // namespace terra::capture
