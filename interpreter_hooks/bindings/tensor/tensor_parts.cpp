#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

#include "interpreter_hooks/bindings/calls/dispatch.h"
#include "interpreter_hooks/bindings/calls/overridable.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/objects/types.h"

namespace terra::hooks {

void append_tensor_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_tp_repr, slot<tensor_repr>()});
  append_number_slots(slots);
  append_compare_slots(slots);
  append_indexing_slots(slots);
  append_construction_slots(slots);
}

void add_tensor_attributes(PyTypeObject* type) {
  for (PyMethodDef* rows : {metadata_methods, value_methods, conversion_methods, autograd_methods, construction_methods,
                            copying_methods, memory_methods, numpy_methods, dlpack_methods, printing_methods})
    add_overridable_methods(type, rows);
  add_methods(type, override_methods);
  add_methods(type, dispatch_methods);
  for (PyGetSetDef* rows : {metadata_getters, autograd_getters}) add_overridable_getters(type, rows);
  Object priority = owned(PyLong_FromLong(1000));  // numpy's operators leave the work to ours
  succeeded(PyDict_SetItemString(type->tp_dict, "__array_priority__", priority.get()));
}

void add_tensor_attributes_of_parameter(PyTypeObject* type) { add_getters(type, parameter_getters); }

}  // namespace terra::hooks
