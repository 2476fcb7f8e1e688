// Whether it pays that calls of a graph wait for each other: how many of them have run together, lately.
#pragma once
#include <algorithm>
#include <cstdint>

namespace terra::recursive {

/// A graph whose batches were narrow runs at once for a while, and longer each time: what made them narrow (somebody
/// who looks at each result, checks of first runs) may be over then.
class WidthAccount {
 public:
  /// So many calls have run in so many batches.
  void add(uint64_t calls, uint64_t batches) {
    calls_ += calls;
    batches_ += batches;
    if (calls_ < kEnough) return;
    if (static_cast<double>(calls_) < kLeastWidth * static_cast<double>(batches_)) {
      rest_ = next_rest_;
      next_rest_ = std::min(2 * next_rest_, kMostRest);
    } else {
      next_rest_ = kFirstRest;
    }
    calls_ = batches_ = 0;
  }
  /// Whether the next call is to wait.
  bool waits() {
    if (rest_ == 0) return true;
    --rest_;
    return false;
  }

  static constexpr uint64_t kEnough = 256, kFirstRest = 512, kMostRest = uint64_t{1} << 16;
  static constexpr double kLeastWidth = 1.5;

 private:
  uint64_t calls_ = 0, batches_ = 0;
  uint64_t rest_ = 0, next_rest_ = kFirstRest;
};

}  // namespace terra::recursive
