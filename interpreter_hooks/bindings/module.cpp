#include "interpreter_hooks/bindings/module.h"

#include <vector>

#include "engine/eager/eager.h"
#include "engine/errors/warnings.h"
#include "interpreter_hooks/bindings/autograd/grad_mode.h"
#include "interpreter_hooks/bindings/autograd/node_object.h"
#include "interpreter_hooks/bindings/autograd/saved_tensors.h"
#include "interpreter_hooks/bindings/calls/dispatch.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/generated.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/op_function.h"
#include "interpreter_hooks/bindings/calls/overridable.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/nn/module_type.h"
#include "interpreter_hooks/bindings/objects/default_device.h"
#include "interpreter_hooks/bindings/objects/dtype_limits.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/generator_object.h"
#include "interpreter_hooks/bindings/objects/size_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

std::vector<PyMethodDef*>& added_rows() {
  static auto& rows = *new std::vector<PyMethodDef*>;
  return rows;
}
PyObject* the_module = nullptr;  // strong once made

/// Types first: functions and constants refer to them.
Object create_module() {
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_terra_C", "Tensors and ops of Terra.", -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  eager::start();
  warning_hook() = [](const char* sentence) {
    report_opaque("a warning");  // shown each time
    if (PyErr_WarnEx(PyExc_UserWarning, sentence, 1) < 0) throw PythonError{};
  };
  Object module = owned(PyModule_Create(&definition));
  create_dtype_types(module.get());
  create_default_device_functions(module.get());
  create_dtype_limits_types(module.get());
  create_size_type(module.get());
  create_generator_type(module.get());
  create_op_function_types(module.get());
  create_overridable_type(module.get());
  create_tensor_types(module.get());
  create_node_type(module.get());
  create_grad_mode_types(module.get());
  create_module_type(module.get());
  generate_ops(module.get());
  for (PyMethodDef* rows :
       {printing_functions, construction_functions, numpy_functions, dlpack_functions, setting_functions,
        autocast_functions, copying_functions, autograd_functions, function_node_functions, saved_tensor_functions,
        sparse_functions, record_functions, profile_functions, module_functions, override_functions, mode_functions,
        dispatch_functions, overridable_functions})
    add_functions(module.get(), rows);
  add_disabled_override(module.get());
  for (PyMethodDef* rows : added_rows()) add_functions(module.get(), rows);
  add_object(module.get(), "OutOfMemoryError", out_of_memory_error());
  add_object(module.get(), "_LinAlgError", linear_algebra_error());
  the_module = Py_NewRef(module.get());
  return module;
}

}  // namespace

void add_module_methods(PyMethodDef* rows) {
  added_rows().push_back(rows);
  if (the_module) add_functions(the_module, rows);
}

bool is_added_method(const PyMethodDef* row) {
  for (const PyMethodDef* rows : added_rows())
    for (; rows->ml_name; ++rows)
      if (rows == row) return true;
  return false;
}

}  // namespace terra::hooks

PyMODINIT_FUNC PyInit__terra_C() {
  try {
    return terra::hooks::create_module().release();
  } catch (...) {
    terra::hooks::translate_exception();
    return nullptr;
  }
}
