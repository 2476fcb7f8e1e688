#include "graph/trace/build.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/spent_node.h"
#include "engine/autograd/walk.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/epoch.h"
#include "graph/trace/elements.h"
#include "graph/trace/emitter.h"
#include "graph/trace/parts.h"
#include "graph/trace/symbolic_replay.h"
#include "graph/trace/ways.h"
#include "kernels/abi/exact_mode.h"

namespace terra::graph {
namespace {

/// Stands for the history of an input that was computed outside: gradients pass through it to the input's stand-in
/// leaf.
class Entrance final : public autograd::Node {
 public:
  explicit Entrance(const Tensor& leaf) { edges.push_back(autograd::gradient_edge(leaf)); }
  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override { return grads; }
  std::string name() const override { return "Entrance"; }
};

/// User-level calls, those of functions that passes over the tape called included.
size_t count_calls(const std::vector<TraceRecord>& records) {
  size_t calls = 0;
  for (const TraceRecord& r : records) {
    calls += r.is_op_call();
    const auto* backward = std::get_if<BackwardRecord>(&r.what);
    const auto* grad = std::get_if<GradRecord>(&r.what);
    if (!backward && !grad) continue;
    for (const auto& run : backward ? backward->runs : grad->runs) calls += count_calls(run->records);
  }
  return calls;
}

/// Stretches (records, and what comes between them) that a run has replayed when a new part of the region begins, in
/// ascending order.
using Divisions = std::vector<size_t>;

class Builder final : SymbolicReplay::Watcher {
 public:
  Builder(const Trace& trace, const BuildRequest& request, const Divisions& divisions)
      : trace_(trace),
        inputs_(request.inputs ? *request.inputs : trace.inputs),
        request_(request),
        divisions_(divisions),
        emitter_(program_.graph),
        replay_(trace, emitter_) {
    if (request.histories) emitter_.keep_histories();
  }

  /// Nothing where results follow from others: missing_divisions() says what has to be divided between them.
  std::optional<Program> run() {
    EmitterScope scope(emitter_);
    GradMode mode(trace_.modes);
    program_.graph.name = trace_.name;
    bind_inputs();
    bind_constants();
    if (request_.cuts) replay_.keep_cuts(program_.cuts);
    replay_.watch(*this);
    replay_.run();
    begin_stretch(trace_.records.size());
    emitter_.set_origin("", 0);
    collect_results();
    collect_gradients_written();
    collect_flags();
    collect_views();
    collect_writes();
    refuse_unclear_memory();
    connect_parts();
    if (divisions_.empty() && !missing_divisions().empty()) {
      release_tape();
      return {};
    }
    for (const Tangents& step : request_.derivatives) derive(step);
    if (derived_) assert_nothing();
    if (request_.joint) differentiate();
    program_.generators = emitter_.generators();
    program_.asserts = derived_ ? 0 : emitter_.asserts();
    program_.calls = count_calls(trace_.records) + replay_.looped_calls();
    release_tape();
    return std::move(program_);
  }

  /// Between the record that made a result and the first that reads it a part has to end, so that all of the result's
  /// gradient passes there.
  Divisions missing_divisions() const {
    std::vector<std::pair<size_t, size_t>> between;
    for (const Parts::Interior& result : parts_.interior()) {
      const size_t made = record_of(result.made), read = record_of(result.read);
      if (made < read) between.emplace_back(read, made);
    }
    std::sort(between.begin(), between.end());
    Divisions divisions;
    for (const auto& [read, made] : between)
      if (divisions.empty() || divisions.back() <= made) divisions.push_back(read);
    return divisions;
  }

 private:
  // ---- parts -----------------------------------------------------------------------------------------------------

  static constexpr uint32_t kMostParts = 256;
  /// Each division passes on all values that have a history by then.
  static constexpr uint64_t kMostPassed = 1 << 16;

  /// The stretch during which the node with that number was made.
  size_t record_of(uint64_t sequence) const {
    return static_cast<size_t>(std::lower_bound(begun_.begin(), begun_.end(), sequence) - begun_.begin()) - 1;
  }

  void begin_stretch() {
    if (std::binary_search(divisions_.begin(), divisions_.end(), begun_.size())) divide();
    begun_.push_back(autograd::reserve_sequence());
  }

