#include "interpreter_hooks/embed/capture.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "graph/file/round_trip.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/report_files.h"

namespace terra::embed {
namespace {

PyObject* finish(PyObject*, PyObject*) {
  capture::finish_reports();
  Py_RETURN_NONE;
}

bool register_at_exit() {
  static PyMethodDef definition = {"finish_reports", finish, METH_NOARGS, nullptr};
  PyObject* function = PyCFunction_New(&definition, nullptr);
  PyObject* module = PyImport_ImportModule("atexit");
  PyObject* result = function && module ? PyObject_CallMethod(module, "register", "O", function) : nullptr;
  for (PyObject* object : {function, module, result}) Py_XDECREF(object);
  return result != nullptr;
}

}  // namespace

bool start_capture() {
  static bool started = false;
  if (started) return true;
  started = true;
  capture::start();
  if (std::getenv("TERRA_ROUND_TRIP")) graph::check_round_trips();
  return register_at_exit();
}

bool capture_starts_with_program() {
  const char* mode = std::getenv("TERRA_CAPTURE");
  const auto asked = [](const char* variable) { return std::getenv(variable) != nullptr; };
  constexpr const char* reports[] = {"TERRA_REPORT", "TERRA_REPORT_HTML", "TERRA_TRACE", "TERRA_EXPLAIN"};
  return (mode && std::string_view(mode).starts_with("stress")) ||
         std::any_of(std::begin(reports), std::end(reports), asked);
}

bool reports_failed() { return capture::reports_failed(); }

}  // namespace terra::embed
