#include "interpreter_hooks/frame_hook/module.h"

#include "interpreter_hooks/frame_hook/code_record.h"
#include "interpreter_hooks/frame_hook/decide.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/report.h"
#include "interpreter_hooks/frame_hook/run_entry.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

namespace terra::capture {

namespace {

PyObject* text(const std::string& s) {
  return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
}

/// Puts a new reference at the end of a list. Where it is null, or has no room there, the list goes: an exception is
/// set.
void append(PyObject*& list, PyObject* row) {
  if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
  Py_XDECREF(row);
}

PyObject* function_of(PyObject* callable) {
  return PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
}
/// Null for one that was never called under capture.
CodeRecord* known_record(PyObject* function) {
  return find_record(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function)));
}

PyObject* capture_mode(PyObject*, PyObject* name) {
  Mode mode;
  const char* wanted = PyUnicode_AsUTF8(name);
  if (!wanted) return nullptr;
  if (!parse_mode(wanted, mode)) {
    PyErr_Format(PyExc_ValueError,
                 "capture mode '%s' does not exist: use 'auto', 'off', 'frame', 'coexec', 'verify', 'stress' or "
                 "'stress-verify'",
                 wanted);
    return nullptr;
  }
  return text(mode_name(set_mode(mode)));
}

PyObject* capture_start(PyObject*, PyObject*) {
  start();
  Py_RETURN_NONE;
}

PyObject* capture_report(PyObject*, PyObject*) { return text(report_json()); }
PyObject* capture_explain_all(PyObject*, PyObject*) { return text(explain_all()); }

/// The record of a Python function or method; null if it was never called under capture. `known` is false, with an
/// exception that names the caller's `purpose`, for any other object.
CodeRecord* record_of_callable(PyObject* callable, const char* purpose, bool& known) {
  PyObject* function = function_of(callable);
  known = PyFunction_Check(function);
  drop_stale_entries();
  if (known) return known_record(function);
  PyErr_Format(PyExc_TypeError, "%s() needs a Python function or method, not a %s", purpose,
               Py_TYPE(callable)->tp_name);
  return nullptr;
}

PyObject* capture_explain(PyObject*, PyObject* callable) {
  bool known;
  CodeRecord* record = record_of_callable(callable, "explain", known);
  if (!known) return nullptr;
  return text(record ? explain(*record) : "has not been called under capture\n");
}

/// Of a function and the rests of its frames.
std::vector<std::shared_ptr<Entry>> all_entries(const CodeRecord& record) {
  std::vector<std::shared_ptr<Entry>> entries(record.entries.begin(), record.entries.end());
  for (const std::shared_ptr<CodeRecord>& rest : record.rests)
    entries.insert(entries.end(), rest->entries.begin(), rest->entries.end());
  return entries;
}

PyObject* capture_graphs(PyObject*, PyObject* callable) {
  bool known;
  const CodeRecord* record = record_of_callable(callable, "graphs", known);
  PyObject* list = known ? PyList_New(0) : nullptr;
  if (!list || !record) return list;
  for (const std::shared_ptr<Entry>& entry : all_entries(*record))
    if (list && entry->graph) append(list, text(entry->graph->text()));
  return list;
}

/// graph_seconds(function, arguments, runs): `arguments` are all of the frame's, in their order.
PyObject* capture_graph_seconds(PyObject*, PyObject* args) {
  PyObject *callable, *arguments;
  int runs;
  bool known;
  if (!PyArg_ParseTuple(args, "OO!i", &callable, &PyTuple_Type, &arguments, &runs)) return nullptr;
  CodeRecord* record = record_of_callable(callable, "graph_seconds", known);
  if (!known) return nullptr;
  auto* function = reinterpret_cast<PyFunctionObject*>(function_of(callable));
  double seconds = -1;
  const bool complete =
      PyTuple_GET_SIZE(arguments) == reinterpret_cast<PyCodeObject*>(function->func_code)->co_argcount;
  for (size_t i = 0; complete && record && i < record->entries.size() && seconds < 0; i++) {
    const std::shared_ptr<Entry> entry = record->entries[i];
    serves(record);
    try {
      seconds = graph_seconds(*entry, reinterpret_cast<PyTupleObject*>(arguments)->ob_item, function, runs);
    } catch (const std::exception& e) {
      PyErr_SetString(PyExc_RuntimeError, e.what());
      return nullptr;
    }
  }
  if (seconds >= 0) return PyFloat_FromDouble(seconds);
  PyErr_SetString(
      PyExc_ValueError,
      "graph_seconds() needs a function that has been captured for these arguments: call it a few times first");
  return nullptr;
}

/// What is known of one function; "served": calls of which an entry served the end, or another part that has tensor
/// work.
PyObject* capture_frame(PyObject*, PyObject* callable) {
  PyObject* function = function_of(callable);
  CodeRecord nothing;
  CodeRecord* record = PyFunction_Check(function) ? known_record(function) : nullptr;
  if (!record) record = &nothing;
  long served = record->useful_hits;
  for (const std::shared_ptr<CodeRecord>& rest : record->rests) served = std::max(served, rest->useful_hits);
  return Py_BuildValue("{s:s,s:l,s:i,s:l,s:l,s:n,s:i,s:s,s:s,s:l,s:l,s:n}", "state", state_name(record->state), "calls",
                       record->calls_made(), "recordings", record->recordings, "hits", record->hits, "misses",
                       record->misses, "entries", static_cast<Py_ssize_t>(record->entries.size()), "reason",
                       static_cast<int>(record->why.reason), "why", record->why.text().c_str(), "last_miss",
                       record->last_miss.c_str(), "cut_hits", record->cut_hits, "served", served, "rests",
                       static_cast<Py_ssize_t>(record->rests.size()));
}

