#include "graph/cache/pair_node.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/sparse_gradients.h"
#include "engine/autograd/spent_node.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/transfer.h"
#include "graph/cache/call_by_call.h"
#include "graph/cache/pair.h"
#include "graph/cache/run.h"
#include "graph/gradient/fold.h"
#include "graph/gradient/undefined.h"
#include "graph/trace/elements.h"
#include "kernels/abi/exact_mode.h"

namespace terra::graph {
namespace {

/// Starts its storage and has its elements in order.
Tensor compact(const Tensor& t) {
  static const Op* clone = find_op("clone");
  return t.is_contiguous() && t->offset == 0 ? t : (*clone)(t, "contiguous_format");
}

/// The generators of a program as they were at another time, while this lives.
class RandomPast {
 public:
  RandomPast(const std::vector<Generator*>& generators, const std::vector<RandomState>& states) {
    for (size_t i = 0; i < generators.size(); ++i) {
      Generator& g = generators[i] ? *generators[i] : default_generator();
      present_.emplace_back(&g, g.state());
      g.set_state(states[i]);
    }
  }
  ~RandomPast() {
    for (auto& [generator, state] : present_) generator->set_state(state);
  }
  RandomPast(const RandomPast&) = delete;

 private:
  std::vector<std::pair<Generator*, RandomState>> present_;
};

/// Has a history, and is nothing else.
Tensor history_alone(const autograd::Edge& edge) {
  Tensor t = Tensor::view_of(Storage::allocate(0), DType::F32, Dims{0}, Dims{1}, 0);
  autograd::set_history(t, edge.node, edge.index);
  return t;
}

/// What an input of a region may have been.
Tensor zeros(const TraceInput& in) {
  static const Op* full = find_op("full");
  const auto [first, end] = extent(in);
  const DeviceScope scope(in.meta.device);
  const Tensor memory = (*full)(Dims{end - first}, 0.0, in.meta.dtype);
  return Tensor::view_of(memory->storage, in.meta.dtype, in.meta.sizes, in.strides, 0);
}

Choice defined(const std::vector<Tensor>& grads) {
  Choice given;
  for (const Tensor& g : grads) given.push_back(g.defined());
  return given;
}

/// Changes what is most significant in the first element of each.
void spoil(const std::vector<Tensor>& gradients) {
  for (const Tensor& g : gradients) {
    if (!g.defined() || !g.numel()) continue;
    const size_t size = size_of(g.dtype());
    change_on_host(g.device(), g->data(), size,
                   [size](void* element) { static_cast<unsigned char*>(element)[size - 1] ^= 0x40; });
  }
}

}  // namespace

RunPast::RunPast(std::span<const Scalar> s, const Program& p, const std::vector<uint32_t>& saved_inputs)
    : scalars(s.begin(), s.end()), saved_inputs_(saved_inputs) {
  for (Generator* g : p.generators) random.push_back((g ? *g : default_generator()).state());
}

void RunPast::keep_inputs(const std::vector<Tensor>& given) {
  inputs.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const Tensor& t = wrote(i) ? old[i] : given[i];
    inputs.emplace_back(t, t->storage->writes());
  }
  epoch_ = tensor_epoch;
}

void RunPast::leave_inputs() {
  if (--parts > 0) return;
  for (Input& in : inputs) in.tensor.forget();
  old.clear();
}

void RunPast::keep_written(const std::vector<Tensor>& given, const Program& p) {
  if (p.writes.empty()) return;
  old.resize(given.size());
  std::map<Storage*, Ref<Storage>> copies;
  for (const StorageWrite& w : p.writes) {
    Storage* storage = given[p.inputs[w.input].index]->storage.get();
    Ref<Storage>& copy = copies[storage];
    if (copy) continue;
    copy = Storage::copied(*storage);
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const TensorImpl& t = *given[i];
    const auto copy = copies.find(t.storage.get());
    if (copy == copies.end()) continue;
    old[i] = Tensor::view_of(copy->second, t.dtype, t.sizes, t.strides, t.offset);
    if (!t.requires_grad()) continue;
    writes_views = writes_views || (t.autograd && t.autograd->is_view);
    const autograd::Edge edge = autograd::gradient_edge(given[i]);
    autograd::set_history(old[i], edge.node, edge.index);
  }
}

