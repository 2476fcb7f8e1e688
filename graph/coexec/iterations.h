// Iterations of the program, found without annotation: the rounds of the innermost loop that carries tensor state from
// one round to the next, or whose body looks at a value.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/coexec/loop_stack.h"

namespace terra::coexec {

/// A loop that updates one parameter after the other carries nothing: each round writes something else. The loop around
/// it writes the same parameters in each of its rounds; its rounds are the iterations. Loops inside are part of them,
/// frames outside are context. Loops that look at values (evaluation) have iterations of their own.
class Iterations {
 public:
  /// Before each op, with the loops around it: whether it is the first one of an iteration, or the first one behind the
  /// last iteration.
  bool arrive(std::span<const LoopRound> loops);
  /// The op wrote to tensor state that is older than the round: parameters, buffers, gradients that accumulate.
  void wrote(uint64_t state);
  /// The program has looked at a value since the last op: in the innermost loop that is around that one and the next.
  void fetched() { fetched_ = true; }

  /// The loop whose rounds the iterations are at the moment.
  std::optional<LoopId> loop() const;
  /// How many loops are around the iteration, its own included.
  size_t depth() const { return depth_; }

 private:
  struct Open {
    LoopRound at;
    std::unordered_map<uint64_t, uint32_t> written;  ///< by state: the last round that wrote it
  };

  std::vector<Open> open_;
  std::unordered_set<LoopId> carrying_;  ///< loops known to carry state or to look at values
  size_t depth_ = 0;
  bool fetched_ = false;
};

}  // namespace terra::coexec
