// The loops that the program is in at an op, and the round of each, from the places where its ops are called.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "graph/coexec/location.h"

namespace terra::coexec {

/// A round of a loop.
struct LoopRound {
  LoopId loop = 0;
  uint32_t entry = 0;  ///< another one each time that the program comes to the loop from outside
  uint32_t round = 0;

  bool same_run(const LoopRound& other) const { return loop == other.loop && entry == other.entry; }
  friend bool operator==(const LoopRound&, const LoopRound&) = default;
};

/// Nobody reports the rounds of a loop. A round has ended where the program is not further down in a frame than it was
/// at the op before: of a loop of that frame, or else of one around the call, for code goes up in loops alone. Rounds
/// without ops are not seen, nor is the end of a round whose next one begins further down; then two rounds look like
/// one that did more.
class LoopStack {
 public:
  /// Before each op. The loops around it, outermost first; valid until the next op.
  std::span<const LoopRound> arrive(FrameChain chain);

 private:
  struct Frame {
    uint64_t code, activation;
    int32_t instruction;
    size_t loops;  ///< how many of `loops_` are around the frame's callees
  };

  bool is_at(size_t depth, const FramePoint& point) const;
  size_t outside(size_t depth) const { return depth ? frames_[depth - 1].loops : 0; }
  void next_round(size_t loops);
  void move(size_t depth, const FramePoint& point);
  void enter(const FramePoint& point);

  std::vector<Frame> frames_;
  std::vector<LoopRound> loops_;
  uint32_t entries_ = 0;
};

}  // namespace terra::coexec
