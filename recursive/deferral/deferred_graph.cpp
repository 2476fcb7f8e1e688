#include "recursive/deferral/deferred_graph.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/draws.h"
#include "graph/ir/arg_list.h"
#include "graph/trace/build.h"
#include "recursive/deferral/deferred_queue.h"

namespace terra::recursive {
namespace {

using graph::Node;
using graph::NodeKind;
using graph::Program;
using graph::TensorSpec;
using graph::Trace;
using graph::TraceInput;

[[noreturn]] void refuse(std::string why) { throw Unbatchable{std::move(why)}; }

/// Records of a trace that say nothing but what is computed.
bool only_computes(const graph::TraceRecord& record) {
  return std::holds_alternative<graph::CallRecord>(record.what) ||
         std::holds_alternative<graph::SizeRecord>(record.what) ||
         std::holds_alternative<graph::NumberRecord>(record.what) ||
         std::holds_alternative<graph::FactRecord>(record.what);
}

void require_pure(const Program& p) {
  if (!p.writes.empty()) refuse("writes to a tensor from outside");
  if (!p.grads.empty() || !p.flags.empty() || !p.functions.empty()) refuse("changes gradients or histories");
  if (p.asserts > 0) refuse("depends on what a tensor holds");
  for (const Node& n : p.graph.nodes) {
    const bool computes = n.kind == NodeKind::Op || n.kind == NodeKind::AsTensor || n.kind == NodeKind::WriteView;
    if (!computes || !n.is_pure()) refuse("does more than compute");
    if (n.kind == NodeKind::Op && n.op->writes) refuse("writes to operands");
  }
}

/// Batches have rows of these; gradients that come from several users are added up in them.
bool takes(DType dtype) { return !is_inexact(dtype) || dtype == DType::F32 || dtype == DType::F64; }

/// Zeros where it doesn't matter what a tensor holds.
constexpr int64_t kMostZeros = 1 << 18;

/// One node on real tensors.
class Player {
 public:
  explicit Player(const graph::Graph& g) : graph_(g), tensors_(g.values.size()), numbers_(g.values.size()) {
    for (const auto& [id, tensor] : g.constants) tensors_[id] = tensor;
  }
  void set(ValueId id, Tensor tensor) { tensors_[id] = std::move(tensor); }
  void set(ValueId id, const Scalar& number) {
    numbers_[id] = number;
    is_number_.resize(numbers_.size());
    is_number_[id] = true;
  }
  const Tensor& tensor(ValueId id) const { return tensors_[id]; }

  void play(const Node& n) {
    const auto tensor = [&](ValueId id) { return tensors_[id]; };
    const auto number = [&](ValueId id) { return id < is_number_.size() && is_number_[id] ? &numbers_[id] : nullptr; };
    if (n.kind == NodeKind::AsTensor) {
      const ValueId id = graph::operand(n, 0);
      tensors_[n.results[0]] = (*find_op("full"))(Dims{}, numbers_[id], graph_.meta(n.results[0]).dtype);
      return;
    }
    if (n.kind == NodeKind::WriteView) {
      const Tensor copy = (*find_op("clone"))(tensors_[graph::operand(n, 0)], "contiguous_format");
      std::vector<graph::NodeArg> args(n.args.begin() + 1, n.args.end());
      args[0] = graph::Use{graph::operand(n, 0)};
      const graph::ArgList list(
          args, [&](ValueId id) { return id == graph::operand(n, 0) ? copy : tensors_[id]; }, number);
      std::vector<Tensor> shown;
      call(*n.op, list.args(), shown);
      find_op("copy")->in_place(shown[0], tensors_[graph::operand(n, 1)]);
      tensors_[n.results[0]] = copy;
      return;
    }
    const graph::ArgList list(n.args, tensor, number);
    std::vector<Tensor> made;
    call(*n.op, list.args(), made);
    for (size_t r = 0; r < std::min(made.size(), n.results.size()); ++r) tensors_[n.results[r]] = std::move(made[r]);
  }

