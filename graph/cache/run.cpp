#include "graph/cache/run.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/autograd/spent_node.h"
#include "engine/eager/host_lock.h"
#include "engine/errors/errors.h"
#include "engine/random/generator.h"
#include "engine/tensor/epoch.h"
#include "engine/tensor/kept_bytes.h"
#include "graph/cache/compile_program.h"
#include "graph/executor/planner.h"

namespace terra::graph {
namespace {

bool (*poll_function)() = nullptr;
void (*look_at_program)(const Program&) = nullptr;

Program checked(Program program) {
  if (look_at_program) look_at_program(program);
  return program;
}

/// Puts the states of generators back unless told that the run stands.
class RandomGuard {
 public:
  explicit RandomGuard(const std::vector<Generator*>& generators) {
    for (Generator* g : generators) {
      Generator& real = g ? *g : default_generator();
      saved_.emplace_back(&real, real.state());
    }
  }
  ~RandomGuard() {
    if (!stands_)
      for (auto& [generator, state] : saved_) generator->set_state(state);
  }
  RandomGuard(const RandomGuard&) = delete;
  void stand() { stands_ = true; }
  /// While others may use the generators, and nothing of this run's is in them.
  void watch(bool yes) { stands_ = !yes; }

 private:
  std::vector<std::pair<Generator*, RandomState>> saved_;
  bool stands_ = false;
};

/// The program has no other thread that could look at anything while a body runs.
bool is_alone() {
  const HostLock& lock = host_lock();
  return !release_faults().every_run && (!lock.is_shared || !lock.is_shared());
}

/// True iff no tensor is two results, and none has a gradient to be set or a history to be given.
bool results_stand_alone(const Program& program) {
  if (!program.grads.empty() || !program.roots.empty()) return false;
  std::vector<bool> seen(program.tensors.size(), false);
  for (const ResultSpec& r : program.results) {
    if (r.kind != ResultSpec::Kind::Tensor) continue;
    if (seen[r.index] || program.tensors[r.index].retains_grad) return false;
    seen[r.index] = true;
  }
  return true;
}

/// The history of a tensor whose backward has run inside.
Ref<autograd::Node> spent_history(const TensorSpec& spec, LentTensors inputs) {
  Ref<autograd::Node> node(new autograd::SpentNode(spec.grad_fn));
  for (uint32_t i : spec.leads_to) node->edges.push_back(autograd::gradient_edge(kept(inputs[i])));
  return node;
}

}  // namespace

void set_interrupt_poll(bool (*poll)()) { poll_function = poll; }
bool (*interrupt_poll())() { return poll_function; }
void (*&program_check())(const Program& program) { return look_at_program; }

UninterruptedRun::UninterruptedRun() : poll_(std::exchange(poll_function, nullptr)) {}
UninterruptedRun::~UninterruptedRun() { poll_function = poll_; }

Plan Runner::plan(const Program& program, const std::vector<bool>& consumable) {
  PlanRequest request;
  for (const InputBinding& in : program.inputs) request.input_strides.push_back(in.strides);
  for (ValueId v : program.graph.outputs)
    request.roles.push_back(
        {program.graph.meta(v).is_tensor() ? OutputRole::Kind::Fresh : OutputRole::Kind::Scalar, 0});
  for (const StorageWrite& w : program.writes) request.roles[w.output] = {OutputRole::Kind::Write, w.input};
  for (const InputBinding& in : program.inputs) {
    if (consumable.empty()) break;
    request.consumable.push_back(in.kind == InputBinding::Kind::Tensor && consumable[in.index]);
  }
  return make_plan(program.graph, std::move(request));
}

Runner::Runner(Program program, const std::vector<bool>& consumable)
    : program_(checked(std::move(program))),
      instance_(plan(program_, consumable)),
      activation_(instance_),
      results_move_(results_stand_alone(program_)),
      releasable_(program_, graph()),
      tempo_(releasable_.varies) {
  program_.graph = {};
  const std::vector<uint32_t> uses = use_counts(graph());
  for (ValueId input : graph().inputs) read_.push_back(uses[input] > 0);
  for (uint32_t k = 0; k < program_.tensors.size(); ++k) {
    const TensorSpec& s = program_.tensors[k];
    if (s.view) views_.push_back(k);
    if (s.spent && s.source == TensorSpec::Source::Input) spent_inputs_.push_back(k);
  }
  only_views_ = graph().nodes.empty() && graph().outputs.empty() && program_.writes.empty() && program_.grads.empty();
  note_uses();
  find_heirs();
}

Footprint Runner::footprint() const {
  Footprint f;
  f.run = instance_.plan().peak_bytes;
  f.kept = activation_.kept_bytes();
  for (const auto& [id, tensor] : graph().constants) f.constants += tensor->storage->bytes();
  return f;
}

bool Runner::reads(uint32_t tensor) const {
  bool bound = false;
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputBinding& in = program_.inputs[i];
    if (in.kind != InputBinding::Kind::Tensor || in.index != tensor) continue;
    if (read_[i]) return true;
    bound = true;
  }
  return !bound;  // it shares the memory of another one
}