  /// Results that are views of what has been written get their histories before the record, so that a part can end
  /// between the write and them, and between them and what reads them.
  void begin_stretch(size_t number) {
    number_ = number;
    std::vector<Tensor> outdated;
    for (TraceId id : written_ ? std::span<const TraceId>(trace_.outputs) : std::span<const TraceId>()) {
      const auto* t = std::get_if<Tensor>(&replay_.value(id));
      if (t && t->defined() && autograd::has_outdated_history(*t) &&
          !autograd::is_ambiguous(autograd::find_meta(*t)->view->origin))
        outdated.push_back(*t);
    }
    if (!outdated.empty()) begin_stretch();
    for (const Tensor& t : outdated) autograd::history(t);
    begin_stretch();
  }

  void begin_record(const TraceRecord& record) override {
    begin_stretch(trace_.number_of(record));
    const auto* call = std::get_if<CallRecord>(&record.what);
    written_ = !call || call->in_place;
    // The part before would have to call it.
    if (std::holds_alternative<HookRecord>(record.what) && parts_.count() > 1) throw CallbackOutlives();
    const bool passes =
        std::holds_alternative<BackwardRecord>(record.what) || std::holds_alternative<GradRecord>(record.what);
    if (passes && parts_.count() > 1)
      throw InternalError("a pass over the tape begins behind something that gradients are asked of later");
  }

  void outliving_function(const FunctionRecord& r) override {
    if (!functions_.insert(&r).second) throw InternalError("an autograd.Function is applied in a loop");
    for (TraceId id : r.outputs)
      if (autograd::history(replay_.tensor(id)).node)
        throw InternalError("an autograd.Function writes to its argument");
    divide();
    for (TraceId id : r.outputs) {
      of_functions_.emplace_back(id, parts_.count() - 2);
      parts_.follow_function(replay_.tensor(id));
    }
  }

  void divide() {
    first_records_.push_back(number_);
    std::vector<Tensor> live = replay_.with_history();
    std::erase_if(live, [](const Tensor& t) { return is_entrance(t); });
    parts_.divide(live);
    passed_ += live.size();
    if (parts_.count() > kMostParts || passed_ > kMostPassed)
      throw InternalError("too many results of the region follow from each other");
  }

  void connect_parts() {
    for (const auto& [id, part] : of_functions_) {
      const uint32_t spec = spec_of(replay_.tensor(id));
      if (program_.tensors[spec].retains_grad)
        throw InternalError(
            "the result of an autograd.Function keeps its gradient, which is computed after the region");
      program_.functions.push_back({spec, part, id});
    }
    std::multimap<uint64_t, std::pair<Tensor, uint32_t>> by_use;  // which is the order that leaves are served in
    for (uint32_t i : trace_inputs_) {
      if (!inputs_[i].requires_grad) continue;
      const autograd::Edge edge = autograd::gradient_edge(leaf_.at(i));
      by_use.emplace(edge.node ? edge.node->sequence : 0, std::pair(leaf_.at(i), tensor_number_[i]));
    }
    std::vector<std::pair<Tensor, uint32_t>> inputs;
    for (const auto& [use, input] : by_use) inputs.push_back(input);
    connected_ = parts_.connect(roots_, inputs, spec_numbers_);
  }

  /// After a derivation: one part, which asks for whatever may be asked for.
  void connect_derived() {
    connected_.assign(1, {});
    Parts::Part& all = connected_.front();
    for (uint32_t k = 0; k < roots_.size(); ++k) {
      roots_[k].part = 0;
      all.roots.push_back(k);
    }
    for (const auto& [tensor, number] : asking_) all.targets.push_back({tensor, {GradientTarget::Kind::Input, number}});
  }

  void describe_parts() {
    std::map<const TensorImpl*, ReplayTensor> values, bases;
    for (TraceId id = 0; id < trace_.values; ++id) {
      const auto* t = std::get_if<Tensor>(&replay_.value(id));
      if (!t) continue;
      values.try_emplace(t->get(), ReplayTensor{id, false});
      const autograd::Meta* meta = t->defined() ? autograd::find_meta(*t) : nullptr;
      if (meta && meta->base.defined()) bases.try_emplace(meta->base.get(), ReplayTensor{id, true});
    }
    values.merge(bases);
    for (const Parts::Root& root : roots_) {
      const Tensor& t = root.tensor;
      const auto value = values.find(root.value.get());
      program_.roots.push_back({root.spec,
                                root.part,
                                0,
                                {t.dtype(), t.sizes(), false, t.device()},
                                autograd::history(t).node->name(),
                                value == values.end() ? ReplayTensor() : value->second});
    }
    for (const Parts::Part& part : connected_) {
      ProgramPart& out = program_.parts.emplace_back();
      out.first = first_records_[program_.parts.size() - 1];
      out.roots = part.roots;
      for (uint32_t i = 0; i < part.roots.size(); ++i) program_.roots[part.roots[i]].place = i;
      for (const Parts::Target& target : part.targets) out.targets.push_back(target.goes);
    }
  }
  // ---- inputs ----------------------------------------------------------------------------------------------------

