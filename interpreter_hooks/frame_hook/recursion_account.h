// Whether capturing a function that calls itself pays: what its calls from outside, with all calls below them, take
// captured and plainly.
#pragma once
#include <algorithm>
#include <cstdint>

#include "interpreter_hooks/frame_hook/profitability.h"

namespace terra::capture {

/// Structures are of all sizes, so times are counted by tensor operation. A call costs something beside them, which
/// says nothing where few of them are left: calls one after the other make one sample, until it has operations enough.
///
///     for n in 2, 4, 8, 2, 4, 8: strassen(a[:n, :n])    # 1, 44, 345 operations: never 1 against 345
///
/// Times are given in, so that tests need no clock.
class RecursionAccount {
 public:
  enum class Sample : uint8_t { None, Captured, Plain };

  /// What the next call from outside is for. The first ones are recorded; then captured and plain ones take turns, and
  /// again when there have been many more, later where they were far apart.
  Sample next() {
    if (++calls_ < from_) return Sample::None;
    if (operations_ > 0) return sample_;
    return captured_.count() <= plain_.count() ? Sample::Captured : Sample::Plain;
  }
  /// So many microseconds for so many operations. Calls for which graphs were `built` say little about those to come,
  /// and some of them are left out. Plain calls of large structures take long: where each of the first ones has taken
  /// more than any captured one, that is enough.
  void add(Sample sample, double microseconds, uint64_t operations, bool built = false) {
    if (operations == 0 || (built && left_out_++ < most_left_out)) return;
    sample_ = sample;
    microseconds_ += microseconds;
    operations_ += operations;
    if (operations_ < least_operations) return;
    (sample == Sample::Plain ? plain_ : captured_).add(microseconds_ / static_cast<double>(operations_));
    microseconds_ = 0, operations_ = 0;
    const size_t taken = std::min(plain_.count(), captured_.count());
    const bool clear = taken >= few && captured_.most() < plain_.least();
    if (!clear && taken < enough) return;
    const bool far = clear && far_apart * captured_.most() < plain_.least();
    loses_ = !clear && captured_.typical() > plain_.typical();
    captured_ = plain_ = Times();
    left_out_ = 0;
    from_ = (far ? far_growth : growth) * calls_;
  }
  bool loses() const { return loses_; }

  static constexpr long first = 16, growth = 8, far_growth = 64;
  static constexpr double far_apart = 2;
  static constexpr uint64_t least_operations = 64;  ///< of a sample
  static constexpr size_t few = 2, enough = 6, most_left_out = 16;

 private:
  long calls_ = 0, from_ = first;
  size_t left_out_ = 0;
  /// The sample that is being taken.
  Sample sample_ = Sample::None;
  double microseconds_ = 0;
  uint64_t operations_ = 0;
  Times captured_, plain_;
  bool loses_ = false;
};

}  // namespace terra::capture