 private:
  const graph::Graph& graph_;
  std::vector<Tensor> tensors_;
  std::vector<Scalar> numbers_;
  std::vector<bool> is_number_;
};

/// A tensor of zeros that has these sizes; its elements share one place.
Tensor stand_in(const graph::ValueMeta& meta) {
  return (*find_op("expand"))((*find_op("full"))(Dims{}, 0.0, meta.dtype), meta.sizes);
}

size_t trace_tensors(const Trace& trace) {
  return static_cast<size_t>(std::count_if(trace.inputs.begin(), trace.inputs.end(),
                                           [](const TraceInput& in) { return in.kind == TraceInput::Kind::Tensor; }));
}

/// While it lives the bytes of a storage may be read without doing first what has been put off, which only reads them.
class Reading {
 public:
  explicit Reading(const Tensor& t) : storage_(t->storage), by_(storage_->deferral()), ticket_(storage_->ticket()) {
    if (by_) storage_->defer_to(nullptr, 0);
  }
  ~Reading() {
    if (by_) storage_->defer_to(by_, ticket_);
  }
  Reading(const Reading&) = delete;

 private:
  const Ref<Storage> storage_;
  Deferral* const by_;
  const uint32_t ticket_;
};

/// By input of the graph: the outputs whose tangents its gradient is made of.
std::vector<std::vector<uint32_t>> flow_of(const Joint& joint, size_t inputs) {
  std::vector<std::vector<uint32_t>> flow(inputs);
  for (const JointOutput& o : joint.outputs) {
    if (!o.is_gradient()) continue;
    const uint32_t of = o.kind == JointOutput::Kind::LookedUp ? joint.look_ups[o.index].table : o.index;
    for (uint32_t tangent : o.tangents)
      flow[joint.inputs[of].index].push_back(joint.outputs[joint.inputs[tangent].index].index);
  }
  return flow;
}

}  // namespace

DeferredGraph::DeferredGraph(const Trace& trace, std::shared_ptr<const std::vector<TraceInput>> inputs) {
  for (const graph::TraceRecord& r : trace.records) {
    if (!only_computes(r)) refuse("does more than compute");
    const auto* called = std::get_if<graph::CallRecord>(&r.what);
    // A detached result has the memory of one with a history: the graph doesn't tell them apart.
    if (called && called->op->is(kView) && called->op->is(kNoGradient)) refuse("detaches tensors from their histories");
  }
  graph::BuildRequest request;
  request.joint = false;
  request.histories = true;
  request.inputs = inputs;
  wanted_.look_ups = true;
  Program program = graph::build(trace, request);
  take_inputs(program, trace.modes.enabled && !trace.modes.inference, inputs ? *inputs : trace.inputs);
  take_draws(program.graph, trace_tensors(trace));
  require_pure(program);
  take_results(program, trace.modes.inference);
  Path path;
  path.body = std::move(program.graph);
  path.body.name = trace.name;
  path.slots.assign(path.body.values.size(), kNoSlot);
  for (uint32_t i = 0; i < inputs_.size(); ++i) path.slots[path.body.inputs[i]] = i;
  path.used_slots = static_cast<uint32_t>(inputs_.size());
  of_.id = 0;
  of_.name = trace.name;
  of_.paths.push_back(std::move(path));
  find_histories();
  find_checks();
}

void DeferredGraph::take_inputs(const Program& program, bool grad_enabled, const std::vector<TraceInput>& inputs) {
  std::vector<const TraceInput*> tensors;
  for (const TraceInput& in : inputs)
    if (in.kind == TraceInput::Kind::Tensor) tensors.push_back(&in);
  std::vector<char> bound(tensors.size(), false);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const graph::InputBinding& in = program.inputs[i];
    const graph::ValueMeta& meta = program.graph.meta(program.graph.inputs[i]);
    if (in.kind == graph::InputBinding::Kind::Scalar) {
      inputs_.push_back({false, false, in.index, false, meta});
      wanted_.inputs.push_back(false);
      continue;
    }
    const TraceInput& given = *tensors[in.index];
    const bool alone = !std::exchange(bound[in.index], true) && in.strides == given.strides &&
                       meta.sizes == given.meta.sizes && (in.own_offset || in.offset == given.offset);
    if (!alone) refuse("has inputs that share their memory");
    if (!takes(meta.dtype)) refuse("computes in another dtype than float32 and float64");
    if (!meta.device.is_cpu()) refuse("runs on another device than the CPU");
    const bool requires_grad = given.requires_grad && grad_enabled;
    inputs_.push_back({true, false, in.index, requires_grad, meta});
    wanted_.inputs.push_back(requires_grad);
  }
  if (std::find(bound.begin(), bound.end(), false) != bound.end()) refuse("has inputs that share their memory");
}

