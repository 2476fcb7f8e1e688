#include "interpreter_hooks/frame_hook/module.h"

#include "interpreter_hooks/frame_hook/code_record.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/report.h"

namespace terra::capture {

namespace {

PyObject* text(const std::string& s) { return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())); }

PyObject* capture_mode(PyObject*, PyObject* name) {
  Mode mode;
  const char* wanted = PyUnicode_AsUTF8(name);
  if (!wanted) return nullptr;
  if (!parse_mode(wanted, mode)) {
    PyErr_Format(PyExc_ValueError,
                 "capture mode '%s' does not exist: use 'auto', 'off', 'frame', 'coexec', 'verify' or 'stress'", wanted);
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

PyObject* capture_explain(PyObject*, PyObject* callable) {
  PyObject* function = PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
  if (!PyFunction_Check(function)) {
    PyErr_Format(PyExc_TypeError, "explain() needs a Python function or method, not a %s", Py_TYPE(callable)->tp_name);
    return nullptr;
  }
  auto* record = find_record(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function)));
  return text(record ? explain(*record) : "has not been called under capture\n");
}

/// (state, calls, recordings, hits, misses, entries, reason number, sentence) of one function.
PyObject* capture_frame(PyObject*, PyObject* callable) {
  PyObject* function = PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
  CodeRecord nothing;
  CodeRecord* record = PyFunction_Check(function)
                           ? find_record(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function)))
                           : nullptr;
  if (!record) record = &nothing;
  return Py_BuildValue("{s:s,s:l,s:i,s:l,s:l,s:n,s:i,s:s,s:s}", "state", state_name(record->state), "calls",
                       record->calls, "recordings", record->recordings, "hits", record->hits, "misses", record->misses,
                       "entries", static_cast<Py_ssize_t>(record->entries.size()), "reason",
                       static_cast<int>(record->why.reason), "why", record->why.text().c_str(), "last_miss",
                       record->last_miss.c_str());
}

PyObject* capture_freeze(PyObject*, PyObject* on) {
  settings().frozen = PyObject_IsTrue(on) == 1;
  Py_RETURN_NONE;
}

PyObject* capture_reset(PyObject*, PyObject*) {
  reset_records();
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef capture_methods[] = {
    {"capture_mode", capture_mode, METH_O, "Changes the capture mode of the process; returns the one before."},
    {"capture_start", capture_start, METH_NOARGS, "Reads TERRA_CAPTURE and installs the frame hook."},
    {"capture_report", capture_report, METH_NOARGS, "What --report writes, as JSON text."},
    {"capture_explain_all", capture_explain_all, METH_NOARGS, "What --explain prints."},
    {"capture_explain", capture_explain, METH_O, "The same for one function."},
    {"capture_frame", capture_frame, METH_O, "Counters of one function."},
    {"capture_freeze", capture_freeze, METH_O, "From now on nothing is recorded and a miss raises."},
    {"capture_reset", capture_reset, METH_NOARGS, "Forgets all entries and counters of functions."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace terra::capture
