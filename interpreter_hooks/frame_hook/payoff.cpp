#include "interpreter_hooks/frame_hook/payoff.h"

#include <algorithm>
#include <numeric>

namespace terra::capture {

double Payoff::Times::mean() const {
  std::array<double, wanted> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  constexpr size_t kept = wanted - wanted / 8;
  return std::accumulate(sorted.begin(), sorted.begin() + kept, 0.0) / kept;
}

void Payoff::note(Sample sample, double microseconds) {
  if (verdict_ != Verdict::Open) return;
  if (sample == Sample::Served && microseconds > longest) {
    verdict_ = Verdict::Pays;
    return;
  }
  (sample == Sample::Served ? served_ : plain_).add(microseconds);
  if (!served_.enough() || !plain_.enough()) return;
  verdict_ = served_.mean() > plain_.mean() * tolerance ? Verdict::Loses : Verdict::Pays;
}

}  // namespace terra::capture
