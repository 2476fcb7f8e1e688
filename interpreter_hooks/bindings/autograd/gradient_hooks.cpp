#include "interpreter_hooks/bindings/autograd/gradient_hooks.h"

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/autograd/node_object.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

Object hooks_module() { return owned(PyImport_ImportModule("terra.utils.hooks")); }
Object new_dict() {
  Object module = hooks_module();
  return owned(PyObject_CallMethod(module.get(), "HookDict", nullptr));
}

/// Adds a function to a dict of hooks; the handle knows the dict weakly.
Object add_to(Borrowed dict, PyObject* function) {
  if (!PyCallable_Check(function))
    raise(PyExc_TypeError, "a hook must be callable, not %s", Py_TYPE(function)->tp_name);
  // What RemovableHandle(dict) does, without a Python frame.
  Object module = hooks_module();
  auto* type = reinterpret_cast<PyTypeObject*>(owned(PyObject_GetAttrString(module.get(), "RemovableHandle")).get());
  Object handle = owned(type->tp_alloc(type, 0));
  Object ids = owned(PyObject_GetAttrString(module.get(), "_next_id"));
  Object id = owned(PyIter_Next(ids.get()));
  succeeded(PyObject_SetAttrString(handle.get(), "id", id.get()));
  succeeded(PyObject_SetAttrString(handle.get(), "_hooks", owned(PyWeakref_NewRef(dict, nullptr)).get()));
  succeeded(PyObject_SetAttrString(handle.get(), "_extra", owned(PyTuple_New(0)).get()));
  succeeded(PyDict_SetItem(dict, id.get(), function));
  return handle;
}

/// The functions of a dict at this moment: a hook may remove itself.
Object functions_of(Borrowed dict) { return owned(PyDict_Values(dict)); }

/// Whether a call runs as frames from its beginning on: an observer sees nothing of what C code does first.
bool runs_as_frame(Borrowed callable) {
  PyObject* callee = PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
  if (PyFunction_Check(callee)) return true;
  PyObject* call = _PyType_Lookup(Py_TYPE(callee), owned(PyUnicode_InternFromString("__call__")).get());
  return call && PyFunction_Check(call);
}

std::string name_of_hook(Borrowed hook) {
  Object name = owned(PyObject_HasAttrString(hook, "__name__") ? PyObject_GetAttrString(hook, "__name__")
                                                               : PyUnicode_FromString("<unknown>"));
  return PyUnicode_AsUTF8(owned(PyObject_Str(name.get())).get());
}

/// What a hook gives instead of a gradient has its dtype and its sizes.
void require_alike(Borrowed hook, const Tensor& given, const Tensor& got) {
  if (got.dtype() == given.dtype() && got.sizes() == given.sizes()) return;
  const std::string text = name_of_hook(hook);
  check(got.dtype() == given.dtype(), "hook '{}' has changed the type of value (was torch.{}Tensor got torch.{}Tensor)",
        text, scalar_type_name(given.dtype()), scalar_type_name(got.dtype()));
  fail(ErrorKind::RuntimeError, "hook '{}' has changed the size of value", text);
}

Tensor run_tensor_hooks(Borrowed dict, const Tensor& gradient) {
  Object functions = functions_of(dict);
  if (PyList_GET_SIZE(functions.get()) == 0) return {};
  Object first = Object::steal(wrap(gradient));
  PyObject* given = first.get();
  if (OpObserver* observer = op_observer()) observer->on_callback(dict, {&given, 1}, nullptr);
  Tensor current = gradient;
  bool changed = false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
    Object argument = Object::steal(wrap(current));
    PyObject* function = PyList_GET_ITEM(functions.get(), i);
    if (op_observer() && !runs_as_frame(function)) report_opaque("a gradient hook that is not a Python function");
    Object result = owned(PyObject_CallOneArg(function, argument.get()));
    if (result.get() == Py_None) continue;
    if (!is_tensor(result.get()))
      raise(PyExc_TypeError, "expected Variable, but hook returned '%s'", Py_TYPE(result.get())->tp_name);
    current = tensor_of(result.get());
    require_alike(function, gradient, current);
    changed = true;
  }
  if (OpObserver* observer = op_observer()) {
    Object last = changed ? Object::steal(wrap(current)) : Object::share(Py_None);
    PyObject* taken = last.get();
    observer->on_callback_done(dict, {&taken, 1});
  }
  return changed ? current : Tensor();
}

/// Whether the engine calls the hooks of this dict with the gradient of `t`, as it is now.
bool is_called(Borrowed dict, const Tensor& t) {
  Object number = owned(PyObject_GetAttrString(dict, "number"));
  return autograd::has_hook(t, PyLong_AsUnsignedLongLong(number.get()));
}