  void bind_inputs() {
    std::map<uint32_t, std::vector<uint32_t>> groups;  // storage group -> trace inputs
    uint32_t scalars = 0;
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      const TraceInput& in = inputs_[i];
      tensor_number_.push_back(static_cast<uint32_t>(trace_inputs_.size()));
      if (in.structural) {
        ++scalars;
        replay_.set(i, in.value);
        continue;
      }
      if (in.kind == TraceInput::Kind::Scalar) {
        const ValueId id = program_.graph.add_input(ValueMeta::number(in.scalar_kind), in.name);
        program_.inputs.push_back({InputBinding::Kind::Scalar, scalars++, 0, {}, false});
        replay_.set(i, emitter_.number(id));
        continue;
      }
      trace_inputs_.push_back(i);
      groups[in.storage_group].push_back(i);
    }
    for (const auto& [group, members] : groups) members.size() == 1 ? bind_alone(members[0]) : bind_group(members);
    for (uint32_t i : trace_inputs_) {
      set_flags(i);
    }
    for (uint32_t i : trace_inputs_)
      if (inputs_[i].grad != kNoValue) autograd::set_grad(leaf_.at(i), replay_.tensor(inputs_[i].grad));
  }

  void bind_alone(uint32_t i) {
    const TraceInput& in = inputs_[i];
    const auto slot = static_cast<int32_t>(program_.inputs.size());
    const ValueId id =
        program_.graph.add_input(ValueMeta::tensor(in.meta.dtype, in.meta.sizes, in.meta.device), in.name);
    program_.inputs.push_back({InputBinding::Kind::Tensor, tensor_number_[i], in.offset, in.strides, !in.exact_offset});
    const Tensor t = emitter_.whole(id, in.strides, in.offset, slot);
    t->wrapped_number = in.meta.wrapped;
    slot_storage_[slot] = GraphEmitter::symbol_of(*t)->storage;
    if (!in.exact_offset) slot_storage_[slot]->elements = -1;  // it begins elsewhere in another run
    replay_.set(i, t);
  }

  /// Several inputs view one storage: the graph's input is the stretch of elements that they cover, each of them a
  /// view.
  void bind_group(const std::vector<uint32_t>& members) {
    const TraceInput& first_in = inputs_[members[0]];
    auto [first, end] = extent(first_in);
    for (uint32_t i : members) {
      if (inputs_[i].meta.dtype != first_in.meta.dtype)
        throw InternalError(
            fmt::format("inputs {} and {} share memory under different dtypes", first_in.name, inputs_[i].name));
      const auto [a, b] = extent(inputs_[i]);
      first = std::min(first, a);
      end = std::max(end, b);
    }
    const auto slot = static_cast<int32_t>(program_.inputs.size());
    const ValueId id = program_.graph.add_input(
        ValueMeta::tensor(first_in.meta.dtype, Dims{end - first}, first_in.meta.device), "storage of " + first_in.name);
    program_.inputs.push_back({InputBinding::Kind::Tensor, tensor_number_[members[0]], first, Dims{1}, false});
    const Tensor base = emitter_.whole(id, Dims{1}, first, slot);
    slot_storage_[slot] = GraphEmitter::symbol_of(*base)->storage;
    for (uint32_t i : members) {
      const TraceInput& in = inputs_[i];
      replay_.set(i, emitter_.strided(base, {in.meta.dtype, in.meta.sizes, false, in.meta.device}, in.strides,
                                      in.offset, in.offset - first));
    }
  }

  /// Leaves ask for gradients; an input computed outside becomes an alias of such a leaf, with a history.
  void set_flags(uint32_t i) {
    const TraceInput& in = inputs_[i];
    const Tensor t = replay_.tensor(i);
    leaf_[i] = t;
    t->symbol_is_inference = in.is_inference;
    if (!in.requires_grad) return;
    set_wants_grad(*t, true);
    if (in.is_leaf) return;
    const Tensor inside = t.alias();
    lay_out(*inside, t->strides, inside->offset);
    const Ref<autograd::Node> entrance(new Entrance(t));
    autograd::set_history(inside, entrance, 0);
    entrances_[t.get()] = {entrance, 0};
    replay_.set(i, inside);
  }