/// What a node draws becomes an input, unless operands' elements decide about it.
void DeferredGraph::take_draws(graph::Graph& g, size_t tensors) {
  std::vector<Node> others;
  for (Node& n : g.nodes) {
    if (!n.is_op(kRandom)) {
      others.push_back(std::move(n));
      continue;
    }
    if (!n.op->is(kDrawsBySizes)) refuse("draws numbers that depend on what tensors hold");
    const graph::ValueMeta& meta = g.meta(n.results[0]);
    if (!takes(meta.dtype)) refuse("draws numbers of another dtype than float32 and float64");
    g.inputs.push_back(n.results[0]);
    inputs_.push_back({true, true, static_cast<uint32_t>(tensors + draws_.size()), false, meta});
    wanted_.inputs.push_back(false);
    graph::for_each_use(n, [&](ValueId id) {
      if (g.meta(id).is_tensor()) drawn_like_.emplace_back(id, stand_in(g.meta(id)));
    });
    draws_.push_back(std::move(n));
  }
  g.nodes = std::move(others);
}

void DeferredGraph::take_results(const Program& program, bool inference) {
  const graph::Graph& g = program.graph;
  for (ValueId id : g.outputs) {
    const graph::ValueMeta& meta = g.meta(id);
    if (!meta.is_tensor()) refuse("gives numbers that tensors hold");
    if (!takes(meta.dtype)) refuse("computes in another dtype than float32 and float64");
    outputs_.push_back({{meta.dtype, meta.sizes, false, meta.device}, contiguous_strides(meta.sizes), meta.bytes()});
  }
  std::vector<char> given(outputs_.size(), false);
  for (const graph::ResultSpec& r : program.results) {
    if (r.kind == graph::ResultSpec::Kind::Known) {
      results_.push_back({Result::Kind::Number, 0, r.known});
      continue;
    }
    if (r.kind != graph::ResultSpec::Kind::Tensor) refuse("gives something other than tensors");
    const TensorSpec& spec = program.tensors[r.index];
    if (spec.source == TensorSpec::Source::Input) {
      results_.push_back({Result::Kind::Input, spec.index});
      continue;
    }
    // One shape or another: it shows all of its memory, element by element.
    Output* const output = spec.source == TensorSpec::Source::Fresh ? &outputs_[spec.index] : nullptr;
    const bool plain = output && spec.offset == 0 && spec.versions == 0 && spec.looped.empty() && spec.apart < 0 &&
                       !spec.view && !spec.spent && !spec.retains_grad && !spec.leaf_requires_grad &&
                       spec.is_inference == inference && spec.dtype == output->meta.dtype &&
                       spec.strides == contiguous_strides(spec.sizes) &&
                       checked_numel(spec.sizes) == checked_numel(output->meta.sizes);
    if (!plain || std::exchange(given[spec.index], true)) refuse("gives tensors that aren't simply new ones");
    Output& shown = *output;
    shown.meta.sizes = spec.sizes;
    shown.strides = spec.strides;
    results_.push_back({Result::Kind::Made, spec.index});
  }
}

/// Of the outputs, as the tape says when the graph is played on it.
void DeferredGraph::find_histories() {
  if (!wanted_.any()) return;
  of_.inputs.clear();
  for (uint32_t i = 0; i < inputs_.size(); ++i)
    of_.inputs.push_back({inputs_[i].is_tensor ? InputKind::Shared : InputKind::Host, i});
  const Joint joint = build_joint(nullptr, of_, of_.paths[0], wanted_, 0);
  for (const JointInput& in : joint.inputs)
    if (in.kind == JointInput::Kind::Tangent) outputs_[joint.outputs[in.index].index].requires_grad = true;
  if (std::none_of(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.requires_grad; }))
    wanted_.inputs.assign(wanted_.inputs.size(), false);
}

DeferredGraph::Compiled& DeferredGraph::compiled(const Kinds& kinds) {
  std::unique_ptr<Compiled>& made = compiled_[kinds];
  if (made) return *made;
  of_.inputs.clear();
  for (uint32_t i = 0; i < kinds.size(); ++i) of_.inputs.push_back({kinds[i], i});
  made = std::make_unique<Compiled>(Compiled{stage_path(nullptr, of_, of_.paths[0], wanted_, true), {}, 0});
  made->flow = flow_of(made->path.joint, kinds.size());
  return *made;
}

