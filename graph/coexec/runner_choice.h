// Which way a loop's iterations run fastest: found by trying each, again and again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terra::coexec {

/// Putting ops off costs time at each of them. Graphs give it back where they do more at once than the op, a runner
/// beside the program where both sides have enough to do and there is a free core; the frame tier does without the
/// Python of what it captures. Which of these is most nobody can tell but the clock. In a trial, blocks of iterations
/// run each way by turns, but for ways that have plainly lost. The way with the shortest median runs from then on,
/// until what the trial has cost is a small part of the time since it; then there is another one, for programs change
/// and other processes come and go. Trials become rarer.
class RunnerChoice {
 public:
  enum class Way : uint8_t {
    Frames,  ///< op by op, but for frames that are captured: what a program without co-execution does
    Inline,  ///< put off, and computed on the program's thread
    Beside,  ///< put off, and computed beside the program
  };

  /// Of the iteration that is about to begin.
  Way way() const { return way_; }
  /// An iteration took so many microseconds.
  void ended(double us);
  /// No trial is under way.
  bool is_settled() const { return state_ == State::Running; }
  /// The outcome of the last trial that came to an end; Frames before the first one.
  Way last_outcome() const { return outcome_; }
  /// What an iteration takes when it is left to the frame tier, in the trial that is under way. 0: not known yet.
  double frames_us() const { return median_of(Way::Frames); }
  /// For so many iterations from its end on the outcome of the last trial holds.
  uint64_t holds() const { return run_; }
  /// They have passed unseen.
  void expired();
  /// The program did something else behind the last iteration: the block that was under way begins again.
  void interrupted();

 private:
  /// A stretch of iterations ends when there are so many, or when fewer have taken long enough.
  struct Stretch {
    uint32_t most, least;
    double us;
  };
  static constexpr size_t kWays = 3;
  static constexpr Stretch kWarmUp = {16, 8, 100e3};  ///< before a way's first block: graphs are made
  static constexpr Stretch kUnsettled = {2, 2, 0};    ///< before others, to get over the change
  static constexpr Stretch kBlock = {12, 2, 30e3};    ///< that are measured
  static constexpr uint32_t kRounds = 2;              ///< blocks of each way in a trial
  static constexpr double kLost = 1.25;      ///< a way that takes so many times the shortest has no second block
  static constexpr double kMostCost = 0.02;  ///< of a trial, as part of the time until the next one
  static constexpr uint64_t kFirstRun = 128, kLongestRun = 1 << 16;  ///< iterations between trials

  enum class State : uint8_t { Leading, Measuring, Running };
  bool is_over(Stretch stretch) const;
  void begin_stretch(State state);
  void next_way();
  bool is_left_out(Way way) const;
  double median_of(Way way) const { return medians_[static_cast<size_t>(way)]; }
  double shortest() const;
  void begin_trial();
  void end_trial();

  State state_ = State::Leading;
  Way way_ = Way::Frames, outcome_ = Way::Frames;
  uint64_t iterations_ = 0;  ///< in this state
  double taken_ = 0;         ///< microseconds of these
  uint64_t run_ = kFirstRun;
  std::array<bool, kWays> warm_ = {};

  // Of the trial.
  uint32_t round_ = 0;
  double trial_us_ = 0;
  uint64_t trial_iterations_ = 0;
  std::array<std::vector<double>, kWays> times_;
  std::array<double, kWays> medians_ = {};  ///< 0: not measured yet
};

}  // namespace terra::coexec