  /// A constant must not lead the symbolic tape to the program's real one.
  void bind_constants() {
    for (const auto& [id, tensor] : trace_.constants) {
      if (!tensor.requires_grad()) {
        replay_.set(id, tensor);
        continue;
      }
      for (const TraceRecord& r : trace_.records)
        if (trace_.modes.enabled || std::holds_alternative<BackwardRecord>(r.what) ||
            std::holds_alternative<GradModeRecord>(r.what) || std::holds_alternative<LoopRecord>(r.what))
          throw InternalError(fmt::format(
              "a tensor that requires grad ({}) is used but is neither an input nor made inside", describe(tensor)));
      replay_.set(id, constants_.emplace_back(tensor.alias()));
    }
  }

  // ---- what is left after the replay -----------------------------------------------------------------------------

  static constexpr uint32_t kNoOutput = ~0u;

  uint32_t add_output(ValueId value) {
    program_.graph.outputs.push_back(value);
    return static_cast<uint32_t>(program_.graph.outputs.size()) - 1;
  }

  std::vector<LoopedWrites> looped_writes(const SymbolicStorage& storage) {
    std::vector<LoopedWrites> out;
    for (const auto& [rounds, each] : storage.rounds) out.push_back({add_output(rounds), each});
    return out;
  }

  int32_t input_number(const TensorImpl* t) const {
    for (uint32_t i : trace_inputs_)
      if (replay_.tensor(i).get() == t || leaf_.at(i).get() == t) return static_cast<int32_t>(tensor_number_[i]);
    for (const auto& [tangent, number] : given_)
      if (tangent.get() == t) return static_cast<int32_t>(number);
    return -1;
  }

  /// The number of the spec of a tensor that the program sees after the run.
  uint32_t spec_of(const Tensor& t) {
    const auto [it, fresh] = spec_numbers_.try_emplace(t.get(), static_cast<uint32_t>(program_.tensors.size()));
    if (!fresh) return it->second;
    TensorSpec spec;
    spec.dtype = t.dtype();
    spec.sizes = t.sizes();
    spec.strides = t.strides();
    spec.offset = t->offset;
    const int32_t input = input_number(t.get());
    const TensorSymbol* symbol = GraphEmitter::symbol_of(*t);
    if (input >= 0) {
      spec.source = TensorSpec::Source::Input;
      spec.index = static_cast<uint32_t>(input);
    } else if (!symbol || (symbol->storage && symbol->storage->constant >= 0)) {
      spec.source = TensorSpec::Source::Constant;
      const ValueId id = symbol ? symbol->storage->value : emitter_.value_of(*t);
      const auto& constants = program_.graph.constants;
      spec.index = static_cast<uint32_t>(
          std::find_if(constants.begin(), constants.end(), [id](const auto& c) { return c.first == id; }) -
          constants.begin());
    } else if (symbol->storage && symbol->storage->input >= 0) {
      spec.source = TensorSpec::Source::InputStorage;
      const InputBinding& in = program_.inputs[static_cast<size_t>(symbol->storage->input)];
      spec.index = in.index;
      spec.from_input_offset = in.own_offset;
      if (in.own_offset) spec.offset -= in.offset;
    } else {
      spec.source = TensorSpec::Source::Fresh;
      const void* key = symbol->storage ? static_cast<const void*>(symbol->storage.get()) : t.get();
      const auto [place, first] = fresh_.try_emplace(key, 0);
      if (first) place->second = add_output(symbol->storage ? symbol->storage->value : emitter_.value_of(*t));
      spec.index = place->second;
      spec.is_inference = t->is_inference();
      if (symbol->storage) {
        spec.versions = symbol->storage->counted() - symbol->storage->looped;
        spec.looped = looped_writes(*symbol->storage);
      }
    }
    if (const OwnVersion* own = symbol ? symbol->own_version.get() : nullptr) {
      if (own->in_rounds) throw InternalError("what x.data gave was written differently often in runs");
      spec.apart = static_cast<int32_t>(apart_.try_emplace(own, apart_.size()).first->second);
      spec.apart_versions = own->writes;
    }
    const bool has_history = autograd::history(t).node.get() != nullptr;
    if (const autograd::Meta* meta = autograd::find_meta(t)) {
      spec.retains_grad = meta->retained != nullptr;
      if (!meta->hooks.empty()) throw InternalError("a leaf that was made and hooked inside the region leaves it");
    }
    spec.leaf_requires_grad = t->wants_grad && !has_history;
    if (t.requires_grad() && has_history && !(input >= 0 && is_entrance(t))) {
      const Parts::Root root = derived_ ? Parts::Root{t, 0} : parts_.origin(t);
      if (root.tensor.defined()) {
        spec.grad_fn = autograd::history(root.tensor).node->name();
        spec.spent = autograd::is_spent(root.tensor);
        if (spec.spent)
          spec.leads_to = inputs_behind(autograd::history(root.tensor).node.get());
        else
          roots_.push_back({root.tensor, root.part, it->second, root.value});
      }
    }
    kept_.push_back(t);
    program_.tensors.push_back(std::move(spec));
    return it->second;
  }