// ---- gradients that the run replaces -------------------------------------------------------------------------------

/// Once the body is settled the program can't come to see the gradients that the run replaces: even where memory runs
/// out, plain execution goes the same way, and there they are gone by then. So the new ones are made in the memory of
/// those that nobody else holds.
class Runner::Inheritance {
 public:
  Inheritance(const Runner& runner, LentTensors inputs, Made& made) : runner_(runner) {
    for (const Heir& heir : runner.heirs_) {
      const Tensor owner = kept(inputs[heir.tensor]), old = autograd::grad(owner);
      if (!old.defined() || !is_sole(old, inputs)) continue;
      const TensorSpec& spec = runner.program_.tensors[heir.spec];
      if (old->storage->bytes() != runner.bytes_of_output(heir.output) || old->version() > spec.versions) continue;
      made.storages[heir.output] = old->storage;
      old->storage->note_write();
      owners_.push_back(owner);
    }
  }
  ~Inheritance() {
    if (stands_ || !runner_.activation_.is_settled()) return;
    for (const Tensor& owner : owners_) autograd::set_grad(owner, Tensor());
  }
  Inheritance(const Inheritance&) = delete;

  void stand() { stands_ = true; }

 private:
  /// Nobody but its leaf and the caller has the tensor or its memory, and the run doesn't ask what is in it.
  bool is_sole(const Tensor& old, LentTensors inputs) const {
    if (old->use_count() != 2 || old->owner || old->storage->use_count() != 1 || old->storage->exported()) return false;
    const auto lent = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), old.get()) - inputs.begin());
    const auto is_in = [&](const std::vector<bool>& list) { return lent < list.size() && list[lent]; };
    return !is_in(runner_.asks_for_) && !is_in(runner_.shows_);
  }

  const Runner& runner_;
  std::vector<Tensor> owners_;
  bool stands_ = false;
};

size_t Runner::bytes_of_output(size_t output) const { return graph().meta(graph().outputs[output]).bytes(); }

/// What becomes of the tensors of the run's inputs.
void Runner::note_uses() {
  const auto note = [](std::vector<bool>& list, uint32_t tensor, bool value) {
    if (list.size() <= tensor) list.resize(tensor + 1, false);
    if (value) list[tensor] = true;
  };
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    if (program_.inputs[i].kind != InputBinding::Kind::Tensor) continue;
    note(asks_for_, program_.inputs[i].index, read_[i]);
    note(shows_, program_.inputs[i].index, false);
  }
  for (const TensorSpec& s : program_.tensors) {
    if (s.source == TensorSpec::Source::Input || s.source == TensorSpec::Source::InputStorage)
      note(shows_, s.index, true);
    for (uint32_t leaf : s.leads_to) note(shows_, leaf, true);
  }
  for (const StorageWrite& w : program_.writes) note(shows_, program_.inputs[w.input].index, true);
  for (const FlagWrite& f : program_.flags) note(shows_, f.input, true);
}