// ---- gradients ----

PairNode::PairNode(std::shared_ptr<PairPrograms> shared, Halves& halves, uint32_t part, const Choice& choice,
                   std::shared_ptr<RunPast> past)
    : shared_(std::move(shared)),
      halves_(halves),
      part_(part),
      backward_(halves.backward(part)),
      spent_(saving().size(), false),
      past_(std::move(past)) {
  if (part_ == PairParts::kAll) parted_.emplace();
  ++past_->parts;
  results = static_cast<uint32_t>(roots().size());
  for (uint32_t k : roots()) choice_.push_back(choice[k]);
}

void PairNode::save(const std::vector<Tensor>& inputs, const Runner::Made& made) {
  const Runner& forward = halves_.forward;
  saved_.reserve(backward_.saved.size());
  for (uint32_t number : backward_.saved) {
    const SavedValue& s = halves_.saved[number];
    switch (s.kind) {
      case SavedValue::Kind::Input: saved_.emplace_back(inputs[forward.program().inputs[s.index].index], false); break;
      case SavedValue::Kind::Fresh: {
        const ValueMeta& m = forward.graph().meta(forward.graph().outputs[s.index]);
        saved_.emplace_back(Tensor::view_of(made.storages[s.index], m.dtype, m.sizes, contiguous_strides(m.sizes), 0));
        break;
      }
      case SavedValue::Kind::ScalarInput: saved_scalars_.push_back(forward.scalar_input(s.index)); break;
      case SavedValue::Kind::ScalarOutput: saved_scalars_.push_back(forward.scalar_output(s.index)); break;
    }
  }
  size_t memory = 0;
  for (const SavingCalls& calls : saving()) memory += calls.memory.size();
  watched_.reserve(memory);
  for (uint32_t c = 0; c < saving().size(); ++c) {
    for (const SavedMemory& m : saving()[c].memory) {
      const Ref<Storage>& storage = m.kind == SavedMemory::Kind::Input   ? inputs[m.index]->storage
                                    : m.kind == SavedMemory::Kind::Fresh ? made.storages[m.index]
                                                                         : made.apart[m.index].first;
      watched_.push_back({storage, storage->version(), c, &m});
    }
  }
}

std::vector<Tensor> PairNode::apply(const std::vector<Tensor>& grads) {
  const Choice given = defined(grads);
  last_ = given;
  if (unfolded_) {
    require_unmodified(given);
    return grads;
  }
  if (!arrives(given)) return std::vector<Tensor>(edges.size());
  require_unspent(given);
  require_unmodified(given);
  if (grad_enabled()) return apply_again(grads, given);
  expect(given);
  if (given != choice_ && !is_saved_for(given)) return apply_again(grads, given);
  Runner& backward = given == choice_ ? backward_.runner() : backward_.runner_where_given(numbers_of(given));
  std::vector<Tensor> out(edges.size());
  if (backward.program().gradients.empty()) return out;
  if (past_->is_any_saved_moved()) {
    if (part_ == PairParts::kAll) return apply_parts(grads);
    if (std::optional<std::vector<Tensor>> made = apply_calls(grads)) return *std::move(made);
  }
  std::vector<Tensor> tangents(shared_->parts.roots.size());
  for (size_t k = 0; k < grads.size(); ++k)
    if (given[k]) tangents[roots()[k]] = compact(grads[k]);
  Runner::Made made;
  if (!run_backward(backward, given, tangents, made)) return apply_again(grads, given);
  if (given != choice_ && !are_finite(made.tensors)) return apply_again(grads, given);
  const std::vector<uint32_t> edge_of = edges_of(backward.program().gradients);
  for (size_t j = 0; j < edge_of.size(); ++j) out[edge_of[j]] = std::move(made.tensors[j]);
  if (spoils_gradients()) [[unlikely]]
    spoil(out);
  return out;
}

/// Of later runs. Those that will be passed as batches may lack some of the gradients that they are prepared for.
void PairNode::expect(const Choice& given) { shared_->expect(part_, given, backward_.batch->is_busy()); }

std::vector<uint32_t> PairNode::edges_of(const std::vector<Program::Gradient>& gradients) const {
  std::vector<uint32_t> next = first_edges(), found;
  for (const Program::Gradient& g : gradients) {
    ensure(next[g.target] < first_edges()[g.target + 1], "more gradients of an input than with all results in use");
    found.push_back(next[g.target]++);
  }
  return found;
}

