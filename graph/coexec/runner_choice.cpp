#include "graph/coexec/runner_choice.h"

#include <algorithm>
#include <cstddef>

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
      if (iterations_ >= kWarmUp) begin_trial();
      return;
    case State::Trying:
      if (iterations_ > kUnsettled) times_[static_cast<size_t>(way_)].push_back(us);
      if (iterations_ < kUnsettled + kBlock) return;
      iterations_ = 0;
      way_ = way_ == Way::Inline ? Way::Beside : Way::Inline;
      if (++block_ == kBlocks) end_trial();
      return;
    case State::Running:
      if (iterations_ < run_) return;
      run_ = std::min(2 * run_, kLongestRun);
      begin_trial();
      return;
  }
}

void RunnerChoice::begin_trial() {
  state_ = State::Trying;
  way_ = Way::Inline;
  iterations_ = block_ = 0;
}

void RunnerChoice::end_trial() {
  const bool beside = median(times_[1]) < median(times_[0]);
  way_ = beside ? Way::Beside : Way::Inline;
  for (auto& times : times_) times.clear();
  state_ = State::Running;
}

}  // namespace terra::coexec