void Runner::find_heirs() {
  std::vector<uint32_t> views(graph().outputs.size(), 0);
  for (const TensorSpec& s : program_.tensors)
    if (s.source == TensorSpec::Source::Fresh) ++views[s.index];
  for (const GradWrite& g : program_.grads) {
    if (g.grad < 0 || program_.tensors[g.tensor].source != TensorSpec::Source::Input) continue;
    const TensorSpec& made = program_.tensors[static_cast<size_t>(g.grad)];
    if (made.source == TensorSpec::Source::Fresh && made.apart < 0 && made.looped.empty() && views[made.index] == 1 &&
        instance_.is_made_settled(made.index))
      heirs_.push_back({program_.tensors[g.tensor].index, made.index, static_cast<uint32_t>(g.grad)});
  }
}

/// By graph input: tensors that may lose their memory. What is looked at after the run, by this or by anyone, stays.
std::vector<TensorImpl*> Runner::consumed(LentTensors inputs) const {
  std::vector<TensorImpl*> consumed(program_.inputs.size(), nullptr);
  std::vector<uint32_t> bound(inputs.size(), 0);
  for (const InputBinding& in : program_.inputs)
    if (in.kind == InputBinding::Kind::Tensor) ++bound[in.index];
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputBinding& in = program_.inputs[i];
    if (in.kind != InputBinding::Kind::Tensor || bound[in.index] > 1 || shows_[in.index]) continue;
    TensorImpl* tensor = inputs[in.index];
    if (tensor->use_count() == 1 && tensor->storage->use_count() == 1 && !tensor->storage->exported())
      consumed[i] = tensor;
  }
  return consumed;
}

RunResult Runner::run(LentTensors inputs, std::span<const Scalar> scalars, std::span<const Tensor> tangents,
                      bool (*poll)(), const std::function<bool()>& before_commit, Made& made, Release* release,
                      const SameTensors& same) {
  if (!flight_.none()) [[unlikely]]
    return {flight_.state() == Flight::State::UnderWay ? RunStatus::UnderWay : RunStatus::Busy, 0};
  RandomGuard random(program_.generators);
  if (!only_views_) {
    settle_deferred_work();  // addresses that are bound already may be among what it reads
    bind_inputs(inputs, scalars, tangents, same);
  }
  made.storages.resize(graph().outputs.size());
  struct Ending {
    RootActivation& activation;
    ~Ending() { activation.end_run(); }
  } const ending{activation_};
  std::vector<TensorImpl*> consumed;
  if (made.consumes) activation_.consume(consumed = this->consumed(inputs));
  Stop stop;
  std::optional<Inheritance> inheritance;
  const bool inherits = !heirs_.empty() && made.stands && is_alone();
  if (!tempo_.is_short() && !inherits && is_to_be_released(inputs, release)) {
    random.watch(false);
    if (!run_released(inputs, tangents, poll, *release, made, stop)) return {RunStatus::Overtaken, 0};
    random.watch(stop.why == Stop::Why::None);
  } else {
    if (inherits) inheritance.emplace(*this, inputs, made);
    stop = tempo_.is_short() ? activation_.run_body(poll, made.storages, inheritance.has_value())
                             : run_timed(poll, made, inheritance.has_value());
  }
  if (stop.why == Stop::Why::AssertFailed) return {RunStatus::AssertFailed, stop.assert_index};
  if (stop.why == Stop::Why::Interrupted || (!inheritance && poll && poll())) return {RunStatus::Interrupted, 0};
  make_tensors(inputs, made);
  if (before_commit && !before_commit()) return {RunStatus::Refused, 0};
  random.stand();
  if (inheritance) inheritance->stand();
  for (const StorageWrite& w : program_.writes) before_write(*inputs[program_.inputs[w.input].index]->storage);
  activation_.run_tail();
  return {};
}

