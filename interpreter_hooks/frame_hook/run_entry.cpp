#include "interpreter_hooks/frame_hook/run_entry.h"

#include "interpreter_hooks/entry/error_indicator.h"
#include "interpreter_hooks/entry/registers.h"
#include "interpreter_hooks/frame_hook/deferral.h"
#include "interpreter_hooks/frame_hook/mode.h"
#include "interpreter_hooks/frame_hook/release.h"
#include "interpreter_hooks/frame_hook/self_check.h"
#include "interpreter_hooks/guards/explain.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/verify/chaos.h"

#include "engine/errors/errors.h"
#include "graph/executor/plan.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

#include <chrono>

namespace terra::capture {

namespace {

terra::Scalar scalar_of(PyObject* number) {
  if (PyBool_Check(number)) return terra::Scalar(number == Py_True);
  if (PyFloat_Check(number)) return terra::Scalar(PyFloat_AS_DOUBLE(number));
  return terra::Scalar(static_cast<int64_t>(PyLong_AsLongLong(number)));
}

/// What the short way says has to be what the whole program says: under TERRA_STRICT, and in checks.
void check_short_way(Entry& entry, const Run& run, std::string& internal_error) {
  Registers registers(entry.file);
  Run whole{registers.first(), run.arguments, run.function};
  const int missed_at = entry.entry.run(whole);
  if (missed_at >= 0) {
    internal_error = "a guard that nothing seemed to have changed: " + entry.entry.text(missed_at, entry.file);
    return;
  }
  const std::vector<bool> read = entry.read_later();
  for (size_t r = 0; r < read.size(); r++) {
    const auto reg = static_cast<Register>(r);
    if (read[r] && !entry.file.owned(reg) && run.registers[reg] != whole.registers[reg])
      internal_error = "a read that nothing seemed to have changed: " + entry.file.name(reg);
  }
  std::vector<TensorImpl*> inputs;
  entry.guard_memo.lend(run, inputs);
  for (size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i] != hooks::impl_of(whole.registers[entry.tensors[i]]))
      internal_error = "an input that nothing seemed to have changed: " + entry.file.name(entry.tensors[i]);
  }
}

void read_tensors(const Entry& entry, const Run& run, std::vector<TensorImpl*>& tensors) {
  tensors.clear();
  for (Register r : entry.tensors) tensors.push_back(hooks::impl_of(run.registers[r]));
}

