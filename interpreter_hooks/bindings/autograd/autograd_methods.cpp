// What the tape shows on a tensor: grad, grad_fn, backward, detach_, hooks.
#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/errors/warnings.h"
#include "engine/ops/call.h"
#include "engine/tensor/epoch.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/autograd/backward.h"
#include "interpreter_hooks/bindings/autograd/gradient_hooks.h"
#include "interpreter_hooks/bindings/autograd/node_object.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

Object told(PyObject* self, const char* attribute, Object value) {
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_metadata(self, attribute, value.get(), 0);
  return value;
}
Object boolean(bool value) { return owned(PyBool_FromLong(value)); }

Object get_requires_grad(PyObject* self, void*) {
  return told(self, "requires_grad", boolean(impl_of(self)->requires_grad()));
}

void change_requires_grad(PyObject* self, bool value) {
  if (impl_of(self)->requires_grad() == value) {
    told(self, "requires_grad", boolean(value));
    return;
  }
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_requires_grad(self, value);
  autograd::set_requires_grad(tensor_of(self), value);
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  if (!value) raise(PyExc_RuntimeError, "requires_grad must be a bool");
  if (!PyBool_Check(value)) raise(PyExc_RuntimeError, "requires_grad must be a bool");
  change_requires_grad(self, value == Py_True);
  return 0;
}

Object requires_grad_(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  check_arguments("requires_grad_", count, names, 1, "requires_grad");
  const bool given = count > 0 || (names && PyTuple_GET_SIZE(names) > 0);
  if (given && !PyBool_Check(args[0]))
    raise(PyExc_TypeError, "requires_grad_(): argument 'requires_grad'%s must be bool, not %s",
          count > 0 ? " (position 1)" : "", Py_TYPE(args[0])->tp_name);
  const bool value = !given || succeeded(PyObject_IsTrue(args[0]));
  check(!value || is_inexact(impl_of(self)->dtype), "only Tensors of floating point dtype can require gradients");
  change_requires_grad(self, value);
  return Object::share(self);
}

Object get_grad(PyObject* self, void*) {
  Object value = Object::steal(wrap(autograd::grad(tensor_of(self))));
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_grad_read(self, value.get());
  const autograd::Meta* const meta = autograd::find_meta(tensor_of(self));
  if (value.get() == Py_None && meta && !meta->retained && !autograd::is_leaf(tensor_of(self)))
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.");
  return value;
}

int set_grad(PyObject* self, PyObject* value, void*) {
  if (value && value != Py_None) {
    if (!is_tensor(value))
      raise(PyExc_TypeError, "assigned grad expected to be a Tensor or None but got grad of type %s",
            Py_TYPE(value)->tp_name);
    check(value != self, "can't assign Variable as its own grad");
    autograd::set_grad(tensor_of(self), tensor_of(value));
  } else {
    autograd::set_grad(tensor_of(self), Tensor());
  }
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_grad_write(self, value ? value : Py_None);
  return 0;
}

Object get_grad_fn(PyObject* self, void*) {
  return told(self, "grad_fn", wrap_node(autograd::own_history(tensor_of(self)).node));
}
Object get_is_leaf(PyObject* self, void*) { return told(self, "is_leaf", boolean(autograd::is_leaf(tensor_of(self)))); }
/// Views that are one node's results in PyTorch have a node each.
Object get_output_nr(PyObject* self, void*) {
  const autograd::Meta* meta = autograd::find_meta(tensor_of(self));
  const uint32_t of_many = meta && meta->view ? meta->view->number : 0;
  const uint32_t number = of_many ? of_many : autograd::own_history(tensor_of(self)).index;
  return told(self, "output_nr", owned(PyLong_FromUnsignedLong(number)));
}
Object get_retains_grad(PyObject* self, void*) {
  const autograd::Meta* meta = autograd::find_meta(tensor_of(self));
  return told(self, "retains_grad", boolean(meta && meta->retained));
}
Object get_base(PyObject* self, void*) {
  const autograd::Meta* meta = autograd::find_meta(tensor_of(self));
  report_opaque("_base", self);
  return Object::steal(wrap(meta ? meta->base : Tensor()));
}
Object is_view(PyObject* self, PyObject*) {
  const autograd::Meta* meta = autograd::find_meta(tensor_of(self));
  report_opaque("_is_view()", self);
  return boolean(meta && meta->base.defined());
}

