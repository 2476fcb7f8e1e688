// One kind of block for each kind of step that isn't a plain kernel call.
#pragma once
#include <memory>

#include "graph/executor/instance.h"

namespace terra::graph {

using RunFunction = bool (*)(Block& block, Instance& instance);

struct MadeBlock {
  std::unique_ptr<Block> block;
  RunFunction run = nullptr;
};

/// item, assert (scalars.cpp).
MadeBlock make_item_block(Instance& instance, const Node& node);
MadeBlock make_assert_block(Instance& instance, const Node& node);
/// Ops that the host computes: random draws (host.cpp); host functions.
MadeBlock make_host_op_block(Instance& instance, const Node& node);
MadeBlock make_host_call_block(Instance& instance, const Node& node);
/// switch, while, call (control.cpp).
MadeBlock make_switch_block(Instance& instance, const Node& node);
MadeBlock make_while_block(Instance& instance, const Node& node);
MadeBlock make_call_block(Instance& instance, const Node& node);

/// A place and its address.
struct Located {
  const Place* place = nullptr;
  void* data = nullptr;

  void locate(Instance& instance, ValueId id) {
    place = &instance.plan().places[id];
    instance.resolve(&data, place->buffer, place->offset);
  }
  /// A tensor over the same memory, for code that takes tensors; valid for the length of a step.
  Tensor tensor() const;
};

/// The only element at an address.
Scalar read_scalar(const void* data, DType dtype, Scalar::Kind kind);

}  // namespace terra::graph