void Runner::bind_inputs(LentTensors inputs, std::span<const Scalar> scalars, std::span<const Tensor> tangents,
                         const SameTensors& same) {
  const bool on_copies = !same.originals.empty();
  if (on_copies) check_originals(same);
  if (!on_copies && bound_.holds(same)) {
    for (uint32_t i : rebound_) bind_input(i, inputs, scalars, tangents);
    return;
  }
  bound_ = {};
  for (size_t i = 0; i < program_.inputs.size(); ++i) bind_input(i, inputs, scalars, tangents);
  if (!same.token || on_copies) return;
  rebound_.clear();
  for (uint32_t i = 0; i < program_.inputs.size(); ++i)
    if (!stays(program_.inputs[i], same)) rebound_.push_back(i);
  bound_ = {same.token, tensor_epoch};
}

bool Runner::Bound::holds(const SameTensors& same) const {
  return same.token && same.token == token && epoch == tensor_epoch;
}

bool Runner::stays(const InputBinding& in, const SameTensors& same) const {
  return in.kind == InputBinding::Kind::Tensor &&
         std::find(same.others.begin(), same.others.end(), in.index) == same.others.end();
}

/// What a run without copies remembers has to be so, or, where the last run had copies, what it would remember.
void Runner::check_originals(const SameTensors& same) {
  std::vector<void*> now(program_.inputs.size());
  for (size_t i = 0; i < now.size(); ++i) {
    const InputBinding& in = program_.inputs[i];
    if (in.kind == InputBinding::Kind::Tensor) now[i] = input_address(same.originals, i);
    if (!stays(in, same)) continue;
    const bool moved = bound_.holds(same) ? now[i] != activation_.bound_input(i)
                                          : bound_originals_.holds(same) && now[i] != originals_[i];
    if (moved) throw InternalError(fmt::format("the memory of input {} has moved, and nobody was told", in.index));
  }
  originals_ = std::move(now);
  bound_originals_ = same.token ? Bound{same.token, tensor_epoch} : Bound{};
}

void Runner::bind_input(size_t input, LentTensors inputs, std::span<const Scalar> scalars,
                        std::span<const Tensor> tangents) {
  const InputBinding& in = program_.inputs[input];
  switch (in.kind) {
    case InputBinding::Kind::Tensor: activation_.bind_input(input, input_address(inputs, input)); break;
    case InputBinding::Kind::Scalar: activation_.bind_scalar(input, scalars[in.index]); break;
    case InputBinding::Kind::Tangent: activation_.bind_input(input, tangents[in.index]->data()); break;
  }
}

uint32_t Runner::versions(uint32_t straight, const std::vector<LoopedWrites>& looped) const {
  for (const LoopedWrites& l : looped) straight += l.each * static_cast<uint32_t>(scalar_output(l.output).to_int());
  return straight;
}

void* Runner::input_address(LentTensors inputs, size_t input) const {
  const InputBinding& in = program_.inputs[input];
  const TensorImpl& t = *inputs[in.index];
  const int64_t offset = in.own_offset ? t.offset : in.offset;
  return static_cast<char*>(t.storage->data()) + offset * static_cast<int64_t>(size_of(t.dtype));
}

