#include "interpreter_hooks/embed/capture.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdlib>
#include <string_view>

#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/report.h"

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
  return register_at_exit();
}

bool capture_starts_with_program() {
  const char* mode = std::getenv("TERRA_CAPTURE");
  return (mode && std::string_view(mode).starts_with("stress")) || std::getenv("TERRA_REPORT") ||
         std::getenv("TERRA_EXPLAIN");
}

}  // namespace terra::embed
