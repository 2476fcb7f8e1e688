#include "graph/cache/pair.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/saved.h"
#include "engine/autograd/spent_node.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/random/generator.h"
#include "engine/tensor/transfer.h"
#include "graph/cache/run.h"
#include "graph/gradient/partition.h"
#include "graph/ir/print.h"
#include "graph/passes/pipeline.h"

namespace terra::graph {
namespace {

/// The two halves for one choice of roots that gradients arrive for, the backward half part by part.
struct Halves {
  struct Backward {
    Backward(std::vector<uint32_t> s, Program p, const std::vector<SavedValue>& values)
        : saved(std::move(s)), runner(std::move(p), made_by_forward(saved, values)) {}
    /// By tensor that it reads.
    static std::vector<bool> made_by_forward(const std::vector<uint32_t>& saved,
                                             const std::vector<SavedValue>& values) {
      std::vector<bool> made;
      for (uint32_t number : saved) {
        const SavedValue::Kind kind = values[number].kind;
        if (kind == SavedValue::Kind::Input || kind == SavedValue::Kind::Fresh)
          made.push_back(kind == SavedValue::Kind::Fresh);
      }
      return made;
    }
    const std::vector<uint32_t> saved;  ///< numbers of the values that it reads
    Runner runner;
  };

  Halves(Partition p, size_t parts) : saved(std::move(p.saved)), forward(optimized(std::move(p.forward))) {
    if (parts == 1) {
      std::vector<uint32_t> all(saved.size());
      for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
      backward.emplace_back(std::move(all), optimized(std::move(p.backward)), saved);
      return;
    }
    // Each by itself: what is fused belongs to one part.
    for (uint32_t part = 0; part < parts; ++part) {
      std::vector<uint32_t> read;
      Program program = backward_of_part(p.backward, part, read);
      backward.emplace_back(std::move(read), optimized(std::move(program)), saved);
    }
  }

  static Program optimized(Program program) {
    optimize(program.graph, Phase::Part);
    return program;
  }

  const std::vector<SavedValue> saved;
  Runner forward;
  std::deque<Backward> backward;  ///< by part
};

std::unique_ptr<Halves> cut(Program joint) {
  const std::vector<ProgramPart> parts = joint.parts;
  auto halves = std::make_unique<Halves>(partition(std::move(joint)), parts.size());
  for (size_t p = 0; p < parts.size(); ++p)
    for (const InputBinding& in : halves->backward[p].runner.program().inputs)
      ensure(in.kind != InputBinding::Kind::Tangent ||
                 std::find(parts[p].roots.begin(), parts[p].roots.end(), in.index) != parts[p].roots.end(),
             "the gradients of one part wait for those of another");
  return halves;
}

using Choice = std::vector<bool>;  ///< of roots

/// By part: of the edges along which the addends of each target's gradient go, the first; and the end of all.
std::vector<std::vector<uint32_t>> edges_of(const Program& joint) {
  std::vector<std::vector<uint32_t>> all;
  for (const ProgramPart& part : joint.parts) all.emplace_back(part.targets.size() + 1, 0);
  for (const Program::Gradient& g : joint.gradients) ++all[g.part][g.target + 1];
  for (std::vector<uint32_t>& first : all)
    for (size_t j = 1; j < first.size(); ++j) first[j] = first[j - 1] + std::max(first[j], 1u);
  return all;
}

/// What all runs of one pair share. Kept alive by the tape nodes of runs that haven't been differentiated yet.
class Shared {
 public:
  Shared(Program joint, std::shared_ptr<const Trace> t, const BuildRequest& r)
      : trace(std::move(t)),
        request(r),
        roots(joint.roots),
        parts(joint.parts),
        functions(joint.functions),
        first_edges(edges_of(joint)),
        expected(roots.size(), true) {
    whole_ = (halves_[expected] = cut(std::move(joint))).get();
  }

  const Halves& whole() const { return *whole_; }
  Footprint footprint() const {
    Footprint sum;
    for (const auto& [choice, halves] : halves_) {
      Footprint forward = halves->forward.footprint();
      const Graph& g = halves->forward.graph();
      for (const SavedValue& s : halves->saved)
        if (s.kind == SavedValue::Kind::Fresh) forward.saved += g.meta(g.outputs[s.index]).bytes();
      sum += forward;
      for (const Halves::Backward& part : halves->backward) sum += part.runner.footprint();
    }
    return sum;
  }
  double first_run_ms() const {
    double sum = 0;
    for (const auto& [choice, halves] : halves_) {
      sum += halves->forward.first_run_ms();
      for (const Halves::Backward& part : halves->backward) sum += part.runner.first_run_ms();
    }
    return sum;
  }