std::vector<uint32_t> PairNode::numbers_of(const Choice& given) const {
  std::vector<uint32_t> numbers;
  for (size_t k = 0; k < given.size(); ++k)
    if (given[k]) numbers.push_back(roots()[k]);
  return numbers;
}

bool PairNode::join_batch(const std::vector<Tensor>& grads, std::vector<Tensor>& inputs) {
  const Program& backward = backward_.program;
  static const Op* full = find_op("full");
  const Choice given = defined(grads);
  if (!is_saved_for(given) || unfolded_ || consumed_ || !arrives(given) || spoils_gradients()) return false;
  const auto was_written = [](const autograd::SavedTensor& t) { return t.was_written(); };
  if (past_->is_any_saved_moved() || std::any_of(saved_.begin(), saved_.end(), was_written)) return false;
  last_ = given;
  require_unspent(given);
  require_unmodified(given);
  expect(given);
  const Ref<Node> self(this);
  for (size_t i = 0; i < backward.inputs.size(); ++i) {
    const InputBinding& in = backward.inputs[i];
    const ValueMeta& meta = backward.graph.meta(backward.graph.inputs[i]);
    switch (in.kind) {
      case InputBinding::Kind::Tensor: {
        const Tensor t = saved_[in.index].unpack(self);
        const int64_t offset = in.own_offset ? t->offset : in.offset;
        const bool is_it =
            t.dtype() == meta.dtype && t.sizes() == meta.sizes && t.strides() == in.strides && t->offset == offset;
        inputs.push_back(is_it ? t : Tensor::view_of(t->storage, meta.dtype, meta.sizes, in.strides, offset));
        break;
      }
      case InputBinding::Kind::Scalar:
        inputs.push_back((*full)(Dims{}, saved_scalars_[in.index], Scalar::dtype_of(meta.scalar)));
        break;
      case InputBinding::Kind::Tangent: {
        const auto k = static_cast<size_t>(std::find(roots().begin(), roots().end(), in.index) - roots().begin());
        inputs.push_back(grads[k]);
        break;
      }
    }
  }
  return true;
}

bool PairNode::is_saved_for(const Choice& given) const {
  for (size_t k = 0; k < given.size(); ++k)
    if (given[k] && !choice_[k]) return false;
  return !exact_mode() || past_->is_any_written();
}

void PairNode::select(const std::vector<bool>* wanted) {
  wanted_.clear();
  if (unfolded_) return;
  for (size_t j = 0; wanted && j + 1 < first_edges().size(); ++j) wanted_.push_back((*wanted)[first_edges()[j]]);
}

std::vector<uint32_t> PairNode::turns() const {
  if (unfolded_ || ways().calls_before.empty()) return {};
  std::vector<uint32_t> turns(edges.size(), 0);
  for (size_t k = 0; k < last_.size(); ++k) {
    if (!last_[k]) continue;
    for (size_t j = 0; j + 1 < first_edges().size(); ++j)
      for (uint32_t e = first_edges()[j]; e < first_edges()[j + 1]; ++e)
        turns[e] = std::max(turns[e], ways().calls_before[k][j]);
  }
  return turns;
}

std::vector<bool> PairNode::lead_to(const std::vector<bool>& edges_wanted) const {
  if (is_replaced()) return FoldedNode::lead_to(edges_wanted);
  std::vector<bool> targets, by_root;
  for (size_t j = 0; j + 1 < first_edges().size(); ++j) {
    const auto edge = [&](size_t target) { return edges_wanted.begin() + first_edges()[target]; };
    targets.push_back(std::find(edge(j), edge(j + 1), true) != edge(j + 1));
  }
  for (size_t k = 0; k < results; ++k) by_root.push_back(meet(ways().leads[k], targets));
  return by_root;
}

void PairNode::release_saved() {
  const std::vector<bool> spent = spent_after(last_);
  std::erase_if(watched_, [&](const Watched& w) { return spent[w.call]; });
  spent_ = spent;
  selected_ = selected_ || !wanted_.empty();
  if (unfolded_ || !released() || !all_useless(spent_, selected_)) return;
  freed_ = true;
  saved_.clear();
  leave_inputs();
}

