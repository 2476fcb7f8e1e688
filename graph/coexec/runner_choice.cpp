#include "graph/coexec/runner_choice.h"

#include <algorithm>
#include <limits>

namespace terra::coexec {
namespace {

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

void RunnerChoice::ended(double us) {
  iterations_++;
  if (state_ == State::Running) {
    if (iterations_ >= run_) expired();
    return;
  }
  taken_ += us;
  trial_us_ += us;
  trial_iterations_++;
  const auto at = static_cast<size_t>(way_);
  if (state_ == State::Leading) {
    if (!is_over(warm_[at] ? kUnsettled : kWarmUp)) return;
    warm_[at] = true;
    return begin_stretch(State::Measuring);
  }
  times_[at].push_back(us);
  if (!is_over(kBlock)) return;
  medians_[at] = median(times_[at]);
  next_way();
}

bool RunnerChoice::is_over(Stretch stretch) const {
  return iterations_ >= stretch.most || (iterations_ >= stretch.least && taken_ >= stretch.us);
}

void RunnerChoice::begin_stretch(State state) {
  state_ = state;
  iterations_ = 0;
  taken_ = 0;
}

void RunnerChoice::next_way() {
  begin_stretch(State::Leading);
  auto next = static_cast<size_t>(way_);
  do {
    if (++next < kWays) continue;
    next = 0;
    if (++round_ == kRounds) return end_trial();
  } while (is_left_out(static_cast<Way>(next)));
  way_ = static_cast<Way>(next);
}

/// Of the trial, from now on.
bool RunnerChoice::is_left_out(Way way) const { return median_of(way) > kLost * shortest(); }

double RunnerChoice::shortest() const {
  double us = std::numeric_limits<double>::infinity();
  for (double m : medians_)
    if (m > 0) us = std::min(us, m);
  return us;
}

void RunnerChoice::expired() {
  run_ = std::min(2 * run_, kLongestRun);
  begin_trial();
}

void RunnerChoice::interrupted() {
  if (state_ != State::Running) begin_stretch(State::Leading);
}

void RunnerChoice::begin_trial() {
  begin_stretch(State::Leading);
  way_ = Way::Frames;
  round_ = 0;
  trial_us_ = 0;
  trial_iterations_ = 0;
  for (auto& times : times_) times.clear();
  medians_ = {};
}

void RunnerChoice::end_trial() {
  const double best = shortest();
  way_ = outcome_ = static_cast<Way>(std::find(medians_.begin(), medians_.end(), best) - medians_.begin());
  const double cost = trial_us_ / best - static_cast<double>(trial_iterations_);  // in iterations
  const auto pays_off = static_cast<uint64_t>(std::clamp(cost / kMostCost, 0.0, static_cast<double>(kLongestRun)));
  run_ = std::max(run_, pays_off);
  begin_stretch(State::Running);
}

}  // namespace terra::coexec