  /// Numbers of the tensors among the inputs that the history leads to.
  std::vector<uint32_t> inputs_behind(autograd::Node* history) const {
    std::vector<uint32_t> numbers;
    autograd::each_node(history, [&](autograd::Node& node) {
      const auto* end = dynamic_cast<const autograd::AccumulateGrad*>(&node);
      for (uint32_t i : trace_inputs_)
        if (end && leaf_.at(i) == end->variable()) numbers.push_back(tensor_number_[i]);
    });
    return numbers;
  }

  static bool is_entrance(const Tensor& t) {
    return dynamic_cast<const Entrance*>(autograd::history(t).node.get()) != nullptr;
  }

  void collect_results() {
    for (TraceId id : trace_.outputs) {
      if (const auto* known = std::get_if<Scalar>(&replay_.value(id))) {
        program_.results.push_back({ResultSpec::Kind::Known, 0, *known});
        continue;
      }
      const Tensor t = replay_.tensor(id);
      ensure(t.defined(), "an output of a trace has a value");
      const ValueId scalar = GraphEmitter::scalar_of(*t);
      if (scalar != kNoId && t->wrapped_number)
        program_.results.push_back({ResultSpec::Kind::Scalar, add_output(scalar), {}});
      else
        program_.results.push_back({ResultSpec::Kind::Tensor, spec_of(t), {}});
    }
    for (uint32_t i : trace_inputs_)  // inputs that were written under gradient mode get a new history
      if (const Tensor t = replay_.tensor(i); autograd::history(t).node && !is_entrance(t)) spec_of(t);
  }

  void collect_gradients_written() {
    for (uint32_t i : trace_inputs_) {
      const TraceInput& in = inputs_[i];
      const Tensor before = in.grad == kNoValue ? Tensor() : replay_.tensor(in.grad);
      const Tensor after = autograd::grad(leaf_.at(i));
      if (before == after) continue;
      if (!in.is_leaf)
        throw InternalError(
            fmt::format("backward() inside the region reaches {}, which was computed outside of it", in.name));
      program_.grads.push_back({spec_of(leaf_.at(i)), after.defined() ? static_cast<int32_t>(spec_of(after)) : -1});
    }
    for (size_t k = 0; k < kept_.size(); ++k) {  // made inside; kept_ grows while gradients are added
      const TensorSpec::Source source = program_.tensors[k].source;
      if (source == TensorSpec::Source::Input) continue;
      if (const Tensor g = autograd::grad(kept_[k]); g.defined())
        program_.grads.push_back({static_cast<uint32_t>(k), static_cast<int32_t>(spec_of(g))});
    }
  }

  void collect_flags() {
    for (uint32_t i : trace_inputs_) {
      const Tensor t = replay_.tensor(i);
      if (t.requires_grad() != inputs_[i].requires_grad && !autograd::history(t).node)
        program_.flags.push_back({tensor_number_[i], t.requires_grad()});
    }
  }

  /// Results that are views: a write to one concerns its base, and those that have elements in common with it. The base
  /// leaves the region with them, whoever sees it.
  void collect_views() {
    for (size_t k = 0; k < kept_.size(); ++k) {  // kept_ grows while bases are added
      const autograd::Meta* meta = autograd::find_meta(kept_[k]);
      if (!meta || !meta->view || program_.tensors[k].source == TensorSpec::Source::Input) continue;
      const auto view = meta->view;
      const uint32_t base = spec_of(meta->base);
      program_.tensors[k].base = base;
      program_.tensors[k].view = view;
    }
  }

  void collect_writes() {
    for (const auto& [slot, storage] : slot_storage_) {
      if (storage->version == 0) continue;
      const InputBinding& in = program_.inputs[static_cast<size_t>(slot)];
      const ValueMeta& value = program_.graph.meta(program_.graph.inputs[static_cast<size_t>(slot)]);
      if (may_share_elements(value.sizes, in.strides))
        throw InternalError("a tensor is written of which several elements are in one place of memory");
      const uint32_t output = add_output(storage->value);
      program_.writes.push_back(
          {static_cast<uint32_t>(slot), output, storage->counted() - storage->looped, looped_writes(*storage)});
    }
  }