/// x.data: the same memory without history. Writes through it are not counted by the version that the tape checks.
Object get_data(PyObject* self, void*) {
  const TensorImpl& t = *impl_of(self);
  check_has_memory(t);
  Object data = Object::steal(wrap(Tensor::view_of(Storage::apart(t.storage), t.dtype, t.sizes, t.strides, t.offset)));
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_data(self, data.get());
  return data;
}

/// x.data = y: x becomes another view of y's memory, and keeps its identity, history and gradient.
int set_data(PyObject* self, PyObject* value, void*) {
  if (!value || !is_tensor(value))
    raise(PyExc_TypeError, "Variable data has to be a tensor, but got %s", value ? Py_TYPE(value)->tp_name : "nothing");
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_data_write(self, value);
  TensorImpl &to = *impl_of(self), &from = *impl_of(value);
  check(!to.requires_grad() || is_inexact(from.dtype),
        "data set to a tensor that requires gradients must be floating point dtype, got {}", name_of(from.dtype));
  check(to.device == from.device,
        "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.");
  // x.data = x.data changes nothing: x keeps its storage.
  const bool stays = to.storage && to.storage->data() && to.storage->data() == from.storage->data() &&
                     to.storage->bytes() == from.storage->bytes();
  become(to, stays ? to.storage : from.storage, from);
  return 0;
}

Object detach_in_place(PyObject* self, PyObject*) {
  report_opaque("detach_()", self);
  autograd::detach_in_place(tensor_of(self));
  return Object::share(self);
}

Object retain_grad(PyObject* self, PyObject*) {
  autograd::retain_grad(tensor_of(self));
  if (OpObserver* observer = op_observer()) observer->on_retain_grad(self);
  return Object::share(Py_None);
}

/// backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)
Object backward(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"gradient", "retain_graph", "create_graph", "inputs", nullptr};
  PyObject *gradient = Py_None, *retain = Py_None, *create = Py_False, *inputs = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:backward", const_cast<char**>(names), &gradient, &retain,
                                   &create, &inputs))
    throw PythonError{};
  run_backward({&self, 1}, {&gradient, 1}, retain, create, inputs);
  return Object::share(Py_None);
}

Object register_hook(PyObject* self, PyObject* function) { return add_tensor_hook(self, function); }
Object register_accumulate_hook(PyObject* self, PyObject* function) { return add_accumulate_hook(self, function); }

}  // namespace

PyGetSetDef autograd_getters[] = {
    {"requires_grad", entry<get_requires_grad>, entry<set_requires_grad>, "True when gradients are computed for it.",
     nullptr},
    {"grad", entry<get_grad>, entry<set_grad>, "The gradient that backward() has accumulated, or None.", nullptr},
    {"_grad", entry<get_grad>, entry<set_grad>, nullptr, nullptr},
    {"grad_fn", entry<get_grad_fn>, nullptr, "How the tensor was computed, or None.", nullptr},
    {"is_leaf", entry<get_is_leaf>, nullptr, "True when it was not computed from tensors that require grad.", nullptr},
    {"output_nr", entry<get_output_nr>, nullptr, nullptr, nullptr},
    {"retains_grad", entry<get_retains_grad>, nullptr, "True after retain_grad().", nullptr},
    {"_base", entry<get_base>, nullptr, "The tensor of which this is a view, or None.", nullptr},
    {"data", entry<get_data>, entry<set_data>, "The same memory without history.", nullptr},
    {}};

PyMethodDef autograd_methods[] = {
    {"requires_grad_", method<requires_grad_>(), METH_FASTCALL | METH_KEYWORDS,
     "Sets requires_grad; returns the tensor."},
    {"detach_", method<detach_in_place>(), METH_NOARGS, "Forgets how the tensor was computed."},
    {"retain_grad", method<retain_grad>(), METH_NOARGS, "Keeps .grad of a tensor that was computed."},
    {"backward", method<backward>(), METH_VARARGS | METH_KEYWORDS,
     "backward(gradient=None, retain_graph=None, create_graph=False, inputs=None): gradients of the leaves."},
    {"register_hook", method<register_hook>(), METH_O, "Calls function(grad) when the gradient is known."},
    {"register_post_accumulate_grad_hook", method<register_accumulate_hook>(), METH_O,
     "Calls function(tensor) when .grad has been added to."},
    {"_is_view", method<is_view>(), METH_NOARGS, nullptr},
    {}};

}  // namespace terra::hooks