  /// The halves for what is expected of the next backward. `choice` becomes what they are for.
  Halves& halves(Choice& choice) {
    choice = expected;
    auto& made = halves_[choice];
    if (!made) {
      BuildRequest r = request;
      r.tangents = choice;
      Program joint = build(*trace, r);
      optimize(joint.graph, Phase::Whole);
      made = cut(std::move(joint));
    }
    return *made;
  }

  /// The program of a part's gradients themselves; `joint` when they are to have a history.
  Compiled& derivative(uint32_t part, const Tangents& step, bool joint) {
    auto& made = derivatives_[{part, step, joint}];
    if (!made) {
      BuildRequest r{request.derivatives, request.derivatives.empty() ? part : request.part, joint, {}, request.inputs};
      r.derivatives.push_back(step);
      made = compile_request(trace, r);
    }
    return *made;
  }

  const std::shared_ptr<const Trace> trace;
  const BuildRequest request;
  const std::vector<ProgramRoot> roots;
  const std::vector<ProgramPart> parts;
  const std::vector<Program::FunctionResult> functions;
  const std::vector<std::vector<uint32_t>> first_edges;  ///< edges_of(), with gradients for all roots
  Choice expected;                                       ///< which roots the last backward had gradients for

 private:
  std::map<Choice, std::unique_ptr<Halves>> halves_;
  Halves* whole_ = nullptr;
  std::map<std::tuple<uint32_t, Tangents, bool>, std::shared_ptr<Compiled>> derivatives_;
};

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

/// What all parts of one run share.
struct RunPast {
  RunPast(std::vector<Tensor> i, std::span<const Scalar> s, const Program& p)
      : inputs(std::move(i)), scalars(s.begin(), s.end()) {
    for (Generator* g : p.generators) random.push_back((g ? *g : default_generator()).state());
  }

  /// Copies of what the run is about to write, with the history that it had.
  void keep_written(const Program& p) {
    old.resize(inputs.size());
    std::map<Storage*, Ref<Storage>> copies;
    for (const StorageWrite& w : p.writes) {
      Storage* storage = inputs[p.inputs[w.input].index]->storage.get();
      Ref<Storage>& copy = copies[storage];
      if (copy) continue;
      copy = Storage::copied(*storage);
    }
    for (size_t i = 0; i < inputs.size() && !copies.empty(); ++i) {
      const TensorImpl& t = *inputs[i];
      const auto copy = copies.find(t.storage.get());
      if (copy == copies.end()) continue;
      old[i] = Tensor::view_of(copy->second, t.dtype, t.sizes, t.strides, t.offset);
      if (!t.requires_grad()) continue;
      const autograd::Edge edge = autograd::gradient_edge(inputs[i]);
      autograd::set_history(old[i], edge.node, edge.index);
    }
  }