void Runner::make_tensors(LentTensors inputs, Made& made) const {
  made.tensors.reserve(program_.tensors.size());
  for (const TensorSpec& s : program_.tensors) {
    Ref<Storage> storage;
    int64_t offset = s.offset;
    switch (s.source) {
      case TensorSpec::Source::Input: made.tensors.push_back(kept(inputs[s.index])); continue;
      case TensorSpec::Source::InputStorage:
        storage = inputs[s.index]->storage;
        if (s.from_input_offset) offset += inputs[s.index]->offset;
        break;
      case TensorSpec::Source::Fresh:
        storage = made.storages[s.index];
        storage->mark_inference(s.is_inference);
        for (const uint32_t all = versions(s.versions, s.looped); storage->version() < all;) storage->bump_version();
        break;
      case TensorSpec::Source::Constant: storage = graph().constants[s.index].second->storage; break;
    }
    if (s.apart >= 0) {
      const auto number = static_cast<size_t>(s.apart);
      if (number >= made.apart.size()) made.apart.resize(number + 1);
      auto& [own, writes] = made.apart[number];
      if (!own) {
        own = Storage::apart(storage);
        writes = s.apart_versions;
      }
      storage = own;
    }
    made.tensors.push_back(Tensor::view_of(std::move(storage), s.dtype, s.sizes, s.strides, offset));
    if (s.leaf_requires_grad) set_wants_grad(*made.tensors.back(), true);
    if (s.spent) autograd::set_history(made.tensors.back(), spent_history(s, inputs), 0);
  }
  for (uint32_t k : views_) {
    const TensorSpec& s = program_.tensors[k];
    const Tensor& view = made.tensors[k];
    uint32_t writes = s.apart_versions;  // which publish() will count
    for (const StorageWrite& w : program_.writes)
      if (inputs[program_.inputs[w.input].index]->storage == view->storage) writes += versions(w.versions, w.looped);
    autograd::set_view(view, made.tensors[s.base], s.view, view->version() + writes);
  }
}

void Runner::publish(LentTensors inputs, Made& made) {
  for (const auto& [storage, versions] : made.apart)
    for (uint32_t k = versions; k > 0; --k) storage->bump_version();
  for (const StorageWrite& w : program_.writes) {
    Storage& storage = *inputs[program_.inputs[w.input].index]->storage;
    for (uint32_t k = versions(w.versions, w.looped); k > 0; --k) storage.bump_version();
    storage.note_write();
  }
  for (const FlagWrite& f : program_.flags) set_wants_grad(*inputs[f.input], f.requires_grad);
  if (!spent_inputs_.empty()) give_spent_histories(inputs);
  for (const GradWrite& g : program_.grads) {
    made.replaced.push_back(autograd::grad(made.tensors[g.tensor]));
    autograd::set_grad(made.tensors[g.tensor], g.grad < 0 ? Tensor() : made.tensors[static_cast<size_t>(g.grad)]);
  }
}

void Runner::give_spent_histories(LentTensors inputs) const {
  std::vector<std::pair<Tensor, Ref<autograd::Node>>> made;  // from the histories before the run
  for (uint32_t k : spent_inputs_) {
    const TensorSpec& s = program_.tensors[k];
    made.emplace_back(kept(inputs[s.index]), spent_history(s, inputs));
  }
  for (const auto& [tensor, history] : made) autograd::set_history(tensor, history, 0);
}

void Runner::retain_gradients(const Made& made) {
  for (size_t k = 0; k < program_.tensors.size(); ++k)
    if (program_.tensors[k].retains_grad) autograd::retain_grad(made.tensors[k]);
}

void Runner::collect(Made& made, std::vector<RunOutput>& outputs) const {
  outputs.clear();
  outputs.reserve(program_.results.size());
  for (const ResultSpec& r : program_.results) {
    switch (r.kind) {
      case ResultSpec::Kind::Tensor:
        if (results_move_)
          outputs.emplace_back(std::move(made.tensors[r.index]));
        else
          outputs.emplace_back(made.tensors[r.index]);
        break;
      case ResultSpec::Kind::Scalar: outputs.emplace_back(activation_.scalar(graph().outputs[r.index])); break;
      case ResultSpec::Kind::Known: outputs.emplace_back(r.known); break;
      case ResultSpec::Kind::None: outputs.emplace_back(Tensor()); break;
    }
  }
}

}  // namespace terra::graph
