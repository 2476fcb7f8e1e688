#include "graph/executor/instance.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "graph/executor/activation.h"
#include "graph/executor/blocks.h"
#include "graph/executor/commit.h"
#include "graph/executor/fused.h"
#include "graph/executor/instances.h"
#include "graph/executor/kernel_block.h"
#include "graph/ir/names.h"

namespace terra::graph {
namespace {

struct KernelStep final : Block {
  std::unique_ptr<KernelBlock> block;
  KernelFunction function = nullptr;  ///< of the kernel
};
struct FusedStep final : Block {
  explicit FusedStep(const Plan& plan, const Node& node) : fused(plan, node) {}
  FusedBlock fused;
};

/// On the CPU.
bool run_kernel_step(Block& block, Activation&) {
  auto& step = static_cast<KernelStep&>(block);
  step.function(step.block->call);
  return true;
}

bool launch_kernel_step(Block& block, Activation& activation) {
  const KernelBlock& kernel = *static_cast<KernelStep&>(block).block;
  activation.backend().launch(*kernel.kernel, kernel.call);
  return true;
}

bool run_fused_step(Block& block, Activation&) {
  static_cast<FusedStep&>(block).fused.run();
  return true;
}

template <RunFunction run>
bool run_and_wait(Block& block, Activation& activation) {
  run(block, activation);
  activation.backend().synchronize();
  return true;
}

/// How the step is run on a device. Where values make an op fail the run ends there: a device that computes later is
/// waited for.
RunFunction runner_of(const Step& step, bool fused, Device device) {
  const bool checks = step.kind == Step::Kind::Node && step.node->op && step.node->op->is(kChecksValues);
  if (device.is_cpu()) return fused ? run_fused_step : run_kernel_step;
  if (fused) return checks ? run_and_wait<run_fused_step> : run_fused_step;
  return checks ? run_and_wait<launch_kernel_step> : launch_kernel_step;
}

/// Blocks of node kinds that aren't ops. Ops are sorted out by their flags.
using Maker = MadeBlock (*)(Instance&, const Step&);
constexpr struct {
  NodeKind kind;
  Maker make;
} kMakers[] = {{NodeKind::Item, make_item_block},     {NodeKind::Assert, make_assert_block},
               {NodeKind::Switch, make_switch_block}, {NodeKind::While, make_while_block},
               {NodeKind::Call, make_call_block},     {NodeKind::Pack, make_pack_block},
               {NodeKind::Unpack, make_unpack_block}, {NodeKind::HostCall, make_host_call_block}};

Maker maker_of(const Node& node) {
  if (node.kind == NodeKind::Op && node.op->is(kHost)) return make_host_op_block;
  for (const auto& m : kMakers)
    if (m.kind == node.kind) return m.make;
  return nullptr;
}

/// Where a check of values, a condition or a part of the program may end the body.
class Stops {
 public:
  explicit Stops(const Graph& graph) : graph_(graph) {}

  bool at(const Step& step) {
    if (step.kind == Step::Kind::Copy) return false;
    const Node& node = *step.node;
    switch (node.kind) {
      case NodeKind::Op: return node.op->is(kHost) || (node.op->is(kChecksValues) && checks(node));
      case NodeKind::Fused:
      case NodeKind::WriteView:
      case NodeKind::Item:
      case NodeKind::AsTensor:
      case NodeKind::Pack:
      case NodeKind::Unpack: return false;
      default: return true;
    }
  }

 private:
  /// A gradient checks once more what the op has checked whose gradient it is: it can't fail behind that.
  bool checks(const Node& node) {
    const bool is_gradient = node.op->name.ends_with("_backward");
    bool known = false;
    for (const Node* before : checked_) known |= is_gradient && is_gradient_of(node, *before);
    if (!known) checked_.push_back(&node);
    return !known;
  }

  /// By the same indices, and for the memory that they point into.
  bool is_gradient_of(const Node& gradient, const Node& node) const {
    const ValueId indexed = operand(node, 0), indices = operand(node, 1);
    return indexed != kNoId && indices != kNoId && operand(gradient, 1) == indices &&
           graph_.meta(gradient.results[0]) == graph_.meta(indexed);
  }