std::vector<bool> PairNode::spent_after(const Choice& given) const {
  std::vector<bool> spent = spent_;
  for (size_t c = 0; c < spent.size(); ++c) spent[c] = spent[c] || passes(saving()[c], given);
  return spent;
}

bool PairNode::all_useless(const std::vector<bool>& spent_calls, bool selected) const {
  for (size_t k = 0; k < roots().size(); ++k) {
    size_t calls = 0, spent = 0;
    for (size_t c = 0; c < spent_calls.size(); ++c) {
      if (!saving()[c].roots[k]) continue;
      ++calls;
      spent += spent_calls[c];
    }
    if (selected ? calls == 0 || spent < calls : spent == 0) return false;
  }
  return true;
}

void PairNode::require_unspent(const Choice& given) const {
  if (freed_) autograd::fail_spent();
  for (size_t c = 0; c < spent_.size(); ++c)
    if (spent_[c] && passes(saving()[c], given)) autograd::fail_spent();
}

void PairNode::require_unmodified(const Choice& given) const {
  for (const Watched& w : watched_)
    if (w.storage->version() != w.version && passes(saving()[w.call], given)) fail_modified(w);
}

void PairNode::fail_modified(const Watched& w) const {
  const std::vector<GradientTarget>& targets = part().targets;
  autograd::Edge maker;
  if (!w.what->maker.empty()) maker = {Ref<Node>(new autograd::SpentNode(w.what->maker)), w.what->place};
  const bool came_in = w.what->maker.empty() && w.what->kind == SavedMemory::Kind::Input;
  for (size_t j = 0; j < targets.size() && came_in && !unfolded_; ++j)  // the edges are those of the targets
    if (targets[j].kind == GradientTarget::Kind::Input && targets[j].index == w.what->index) maker = edge_to(j);
  autograd::fail_modified(w.what->meta, maker, w.storage->version(), w.version);
}

bool PairNode::is_last_pass(const Choice& given) const {
  return autograd::pass_frees() && all_useless(spent_after(given), selected_ || !wanted_.empty());
}

bool PairNode::run_backward(Runner& backward, const Choice& given, std::span<const Tensor> tangents,
                            Runner::Made& made) {
  struct NothingElse final : Release {
    void hold() override {}
    bool stands() override { return true; }
  } release;
  const Ref<Node> self(this);
  for (Release* releases = &release;;) {
    require_unspent(given);
    if (consumed_) return false;
    std::vector<Tensor> tensors;
    const bool may_be_moved = past_->is_any_saved_moved();
    for (uint32_t i = 0; i < saved_.size(); ++i) {  // what no gradient needs may have been written
      const bool needed = backward.reads(i) || saved_[i].is_packed();
      if (may_be_moved && needed && saved_[i].was_moved()) return false;
      tensors.push_back(needed ? saved_[i].unpack(self) : saved_[i].unchecked());
    }
    if (is_last_pass(given)) {
      made.consumes = consumed_ = true;
      saved_.clear();
    }
    switch (backward.run(lend(tensors), saved_scalars_, tangents, nullptr, nullptr, made, releases).status) {
      case RunStatus::Done: return true;
      case RunStatus::UnderWay:  // it hasn't begun
        if (std::exchange(consumed_, false))
          for (const Tensor& t : tensors) saved_.emplace_back(t, false);
        await_landing();
        break;
      case RunStatus::Overtaken: releases = nullptr; break;
      default: return false;
    }
    made.clear();
  }
}

autograd::Edge PairNode::edge_of_root(uint32_t k) {
  ResultNode* const result = k < results_of_.size() ? results_of_[k] : nullptr;
  return result ? autograd::Edge{Ref<Node>(result), 0} : autograd::Edge{Ref<Node>(this), k};
}