  std::vector<Tensor> inputs;
  std::vector<Tensor> old;  ///< by input: as it was before the run wrote it; undefined for others
  std::vector<Scalar> scalars;
  std::vector<RandomState> random;  ///< before the run, of the program's generators
};

/// Has a history, and is nothing else.
Tensor with_history(const autograd::Edge& edge) {
  Tensor t = Tensor::view_of(Storage::allocate(0), DType::F32, Dims{0}, Dims{1}, 0);
  autograd::set_history(t, edge.node, edge.index);
  return t;
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

/// The gradient of one part of one run: from the gradients of its roots to those of its targets. Where they arrive
/// for the roots that were expected, the backward half computes them; for others, and where the gradients are to be
/// differentiated in turn, the region is computed again by a program of its own.
class PairNode final : public autograd::Node {
 public:
  /// The edges are the maker's affair.
  PairNode(std::shared_ptr<Shared> shared, Halves& halves, uint32_t part, const Choice& choice, const RunPast& past)
      : shared_(std::move(shared)),
        halves_(halves),
        part_(part),
        backward_(halves.backward[part]),
        spent_(saving().size(), false),
        old_(past.old),
        scalars_(past.scalars),
        random_(past.random) {
    results = static_cast<uint32_t>(roots().size());
    for (uint32_t k : roots()) choice_.push_back(choice[k]);
  }

  /// After the commit: keeps what the backward half reads, and the inputs.
  void save(const std::vector<Tensor>& inputs, const Runner::Made& made) {
    const Runner& forward = halves_.forward;
    for (uint32_t number : backward_.saved) {
      const SavedValue& s = halves_.saved[number];
      switch (s.kind) {
        case SavedValue::Kind::Input:
          saved_.emplace_back(inputs[forward.program().inputs[s.index].index], false);
          break;
        case SavedValue::Kind::Fresh: {
          const ValueMeta& m = forward.graph().meta(forward.graph().outputs[s.index]);
          saved_.emplace_back(Tensor::view_of(made.storages[s.index], m.dtype, m.sizes, contiguous_strides(m.sizes), 0),
                              false);
          break;
        }
        case SavedValue::Kind::ScalarInput: saved_scalars_.push_back(forward.scalar_input(s.index)); break;
        case SavedValue::Kind::ScalarOutput: saved_scalars_.push_back(forward.scalar_output(s.index)); break;
      }
    }
    for (const SavingCalls& calls : saving()) {
      std::vector<Watched>& watched = watched_.emplace_back();
      for (const SavedMemory& m : calls.memory) {
        const Ref<Storage>& storage = m.kind == SavedMemory::Kind::Input   ? inputs[m.index]->storage
                                      : m.kind == SavedMemory::Kind::Fresh ? made.storages[m.index]
                                                                           : made.apart[m.index].first;
        watched.push_back({storage, storage->version(), &m});
      }
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      inputs_.push_back(old_[i].defined() ? autograd::SavedTensor() : autograd::SavedTensor(inputs[i], false));
  }

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    Choice given;
    for (const Tensor& g : grads) given.push_back(g.defined());
    last_ = given;
    if (!arrives(given)) return std::vector<Tensor>(edges.size());
    require_unspent(given);
    require_unmodified(given);
    if (grad_enabled()) return apply_again(grads, given);
    for (size_t k = 0; k < given.size(); ++k) shared_->expected[roots()[k]] = given[k];
    if (given != choice_) return apply_again(grads, given);
    std::vector<Tensor> out(edges.size());
    const std::vector<Program::Gradient>& places = backward_.runner.program().gradients;
    if (places.empty()) return out;
    std::vector<Tensor> tangents(shared_->roots.size());
    for (size_t k = 0; k < grads.size(); ++k)
      if (given[k]) tangents[roots()[k]] = compact(grads[k]);
    Runner::Made made;
    if (!run_backward(given, tangents, made)) return apply_again(grads, given);
    std::vector<uint32_t> next = first_edges();
    for (size_t j = 0; j < places.size(); ++j) {
      const uint32_t target = places[j].target;
      ensure(next[target] < first_edges()[target + 1], "more gradients of an input than with all results in use");
      out[next[target]++] = std::move(made.tensors[j]);
    }
    if (spoils_gradients()) [[unlikely]]
      spoil(out);
    return out;
  }

  void select(const std::vector<bool>* wanted) override {
    wanted_.clear();
    for (size_t j = 0; wanted && j + 1 < first_edges().size(); ++j) wanted_.push_back((*wanted)[first_edges()[j]]);
  }

  std::string name() const override { return root(0).grad_fn; }
  const TensorMeta* result_meta(uint32_t i) const override { return &root(i).meta; }
  bool expects(uint32_t i) const { return choice_[i]; }

  /// Frees for those results that the last backward came from. What others need stays until they can't be used either.
  void release_saved() override {
    const std::vector<bool> spent = spent_after(last_);
    for (size_t c = 0; c < spent.size(); ++c)
      if (spent[c] && !spent_[c]) watched_[c].clear();
    spent_ = spent;
    selected_ = selected_ || !wanted_.empty();
    if (!released() || !all_useless(spent_, selected_)) return;
    freed_ = true;
    saved_.clear();
    inputs_.clear();
    old_.clear();
  }
  bool released() const override { return std::find(spent_.begin(), spent_.end(), true) != spent_.end(); }

 private:
  /// Memory that a call has saved, and how often it had been written by then.
  struct Watched {
    Ref<Storage> storage;
    uint32_t version;
    const SavedMemory* what;
  };

  const std::vector<uint32_t>& roots() const { return shared_->parts[part_].roots; }
  const std::vector<uint32_t>& first_edges() const { return shared_->first_edges[part_]; }
  const autograd::Edge& edge_to(size_t target) const { return edges[first_edges()[target]]; }
  const ProgramRoot& root(size_t k) const { return shared_->roots[roots()[k]]; }
  const PartWays& ways() const { return shared_->parts[part_].ways; }
  const std::vector<SavingCalls>& saving() const { return ways().saving; }

  static bool meet(const std::vector<bool>& a, const std::vector<bool>& b) {
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] && b[i]) return true;
    return false;
  }
  bool any_wanted(const std::vector<bool>& targets) const {
    return wanted_.empty() ? std::find(targets.begin(), targets.end(), true) != targets.end() : meet(targets, wanted_);
  }
  /// Whether gradients of these roots pass the calls on their way to what is wanted.
  bool passes(const SavingCalls& calls, const Choice& given) const {
    return meet(calls.roots, given) && any_wanted(calls.targets);
  }
  /// Whether they come to something wanted.
  bool arrives(const Choice& given) const {
    for (size_t k = 0; k < given.size(); ++k)
      if (given[k] && any_wanted(ways().leads[k])) return true;
    return false;
  }