Object tuple_of(const std::vector<Tensor>& tensors) {
  Object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i) PyTuple_SET_ITEM(tuple.get(), i, wrap(tensors[i]));
  return tuple;
}

/// What a node hook has returned takes the place of the gradients.
void replace(std::vector<Tensor>& gradients, Borrowed hook, Object result) {
  if (result.get() == Py_None) return;
  Object tuple = is_tensor(result.get()) ? owned(PyTuple_Pack(1, result.get())) : owned(PySequence_Tuple(result.get()));
  check(static_cast<size_t>(PyTuple_GET_SIZE(tuple.get())) == gradients.size(),
        "hook '{}' has returned an incorrect number of values (got {}, but expected {})", name_of_hook(hook),
        PyTuple_GET_SIZE(tuple.get()), gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    Borrowed item = PyTuple_GET_ITEM(tuple.get(), i);
    const Tensor got = is_tensor(item) ? tensor_of(item) : Tensor();
    if (got.defined() && gradients[i].defined()) require_alike(hook, gradients[i], got);
    gradients[i] = got;
  }
}

}  // namespace

bool holds_hooks(const TensorImpl& impl) {
  const auto* meta = static_cast<const autograd::Meta*>(impl.autograd.get());
  return meta && !meta->hooks.empty() && !meta->history.node && !meta->accumulate;
}

void drop_hooks(TensorImpl& impl) {
  if (holds_hooks(impl)) static_cast<autograd::Meta*>(impl.autograd.get())->hooks.clear();
}

Object add_tensor_hook(PyObject* self, PyObject* function) {
  TensorObject* t = tensor_object(self);
  check(t->impl->requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  const bool first = !t->hooks || !is_called(t->hooks, tensor_of(self));
  if (first) {
    Object dict = new_dict();
    const uint64_t number =
        autograd::add_hook(tensor_of(self), [dict](const Tensor& g) { return run_tensor_hooks(dict.get(), g); });
    succeeded(PyObject_SetAttrString(dict.get(), "number", owned(PyLong_FromUnsignedLongLong(number)).get()));
    Py_XSETREF(t->hooks, dict.release());
    if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  }
  Object handle = add_to(t->hooks, function);
  if (OpObserver* observer = op_observer()) observer->on_hook(self, t->hooks, first, handle.get());
  return handle;
}

Object add_accumulate_hook(PyObject* self, PyObject* function) {
  report_opaque("register_post_accumulate_grad_hook", self);
  const Tensor leaf = tensor_of(self);
  check(autograd::is_leaf(leaf), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  const autograd::Edge edge = autograd::gradient_edge(leaf);
  Object dict = new_dict();
  Object handle = add_to(dict.get(), function);
  // The tape knows a leaf's node only weakly: the tensor's object keeps it, and so itself, from now on.
  edge.node->post_hooks.emplace_back(0, [dict, impl = leaf.get()](std::vector<Tensor>&, const std::vector<Tensor>&) {
    report_opaque("gradient hook");
    Object functions = functions_of(dict.get());
    Object argument = Object::steal(wrap(Tensor(Ref<TensorImpl>(impl))));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i)
      owned(PyObject_CallOneArg(PyList_GET_ITEM(functions.get(), i), argument.get()));
  });
  succeeded(PyObject_SetAttrString(self, "_gradient_accumulator", wrap_node(edge.node).get()));
  return handle;
}

Object add_node_hook(autograd::Node& node, PyObject* function, bool before) {
  report_opaque("register_hook of a grad_fn");
  Object dict = new_dict();
  Object handle = add_to(dict.get(), function);
  if (before) {
    node.pre_hooks.emplace_back(0, [dict](std::vector<Tensor>& gradients) {
      report_opaque("gradient hook");
      Object functions = functions_of(dict.get());
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
        Object arguments = tuple_of(gradients);
        PyObject* const hook = PyList_GET_ITEM(functions.get(), i);
        replace(gradients, hook, owned(PyObject_CallOneArg(hook, arguments.get())));
      }
    });
  } else {
    const std::vector<int> seen = node.seen_edges();
    node.post_hooks.emplace_back(0, [dict, seen](std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
      report_opaque("gradient hook");
      Object functions = functions_of(dict.get());
      std::vector<Tensor> shown;
      for (const int place : seen) shown.push_back(place < 0 ? Tensor() : inputs[static_cast<size_t>(place)]);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
        Object in = tuple_of(shown), out = tuple_of(outputs);
        PyObject* const hook = PyList_GET_ITEM(functions.get(), i);
        replace(shown, hook, owned(PyObject_CallFunctionObjArgs(hook, in.get(), out.get(), nullptr)));
      }
      for (size_t i = 0; i < seen.size(); ++i)
        if (seen[i] >= 0) inputs[static_cast<size_t>(seen[i])] = shown[i];
    });
  }
  return handle;
}

}  // namespace terra::hooks