std::vector<Tensor> PairNode::apply_again(const std::vector<Tensor>& grads, const Choice& given) {
  if (part_ == PairParts::kAll) return apply_parts(grads);
  if (past_->is_any_written())
    if (std::optional<std::vector<Tensor>> made = apply_calls(grads)) return *std::move(made);
  Tangents step{given, Choice(given.size(), false), first_edges()};
  for (size_t k = 0; k < grads.size(); ++k)
    step.require_grad[k] = grad_enabled() && given[k] && grads[k].requires_grad();
  Compiled& again = shared_->derivative(part_, step, grad_enabled());
  const Ref<Node> self(this);
  std::vector<Tensor> tensors;
  for (uint32_t i = 0; i < past_->inputs.size(); ++i) {
    tensors.push_back(past_->wrote(i)  ? past_->old[i]
                      : again.reads(i) ? past_->inputs[i].tensor.unpack(self)
                                       : past_->inputs[i].tensor.unchecked());
    if (again.reads(i) && past_->is_written(i)) autograd::fail_modified_apart({tensors[i].dtype(), tensors[i].sizes()});
  }
  const std::vector<GradientTarget>& targets = part().targets;
  for (size_t j = 0; j < targets.size(); ++j)
    if (targets[j].kind != GradientTarget::Kind::Input) tensors.push_back(history_alone(edge_to(j)));
  for (uint32_t k = 0; k < results; ++k) tensors.push_back(history_alone(edge_of_root(k)));
  for (size_t k = 0; k < grads.size(); ++k)
    if (given[k]) tensors.push_back(compact(grads[k]));
  std::vector<RunOutput> outputs;
  const RandomPast past(halves_.forward.program().generators, past_->random);
  const UninterruptedRun uninterrupted;
  if (again.run(lend(tensors), past_->scalars, nullptr, outputs).status != RunStatus::Done)
    throw InternalError(fmt::format("the gradient of '{}' went another way than its forward", shared_->trace->name));
  std::vector<Tensor> out;
  for (RunOutput& g : outputs) out.push_back(std::get<Tensor>(std::move(g)));
  return out;
}

std::optional<std::vector<Tensor>> PairNode::apply_calls(const std::vector<Tensor>& grads) const {
  if (!is_repeatable_part()) return {};
  const std::optional<std::vector<autograd::Edge>> own = call_again();
  if (!own) return {};
  std::vector<Tensor> from, tangents;
  for (size_t k = 0; k < grads.size(); ++k) {
    if (!grads[k].defined()) continue;
    tangents.push_back(grads[k]);
    autograd::set_history(from.emplace_back(grads[k].alias()), (*own)[k].node, (*own)[k].index);
  }
  std::set<std::pair<const Node*, uint32_t>> asked;  // a pass says once what comes to an edge
  std::vector<autograd::Edge> ends;
  std::vector<uint32_t> edge_of;
  for (size_t j = 0; j < part().targets.size(); ++j) {
    const autograd::Edge& e = edge_to(j);
    if (!e.node || !(wanted_.empty() || wanted_[j])) continue;
    if (!asked.emplace(e.node.get(), e.index).second) continue;
    ends.push_back(e);
    edge_of.push_back(first_edges()[j]);
  }
  std::vector<Tensor> found = autograd::gradients_at(from, tangents, ends, grad_enabled(), grad_enabled());
  std::vector<Tensor> made(edges.size());
  for (size_t i = 0; i < found.size(); ++i) made[edge_of[i]] = std::move(found[i]);
  return made;
}

// ---- part by part ----

std::vector<Ref<PairNode>> PairNode::nodes_of_parts() const {
  const PairParts& parts = shared_->parts;
  Choice choice(parts.roots.size(), false);
  for (size_t k = 0; k < choice_.size(); ++k) choice[roots()[k]] = choice_[k];
  close_over(choice, parts.each);
  const auto count = static_cast<uint32_t>(parts.each.size());
  std::vector<Ref<PairNode>> nodes;
  uint32_t calls = 0;
  for (uint32_t p = 0; p < count; ++p) {
    PairNode& node = *nodes.emplace_back(new PairNode(shared_, halves_, p, choice, past_));
    node.take_places_of(*this, p, count);
    node.lead([&](const GradientTarget& target) {
      if (target.kind != GradientTarget::Kind::Root) return edges[target_of(part(), target)];
      const ProgramRoot& to = parts.roots[target.index];
      return autograd::Edge{Ref<Node>(nodes[to.part].get()), to.place};
    });
    const auto end = static_cast<uint32_t>(calls + node.saving().size());
    node.spent_.assign(spent_.begin() + calls, spent_.begin() + end);
    for (const Watched& w : watched_)
      if (w.call >= calls && w.call < end) node.watched_.push_back({w.storage, w.version, w.call - calls, w.what});
    calls = end;
    node.selected_ = selected_;
    node.freed_ = freed_;
    node.consumed_ = consumed_;
    if (!reads_inputs_) node.leave_inputs();
    node.share_saved(*this);
  }
  return nodes;
}

