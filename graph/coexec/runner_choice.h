// Which way a loop's iterations run fastest: found by trying each, again and again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terra::coexec {

/// Putting ops off costs time at each of them. Graphs give it back where they do more at once than the op, a runner
/// beside the program where both sides have enough to do and there is a free core; the frame tier does without the
/// Python of what it captures. Which of these is most nobody can tell but the clock. Blocks of iterations run each way
/// by turns, and the way with the shortest median runs from then on, until the next trial. Trials become rarer, for
/// programs change and other processes come and go.
class RunnerChoice {
 public:
  enum class Way : uint8_t {
    Inline,  ///< put off, and computed on the program's thread
    Beside,  ///< put off, and computed beside the program
    Frames,  ///< op by op, but for frames that are captured
  };

  /// Of the iteration that is about to begin.
  Way way() const { return way_; }
  /// An iteration took so many microseconds.
  void ended(double us);
  /// No trial is under way.
  bool is_settled() const { return state_ == State::Running; }
  /// For so many iterations from its end on the outcome of the last trial holds.
  uint64_t holds() const { return run_; }
  /// They have passed unseen.
  void expired();

 private:
  /// A stretch of iterations ends when there are so many, or when fewer have taken long enough.
  struct Stretch {
    uint32_t most, least;
    double us;
  };
  static constexpr size_t kWays = 3;
  static constexpr Stretch kWarmUp = {32, 8, 500e3};                 ///< in which graphs are made, each way
  static constexpr Stretch kBlock = {16, 2, 50e3};                   ///< that are measured
  static constexpr uint32_t kUnsettled = 2;                          ///< and those before, which get over the change
  static constexpr uint32_t kBlocks = 2 * kWays;                     ///< of a trial: each way, and each once more
  static constexpr uint64_t kFirstRun = 128, kLongestRun = 1 << 16;  ///< iterations between trials

  enum class State : uint8_t { WarmingUp, Trying, Running };
  bool stretch_ends(Stretch stretch, uint64_t iterations, double us);
  void begin_trial();
  void end_trial();

  State state_ = State::WarmingUp;
  Way way_ = Way::Inline;
  uint64_t iterations_ = 0;  ///< in this state, or in this stretch
  double taken_ = 0;         ///< microseconds of the stretch
  uint64_t run_ = kFirstRun;
  uint32_t stretch_ = 0;                          ///< of the warming up, or of the trial
  std::array<std::vector<double>, kWays> times_;  ///< of the trial, by way
};

}  // namespace terra::coexec
