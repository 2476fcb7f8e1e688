#include "graph/executor/instance.h"

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "graph/executor/blocks.h"
#include "graph/executor/commit.h"
#include "graph/executor/fused.h"
#include "graph/executor/kernel_block.h"
#include "graph/ir/names.h"
#include "kernels/abi/kernel_error.h"

namespace terra::graph {
namespace {

struct KernelStep final : Block {
  std::unique_ptr<KernelBlock> kernel;
  KernelFunction function = nullptr;
};
struct FusedStep final : Block {
  explicit FusedStep(const Plan& plan, const Node& node) : fused(plan, node) {}
  FusedBlock fused;
};

bool run_kernel_step(Block& block, Instance&) {
  auto& step = static_cast<KernelStep&>(block);
  step.function(step.kernel->call);
  return true;
}

bool run_fused_step(Block& block, Instance&) {
  static_cast<FusedStep&>(block).fused.run();
  return true;
}

/// Blocks of node kinds that aren't ops. Ops are sorted out by their flags.
using Maker = MadeBlock (*)(Instance&, const Node&);
constexpr struct {
  NodeKind kind;
  Maker make;
} kMakers[] = {{NodeKind::Item, make_item_block},     {NodeKind::Assert, make_assert_block},
               {NodeKind::Switch, make_switch_block}, {NodeKind::While, make_while_block},
               {NodeKind::Call, make_call_block},     {NodeKind::HostCall, make_host_call_block}};

Maker maker_of(const Node& node) {
  if (node.kind == NodeKind::Op && node.op->is(kHost)) return make_host_op_block;
  for (const auto& m : kMakers)
    if (m.kind == node.kind) return m.make;
  return nullptr;
}

}  // namespace

Instance::Instance(Plan plan) : plan_(std::move(plan)) {
  if (plan_.arena_bytes > 0) arena_ = static_cast<char*>(memory::allocate(plan_.arena_bytes));
  input_addresses_.resize(plan_.graph.inputs.size());
  fresh_addresses_.resize(plan_.graph.outputs.size());
  for (ValueId v : plan_.graph.outputs)
    fresh_bytes_.push_back(plan_.graph.meta(v).is_tensor() ? plan_.graph.meta(v).bytes() : 0);
  scalars_.resize(plan_.graph.values.size());
  scalar_readers_.resize(plan_.graph.values.size());
  handles_.resize(plan_.graph.values.size());
  for (const Step& s : plan_.body) add_step(s, body_);
  for (const Step& s : plan_.tail) add_step(s, tail_);
}

Instance::~Instance() {
  if (arena_) memory::release(arena_, plan_.arena_bytes);
}

void Instance::bind(Bound& bound, void* data) {
  if (bound.data == data) return;
  bound.data = data;
  for (const Address& a : bound.addresses) *a.slot = static_cast<char*>(data) + a.offset;
}

void Instance::resolve(void** slot, int32_t buffer, int64_t offset) {
  const Buffer& b = plan_.buffers[buffer];
  switch (b.kind) {
    case Buffer::Kind::Arena: *slot = arena_ + b.block.offset + offset; break;
    case Buffer::Kind::Input: input_addresses_[b.index].addresses.push_back({slot, offset}); break;
    case Buffer::Kind::Fresh: fresh_addresses_[b.index].addresses.push_back({slot, offset}); break;
    case Buffer::Kind::Constant:
      *slot = static_cast<char*>(plan_.graph.constants[b.index].second->data()) + offset;
      break;
    case Buffer::Kind::Scalar: *slot = reinterpret_cast<char*>(&scalars_[b.index]) + offset; break;
  }
}

void Instance::follow(KernelArg* arg, ValueId scalar) { scalar_readers_[scalar].push_back(arg); }

void Instance::set_scalar(ValueId id, const Scalar& value) {
  scalars_[id] = value;
  for (KernelArg* arg : scalar_readers_[id]) arg->number = value;
}

void Instance::add_block(std::unique_ptr<Block> block, RunFunction run, std::vector<Instruction>& tape) {
  tape.push_back({run, block.get()});
  blocks_.push_back(std::move(block));
}

void Instance::add_step(const Step& step, std::vector<Instruction>& tape) {
  if (step.kind == Step::Kind::Node && is_elementwise_node(*step.node)) {
    auto block = std::make_unique<FusedStep>(plan_, *step.node);
    for (const FusedBlock::Address& a : block->fused.addresses)
      resolve(reinterpret_cast<void**>(a.data), a.buffer, a.offset);
    for (const FusedBlock::Number& n : block->fused.numbers) follow(n.arg, n.scalar);
    return add_block(std::move(block), run_fused_step, tape);
  }
  if (step.kind == Step::Kind::Node)
    if (const Maker make = maker_of(*step.node)) {
      MadeBlock made = make(*this, *step.node);
      return add_block(std::move(made.block), made.run, tape);
    }
  if (step.kind == Step::Kind::Node && step.node->kind != NodeKind::Op)
    throw InternalError(fmt::format("a {} node can't be executed", kNodeNames[static_cast<int>(step.node->kind)]));
  auto block = std::make_unique<KernelStep>();
  block->kernel = step.kind == Step::Kind::Copy ? make_copy_block(step) : make_kernel_block(plan_, *step.node);
  block->function = block->kernel->kernel->run;
  for (const KernelBlock::Address& a : block->kernel->addresses) resolve(&a.view->data, a.buffer, a.offset);
  for (const KernelBlock::Number& n : block->kernel->numbers) follow(n.arg, n.scalar);
  if (step.workspace >= 0) {
    const Buffer& w = plan_.buffers[step.workspace];
    block->kernel->call.workspace = {arena_ + w.block.offset, w.block.bytes};
  }
  add_block(std::move(block), run_kernel_step, tape);
}

bool Instance::run_tape(const std::vector<Instruction>& tape, bool (*interrupted)()) {
  for (const Instruction& i : tape) {
    if (!i.run(*i.block, *this)) return false;
    if (interrupted && interrupted()) {
      stop_ = {Stop::Why::Interrupted, 0};
      return false;
    }
  }
  return true;
}

Stop Instance::run_body(bool (*interrupted)()) {
  stop_ = {};
  poll_ = interrupted;
  try {
    run_tape(body_, interrupted);
  } catch (const KernelError& e) {
    static constexpr ErrorKind kKinds[] = {ErrorKind::RuntimeError, ErrorKind::ValueError, ErrorKind::IndexError};
    throw Error(kKinds[static_cast<int>(e.kind())], e.what());
  }
  return stop_;
}

void Instance::run_tail() { run_tape(tail_, nullptr); }

}  // namespace terra::graph