std::vector<Tensor> DeferredGraph::play(std::span<const Tensor> tensors, std::span<const Scalar> numbers) const {
  const graph::Graph& g = of_.paths[0].body;
  Player player(g);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_tensor)
      player.set(g.inputs[i], tensors[inputs_[i].number]);
    else
      player.set(g.inputs[i], numbers[inputs_[i].number]);
  }
  for (const Node& n : g.nodes) player.play(n);
  std::vector<Tensor> made;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const Tensor& t = player.tensor(g.outputs[o]);
    const Dims& sizes = outputs_[o].meta.sizes;
    made.push_back(t.sizes() == sizes ? t : (*find_op("reshape"))(t, sizes));
  }
  return made;
}

std::vector<Tensor> DeferredGraph::draw(std::span<const Scalar> numbers) const {
  const graph::Graph& g = of_.paths[0].body;
  const GradMode off(false);
  Player player(g);
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (!inputs_[i].is_tensor) player.set(g.inputs[i], numbers[inputs_[i].number]);
  for (const auto& [id, like] : drawn_like_) player.set(id, like);
  std::vector<Tensor> drawn;
  for (const Node& n : draws_) {
    player.play(n);
    drawn.push_back(player.tensor(n.results[0]));
  }
  return drawn;
}

// ---- values that ops refuse --------------------------------------------------------------------------------------

void DeferredGraph::find_checks() {
  const graph::Graph& g = of_.paths[0].body;
  const std::vector<int32_t> definitions = graph::definitions(g);
  constexpr uint32_t kNoInput = ~0u;
  const auto input_of = [&](ValueId id) {
    const auto at = std::find(g.inputs.begin(), g.inputs.end(), id);
    return at == g.inputs.end() ? kNoInput : static_cast<uint32_t>(at - g.inputs.begin());
  };
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (!g.nodes[n].is_op(kChecksValues)) continue;
    Check check;
    std::vector<char> taken(g.values.size(), false), node(g.nodes.size(), false);
    const auto take = [&](auto&& self, ValueId id) -> void {
      if (std::exchange(taken[id], true)) return;
      const int32_t at = definitions[id];
      if (at >= 0) {
        node[static_cast<size_t>(at)] = true;
        graph::for_each_use(g.nodes[static_cast<size_t>(at)], [&](ValueId use) { self(self, use); });
        return;
      }
      const uint32_t input = input_of(id);
      if (input == kNoInput) return;
      if (inputs_[input].is_drawn) refuse("looks for values that it refuses among drawn ones");
      check.inputs.push_back(input);
      check.by_numbers = check.by_numbers && !inputs_[input].is_tensor;
    };
    graph::for_each_use(g.nodes[n], [&](ValueId id) {
      const graph::ValueMeta& meta = g.meta(id);
      // What is refused are indices; a table that is an input is there to be asked.
      const bool decides = !meta.is_tensor() || !is_inexact(meta.dtype);
      if (decides) return take(take, id);
      if (input_of(id) != kNoInput && meta.numel() > kMostZeros) {
        if (!std::exchange(taken[id], true)) check.inputs.push_back(input_of(id));
        return;
      }
      if (meta.numel() > kMostZeros) refuse("looks for values that it refuses in a large tensor");
      check.any.emplace_back(id, stand_in(meta));
    });
    for (uint32_t m = 0; m < n; ++m)
      if (node[m]) check.nodes.push_back(m);
    check.nodes.push_back(n);
    checks_.push_back(std::move(check));
  }
}

/// The numbers among a check's inputs, as bytes. Tables are its other ones.
std::string DeferredGraph::key_of(const Check& check, std::span<const Scalar> numbers) const {
  std::string key;
  for (uint32_t i : check.inputs) {
    if (inputs_[i].is_tensor) continue;
    const Scalar& number = numbers[inputs_[i].number];
    const uint64_t bits =
        number.is_float() ? std::bit_cast<uint64_t>(number.to_double()) : static_cast<uint64_t>(number.to_int());
    key.push_back(static_cast<char>(number.kind()));
    key.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  }
  return key;
}

