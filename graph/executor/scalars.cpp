// Steps that read one element: items and asserts.
#include "engine/errors/errors.h"
#include "graph/executor/blocks.h"
#include "kernels/abi/element.h"

namespace terra::graph {
namespace {

/// The element, wherever it is.
Scalar fetched(Device device, const void* data, DType dtype) {
  if (device.is_cpu()) return load_element(data, dtype);
  alignas(16) char element[kMaxElementSize];
  backend_of(device).copy_out(element, data, size_of(dtype));
  return load_element(element, dtype);
}

struct ItemBlock final : Block {
  Located source;
  ValueId result = kNoId;
  Scalar::Kind kind = Scalar::Kind::Float;
};

struct AssertBlock final : Block {
  Located source;
  ValueId scalar = kNoId;  ///< in place of a tensor
  bool expected = false;
  uint32_t index = 0;
};

bool run_item(Block& block, Activation& activation) {
  auto& b = static_cast<ItemBlock&>(block);
  activation.set_scalar(b.result, read_scalar(b.source.device, b.source.data, b.source.place->dtype, b.kind));
  return true;
}

bool run_assert(Block& block, Activation& activation) {
  auto& b = static_cast<AssertBlock&>(block);
  const bool truth =
      (b.scalar != kNoId ? activation.scalar(b.scalar) : fetched(b.source.device, b.source.data, b.source.place->dtype))
          .to_bool();
  if (truth == b.expected) return true;
  activation.stop({Stop::Why::AssertFailed, b.index});
  return false;
}

}  // namespace

Scalar read_scalar(Device device, const void* data, DType dtype, Scalar::Kind kind) {
  return fetched(device, data, dtype).as(kind);
}

MadeBlock make_item_block(Instance& instance, const Step& step) {
  const Node& node = *step.node;
  auto b = std::make_unique<ItemBlock>();
  const ValueId source = std::get<Use>(node.args[0]).id;
  ensure(instance.plan().graph.meta(source).numel() == 1, "an item is taken of a tensor with one element");
  b->source.locate(instance, source);
  b->result = node.results[0];
  b->kind = instance.plan().graph.meta(node.results[0]).scalar;
  return {std::move(b), run_item};
}

MadeBlock make_assert_block(Instance& instance, const Step& step) {
  const Node& node = *step.node;
  auto b = std::make_unique<AssertBlock>();
  const ValueId source = std::get<Use>(node.args[0]).id;
  const ValueMeta& meta = instance.plan().graph.meta(source);
  if (meta.kind == ValueKind::Scalar) {
    b->scalar = source;
  } else {
    ensure(meta.is_tensor() && meta.numel() == 1, "an assert is about a tensor with one element");
    b->source.locate(instance, source);
  }
  b->expected = node.expected;
  b->index = node.index;
  return {std::move(b), run_assert};
}

}  // namespace terra::graph