  /// What leaves the region in memory of which only a run knows what else is in it: nobody else may hold that.
  void refuse_unclear_memory() const {
    std::map<const SymbolicStorage*, const SymbolicStorage*> held;  // and what holds it
    bool clear = true;
    const auto hold = [&](const std::shared_ptr<SymbolicStorage>& storage, bool perhaps) {
      for (const auto& may : all_of(storage)) {
        const auto [other, is_new] = held.try_emplace(may.get(), storage.get());
        clear = clear && (is_new || other->second == storage.get());
        clear = clear && (!perhaps || (may->input < 0 && may->constant < 0));
      }
    };
    for (const Tensor& t : kept_) {
      const TensorSymbol* symbol = GraphEmitter::symbol_of(*t);
      if (symbol && symbol->storage) hold(symbol->storage, !symbol->storage->perhaps.empty());
    }
    if (!clear) throw LoopRefused("a result of the region may be another tensor of the program");
  }

  /// The gradient of a result goes to inputs that asked for it from the start: to nothing that began to inside.
  void refuse_other_leaves() {
    for (uint32_t i : trace_inputs_)
      if (leaf_.at(i).requires_grad() != inputs_[i].requires_grad)
        throw InternalError(fmt::format("requires_grad of {} changes inside the region, and a result keeps its history",
                                        inputs_[i].name));
    std::vector<Tensor> leaves;
    for (size_t k = 0; k < kept_.size(); ++k)
      if (program_.tensors[k].leaf_requires_grad && program_.tensors[k].source != TensorSpec::Source::Input)
        leaves.push_back(kept_[k]);
    if (leaves.empty()) return;
    std::vector<Tensor> ones;
    static const Op* full = find_op("full");
    std::vector<Tensor> roots;
    for (const Parts::Root& root : roots_) {
      roots.push_back(root.tensor);
      const DeviceScope scope(root.tensor.device());
      ones.push_back((*full)(root.tensor.sizes(), 1.0, root.tensor.dtype()));
    }
    for (const Tensor& g : autograd::gradients(roots, ones, leaves, true, false, true))
      if (g.defined())
        throw InternalError("a result leads back to a leaf that was made inside the region and leaves it as well");
  }

  /// Forgets what the program would publish.
  void forget_results() {
    program_.graph.outputs.clear();
    program_.tensors.clear();
    program_.results.clear();
    program_.writes.clear();
    program_.grads.clear();
    program_.flags.clear();
    program_.functions.clear();
    spec_numbers_.clear();
    fresh_.clear();
    apart_.clear();
    kept_.clear();
    roots_.clear();
  }

  /// The results become the gradients of what is asked for.
  void derive(const Tangents& step) {
    refuse_other_leaves();
    const Parts::Part part = connected_.at(derived_ ? 0 : request_.part);
    if (!derived_) {
      next_tensor_ = static_cast<uint32_t>(trace_inputs_.size());
      for (const Parts::Target& target : part.targets) {
        const bool is_input = target.goes.kind == GradientTarget::Kind::Input;
        asking_.emplace_back(target.leaf, is_input ? target.goes.index : next_tensor_++);
      }
    }
    std::vector<Tensor> wanted, roots, tangents;
    for (const auto& [tensor, number] : asking_) wanted.push_back(tensor);
    ensure(step.given.size() == part.roots.size(), "a derivative has a flag for each root");
    const uint32_t first_root = next_tensor_;
    next_tensor_ += static_cast<uint32_t>(part.roots.size());
    for (size_t k = 0; k < part.roots.size(); ++k) {
      if (!step.given[k]) continue;
      const Tensor& root = roots_[part.roots[k]].tensor;
      const auto slot = static_cast<int32_t>(program_.inputs.size());
      const Dims strides = contiguous_strides(root.sizes());
      const ValueId id = program_.graph.add_input(ValueMeta::tensor(root.dtype(), root.sizes(), root.device()),
                                                  fmt::format("gradient {}", k));
      program_.inputs.push_back({InputBinding::Kind::Tensor, next_tensor_, 0, strides, false});
      Tensor tangent = emitter_.whole(id, strides, 0, slot);
      set_wants_grad(*tangent, step.require_grad[k]);
      if (tangent.requires_grad()) asking_.emplace_back(tangent, next_tensor_);
      given_.emplace_back(tangent, next_tensor_++);
      roots.push_back(root);
      tangents.push_back(std::move(tangent));
    }
    const bool differentiable = request_.joint || &step != &request_.derivatives.back();
    const std::vector<std::vector<Tensor>> grads = gradients(roots, tangents, wanted, differentiable);
    ask_results(part, first_root, grads);
    derived_ = true;
    forget_results();
    for (size_t j = 0; j < grads.size(); ++j) {
      const size_t places = step.places[j + 1] - step.places[j];
      ensure(grads[j].size() <= places, "a gradient has a place for each of its addends");
      for (const Tensor& g : grads[j]) program_.results.push_back({ResultSpec::Kind::Tensor, spec_of(g), {}});
      program_.results.resize(program_.results.size() + places - grads[j].size(), {ResultSpec::Kind::None, 0, {}});
    }
    connect_derived();
  }