/// The names of the kinds of instructions that an entry has. Null after an exception.
PyObject* kinds_of(const Entry& entry) {
  PyObject* names = PySet_New(nullptr);
  for (const Program* program : {&entry.entry, &entry.late}) {
    program->each([&](const Word* at) {
      PyObject* name = names ? PyUnicode_FromString(kinds[head(at).kind].name) : nullptr;
      if (!name || PySet_Add(names, name) < 0) Py_CLEAR(names);
      Py_XDECREF(name);
    });
  }
  return names;
}

/// The kinds of instructions that the entries of a function have, and those of rests of its frames: one set per entry.
PyObject* capture_facts(PyObject*, PyObject* callable) {
  bool known;
  const CodeRecord* record = record_of_callable(callable, "facts", known);
  PyObject* list = known ? PyList_New(0) : nullptr;
  if (!list || !record) return list;
  for (const std::shared_ptr<Entry>& entry : all_entries(*record))
    if (list) append(list, kinds_of(*entry));
  return list;
}

/// [(name, whether it is a guard)]
PyObject* capture_kinds(PyObject*, PyObject*) {
  PyObject* list = PyList_New(0);
  for (const Kind& kind : kinds)
    if (list) append(list, Py_BuildValue("(sO)", kind.name, kind.guard ? Py_True : Py_False));
  return list;
}

/// [(module or type, name or None for all of it)]
PyObject* capture_models(PyObject*, PyObject*) {
  PyObject* list = PyList_New(0);
  each_model([&](const CallModel& model) {
    if (list) append(list, Py_BuildValue("(sz)", model.where, model.name));
  });
  return list;
}

/// Types and entries belong to one interpreter; a second one would share them without a lock.
PyObject* require_main_interpreter(PyObject*, PyObject*) {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) Py_RETURN_NONE;
  PyErr_SetString(
      PyExc_ImportError,
      "terra was imported in a subinterpreter, which it does not support: import it in the main interpreter, "
      "or start another process");
  return nullptr;
}

/// Sets one of the settings to the truth of an object.
PyObject* set_flag(bool& setting, PyObject* value) {
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) return nullptr;
  setting = truth == 1;
  Py_RETURN_NONE;
}
PyObject* capture_freeze(PyObject*, PyObject* on) { return set_flag(settings().frozen, on); }
PyObject* capture_thrift(PyObject*, PyObject* on) { return set_flag(settings().thrifty, on); }

PyObject* capture_reset(PyObject*, PyObject*) {
  reset_records();
  Py_RETURN_NONE;
}

/// [(number, sentence, hint, example)]
PyObject* capture_reasons(PyObject*, PyObject*) {
  PyObject* list = PyList_New(0);
  for (int number = 0; list && number < static_cast<int>(Reason::Count_); number++) {
    const ReasonText& reason = reason_text(static_cast<Reason>(number));
    append(list, Py_BuildValue("(isss)", number, reason.text, reason.hint, reason.example));
  }
  return list;
}

}  // namespace

PyMethodDef capture_methods[] = {
    {"capture_mode", capture_mode, METH_O, "Changes the capture mode of the process; returns the one before."},
    {"capture_start", capture_start, METH_NOARGS, "Reads TERRA_CAPTURE and installs the frame hook."},
    {"capture_report", capture_report, METH_NOARGS, "What --report writes, as JSON text."},
    {"capture_explain_all", capture_explain_all, METH_NOARGS, "What --explain prints."},
    {"capture_explain", capture_explain, METH_O, "The same for one function."},
    {"capture_graphs", capture_graphs, METH_O, "The optimized graphs of one function's entries, as text."},
    {"capture_graph_seconds", capture_graph_seconds, METH_VARARGS,
     "What the graph of a captured call takes by itself."},
    {"capture_frame", capture_frame, METH_O, "Counters of one function."},
    {"capture_facts", capture_facts, METH_O, "The kinds of facts that each entry of one function rests on."},
    {"capture_kinds", capture_kinds, METH_NOARGS, "The table of the kinds of facts."},
    {"capture_models", capture_models, METH_NOARGS, "The table of the C callables that a recording understands."},
    {"capture_reasons", capture_reasons, METH_NOARGS, "The table of reasons."},
    {"_require_main_interpreter", require_main_interpreter, METH_NOARGS, "Raises ImportError in a subinterpreter."},
    {"capture_freeze", capture_freeze, METH_O, "From now on nothing is recorded and a miss raises."},
    {"capture_thrift", capture_thrift, METH_O, "Whether functions are recorded only when it is likely to pay."},
    {"capture_reset", capture_reset, METH_NOARGS, "Forgets all entries and counters of functions."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace terra::capture
