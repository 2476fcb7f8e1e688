// Whether a loop's iterations run faster inline or beside the program: found by trying both, again and again.
#pragma once
#include <cstdint>
#include <vector>

namespace terra::coexec {

/// Beside the program is worth it where both sides have enough to do and there is a free core; nobody can tell but the
/// clock. Blocks of iterations run inline and beside by turns, and the way with the shorter median runs from then on,
/// until the next trial. Trials become rarer, for programs change and other processes come and go.
class RunnerChoice {
 public:
  enum class Way : uint8_t { Inline, Beside };

  /// Of the iteration that is about to begin.
  Way way() const { return way_; }
  /// An iteration took so many microseconds.
  void ended(double us);

 private:
  static constexpr uint32_t kWarmUp = 16;                            ///< iterations in which graphs are made
  static constexpr uint32_t kBlock = 8;                              ///< iterations in a row that are measured
  static constexpr uint32_t kUnsettled = 2;                          ///< and those before, which get over the change
  static constexpr uint32_t kBlocks = 4;                             ///< of a trial: inline, beside, inline, beside
  static constexpr uint64_t kFirstRun = 512, kLongestRun = 1 << 16;  ///< iterations between trials

  enum class State : uint8_t { WarmingUp, Trying, Running };
  void begin_trial();
  void end_trial();

  State state_ = State::WarmingUp;
  Way way_ = Way::Inline;
  uint64_t iterations_ = 0;  ///< in this state, or in this block of a trial
  uint64_t run_ = kFirstRun;
  uint32_t block_ = 0;
  std::vector<double> times_[2];  ///< of the trial, by way
};

}  // namespace terra::coexec