  /// What a call has saved of its own results are the results that the program holds: the gradients of what was made
  /// of them go there, where hooks see them with all others.
  void ask_results(const Parts::Part& part, uint32_t first_number, const std::vector<std::vector<Tensor>>& made) {
    std::set<std::pair<const autograd::Node*, uint32_t>> reached;
    const auto reach = [&](const autograd::Edge& e) { reached.emplace(e.node.get(), e.index); };
    for (const std::vector<Tensor>& addends : made)
      for (const Tensor& t : addends) {
        const autograd::Edge history = autograd::history(t);
        reach(history);
        autograd::each_node(history.node.get(), [&](autograd::Node& node) {
          for (const autograd::Edge& e : node.edges) reach(e);
        });
      }
    for (uint32_t k = 0; k < part.roots.size(); ++k) {
      const Parts::Root& root = roots_[part.roots[k]];
      const autograd::Edge edge = autograd::history(root.tensor);
      if (root.spec != ProgramRoot::kInside && reached.contains({edge.node.get(), edge.index}))
        asking_.emplace_back(root.tensor, first_number + k);
    }
  }

  /// The run that is differentiated went this way, whatever may have been written to its inputs since.
  void assert_nothing() {
    std::erase_if(program_.graph.nodes, [](const Node& node) { return node.kind == NodeKind::Assert; });
    for (Node& node : program_.graph.nodes) node.checks = false;
  }

  /// Tangents of the roots in, gradients of what each part asks for out.
  void differentiate() {
    program_.first_gradient = static_cast<uint32_t>(program_.graph.outputs.size());
    if (roots_.empty()) return;
    refuse_other_leaves();
    describe_parts();
    for (uint32_t p = static_cast<uint32_t>(connected_.size()); p-- > 0;) differentiate(p);
    describe_ways();
  }

  void differentiate(uint32_t p) {
    const Parts::Part& part = connected_[p];
    std::vector<Tensor> roots, tangents, wanted;
    for (uint32_t k : part.roots) {
      if (!request_.tangents.empty() && !request_.tangents[k]) continue;
      const Tensor& root = roots_[k].tensor;
      const Dims strides = contiguous_strides(root.sizes());
      const ValueId id = program_.graph.add_input(ValueMeta::tensor(root.dtype(), root.sizes(), root.device()),
                                                  fmt::format("tangent {}", k));
      program_.graph.late_inputs.emplace_back(id, p);
      program_.inputs.push_back({InputBinding::Kind::Tangent, k, 0, strides, false});
      tangents.push_back(emitter_.whole(id, strides, 0));
      roots.push_back(root);
    }
    if (roots.empty()) return;
    for (const Parts::Target& target : part.targets) wanted.push_back(target.leaf);
    const std::vector<std::vector<Tensor>> grads = gradients(roots, tangents, wanted, false);
    for (uint32_t j = 0; j < grads.size(); ++j) {
      for (const Tensor& g : grads[j]) {
        const ValueId memory = GraphEmitter::memory_of(*g);
        const Dims strides = memory == kNoId ? contiguous_strides(g.sizes()) : g.strides();
        program_.gradients.push_back({p, j, g.sizes(), strides});
        add_output(memory == kNoId ? emitter_.value_of(*g) : memory);
      }
    }
  }

  /// Of each target; nothing where none arrives. In exact mode not the sum but what it is of, for the program's pass to
  /// add up: what comes from behind the region comes first.
  std::vector<std::vector<Tensor>> gradients(const std::vector<Tensor>& roots, const std::vector<Tensor>& tangents,
                                             std::vector<Tensor> targets, bool differentiable) const {
    if (exact_mode())
      for (Tensor& target : targets) target = at_entrance(target);
    return autograd::delivered(roots, tangents, targets, differentiable, exact_mode());
  }

  /// The leaf, or what has the history at which the gradients that pass on to it come together.
  Tensor at_entrance(const Tensor& leaf) const {
    std::optional<autograd::Edge> entrance = parts_.entrance(leaf);
    if (const auto found = entrances_.find(leaf.get()); found != entrances_.end()) entrance = found->second;
    if (!entrance) return leaf;
    const Tensor inside = leaf.alias();
    lay_out(*inside, leaf->strides, leaf->offset);
    autograd::set_history(inside, entrance->node, entrance->index);
    return inside;
  }