  /// Which calls will be, when a pass that frees what it passes has come from these roots.
  std::vector<bool> spent_after(const Choice& given) const {
    std::vector<bool> spent = spent_;
    for (size_t c = 0; c < spent.size(); ++c) spent[c] = spent[c] || passes(saving()[c], given);
    return spent;
  }

  /// No root has a way left: all of it is spent, or some of it after passes that want everything.
  bool all_useless(const std::vector<bool>& spent_calls, bool selected) const {
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

  void require_unspent(const Choice& given) const {
    if (freed_) autograd::fail_spent();
    for (size_t c = 0; c < spent_.size(); ++c)
      if (spent_[c] && passes(saving()[c], given)) autograd::fail_spent();
  }

  /// Nobody has written what calls on the way have saved.
  void require_unmodified(const Choice& given) const {
    for (size_t c = 0; c < watched_.size(); ++c) {
      if (watched_[c].empty() || !passes(saving()[c], given)) continue;
      for (const Watched& w : watched_[c])
        if (w.storage->version() != w.version) fail_modified(w);
    }
  }

  [[noreturn]] void fail_modified(const Watched& w) const {
    const std::vector<GradientTarget>& targets = shared_->parts[part_].targets;
    autograd::Edge maker;
    if (!w.what->maker.empty()) maker = {Ref<Node>(new autograd::SpentNode(w.what->maker)), w.what->place};
    for (size_t j = 0; j < targets.size() && w.what->maker.empty() && w.what->kind == SavedMemory::Kind::Input; ++j)
      if (targets[j].kind == GradientTarget::Kind::Input && targets[j].index == w.what->index) maker = edge_to(j);
    autograd::fail_modified(w.what->meta, maker, w.storage->version(), w.version);
  }

  /// What is saved is freed after it whatever becomes of it, so that it may be used up.
  bool is_last_pass(const Choice& given) const {
    return autograd::pass_frees() && all_useless(spent_after(given), selected_ || !wanted_.empty());
  }

  /// False where the backward half can't run in this process, or what it reads has been used up. A run that was
  /// overtaken, or had to wait for another thread's, starts from what is saved by then: that complains if it was
  /// written, or is gone.
  bool run_backward(const Choice& given, std::span<const Tensor> tangents, Runner::Made& made) {
    struct NothingElse final : Release {
      void hold() override {}
      bool stands() override { return true; }
    } release;
    const Ref<Node> self(this);
    for (Release* releases = &release;;) {
      require_unspent(given);
      if (consumed_) return false;
      std::vector<Tensor> tensors;
      for (const autograd::SavedTensor& s : saved_) tensors.push_back(s.unpack(self));
      if (is_last_pass(given)) {
        made.consumes = consumed_ = true;
        saved_.clear();
      }
      switch (backward_.runner.run(lend(tensors), saved_scalars_, tangents, nullptr, nullptr, made, releases).status) {
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

  std::vector<Tensor> apply_again(const std::vector<Tensor>& grads, const Choice& given) {
    Tangents step{given, Choice(given.size(), false), first_edges()};
    for (size_t k = 0; k < grads.size(); ++k)
      step.require_grad[k] = grad_enabled() && given[k] && grads[k].requires_grad();
    Compiled& again = shared_->derivative(part_, step, grad_enabled());
    const Ref<Node> self(this);
    std::vector<Tensor> tensors;
    for (uint32_t i = 0; i < inputs_.size(); ++i)
      tensors.push_back(old_[i].defined() ? old_[i]
                        : again.reads(i)  ? inputs_[i].unpack(self)
                                          : inputs_[i].unchecked());
    const std::vector<GradientTarget>& targets = shared_->parts[part_].targets;
    for (size_t j = 0; j < targets.size(); ++j)
      if (targets[j].kind != GradientTarget::Kind::Input) tensors.push_back(with_history(edge_to(j)));
    for (size_t k = 0; k < grads.size(); ++k)
      if (given[k]) tensors.push_back(compact(grads[k]));
    std::vector<RunOutput> outputs;
    const RandomPast past(halves_.forward.program().generators, random_);
    const UninterruptedRun uninterrupted;
    if (again.run(lend(tensors), scalars_, nullptr, outputs).status != RunStatus::Done)
      throw InternalError(fmt::format("the gradient of '{}' went another way than its forward", shared_->trace->name));
    std::vector<Tensor> out;
    for (RunOutput& g : outputs) out.push_back(std::get<Tensor>(std::move(g)));
    return out;
  }

  std::shared_ptr<Shared> shared_;
  Halves& halves_;  ///< of shared_
  const uint32_t part_;
  Halves::Backward& backward_;
  Choice choice_, last_;      ///< of the part's roots
  std::vector<bool> wanted_;  ///< of its targets, by the pass that is under way; empty: all of them
  std::vector<bool> spent_;   ///< of its saving calls
  bool selected_ = false;     ///< passes that want some targets only have freed what they passed
  bool freed_ = false;
  bool consumed_ = false;  ///< a run of the backward half has used up what was saved for it
  std::vector<autograd::SavedTensor> saved_, inputs_;
  std::vector<std::vector<Watched>> watched_;  ///< by saving call
  std::vector<Tensor> old_;
  std::vector<Scalar> saved_scalars_;
  const std::vector<Scalar> scalars_;
  const std::vector<RandomState> random_;
};

/// The history of what a function of the program made, until the program makes the function's node.
class AwaitedNode final : public autograd::Node {
 public:
  explicit AwaitedNode(uint64_t place) : place_(place) {}
  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    ensure(!edges.empty(), "the node of an autograd.Function has been made before its gradient is asked for");
    return grads;
  }
  std::string name() const override { return "AwaitedNode"; }
  void superseded(const autograd::Edge& edge) override {
    edges = {edge};
    edge.node->sequence = place_;
  }

 private:
  const uint64_t place_;  ///< the number of the function's node
};

/// Gives a result the name of its own op's node, and its hooks a place, where its part has several roots.
class ResultNode final : public autograd::Node {
 public:
  ResultNode(const Ref<autograd::Node>& pair, uint32_t index, std::string name) : name_(std::move(name)) {
    edges.push_back({pair, index});
  }
  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override { return grads; }
  std::string name() const override { return name_; }
  const TensorMeta* result_meta(uint32_t) const override { return edges[0].node->result_meta(edges[0].index); }

 private:
  std::string name_;
};

class Pair final : public Compiled {
 public:
  explicit Pair(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  RunResult run(LentTensors lent, std::span<const Scalar> scalars, const std::function<bool()>& before_commit,
                std::vector<RunOutput>& outputs, Release* release, const SameTensors& same) override {
    Choice choice;
    Halves& halves = shared_->halves(choice);
    Runner& forward = halves.forward;
    std::vector<Tensor> inputs;
    for (TensorImpl* t : lent) inputs.push_back(kept(t));
    RunPast past(std::move(inputs), scalars, forward.program());
    Runner::Made made;
    Nodes nodes;
    const RunResult result = forward.run(
        lent, scalars, {}, interrupt_poll(),
        [&] {
          past.keep_written(forward.program());
          nodes = make_nodes(halves, choice, past);
          forward.collect(made, outputs);
          return !before_commit || before_commit();
        },
        made, release, same);
    if (result.status != RunStatus::Done) return result;
    forward.publish(lent, made);
    for (const Ref<PairNode>& node : nodes.parts) node->save(past.inputs, made);
    give_histories(nodes, made);
    forward.retain_gradients(made);
    return result;
  }

  bool reads(uint32_t tensor) const override {
    const Halves& halves = shared_->whole();
    const Runner& forward = halves.forward;
    return forward.reads(tensor) || std::any_of(halves.saved.begin(), halves.saved.end(), [&](const SavedValue& s) {
             return s.kind == SavedValue::Kind::Input && forward.program().inputs[s.index].index == tensor;
           });
  }

  std::string text() const override {
    std::string all = print(shared_->whole().forward.graph());
    for (const Halves::Backward& part : shared_->whole().backward) all += print(part.runner.graph());
    return all;
  }
  size_t node_count() const override {
    size_t count = count_nodes(shared_->whole().forward.graph());
    for (const Halves::Backward& part : shared_->whole().backward) count += count_nodes(part.runner.graph());
    return count;
  }
  size_t call_count() const override { return shared_->whole().forward.program().calls; }
  bool has_backward() const override { return true; }
  const std::vector<Generator*>& generators() const override { return shared_->whole().forward.program().generators; }
  Footprint footprint() const override { return shared_->footprint(); }
  double first_run_ms() const override { return shared_->first_run_ms(); }

 private:
  struct Nodes {
    std::vector<Ref<PairNode>> parts;
    std::vector<autograd::Edge> roots;           ///< where gradients for them go
    std::vector<Ref<autograd::Node>> functions;  ///< by result of a function
  };

  /// In the order of the program, the nodes of its functions, which it makes later, included.
  Nodes make_nodes(Halves& halves, const Choice& choice, const RunPast& past) const {
    Nodes nodes;
    nodes.roots.resize(shared_->roots.size());
    for (uint32_t p = 0; p < shared_->parts.size(); ++p) {
      Ref<PairNode>& node = nodes.parts.emplace_back(new PairNode(shared_, halves, p, choice, past));
      const std::vector<uint32_t>& first = shared_->first_edges[p];
      for (size_t j = 0; j + 1 < first.size(); ++j)
        node->edges.resize(first[j + 1], edge_to(shared_->parts[p].targets[j], nodes, past));
      const Ref<autograd::Node> part(node.get());
      for (uint32_t k : shared_->parts[p].roots) {
        const ProgramRoot& root = shared_->roots[k];
        const bool named = root.spec != ProgramRoot::kInside && shared_->parts[p].roots.size() > 1;
        nodes.roots[k] = named ? autograd::Edge{Ref<autograd::Node>(new ResultNode(part, root.place, root.grad_fn)), 0}
                               : autograd::Edge{part, root.place};
      }
      uint64_t place = 0;
      for (const Program::FunctionResult& f : shared_->functions) {
        if (f.part != p) continue;
        if (place == 0) place = autograd::reserve_sequence();
        nodes.functions.emplace_back(new AwaitedNode(place));
      }
    }
    return nodes;
  }

  autograd::Edge edge_to(const GradientTarget& target, const Nodes& nodes, const RunPast& past) const {
    switch (target.kind) {
      case GradientTarget::Kind::Input: return autograd::gradient_edge(past.inputs[target.index]);
      case GradientTarget::Kind::Root: return nodes.roots[target.index];
      case GradientTarget::Kind::Function: {
        size_t f = 0;
        while (shared_->functions[f].spec != target.index) ++f;
        return {nodes.functions[f], 0};
      }
    }
    return {};
  }

  void give_histories(const Nodes& nodes, const Runner::Made& made) const {
    for (size_t k = 0; k < nodes.roots.size(); ++k) {
      const uint32_t spec = shared_->roots[k].spec;
      if (spec != ProgramRoot::kInside)
        autograd::set_history(made.tensors[spec], nodes.roots[k].node, nodes.roots[k].index);
    }
    for (size_t f = 0; f < nodes.functions.size(); ++f)
      autograd::set_history(made.tensors[shared_->functions[f].spec], nodes.functions[f], 0);
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace

bool is_half_of_pair(const autograd::Node& node) {
  return dynamic_cast<const PairNode*>(&node) || dynamic_cast<const ResultNode*>(&node);
}

bool is_prepared_for(const autograd::Edge& edge) {
  const auto* result = dynamic_cast<const ResultNode*>(edge.node.get());
  const autograd::Edge& inner = result ? result->edges[0] : edge;
  const auto* pair = dynamic_cast<const PairNode*>(inner.node.get());
  return pair && pair->expects(inner.index);
}

bool& spoils_gradients() {
  static bool spoils = false;
  return spoils;
}

std::shared_ptr<Compiled> make_pair(Program joint, std::shared_ptr<const Trace> trace, const BuildRequest& request) {
  return std::make_shared<Pair>(std::make_shared<Shared>(std::move(joint), std::move(trace), request));
}

}  // namespace terra::graph