void PairNode::share_saved(const PairNode& all) {
  if (all.saved_.empty() && all.saved_scalars_.empty()) return;
  std::vector<size_t> place;  // of a saved value among those of its kind
  size_t tensors = 0, scalars = 0;
  const auto is_tensor = [](const SavedValue& s) {
    return s.kind == SavedValue::Kind::Input || s.kind == SavedValue::Kind::Fresh;
  };
  for (const SavedValue& s : halves_.saved) place.push_back(is_tensor(s) ? tensors++ : scalars++);
  for (const uint32_t number : backward_.saved) {
    if (!is_tensor(halves_.saved[number]))
      saved_scalars_.push_back(all.saved_scalars_[place[number]]);
    else if (!all.saved_.empty())
      saved_.push_back(all.saved_[place[number]]);
  }
}

void PairNode::come_apart() {
  if (part_ != PairParts::kAll) return unfold_for_histories();
  if (!apart_.empty()) return;
  while (autograd::others_pass_whole()) await_landing();
  if (!apart_.empty()) return;  // somebody else was faster
  shared_->come_apart();
  const Ref<Node> self(this);
  apart_ = nodes_of_parts();
  std::vector<autograd::Edge> histories;
  for (uint32_t i = 0; i < results; ++i) {
    const autograd::Edge history{Ref<Node>(&part_of(i)), root(i).place};
    histories.push_back(history);
    ResultNode* const result = i < results_of_.size() ? results_of_[i] : nullptr;
    if (!result) continue;
    for (const Ref<PairNode>& part : apart_)
      for (autograd::Edge& e : part->edges)
        if (e.node == history.node && e.index == history.index) e = {Ref<Node>(result), 0};
    result->stand_before(Ref<PairNode>(&part_of(i)), root(i).place);
  }
  replace_by(std::move(histories));
  unfolded_ = true;
  saved_.clear();
  watched_.clear();
  leave_inputs();
  for (const Ref<PairNode>& part : apart_) part->come_apart();
}

std::vector<Tensor> PairNode::apply_parts(const std::vector<Tensor>& grads) const {
  const std::vector<ProgramPart>& parts = shared_->parts.each;
  const std::vector<Ref<PairNode>> nodes = nodes_of_parts();
  std::vector<std::vector<Tensor>> waiting;
  for (const ProgramPart& part : parts) waiting.emplace_back(part.roots.size());
  std::vector<Tensor> out(edges.size());
  for (uint32_t i = 0; i < results; ++i) waiting[root(i).part][root(i).place] = grads[i];
  for (size_t p = parts.size(); p-- > 0;) {
    const Choice given = defined(waiting[p]);
    if (std::find(given.begin(), given.end(), true) == given.end()) continue;
    const std::vector<Tensor> made = nodes[p]->apply(waiting[p]);
    for (size_t j = 0; j < parts[p].targets.size(); ++j) {
      const GradientTarget& target = parts[p].targets[j];
      Tensor* to = nullptr;
      if (target.kind == GradientTarget::Kind::Root) {
        const ProgramRoot& root = shared_->parts.roots[target.index];
        to = &waiting[root.part][root.place];
      } else {
        to = &out[target_of(part(), target)];
      }
      for (uint32_t e = nodes[p]->first_edges()[j]; e < nodes[p]->first_edges()[j + 1]; ++e)
        autograd::add_up(*to, made[e]);
    }
  }
  return out;
}

bool PairNode::is_repeatable_part() const {
  return shared_->request.derivatives.empty() && !past_->writes_views && is_repeatable(*shared_->trace) &&
         (!released() || (freed_ && is_settled(*shared_->trace)));
}

bool PairNode::unfold_now() {
  if (!is_repeatable_part()) return false;
  std::optional<std::vector<autograd::Edge>> own = call_again();
  if (!own) return false;
  if (freed_)
    for (Node* node : nodes_behind(*own)) node->release_saved();
  replace_by(*std::move(own));
  place_results();
  unfolded_ = true;
  saved_.clear();
  const auto is_watched_by_calls = [&](const Watched& w) {  // by those that have saved it
    return w.what->kind == SavedMemory::Kind::Input && (freed_ || !past_->wrote(w.what->index));
  };
  std::erase_if(watched_, is_watched_by_calls);
  leave_inputs();
  return true;
}