  void describe_ways() {
    for (size_t p = 0; p < connected_.size(); ++p) {
      std::vector<Tensor> roots, targets;
      for (uint32_t k : connected_[p].roots) roots.push_back(roots_[k].tensor);
      for (const Parts::Target& target : connected_[p].targets) targets.push_back(target.leaf);
      const auto locate = [this](const autograd::SavedTensor& saved, autograd::Node& owner) {
        return memory_of(saved, owner);
      };
      program_.parts[p].ways = ways_between(roots, targets, locate);
    }
  }

  /// Of a tensor that a call has saved, where the program sees its memory after the run.
  std::optional<SavedMemory> memory_of(const autograd::SavedTensor& saved, autograd::Node& owner) const {
    const Tensor& t = saved.unchecked();
    const TensorSymbol* symbol = GraphEmitter::symbol_of(*t);
    if (!symbol || !symbol->storage) return {};
    SavedMemory memory;
    memory.meta = {t.dtype(), t.sizes(), false, t.device()};
    if (symbol->own_version) {
      const auto place = apart_.find(symbol->own_version.get());
      if (place == apart_.end()) return {};
      memory.kind = SavedMemory::Kind::Apart;
      memory.index = static_cast<uint32_t>(place->second);
    } else if (symbol->storage->input >= 0) {
      memory.kind = SavedMemory::Kind::Input;
      memory.index = program_.inputs[static_cast<size_t>(symbol->storage->input)].index;
    } else {
      const auto place = fresh_.find(symbol->storage.get());
      if (place == fresh_.end()) return {};
      memory.index = place->second;
    }
    const autograd::Edge maker = parts_.origin(saved.origin(Ref<autograd::Node>(&owner)));
    if (maker.node && !dynamic_cast<const Entrance*>(maker.node.get()) &&
        !dynamic_cast<const autograd::AccumulateGrad*>(maker.node.get())) {
      memory.maker = maker.node->name();
      memory.place = maker.index;
    }
    return memory;
  }

  /// Symbolic leaves and their AccumulateGrad nodes refer to each other through .grad: take them apart.
  void release_tape() {
    for (auto& [i, leaf] : leaf_) autograd::set_grad(leaf, Tensor());
  }

  const Trace& trace_;
  const std::vector<TraceInput>& inputs_;
  const BuildRequest& request_;
  const Divisions& divisions_;
  Program program_;
  GraphEmitter emitter_;
  SymbolicReplay replay_;
  std::vector<uint32_t> trace_inputs_;                     // trace numbers of the tensors among the inputs
  std::vector<uint32_t> tensor_number_;                    // trace number -> number among the tensors
  std::map<uint32_t, Tensor> leaf_;                        // trace number -> the tensor as it entered
  std::map<const TensorImpl*, autograd::Edge> entrances_;  // by leaf that stands for an input computed outside
  std::map<int32_t, std::shared_ptr<SymbolicStorage>> slot_storage_;
  std::map<const TensorImpl*, uint32_t> spec_numbers_;
  std::map<const void*, uint32_t> fresh_;
  std::map<const OwnVersion*, size_t> apart_;
  std::vector<Tensor> constants_;   // aliases of those that require grad
  std::vector<Tensor> kept_;        // by spec
  std::vector<Parts::Root> roots_;  // results first

  Parts parts_;
  std::vector<Parts::Part> connected_;
  std::vector<uint64_t> begun_;                             // by stretch: a number lower than those of its nodes
  size_t number_ = 0;                                       // of the record that is being replayed
  bool written_ = false;                                    // something may have been, by the record before
  std::vector<size_t> first_records_{0};                    // by part
  uint64_t passed_ = 0;                                     // values, by divisions
  std::set<const FunctionRecord*> functions_;               // met
  std::vector<std::pair<TraceId, uint32_t>> of_functions_;  // results, and the parts before
  bool derived_ = false;
  std::vector<std::pair<Tensor, uint32_t>> asking_;  // derived: what gradients are asked of, with its number
  std::vector<std::pair<Tensor, uint32_t>> given_;   // derived: tangents, with their numbers
  uint32_t next_tensor_ = 0;                         // derived: number of the next tensor of the run
};

}  // namespace

Program build(const Trace& trace, const BuildRequest& request) {
  const Divisions none;
  Builder whole(trace, request, none);
  if (std::optional<Program> program = whole.run()) return std::move(*program);
  const Divisions divisions = whole.missing_divisions();
  return Builder(trace, request, divisions).run().value();
}

}  // namespace terra::graph