  const Graph& graph_;
  std::vector<const Node*> checked_;
};

}  // namespace

Instance::Instance(Plan plan, Instances* callees)
    : plan_(std::move(plan)), backend_(backend_of(plan_.device)), callees_(callees) {
  if (!callees_ && plan_.graph.table) {
    own_callees_ = std::make_unique<Instances>(plan_.graph.table, plan_.device);
    callees_ = own_callees_.get();
  }
  first_fresh_ = base_of_input(plan_.graph.inputs.size());
  first_lent_ = first_fresh_ + plan_.graph.outputs.size();
  bases_.resize(first_lent_ + plan_.lent);
  number_values();
  add_steps();
}

Instance::~Instance() = default;

/// Each kind has slots of its own.
void Instance::number_values() {
  for (const ValueMeta& meta : plan_.graph.values) {
    size_t& count = meta.kind == ValueKind::Scalar ? scalars_ : meta.kind == ValueKind::Handle ? handles_ : records_;
    slots_.push_back(meta.is_tensor() ? 0 : static_cast<uint32_t>(count++));
  }
  readers_.resize(scalars_);
}

size_t Instance::table_bytes() const {
  return bases_.size() * sizeof(void*) + scalars_ * sizeof(Scalar) + handles_ * sizeof(Handle) +
         records_ * sizeof(Ref<Record>);
}

void Instance::load_other(Activation& activation) {
  loaded_ = &activation;
  for (size_t b = 0; b < bases_.size(); ++b)
    if (activation.bases_[b]) bind(b, activation.bases_[b]);
  for (size_t s = 0; s < scalars_; ++s)
    for (KernelArg* arg : readers_[s]) arg->number = activation.scalars_[s];
}

// ---- memory --------------------------------------------------------------------------------------------------------

bool Instance::keeps_arena() const { return plan_.arena_bytes > 0 && plan_.arena_bytes < lent_bytes(); }

bool Instance::take(Block& block, Activation& activation) {
  const auto& lent = static_cast<Lent&>(block);
  activation.take(lent.base, lent.bytes);
  return true;
}

bool Instance::give(Block& block, Activation& activation) {
  const auto& lent = static_cast<Lent&>(block);
  activation.give(lent.base, lent.bytes);
  return true;
}

/// What nested graphs make has its memory from who runs them.
bool Instance::make_fresh(Block& block, Activation& activation) {
  if (activation.root_) activation.root_->make_fresh(static_cast<Making&>(block).output);
  return true;
}

bool Instance::let_go(Block& block, Activation& activation) {
  if (activation.root_) activation.root_->let_go(static_cast<Consuming&>(block).input);
  return true;
}

bool Instance::is_made_settled(size_t output) const {
  return std::any_of(made_.begin(), made_.end(),
                     [&](const Making* m) { return m->output == output && m->at >= settling_; });
}

/// What comes and goes at each step of the body. The tail can't fail: what it needs is there before the commit point,
/// and goes when it has ended.
std::vector<Instance::Turnover> Instance::plan_turnover() {
  const size_t end = plan_.body.size();
  std::vector<Turnover> turnover(end + 1);
  lent_bytes_.resize(plan_.lent);
  std::vector<bool> late(plan_.graph.outputs.size(), false);
  for (const Buffer& b : plan_.buffers) {
    const size_t first = std::min(static_cast<size_t>(b.block.first), end), last = static_cast<size_t>(b.block.last);
    if (b.kind == Buffer::Kind::Lent) {
      auto& lent = static_cast<Lent&>(*blocks_.emplace_back(std::make_unique<Lent>()));
      lent.base = first_lent_ + b.index;
      lent.bytes = lent_bytes_[b.index] = b.block.bytes;
      turnover[first].taken.push_back(&lent);
      if (last < end) turnover[last].given.push_back(&lent);
    } else if (b.kind == Buffer::Kind::Fresh && b.block.bytes >= lent_bytes()) {
      auto& making = turnover[first].made.emplace_back(std::make_unique<Making>());
      making->output = b.index;
      late[b.index] = true;
    } else if (b.kind == Buffer::Kind::Input && !plan_.consumable.empty() && plan_.consumable[b.index] && last < end &&
               plan_.graph.meta(plan_.graph.inputs[b.index]).bytes() >= lent_bytes()) {
      turnover[last].consumed.emplace_back(std::make_unique<Consuming>())->input = b.index;
    }
  }
  for (size_t o = 0; o < plan_.roles.size(); ++o)
    if (plan_.roles[o].kind == OutputRole::Kind::Fresh && !late[o]) early_.push_back(o);
  return turnover;
}

void Instance::add_steps() {
  std::vector<Turnover> turnover = plan_turnover();
  lends_ = plan_.lent > 0 || (plan_.arena_bytes > 0 && !keeps_arena());
  Stops stops(plan_.graph);
  for (size_t k = 0; k <= plan_.body.size(); ++k) {
    for (Block* lent : turnover[k].taken) body_.push_back({take, lent});
    for (auto& making : turnover[k].made) {
      making->at = body_.size();
      made_.push_back(making.get());
      add_block(std::move(making), make_fresh, body_);
    }
    if (k == plan_.body.size()) break;
    add_step(plan_.body[k], body_);
    if (stops.at(plan_.body[k])) settling_ = body_.size();
    for (Block* lent : turnover[k].given) body_.push_back({give, lent});
    for (auto& consuming : turnover[k].consumed) add_block(std::move(consuming), let_go, body_);
  }
  for (const Step& s : plan_.tail) add_step(s, tail_);
}

void Instance::resolve(void** slot, int32_t buffer, int64_t offset) {
  const Buffer& b = plan_.buffers[buffer];
  const auto lies = [&](size_t base, int64_t at) { bases_[base].addresses.push_back({slot, at + offset}); };
  switch (b.kind) {
    case Buffer::Kind::Arena: lies(kArena, static_cast<int64_t>(b.block.offset)); break;
    case Buffer::Kind::Lent: lies(first_lent_ + b.index, 0); break;
    case Buffer::Kind::Input: lies(base_of_input(b.index), 0); break;
    case Buffer::Kind::Fresh: lies(base_of_fresh(b.index), 0); break;
    case Buffer::Kind::Scalar: lies(kScalars, static_cast<int64_t>(this->slot(b.index) * sizeof(Scalar))); break;
    case Buffer::Kind::Constant:
      *slot = static_cast<char*>(plan_.graph.constants[b.index].second->data()) + offset;
      break;
  }
}

void Instance::add_block(std::unique_ptr<Block> block, bool (*run)(Block&, Activation&), std::vector<Instruction>& tape,
                         const Step* step) {
  tape.push_back({run, block.get(), step});
  blocks_.push_back(std::move(block));
}

void Instance::add_step(const Step& step, std::vector<Instruction>& tape) {
  if (step.kind == Step::Kind::Node && is_elementwise_node(*step.node)) {
    auto block = std::make_unique<FusedStep>(plan_, *step.node);
    for (const FusedBlock::Address& a : block->fused.addresses) resolve(a.data, a.buffer, a.offset);
    for (const FusedBlock::Number& n : block->fused.numbers) follow(n.arg, n.scalar);
    return add_block(std::move(block), runner_of(step, true, plan_.device), tape, &step);
  }
  if (step.kind == Step::Kind::Node)
    if (const Maker make = maker_of(*step.node)) {
      MadeBlock made = make(*this, step);
      return add_block(std::move(made.block), made.run, tape, &step);
    }
  if (step.kind == Step::Kind::Node && step.node->kind != NodeKind::Op)
    throw InternalError(fmt::format("a {} node can't be executed", kNodeNames[static_cast<int>(step.node->kind)]));
  auto block = std::make_unique<KernelStep>();
  block->block = step.kind == Step::Kind::Copy ? make_copy_block(plan_, step) : make_kernel_block(plan_, *step.node);
  block->function = block->block->kernel->run;
  for (const KernelBlock::Address& a : block->block->addresses) resolve(&a.view->data, a.buffer, a.offset);
  for (const KernelBlock::Number& n : block->block->numbers) follow(n.arg, n.scalar);
  if (step.workspace >= 0) {
    Workspace& workspace = block->block->call.workspace;
    workspace.size = plan_.buffers[step.workspace].block.bytes;
    resolve(&workspace.bytes, step.workspace, 0);
  }
  add_block(std::move(block), runner_of(step, false, plan_.device), tape, &step);
}

}  // namespace terra::graph
