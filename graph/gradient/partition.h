// Cuts a joint program into a forward program and a backward program.
#pragma once
#include <algorithm>
#include <vector>

#include "graph/trace/program.h"

namespace terra::graph {

/// A value that the forward half keeps for the backward half.
struct SavedValue {
  enum class Kind : uint8_t {
    Input,  ///< the tensor (or stretch of storage) that forward graph input `index` is: by reference, with its version
    Fresh,  ///< forward graph output `index`: a storage of its own, or of a result that eager execution would keep
    ScalarInput,   ///< what forward graph input `index` was
    ScalarOutput,  ///< what forward graph output `index` was
  };
  Kind kind = Kind::Fresh;
  uint32_t index = 0;
};

struct Partition {
  Program
      forward;  ///< the joint program without tangents and gradients; its graph has the saved values as extra outputs
  Program backward;  ///< inputs: the saved values in order, then the tangents; results: the gradients in order
  std::vector<SavedValue> saved;
};

/// What is saved is the cheapest cut: bytes of fresh values; inputs that calls have saved cost nothing;
/// cheap elementwise ops and views are computed again where that needs less. Random draws and effects stay in the
/// forward half.
/// `inputs_stay`: nobody writes the inputs in between, so that all of them are kept by reference.
Partition partition(Program joint, bool inputs_stay = false);

/// True iff a backward half may compute the node once more rather than have its results kept.
bool can_repeat(const Node& node);

/// Of the backward half, what computes the gradients of one part of the region. `saved` becomes the numbers of the
/// saved values that it reads, in order.
Program backward_of_part(const Program& backward, uint32_t part, std::vector<uint32_t>& saved);

/// By value: whether the gradients of the part are computed from it, or are it.
std::vector<bool> needed_by_part(const Program& backward, uint32_t part);
inline bool is_any_of(const std::vector<ValueId>& values, const std::vector<bool>& flags) {
  return std::any_of(values.begin(), values.end(), [&](ValueId id) { return flags[id]; });
}

/// One more gradient of a backward program: `value` of its graph.
void add_gradient(Program& to, Program::Gradient what, ValueId value);

}  // namespace terra::graph
