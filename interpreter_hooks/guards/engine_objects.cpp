// What the frame tier asks of Python types that the engine and the standard library define in C.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/tensors.h"

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "interpreter_hooks/bindings/autograd/autocast.h"
#include "interpreter_hooks/bindings/autograd/backward.h"
#include "interpreter_hooks/bindings/autograd/grad_mode.h"
#include "interpreter_hooks/bindings/autograd/saved_tensors.h"
#include "interpreter_hooks/bindings/calls/op_function.h"
#include "interpreter_hooks/bindings/calls/overridable.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/nn/module_type.h"
#include "interpreter_hooks/bindings/objects/dtype_limits.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/generator_object.h"
#include "interpreter_hooks/bindings/objects/size_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

namespace {

/// The head of functools.partial objects (Modules/_functoolsmodule.c, unchanged from 3.4 to 3.13).
struct Partial {
  PyObject_HEAD;
  PyObject* parts[3];
};

}  // namespace

bool is_partial(PyObject* object) {
  static PyObject* type = [] {
    PyObject* module = PyImport_ImportModule("_functools");
    PyObject* found = module ? PyObject_GetAttrString(module, "partial") : nullptr;
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
  }();
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == type;
}

PyObject* partial_part(PyObject* partial, uint64_t which) { return reinterpret_cast<Partial*>(partial)->parts[which]; }

const char* module_dict_name(uint64_t which) {
  static constexpr const char* names[] = {"__dict__", "_parameters", "_buffers", "_modules"};
  return names[which];
}

// ---- modules ----

bool is_module(PyObject* object) { return hooks::is_module(object); }
PyTypeObject* module_base() { return hooks::module_base_type; }
bool makes_plain_modules(PyTypeObject* type) {
  return Py_TYPE(type)->tp_call == PyType_Type.tp_call && hooks::is_module_type(type) &&
         type->tp_new == module_base()->tp_new && hooks::module_writes_plainly(type);
}
PyObject* hooks_of_all_modules() { return hooks::global_module_hooks(); }
bool module_reads_plainly(PyObject* module) { return hooks::module_reads_plainly(Py_TYPE(module)); }
bool module_writes_plainly(PyObject* module) { return hooks::module_writes_plainly(Py_TYPE(module)); }
bool module_calls_plainly(PyObject* module) { return hooks::module_calls_plainly(Py_TYPE(module)); }
bool module_has_hooks(PyObject* module) { return hooks::module_has_hooks(module); }
void module_hook_words(PyObject* module, std::vector<const uint64_t*>& words) {
  hooks::module_hook_words(module, words);
}
const uint64_t& module_dict_epoch() { return hooks::module_dict_epoch(); }
PyObject* const* module_dict_place(PyObject* module) { return hooks::module_dict_place(module); }
PyObject* module_part(PyObject* module, uint64_t which) {
  return hooks::module_dict(module, static_cast<hooks::ModulePlace>(which));
}

// ---- tensors ----

bool is_tensor_type(PyTypeObject* type) {
  return hooks::tensor_type && (type == hooks::tensor_type || PyType_IsSubtype(type, hooks::tensor_type));
}
bool is_tensor(PyObject* object) { return is_tensor_type(Py_TYPE(object)); }
bool is_plain_tensor(PyObject* object) { return hooks::is_plain_tensor_type(Py_TYPE(object)); }
bool is_parameter(PyObject* object) { return PyType_IsSubtype(Py_TYPE(object), hooks::parameter_type); }
TensorImpl* tensor_of(PyObject* object) { return hooks::impl_of(object); }
PyObject* object_of(Tensor tensor) {
  try {
    return hooks::wrap(std::move(tensor));
  } catch (const hooks::PythonError&) {
    return nullptr;
  }
}

namespace {
Tensor shared(const TensorImpl& tensor) { return Tensor(Ref<TensorImpl>(const_cast<TensorImpl*>(&tensor))); }
}  // namespace

