#include "graph/executor/kernel_block.h"

#include <fmt/format.h>

#include "engine/device/backend.h"
#include "engine/errors/errors.h"

namespace terra::graph {
namespace {

View view_at(const Plan& plan, const Place& p) {
  const bool is_number = plan.buffers[p.buffer].kind == Buffer::Kind::Scalar;
  return {nullptr, p.sizes.data(), p.strides.data(), static_cast<int32_t>(p.sizes.size()), p.dtype, is_number};
}

size_t count_tensors(const Node& node) {
  size_t n = 0;
  for_each_use(node, [&](ValueId) { ++n; });
  for (const NodeArg& a : node.args)
    if (const auto* list = std::get_if<UseList>(&a)) n += list->size();
  return n;
}

/// Adds views and remembers which need an address.
class Filler {
 public:
  Filler(const Plan& plan, KernelBlock& block) : plan_(plan), block_(block) {}

  View* view(std::vector<View>& into, const Place* place) {
    into.push_back(place ? view_at(plan_, *place) : View());
    if (place) block_.addresses.push_back({&into.back(), place->buffer, place->offset});
    return &into.back();
  }

 private:
  const Plan& plan_;
  KernelBlock& block_;
};

void finish(KernelBlock& block) { block.call = {block.outs, block.args, {}}; }

}  // namespace

const Kernel& kernel_for(std::string_view op, Device device) {
  const Backend& backend = backend_of(device);
  const Kernel* kernel = backend.find_kernel(op);
  if (!kernel) throw InternalError(fmt::format("the op '{}' has no {} kernel in this build", op, backend.name));
  return *kernel;
}

KernelArg kernel_argument(const NodeArg& attribute) {
  KernelArg k;
  if (const auto* s = std::get_if<Scalar>(&attribute)) {
    k.kind = KernelArg::Kind::Scalar;
    k.number = *s;
  } else if (const auto* ints = std::get_if<IntList>(&attribute)) {
    k.kind = KernelArg::Kind::IntList;
    k.count = static_cast<uint32_t>(ints->size());
    k.ints = ints->data();
  } else if (const auto* t = std::get_if<DType>(&attribute)) {
    k.kind = KernelArg::Kind::DType;
    k.dtype = *t;
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    k.kind = KernelArg::Kind::String;
    k.count = static_cast<uint32_t>(text->size());
    k.chars = text->data();
  }
  return k;
}

std::unique_ptr<KernelBlock> make_kernel_block(const Plan& plan, const Node& node) {
  auto block = std::make_unique<KernelBlock>();
  block->kernel = &kernel_for(node.op->name, plan.device);
  ensure(block->kernel->run != nullptr, "an op that isn't elementwise has a kernel that runs whole");
  block->args.resize(node.args.size());
  block->views.reserve(count_tensors(node) + 1);
  block->outs.reserve(node.results.size());
  Filler filler(plan, *block);
  size_t written = 0;  // targets come in the order of results; the kernel finds the old values in the new ones' memory
  for (size_t p = 0; p < node.args.size(); ++p) {
    const bool target = node.op->writes >> p & 1;
    const auto place = [&](ValueId id) { return &plan.places[target ? node.results[written++] : id]; };
    KernelArg& k = block->args[p];
    const ParamType type = node.op->sig().params[p].type;
    if (const auto* use = std::get_if<Use>(&node.args[p])) {
      if (!plan.graph.meta(use->id).is_tensor() && type != ParamType::Tensor && type != ParamType::TensorOrNumber) {
        k.kind = KernelArg::Kind::Scalar;
        block->numbers.push_back({&k, use->id});
        continue;
      }
      k.kind = KernelArg::Kind::Tensor;
      k.count = 1;
      k.views = filler.view(block->views, place(use->id));
    } else if (const auto* list = std::get_if<UseList>(&node.args[p])) {
      k.kind = KernelArg::Kind::TensorList;
      k.count = static_cast<uint32_t>(list->size());
      k.views = block->views.data() + block->views.size();
      for (ValueId id : *list) filler.view(block->views, id == kNoId ? nullptr : place(id));
    } else {
      k = kernel_argument(node.args[p]);
    }
  }
  for (ValueId r : node.results)
    ensure(block->kernel->takes(*filler.view(block->outs, &plan.places[r])),
           "a result has a place that its kernel takes");
  finish(*block);
  return block;
}

std::unique_ptr<KernelBlock> make_copy_block(const Plan& plan, const Step& step) {
  auto block = std::make_unique<KernelBlock>();
  const bool plain = step.to.is_contiguous();
  block->kernel = &kernel_for(plain ? "clone" : "copy", plan.device);
  block->views.reserve(2);
  block->outs.reserve(1);
  Filler filler(plan, *block);
  const auto tensor = [&](const Place& p) {
    KernelArg k;
    k.kind = KernelArg::Kind::Tensor;
    k.count = 1;
    k.views = filler.view(block->views, &p);
    block->args.push_back(k);
  };
  if (!plain) tensor(step.to);
  tensor(step.from);
  filler.view(block->outs, &step.to);
  finish(*block);
  return block;
}

}  // namespace terra::graph