void PairNode::unfold_for_histories() {
  if (freed_ || calls_have_histories_ || !autograd::pass_begins_histories() || !past_->is_any_written()) return;
  if (!unfolded_ && !unfold_now()) return;
  calls_have_histories_ = true;
  for (uint32_t k = 0; k < results; ++k) {
    ResultNode* const result = k < results_of_.size() ? results_of_[k] : nullptr;
    if (result)
      hand_hooks(*result, 0, edges[k]);
    else if (results == 1)
      hand_hooks(*this, 0, edges[k]);
  }
}

std::optional<std::vector<autograd::Edge>> PairNode::call_again() const {
  std::map<const Storage*, Ref<Storage>> copies;  // of what the calls write
  const auto own_memory = [&](const Tensor& t, bool written) {
    if (!written) return t.alias();
    Ref<Storage>& copy = copies[t->storage.get()];
    if (!copy) copy = Storage::copied(*t->storage);
    return Tensor::view_of(copy, t.dtype(), t.sizes(), t.strides(), t->offset);
  };
  const std::vector<TraceInput>& inputs = shared_->request.inputs ? *shared_->request.inputs : shared_->trace->inputs;
  const std::vector<ProgramPart>& parts = shared_->parts.each;
  GivenAgain given{{}, past_->scalars, parts[part_].first, shared_->trace->records.size(), {}, {}};
  if (part_ + 1 < parts.size()) given.end = parts[part_ + 1].first;
  if (given.first == Trace::kInside || given.end == Trace::kInside) return {};
  const bool takes = takes_gradients(*shared_->trace);
  if (takes && parts.size() > 1) return {};  // they would pass nodes of earlier parts
  for (const TraceInput& in : inputs) {
    if (in.kind != TraceInput::Kind::Tensor) continue;
    const size_t i = given.tensors.size();
    const Tensor read = freed_ ? zeros(in) : past_->as_read(i);
    if (!read.defined()) return {};
    Tensor& t = given.tensors.emplace_back(freed_ ? read : own_memory(read, past_->wrote(i)));
    t->wrapped_number = in.meta.wrapped;
    const autograd::Edge history = past_->inputs[i].tensor.origin({});
    if (!history.node) continue;
    if (takes && history.node->is_hooked()) return {};
    autograd::set_history(t, history.node, history.index);
  }
  const std::vector<GradientTarget>& targets = parts[part_].targets;
  for (size_t j = 0; j < targets.size(); ++j) {
    if (targets[j].kind == GradientTarget::Kind::Root)
      given.histories[shared_->parts.roots[targets[j].index].tensor] = edge_to(j);
    for (const Program::FunctionResult& f : shared_->functions)
      if (targets[j].kind == GradientTarget::Kind::Function && f.spec == targets[j].index)
        given.histories[{f.value, false}] = edge_to(j);
  }
  for (const uint32_t k : roots()) given.roots.push_back(shared_->parts.roots[k].tensor);
  const ReplayTensor none;
  if (given.histories.contains(none) || std::count(given.roots.begin(), given.roots.end(), none)) return {};
  const RandomPast past(halves_.forward.program().generators, past_->random);
  const autograd::UnpackedScope unpacked;
  std::vector<autograd::Edge> own;
  try {
    own = run_call_by_call(*shared_->trace, inputs, given, freed_);
  } catch (const Error&) {
    return {};
  } catch (const InternalError&) {
    return {};
  }
  for (const autograd::Edge& edge : own)
    if (!edge.node) return {};
  return own;
}

void ResultNode::stand_before(Ref<PairNode> part, uint32_t i) {
  pair_->stand_behind(nullptr, index_);
  pair_ = std::move(part);
  index_ = i;
  pair_->stand_behind(this, i);
  hand_on_to({Ref<autograd::Node>(pair_.get()), i});
}

void PairNode::place_results() {
  for (size_t k = 0; k < results_of_.size(); ++k)
    if (results_of_[k]) results_of_[k]->hand_on_to(edges[k]);
}

}  // namespace terra::graph
