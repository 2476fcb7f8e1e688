// One kind of block for each kind of step that isn't a plain kernel call.
#pragma once
#include <memory>

#include "graph/executor/activation.h"

namespace terra::graph {

using RunFunction = bool (*)(Block& block, Activation& activation);

struct MadeBlock {
  std::unique_ptr<Block> block;
  RunFunction run = nullptr;
};

/// A step that runs other graphs, one activation after the other.
class ControlBlock : public Block {
 public:
  /// `inner`, which `outer` has entered, has come to its end. Its memory goes behind this.
  virtual void leave(Activation& outer, Activation& inner) = 0;
  /// Then: true where `outer` goes on behind the step, false where it has entered another one.
  virtual bool go_on(Activation& outer) = 0;
};

/// item, assert (scalars.cpp).
MadeBlock make_item_block(Instance& instance, const Step& step);
MadeBlock make_assert_block(Instance& instance, const Step& step);
/// Ops that the host computes: random draws (host.cpp); host functions.
MadeBlock make_host_op_block(Instance& instance, const Step& step);
MadeBlock make_host_call_block(Instance& instance, const Step& step);
/// switch, while, call (control.cpp).
MadeBlock make_switch_block(Instance& instance, const Step& step);
MadeBlock make_while_block(Instance& instance, const Step& step);
MadeBlock make_call_block(Instance& instance, const Step& step);

/// pack, unpack (records.cpp).
MadeBlock make_pack_block(Instance& instance, const Step& step);
MadeBlock make_unpack_block(Instance& instance, const Step& step);

/// A place and its address.
struct Located {
  const Place* place = nullptr;
  void* data = nullptr;
  Device device;  ///< whose address it is

  void locate(Instance& instance, ValueId id) { locate(instance, instance.plan().places[id]); }
  void locate(Instance& instance, const Place& at) {
    const Plan& plan = instance.plan();
    place = &at;
    if (plan.buffers[at.buffer].kind != Buffer::Kind::Scalar) device = plan.device;
    instance.resolve(&data, place->buffer, place->offset);
  }
  /// A tensor over the same memory, for code that takes tensors; valid for the length of a step.
  Tensor tensor() const;
};

/// The only element at an address of a device.
Scalar read_scalar(Device device, const void* data, DType dtype, Scalar::Kind kind);

}  // namespace terra::graph
