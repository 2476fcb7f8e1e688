#include "graph/coexec/loop_stack.h"

#include <algorithm>

namespace terra::coexec {

bool LoopStack::is_at(size_t depth, const FramePoint& point) const {
  const Frame& frame = frames_[depth];
  return frame.code == point.code && frame.activation == point.activation && frame.instruction == point.instruction;
}

/// Of the innermost of the first `loops` loops; those inside of it have ended.
void LoopStack::next_round(size_t loops) {
  loops_.resize(loops);
  if (loops) loops_.back().round++;
}

/// The frame is at the point; loops around it that it wasn't in begin.
void LoopStack::enter(const FramePoint& point) {
  const size_t known = loops_.size() - outside(frames_.size());
  for (LoopId loop : point.loops.subspan(known)) loops_.push_back({loop, entries_++, 0});
  frames_.push_back({point.code, point.activation, point.instruction, loops_.size()});
}

/// The frame at this depth has come from where it was to the point. Where it is further up and no loop of its own leads
/// there, it is another call's, which took the place of the one before: the caller is in its next round.
void LoopStack::move(size_t depth, const FramePoint& point) {
  const size_t before = outside(depth);
  size_t common = 0;
  while (common < point.loops.size() && before + common < frames_[depth].loops &&
         loops_[before + common].loop == point.loops[common])
    common++;
  if (point.instruction < frames_[depth].instruction)
    next_round(before + common);
  else
    loops_.resize(before + common);
}

std::span<const LoopRound> LoopStack::arrive(FrameChain chain) {
  const size_t both = std::min(frames_.size(), chain.size());
  size_t depth = 0;
  while (depth < both && is_at(depth, chain[depth])) depth++;

  const bool ends = depth == frames_.size() || depth == chain.size();
  const bool same_code = !ends && frames_[depth].code == chain[depth].code;
  if (same_code && frames_[depth].activation == chain[depth].activation) {
    move(depth, chain[depth]);
  } else if (same_code || (frames_.size() == depth && chain.size() == depth)) {
    next_round(outside(depth));  // what was called before is called again from the same place
  } else {
    loops_.resize(outside(depth));
  }
  frames_.resize(depth);
  for (; depth < chain.size(); depth++) enter(chain[depth]);
  return loops_;
}

}  // namespace terra::coexec
