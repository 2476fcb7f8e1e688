#include "graph/coexec/iterations.h"

#include <utility>

namespace terra::coexec {

bool Iterations::arrive(std::span<const LoopRound> loops) {
  size_t same = 0;
  while (same < loops.size() && same < open_.size() && open_[same].at.same_run(loops[same])) same++;
  if (std::exchange(fetched_, false) && same) carrying_.insert(loops[same - 1].loop);
  size_t depth = loops.size();
  while (depth && !carrying_.contains(loops[depth - 1].loop)) depth--;
  // A loop that has just turned out to carry something is in the middle of a round.
  const bool new_round = depth && (depth > same || open_[depth - 1].at != loops[depth - 1]);
  const bool begins = new_round || depth < depth_;

  open_.resize(same);
  for (size_t i = 0; i < same; i++) open_[i].at = loops[i];
  for (size_t i = same; i < loops.size(); i++) open_.push_back({loops[i], {}});
  depth_ = depth;
  return begins;
}

void Iterations::wrote(uint64_t state) {
  for (auto loop = open_.rbegin(); loop != open_.rend(); ++loop) {
    const auto [known, first] = loop->written.try_emplace(state, loop->at.round);
    if (!first && known->second != loop->at.round) {
      known->second = loop->at.round;
      carrying_.insert(loop->at.loop);
      return;
    }
  }
}

std::optional<LoopId> Iterations::loop() const {
  return depth_ ? std::optional(open_[depth_ - 1].at.loop) : std::nullopt;
}

}  // namespace terra::coexec
