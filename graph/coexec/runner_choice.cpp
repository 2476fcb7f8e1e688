#include "graph/coexec/runner_choice.h"

#include <algorithm>

namespace terra::coexec {
namespace {

double median(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

void RunnerChoice::ended(double us) {
  iterations_++;
  switch (state_) {
    case State::WarmingUp:
      if (stretch_ends(kWarmUp, iterations_, us) && stretch_ == kWays) begin_trial();
      return;
    case State::Trying:
      if (iterations_ <= kUnsettled) return;
      times_[static_cast<size_t>(way_)].push_back(us);
      if (stretch_ends(kBlock, iterations_ - kUnsettled, us) && stretch_ == kBlocks) end_trial();
      return;
    case State::Running:
      if (iterations_ >= run_) expired();
      return;
  }
}

/// Behind an iteration. When it was the last one of its stretch the next way's turn has come.
bool RunnerChoice::stretch_ends(Stretch stretch, uint64_t iterations, double us) {
  taken_ += us;
  if (iterations < stretch.most && (iterations < stretch.least || taken_ < stretch.us)) return false;
  iterations_ = 0;
  taken_ = 0;
  way_ = static_cast<Way>((static_cast<size_t>(way_) + 1) % kWays);
  stretch_++;
  return true;
}

void RunnerChoice::expired() {
  run_ = std::min(2 * run_, kLongestRun);
  begin_trial();
}

void RunnerChoice::begin_trial() {
  state_ = State::Trying;
  way_ = Way::Inline;
  iterations_ = stretch_ = 0;
}

void RunnerChoice::end_trial() {
  std::array<double, kWays> medians;
  std::transform(times_.begin(), times_.end(), medians.begin(), median);
  way_ = static_cast<Way>(std::min_element(medians.begin(), medians.end()) - medians.begin());
  for (auto& times : times_) times.clear();
  state_ = State::Running;
}

}  // namespace terra::coexec
