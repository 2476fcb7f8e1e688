#include "interpreter_hooks/embed/builtin_modules.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "interpreter_hooks/bindings/module.h"
#include "interpreter_hooks/embed/capture.h"
#include "interpreter_hooks/export/module.h"
#include "interpreter_hooks/frame_hook/module.h"
#include "interpreter_hooks/recursion/module.h"

namespace terra::embed {
namespace {

PyObject* initialize_terra_C() {
  PyObject* module = PyInit__terra_C();
  if (module && !start_capture()) Py_CLEAR(module);
  return module;
}

}  // namespace

void register_builtin_modules() {
  hooks::add_module_methods(capture::capture_methods);
  hooks::add_module_methods(capture::program_methods);
  hooks::add_module_methods(capture::recursive_methods);
  PyImport_AppendInittab("_terra_C", initialize_terra_C);
}

}  // namespace terra::embed