bool DeferredGraph::check_values(LentTensors tensors, std::span<const Scalar> numbers) {
  const graph::Graph& g = of_.paths[0].body;
  for (Check& check : checks_) {
    std::string key = check.by_numbers ? key_of(check, numbers) : std::string();
    if (check.admitted.contains(key)) continue;
    const GradMode off(false);
    Player player(g);
    std::vector<std::unique_ptr<const Reading>> reading;
    for (uint32_t i : check.inputs) {
      if (!inputs_[i].is_tensor) {
        player.set(g.inputs[i], numbers[inputs_[i].number]);
        continue;
      }
      if (DeferredQueue::is_to_be_made(*tensors[inputs_[i].number])) return false;
      const Tensor t = kept(tensors[inputs_[i].number]);
      player.set(g.inputs[i], t);
      reading.push_back(std::make_unique<Reading>(t));
    }
    for (const auto& [id, zeros] : check.any) player.set(id, zeros);
    for (uint32_t n : check.nodes) player.play(g.nodes[n]);
    if (!check.by_numbers) continue;
    if (check.admitted.size() >= kMostAdmitted) check.admitted.clear();
    check.admitted.insert(std::move(key));
  }
  return true;
}

std::string DeferredGraph::why_one_by_one() const {
  for (const auto& [kinds, compiled] : compiled_)
    if (!compiled->path.why_one_by_one.empty()) return compiled->path.why_one_by_one;
  return {};
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

/// True: they are those of the last run.
bool DeferredGraphs::read_key(LentTensors tensors, std::span<const Scalar> numbers) {
  std::vector<int64_t> key;
  size_t tensor = 0, number = 0;
  for (const TraceInput& in : trace_.inputs) {
    if (in.kind == TraceInput::Kind::Scalar) {
      const Scalar& value = numbers[number++];
      if (!in.structural) continue;
      key.push_back(static_cast<int64_t>(value.kind()));
      key.push_back(value.is_float() ? std::bit_cast<int64_t>(value.to_double()) : value.to_int());
      continue;
    }
    const TensorImpl& t = *tensors[tensor++];
    if (!in.free_sizes) continue;
    key.insert(key.end(), t.sizes.begin(), t.sizes.end());
    key.insert(key.end(), t.strides.begin(), t.strides.end());
  }
  const bool same = made_any_ && key == key_;
  key_ = std::move(key);
  return same;
}

const std::shared_ptr<DeferredGraph>& DeferredGraphs::of(LentTensors tensors, std::span<const Scalar> numbers) {
  static const std::shared_ptr<DeferredGraph> none;
  if (read_key(tensors, numbers)) return *last_;
  auto [at, fresh] = made_.try_emplace(key_);
  last_ = &at->second;
  made_any_ = true;
  if (!fresh) return *last_;
  if (made_.size() > kMost) {
    made_.clear();
    made_any_ = false;
    return none;
  }
  std::shared_ptr<std::vector<TraceInput>> given;
  if (!key_.empty()) {
    given = std::make_shared<std::vector<TraceInput>>(trace_.inputs);
    size_t tensor = 0, number = 0;
    for (TraceInput& in : *given) {
      if (in.kind == TraceInput::Kind::Scalar) {
        if (in.structural) in.value = numbers[number];
        ++number;
        continue;
      }
      const TensorImpl& t = *tensors[tensor++];
      if (!in.free_sizes) continue;
      in.meta.sizes = t.sizes;
      in.strides = t.strides;
      in.offset = t.offset;
    }
  }
  try {
    at->second = std::make_shared<DeferredGraph>(trace_, std::move(given));
  } catch (const Unbatchable& e) {
    if (refusal_.empty()) refusal_ = e.why;
  } catch (const std::exception& e) {  // the run itself will say so
    if (refusal_.empty()) refusal_ = e.what();
  }
  return *last_;
}

std::string DeferredGraphs::summary() const {
  uint64_t calls = 0, batches = 0;
  std::string why = refusal_;
  for (const auto& [key, graph] : made_) {
    if (!graph) continue;
    calls += graph->calls;
    batches += graph->batches;
    if (why.empty()) why = graph->why_one_by_one();
  }
  if (calls == 0) return why.empty() ? why : "its runs are not put off: " + why;
  return fmt::format("{} runs were put off, and ran in {} batches{}", calls, batches,
                     why.empty() ? why : ", some one at a time: " + why);
}

}  // namespace terra::recursive