/// False: an int doesn't fit.
bool read_scalars(const Entry& entry, const Run& run, std::vector<Scalar>& scalars) {
  scalars.clear();
  for (Register r : entry.scalars) {
    scalars.push_back(scalar_of(run.registers[r]));
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

/// Lets go of what the guards took out of other objects and only the graph asks for: a gradient that the run replaces
/// is nobody's but its leaf's then, and its memory can be used again (graph/cache/run.h).
void drop_unread(const Entry& entry, const Run& run, const std::vector<TensorImpl*>& tensors) {
  std::vector<bool> read;
  for (size_t i = 0; i < tensors.size(); i++) {
    const Register r = entry.tensors[i];
    PyObject*& object = run.registers[r];
    const TensorImpl& tensor = *tensors[i];
    const bool is_large = tensor.storage && tensor.storage->bytes() >= graph::lent_bytes();
    if (!is_large || !entry.file.owned(r) || Py_REFCNT(object) != 1 || tensor.use_count() < 2) continue;
    if (read.empty()) read = entry.read_later();
    if (!read[r]) Py_CLEAR(object);
  }
}

/// The graph with the values of the registers. True when it has been committed.
bool run_graph(Entry& entry, Run& run, Way way, bool refuse, Verification* verification, EntryRelease& release,
               Attempt& attempt) {
  Spare<RunBuffers>::Use buffers(entry.spare);
  auto& [inputs, outputs] = buffers.get();
  graph::SameTensors same;
  if (way != Way::Whole) {
    entry.guard_memo.lend(run, inputs.tensors);
    same = {entry.guard_memo.token(), entry.guard_memo.others()};
  } else {
    read_tensors(entry, run, inputs.tensors);
    if (!verification && !refuse) drop_unread(entry, run, inputs.tensors);
  }
  if (!entry.scalars.empty() && !read_scalars(entry, run, inputs.scalars)) return false;
  if (!verification && !refuse && defer_run(entry, inputs, outputs)) {
    take_outputs(entry, run, outputs);
    return true;
  }
  release.lends(inputs.tensors);
  auto before_commit = [&] { return !refuse && decide(entry, run, outputs, attempt); };
  std::function<bool()> asked;
  if (refuse || entry.late_decides) asked = std::ref(before_commit);
  EntryRelease* const may_release = EntryRelease::may_release(run) ? &release : nullptr;
  graph::RunResult result = verification
                                ? verification->run_graph(inputs.tensors, inputs.scalars, before_commit, outputs, same,
                                                          compares(settings().mode) ? nullptr : may_release)
                                : entry.graph->run(inputs.tensors, inputs.scalars, asked, outputs, may_release, same);
  if (result.status != graph::RunStatus::Done) [[unlikely]] {
    if (result.status == graph::RunStatus::AssertFailed) attempt.branch = entry.branch_of_assert(result.failed_assert);
    if (result.status == graph::RunStatus::Interrupted) attempt.outcome = Outcome::Interrupted;
    if (result.status == graph::RunStatus::Busy) attempt.outcome = Outcome::Busy;
    if (result.status == graph::RunStatus::Overtaken) attempt.outcome = Outcome::Overtaken;
    if (result.status == graph::RunStatus::UnderWay) attempt.outcome = Outcome::UnderWay;
    return false;
  }
  if (spoiled_way >= 0 && is_spoiled(release.is_held() ? Way::Released : way)) [[unlikely]]
    spoil(outputs);
  if (verification) [[unlikely]]
    verification->output_originals(outputs);
  take_outputs(entry, run, outputs);
  return true;
}

/// A run whose guards hold; the result is missing where a verification stands in for the effects.
void run_held(Entry& entry, Run& run, Way way, const Fault& fault, Verification* verification, Attempt& attempt) {
  attempt.outcome = fault.assertion ? Outcome::Injected : Outcome::Failed;
  const EffectProgram::Held held(entry.effects, run);
  EntryRelease release(entry, run);
  try {
    if (chaos_is_on()) [[unlikely]]
      break_here(Breakpoint::Run);
    if (entry.graph && !run_graph(entry, run, way, fault.assertion, verification, release, attempt)) return;
    if (verification) [[unlikely]]
      verification->expect_effects();
  } catch (const Error&) {  // the op refuses these values: the frame is interpreted and raises by itself
    return;
  } catch (const std::exception& e) {
    attempt.internal_error = e.what();
    return;
  }
  if (verification) [[unlikely]] {
    attempt.outcome = Outcome::Done;
    run.random.put_back();
  } else {
    publish(entry, run, attempt);
  }
}

/// The guards hold: true where the run is to be checked first.
[[gnu::noinline]] bool is_due(Entry& entry, const Run& run, Way way, Attempt& attempt) {
  std::vector<TensorImpl*> inputs;
  if (way == Way::Whole)
    read_tensors(entry, run, inputs);
  else
    entry.guard_memo.lend(run, inputs);
  if (!takes_check(entry, way, inputs)) return false;
  attempt.outcome = Outcome::Due;
  attempt.way = way;
  return true;
}

/// True: the guards held the short way, and the attempt has been made.
bool attempt_shortly(Entry& entry, Run& run, Way way, Verification* verification, Attempt& attempt) {
  if (!entry.guard_memo.holds(run, entry.file)) return false;
  if (entry.checks.due(way, entry.hits) && !verification && is_due(entry, run, way, attempt)) [[unlikely]]
    return true;
  if ((settings().strict || verification) && !run.random.drawn()) [[unlikely]]
    check_short_way(entry, run, attempt.internal_error);
  if (attempt.internal_error.empty() && (!verification || verification->look_at_all()))
    run_held(entry, run, way, {}, verification, attempt);
  else
    attempt.outcome = Outcome::Failed;
  return true;
}

void attempt_entry(Entry& entry, Run& run, Verification* verification, Attempt& attempt) {
  Fault fault;
  const bool shortens = !chaos_is_on();
  if (shortens && attempt_shortly(entry, run, Way::Short, verification, attempt)) return;
  if (chaos_is_on()) fault = next_fault(entry.entry.guards(), entry.graph ? entry.graph->node_count() : 0);
  attempt.missed_at = fault.guard >= 0 ? entry.entry.run_failing(run, fault.guard) : entry.entry.run(run);
  if (attempt.missed_at >= 0) {
    attempt.outcome = fault.guard >= 0 ? Outcome::Injected : Outcome::Missed;
    return;
  }
  if (entry.checks.due(Way::Whole, entry.hits) && !verification && is_due(entry, run, Way::Whole, attempt)) [[unlikely]]
    return;
  if (shortens && entry.guard_memo.pays()) entry.guard_memo.note(entry.entry, run, entry.read_later(), entry.tensors);
  if (forgets_words) [[unlikely]]
    entry.guard_memo.rest_on_nothing();
  run_held(entry, run, Way::Whole, fault, verification, attempt);
}

}  // namespace

bool read_inputs(const Entry& entry, const Run& run, graph::PathInputs& inputs) {
  read_tensors(entry, run, inputs.tensors);
  return read_scalars(entry, run, inputs.scalars);
}

bool decide(Entry& entry, Run& run, const std::vector<graph::RunOutput>& outputs, Attempt& attempt) {
  if (entry.file.stale()) return false;
  if (!entry.late_decides) return true;
  if (outputs.size() != entry.outputs.size()) return false;
  for (size_t i = 0; i < entry.outputs.size(); i++) {
    if (auto* scalar = std::get_if<terra::Scalar>(&outputs[i])) {
      run.registers[entry.outputs[i]] = hooks::from_scalar(*scalar);
    }
  }
  attempt.missed_at = entry.late.run(run);
  attempt.late = attempt.missed_at >= 0;
  if (attempt.late) attempt.branch = entry.branch_of_late_guard(attempt.missed_at);
  return attempt.missed_at < 0;
}

void take_outputs(Entry& entry, Run& run, std::vector<graph::RunOutput>& outputs) {
  for (size_t i = 0; i < entry.outputs.size(); i++) {
    PyObject*& place = run.registers[entry.outputs[i]];
    if (auto* tensor = std::get_if<Tensor>(&outputs[i])) {
      place = object_of(std::move(*tensor));
    } else if (!place) {
      place = hooks::from_scalar(std::get<terra::Scalar>(outputs[i]));
    }
  }
  if (!entry.late_decides) entry.late.run(run);
}

void publish(Entry& entry, Run& run, Attempt& attempt) {
  attempt.outcome = Outcome::Done;
  run.random.keep();
  if (!entry.cut) {
    entry.effects.run(run, &attempt.result);
    return;
  }
  attempt.slots.resize(entry.effects.result_count());
  if (!entry.effects.run(run, attempt.slots.data())) attempt.slots.clear();
}

namespace {

/// A guard on a tensor failed: lets the sizes differ that do. False if more than sizes is different.
bool relax_sizes(const TensorFacts& facts, PyObject* object, Speculation& speculation, bool& relaxed) {
  if (!object || !is_plain_tensor(object)) return false;
  const FreeSizes more = facts.to_be_freed(*tensor_of(object));
  if (!more) return false;
  relaxed = speculation.free(facts.path, facts.sizes.size(), more) || relaxed;
  return true;
}

}  // namespace

bool guards_hold(Entry& entry, PyObject* const* arguments, PyFunctionObject* function) {
  Registers registers(entry.file);
  Run run{registers.first(), arguments, function};
  return entry.entry.run(run) < 0;
}

bool relax_facts(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, Speculation& speculation) {
  Registers registers(entry.file);
  Run run{registers.first(), arguments, function};
  bool relaxed = false;
  entry.entry.run_past(run, [&](const Word* at) {
    const Op op = static_cast<Op>(head(at).kind);
    PyObject* object = head(at).a == no_register ? nullptr : run.registers[head(at).a];
    if (op == Op::Tensor && is_tensor(object)) {
      return relax_sizes(*pointer<TensorFacts>(at[1]), object, speculation, relaxed);
    }
    if (op == Op::Pinned) return true;
    if (op == Op::Length && object && PyList_CheckExact(object)) {
      speculation.relax("len(" + entry.file.name(head(at).a) + ")");
      return true;
    }
    if (op != Op::Equal || !is_number(object_word(at[1]))) return false;
    if (head(at).a < 0 || entry.file.owned(head(at).a) || !is_number(object)) return false;
    relaxed = speculation.relax(entry.file.name(head(at).a)) || relaxed;
    return true;
  });
  return relaxed;
}

/// A run that came to nothing has left nothing: what is called next must not find an exception set.
static void forget_exception(Attempt& attempt) {
  if (attempt.outcome == Outcome::Done || !PyErr_Occurred()) [[likely]]
    return;
  std::string left = ErrorIndicator::left_behind();
  if (attempt.internal_error.empty()) attempt.internal_error = std::move(left);
}

Attempt run_entry(Entry& entry, PyObject* const* arguments, PyFunctionObject* function) {
  for (;;) {
    {
      Registers registers(entry.file);
      Run run{registers.first(), arguments, function};
      Attempt attempt;
      attempt_entry(entry, run, nullptr, attempt);
      forget_exception(attempt);
      if (attempt.outcome != Outcome::UnderWay) [[likely]]
        return attempt;
    }
    if (wait_for_another_run()) continue;
    Attempt interrupted;
    interrupted.outcome = Outcome::Interrupted;
    return interrupted;
  }
}

void run_entry_shortly(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, Attempt& attempt) {
  Registers registers(entry.file);
  Run run{registers.first(), arguments, function};
  attempt_shortly(entry, run, Way::Direct, nullptr, attempt);
  forget_exception(attempt);
}

double graph_seconds(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, int runs) {
  Registers registers(entry.file);
  Run run{registers.first(), arguments, function};
  graph::PathInputs inputs;
  std::vector<graph::RunOutput> outputs;
  if (!entry.graph || entry.entry.run(run) >= 0 || !read_inputs(entry, run, inputs)) return -1;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; i++) {
    outputs.clear();
    if (entry.graph->run(inputs.tensors, inputs.scalars, nullptr, outputs).status != graph::RunStatus::Done) return -1;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs;
}

std::string describe_miss(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, int missed_at) {
  Registers registers(entry.file);
  Run run{registers.first(), arguments, function};
  const int again = entry.entry.run(run);
  return again == missed_at ? miss_text(entry.entry.at(again), run, entry.file)
                            : entry.entry.text(missed_at, entry.file);
}

Attempt verify_entry(Verification& verification, PyObject* const* arguments, PyFunctionObject* function) {
  Attempt attempt;
  attempt_entry(verification.entry(), verification.start(arguments, function), &verification, attempt);
  forget_exception(attempt);
  return attempt;
}

Attempt verify_entry_shortly(Verification& verification, PyObject* const* arguments, PyFunctionObject* function) {
  Attempt attempt;
  attempt_shortly(verification.entry(), verification.start(arguments, function), Way::Direct, &verification, attempt);
  forget_exception(attempt);
  return attempt;
}

}  // namespace terra::capture
