#include "interpreter_hooks/embed/builtin_modules.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if __has_include("interpreter_hooks/bindings/module.h")
#include "interpreter_hooks/bindings/module.h"
#else
static PyObject* PyInit__terra_C() {
  static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT, .m_name = "_terra_C"};
  return PyModule_Create(&definition);
}
#endif

namespace terra::embed {

void register_builtin_modules() { PyImport_AppendInittab("_terra_C", PyInit__terra_C); }

}  // namespace terra::embed
