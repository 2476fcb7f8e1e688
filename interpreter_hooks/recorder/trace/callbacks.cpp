// Python functions that passes over the tape call: gradients of autograd.Function, hooks on tensors.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

using graph::CallbackRuns;
using graph::kNoValue;

namespace {

uint32_t number_in(std::unordered_map<const void*, uint32_t>& callbacks, const void* owner) {
  return callbacks.try_emplace(owner, static_cast<uint32_t>(callbacks.size())).first->second;
}

}  // namespace

/// The runs of the pass that has just ended.
CallbackRuns TraceBuilder::take_runs() {
  const size_t depth = open_runs_.size();
  return depth < finished_runs_.size() ? std::exchange(finished_runs_[depth], {}) : CallbackRuns();
}

/// What is attached to a tensor from outside outlives the frame: the recording ends.
bool TraceBuilder::made_inside(PyObject* tensor, const char* what) {
  Shadow* known = r_.find(tensor);
  if (known && known->fresh()) return true;
  r_.stop(Reason::GradientState, std::string(what) + " of a tensor that was made outside");
  return false;
}

void TraceBuilder::on_function(const void* node, const char* name, std::span<PyObject* const> inputs,
                               std::span<PyObject* const> outputs, bool saves) {
  if (!take_report()) return;
  graph::FunctionRecord function{number_in(callbacks_, node), name, ids_of(inputs), ids_of(outputs), saves};
  if (!r_.alive()) return;
  const auto functions = r_.speculation().functions();
  function.outlives = functions != Speculation::Functions::Inside;
  if (function.outlives) {
    const bool writes = std::any_of(outputs.begin(), outputs.end(), [&](PyObject* output) {
      return std::find(inputs.begin(), inputs.end(), output) != inputs.end();
    });
    link(outputs, writes || functions == Speculation::Functions::Last);
    if (writes || functions == Speculation::Functions::Last || !r_.alive()) return;
  }
  record(std::move(function));
}

/// The function's node outlives the frame: a run makes it anew, as an effect, from the tensors that it has published.
/// `last`: what depends on its results would have a history that the graph knows nothing of, so nothing inside may use
/// them from here on.
void TraceBuilder::link(std::span<PyObject* const> outputs, bool last) {
  for (PyObject* output : outputs) {
    Shadow* known = r_.find(output);
    if (!known || !known->fresh() || known->trace_id == kNoValue)
      return r_.stop(Reason::GradientState, "an autograd.Function that writes to a tensor from outside");
    if (!last) continue;
    closed_.try_emplace(known->trace_id,
                        "the result of an autograd.Function whose gradient is computed after the frame");
  }
  links_ = true;
  call_afterwards();
}

/// The gradient is computed after the frame: a run puts the hook on the tensor that it has published.
void TraceBuilder::put_on_afterwards(PyObject* tensor) {
  id_of(tensor);
  if (r_.speculation().functions() == Speculation::Functions::Last)
    return r_.stop(Reason::GradientState, "a hook on a tensor whose gradient is computed after the frame");
  links_ = true;
  call_afterwards();
}

/// The call at hand is made as an effect.
void TraceBuilder::call_afterwards() {
  const CallSite& call = pending()->call;
  r_.write({Effect::CallMethod, Value::fact(Py_None), r_.hold(call.callee), {}, call.positional, "", {}});
}

/// The node is made when the frame's other work is done: what it refers to must still have the history that it had.
void TraceBuilder::refuse_behind_functions() {
  r_.stop(Reason::GradientState,
          "a change behind a hook or an autograd.Function whose gradient is computed after the frame");
}

void TraceBuilder::on_history(PyObject* tensor, const void* node, unsigned index, PyObject* result) {
  if (!take_report()) return;
  const auto known = callbacks_.find(node);
  const bool outside = known == callbacks_.end();
  if (outside && (engine_mode() & 1))
    return r_.stop(Reason::GradientState, "an autograd.Function that was applied outside");
  graph::HistoryRecord history{id_of(tensor), outside ? graph::HistoryRecord::kOutside : known->second, index,
                               new_value()};
  if (outside) without_history_.insert(history.result);
  r_.put(result, Value::fresh(result), false, "").trace_id = history.result;
  if (r_.alive()) record(history);
}

void TraceBuilder::on_hook(PyObject* tensor, const void* hooks, bool first, PyObject* handle) {
  if (!take_report()) return;
  if (!made_inside(tensor, "register_hook()")) return;
  r_.put(handle, Value::fresh(handle), false, "");
  if (r_.speculation().functions() != Speculation::Functions::Inside) return put_on_afterwards(tensor);
  graph::HookRecord hook{id_of(tensor), number_in(callbacks_, hooks)};
  pending()->extra = Value::fresh(handle);
  if (first && r_.alive()) record(hook);
}

void TraceBuilder::on_retain_grad(PyObject* tensor) {
  if (!take_report()) return;
  if (!made_inside(tensor, "retain_grad()")) return;
  graph::RetainGradRecord retain{id_of(tensor)};
  if (r_.alive()) record(retain);
}

void TraceBuilder::on_callback(const void* owner, std::span<PyObject* const> gradients, PyObject* node) {
  if (!listening()) return;
  const auto known = callbacks_.find(owner);
  if (known == callbacks_.end()) {
    return r_.stop(Reason::GradientState,
                   node ? "an autograd.Function that was applied outside" : "a hook on a tensor from outside");
  }
  auto run = std::make_shared<graph::CallbackRun>();
  run->callback = known->second;
  for (PyObject* gradient : gradients) {
    const bool numbered = gradient == Py_None || r_.find(gradient);
    run->gradients.push_back(numbered ? kNoValue : new_value());
    if (!numbered) r_.put(gradient, Value::fresh(gradient), false, "").trace_id = run->gradients.back();
  }
  if (node && !r_.find(node)) r_.put(node, Value::fresh(node), false, "");
  open_runs_.push_back(std::move(run));
}

void TraceBuilder::on_callback_done(const void*, std::span<PyObject* const> results) {
  if (!listening()) return;
  auto run = std::move(open_runs_.back());
  open_runs_.pop_back();
  run->results = ids_of(results);
  if (finished_runs_.size() <= open_runs_.size()) finished_runs_.resize(open_runs_.size() + 1);
  finished_runs_[open_runs_.size()].push_back(std::move(run));
}

/// Versions count from what they are when the frame begins; those of memory made inside are the same in every run.
Value TraceBuilder::version_of(PyObject* tensor, PyObject* version) {
  const auto met = storages_.find(tensor_of(tensor)->storage.get());
  if (met == storages_.end()) {
    if (!r_.find(tensor)->fresh()) r_.stop(Reason::TensorOpaque, "_version");
    return Value::fact(r_.hold(version));
  }
  Met& storage = met->second;
  if (storage.reg == no_register) storage.reg = r_.version_register(r_.reg_of(r_.find(storage.tensor)->self));
  const auto writes = tensor_of(tensor)->storage->version() - storage.version;
  const Value start = Value::dynamic(storage.reg, r_.hold_new(PyLong_FromUnsignedLong(storage.version)));
  const Value count = Value::fact(r_.hold_new(PyLong_FromUnsignedLong(writes)));
  return r_.host(Op::Binary, start.reg, r_.reg_of(count), {TERRA_ADD}, version, {start, count});
}

}  // namespace terra::capture
