#include "interpreter_hooks/frame_hook/direct_call.h"

#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/bindings/object.h"
#include "interpreter_hooks/cpython/function.h"
#include "interpreter_hooks/frame_hook/decide.h"
#include "interpreter_hooks/frame_hook/deferral.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/mode.h"
#include "interpreter_hooks/frame_hook/run_entry.h"
#include "interpreter_hooks/frame_hook/self_check.h"
#include "interpreter_hooks/frame_hook/serve.h"
#include "interpreter_hooks/frame_hook/session.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/verify/chaos.h"

#include <algorithm>
#include <array>

namespace terra::capture {

namespace {

/// All arguments of a call that names none: its own, then defaults.
class Arguments {
 public:
  /// `all()` is null when there are too few or too many.
  Arguments(PyFunctionObject* function, PyObject* const* given, size_t count) {
    const auto wanted = static_cast<size_t>(reinterpret_cast<PyCodeObject*>(function->func_code)->co_argcount);
    if (count == wanted) [[likely]] {
      all_ = given;
      return;
    }
    PyObject* defaults = function->func_defaults;
    const size_t have = defaults ? static_cast<size_t>(PyTuple_GET_SIZE(defaults)) : 0;
    if (count > wanted || wanted > space_.size() || count + have < wanted) return;
    kept_ = hooks::Object::share(defaults);
    std::copy_n(given, count, space_.begin());
    PyObject* const* values = reinterpret_cast<PyTupleObject*>(defaults)->ob_item;
    std::copy(values + (have - (wanted - count)), values + have, space_.begin() + count);
    all_ = space_.data();
  }
  Arguments(const Arguments&) = delete;
  PyObject* const* all() const { return all_; }

 private:
  PyObject* const* all_ = nullptr;
  hooks::Object kept_;  ///< the defaults; the caller keeps the rest
  std::array<PyObject*, 16> space_;
};

/// What decides in hook.cpp whether a frame may be served, for a call.
CodeRecord* record_to_serve(PyThreadState* thread, PyFunctionObject* function) {
  if (recording_of_thread || session_of_thread || !terra_hook_sees(thread) || terra_thread_is_observed(thread) ||
      modes_see_calls() || chaos_is_on() || witnesses || recursion_is_plain)
    return nullptr;
  drop_stale_entries();
  CodeRecord* record = find_record(reinterpret_cast<PyCodeObject*>(function->func_code));
  if (!record || !record->takes_direct_calls || record->entries.empty()) return nullptr;
  const long number = record->calls + 1;
  return number < record->next_try || record->profitability.is_due(number) ? nullptr : record;
}

/// A call as it came.
struct Call {
  PyObject* callable;
  PyObject* const* arguments;
  size_t count;

  PyFunctionObject* function() const { return reinterpret_cast<PyFunctionObject*>(callable); }
};

/// Makes the call plainly and compares it with what `entry` would have made of it.
bool check_call(CodeRecord& record, const std::shared_ptr<Entry>& entry, const Call& call, PyObject* const* arguments,
                PyObject** result) {
  Check check(entry, Way::Direct);
  const Attempt attempt = verify_entry_shortly(check, arguments, call.function());
  if (!attempt.internal_error.empty()) {
    convict(record, attempt.internal_error);
    *result = nullptr;
    return PyErr_Occurred();  // strict
  }
  if (attempt.outcome != Outcome::Done) return false;
  record.calls++;
  count_hit(record, *entry);
  *result = interpret_and_compare(
      record, check, [&] { return terra_function_call(call.callable, call.arguments, call.count, nullptr); });
  return true;
}

/// True: `result` is that of the call. False: nothing has happened.
bool serve_call(const Call& call, PyObject** result) {
  PyFunctionObject* const function = call.function();
  PyThreadState* const thread = PyThreadState_Get();
  CodeRecord* record = record_to_serve(thread, function);
  if (!record) return false;
  // Another thread may put a new one there during the run.
  const hooks::Object code = hooks::Object::share(function->func_code);
  const Arguments arguments(function, call.arguments, call.count);
  if (!arguments.all()) return false;
  const uint64_t key = record->entries.size() > 1 ? call_key(arguments.all(), function) : 0;
  const std::shared_ptr<Entry> entry = record->entries.likely(key);
  if (!entry->takes_direct_calls() || terra_thread_room(thread) < entry->depth) return false;
  serves(record);
  TimedScope timed(Activity::Direct, record->name, record->file, record->line);
  const RecursiveCall counted(*record);
  Attempt attempt;
  run_entry_shortly(*entry, arguments.all(), function, attempt);
  if (attempt.outcome != Outcome::Done) {
    if (attempt.outcome == Outcome::Due) [[unlikely]]
      return check_call(*record, entry, call, arguments.all(), result);
    timed.became(Activity::Missed);
    // The frame will try again, and at what a graph has found out for nothing it shouldn't every time.
    if (attempt.outcome == Outcome::Failed || attempt.outcome == Outcome::Busy) entry->direct = false;
    return false;
  }
  record->calls++;
  count_hit(*record, *entry);
  *result = attempt.result;
  return true;
}

PyObject* call(PyObject* callable, PyObject* const* arguments, size_t count, PyObject* names) {
  PyObject* result;
  if (!names && serve_call({callable, arguments, static_cast<size_t>(PyVectorcall_NARGS(count))}, &result))
    return result;
  return terra_function_call(callable, arguments, count, names);
}

}  // namespace

bool takes_direct_calls(const PyCodeObject* code) {
  return !(code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) && code->co_kwonlyargcount == 0;
}

void offer_direct_calls(const CodeRecord& record, PyFunctionObject* function) {
  if (record.takes_direct_calls && !terra_function_is_redirected(function, call))
    terra_function_redirect(function, call);
}

}  // namespace terra::capture