bool is_leaf(const TensorImpl& tensor) {
  return !tensor.requires_grad() || !tensor.wants_grad || autograd::is_leaf(shared(tensor));
}
bool follows_a_base(const TensorImpl& tensor) {
  const autograd::Meta* meta = autograd::find_meta(shared(tensor));
  return meta && meta->view;
}
bool gradients_reach_its_base(const TensorImpl& tensor) {
  const autograd::Meta* meta = autograd::find_meta(shared(tensor));
  return meta && meta->base.defined() && meta->base.requires_grad();
}
bool is_hooked(PyObject* tensor) {
  PyObject* hooks = hooks::tensor_object(tensor)->hooks;
  if (hooks && PyDict_GET_SIZE(hooks) > 0) return true;
  const autograd::Meta* meta = autograd::find_meta(shared(*tensor_of(tensor)));
  return meta && meta->accumulate && !(meta->accumulate->pre_hooks.empty() && meta->accumulate->post_hooks.empty());
}
Tensor gradient_of(const TensorImpl& tensor) { return autograd::grad(shared(tensor)); }
uint64_t engine_mode() {
  const uint64_t methods = hooks::tensor_type ? version_of(hooks::tensor_type) : 0;
  const uint64_t hidden = hooks::attributes_may_hide_methods ? 1 : 0;
  const hooks::Autocast cast = hooks::autocast();
  const GradientModes modes = gradient_modes();
  return (modes.enabled ? gradient_mode : 0) | (modes.inference ? inference_mode : 0) |
         (current_device().is_cpu() ? 0 : device_mode) | static_cast<uint64_t>(default_dtype()) << 1 | methods << 8 |
         hidden << 40 | uint64_t{cast.enabled} << 41 | static_cast<uint64_t>(cast.dtype) << 42 |
         uint64_t{hooks::saved_tensors_are_packed()} << 48 | uint64_t{!hooks::overrides_are_usual()} << 51 |
         uint64_t{hooks::passes_keep_graphs()} << 52;
}
void set_modes_of_blocks(uint64_t mode) {
  set_gradient_modes({(mode & gradient_mode) != 0, (mode & inference_mode) != 0});
  hooks::set_autocast({(mode >> 41 & 1) != 0, static_cast<DType>((mode & autocast_mode) >> 42)});
}
bool attributes_may_hide_methods() { return hooks::attributes_may_hide_methods; }

// ---- other objects of the engine ----

bool is_engine_type(PyTypeObject* type) {
  return !std::strncmp(type->tp_name, "terra.", 6) && !terra_class_is_of_program(type);
}

bool is_engine_constant(PyObject* object) {
  return hooks::is_op_function(object) || hooks::is_dtype(object) || hooks::is_device(object) ||
         hooks::is_memory_format(object) || hooks::is_dtype_limits(object) || hooks::is_layout(object) ||
         is_grad_mode_function(object) || hooks::overridable_function(object);
}
bool makes_engine_constants(PyObject* type) { return hooks::is_device_type(type) || hooks::is_dtype_limits_type(type); }
bool is_engine_value(PyObject* object) { return is_engine_constant(object) || is_size(object); }
PyObject* size_type() { return reinterpret_cast<PyObject*>(hooks::size_type); }
bool is_size(PyObject* object) { return Py_TYPE(object) == hooks::size_type; }
PyObject* new_size(size_t length) {
  return hooks::size_type->tp_alloc(hooks::size_type, static_cast<Py_ssize_t>(length));
}
bool is_generator(PyObject* object) { return hooks::is_generator(object); }
bool is_op_function(PyObject* object) { return hooks::is_op_function(object); }
PyObject* overridable_function(PyObject* object) { return hooks::overridable_function(object); }
bool may_take_over(PyObject* argument) { return hooks::may_be_taken_over(argument); }
bool modes_see_calls() { return hooks::modes_see_calls; }

bool is_grad_mode_type(PyObject* type) {
  static constexpr const char* names[] = {"terra.no_grad", "terra.enable_grad", "terra.inference_mode",
                                          "terra.set_grad_enabled"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return terra_class_is(reinterpret_cast<PyTypeObject*>(type), name); });
}
size_t times_entered(PyObject* grad_mode) { return hooks::times_entered(grad_mode); }
bool is_grad_mode_function(PyObject* object) { return terra_class_is(Py_TYPE(object), "terra.grad_mode_function"); }

}  // namespace terra::capture
