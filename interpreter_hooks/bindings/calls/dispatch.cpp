#include "interpreter_hooks/bindings/calls/dispatch.h"

#include <utility>

#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/function_modes.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"

namespace terra::hooks {
namespace {

/// Who is asked on this thread.
struct Asked {
  bool modes = false;
  bool subclasses = true;
};
thread_local Asked asked;

Asked exchange(Asked now) {
  let_dispatch_modes_see_calls(now.modes);
  sums_are_seen = now.modes;
  return std::exchange(asked, now);
}

/// Nobody is asked for a scope.
class Unasked {
 public:
  Unasked() : before_(exchange({false, false})) {}
  ~Unasked() { exchange(before_); }
  Unasked(const Unasked&) = delete;

 private:
  Asked before_;
};

PyObject* hook_in(PyTypeObject* type) {
  static PyObject* const name = PyUnicode_InternFromString("__torch_dispatch__");
  return _PyType_Lookup(type, name);
}

bool any_dispatches(PyObject* const* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (dispatches(Py_TYPE(values[i]))) return true;
    if ((PyTuple_CheckExact(values[i]) || PyList_CheckExact(values[i])) &&
        any_dispatches(PySequence_Fast_ITEMS(values[i]), static_cast<size_t>(PySequence_Fast_GET_SIZE(values[i]))))
      return true;
  }
  return false;
}

/// What terra/_aten/dispatch.py knows by this name. Nobody is asked about what its import calls.
Object of_package(const char* name) {
  static PyObject* const module = [] {
    const Unasked scope;
    const WithoutOverrides neither;
    return owned(PyImport_ImportModule("terra._aten.dispatch")).release();
  }();
  return owned(PyObject_GetAttrString(module, name));
}

Object as_pair(Asked who) {
  return owned(Py_BuildValue("OO", who.modes ? Py_True : Py_False, who.subclasses ? Py_True : Py_False));
}
Object set_asked(PyObject*, PyObject* args) {
  int modes = 0, subclasses = 0;
  if (!PyArg_ParseTuple(args, "pp", &modes, &subclasses)) throw PythonError{};
  report_opaque("__torch_dispatch__ switched on or off");
  return as_pair(exchange({modes != 0, subclasses != 0}));
}
Object get_asked(PyObject*, PyObject*) { return as_pair(asked); }

Object dispatches_type(PyObject*, PyObject* type) {
  return owned(PyBool_FromLong(PyType_Check(type) && dispatches(reinterpret_cast<PyTypeObject*>(type))));
}

/// _wrapper_tensor(type, like): an instance of the type that looks like that tensor.
Object wrapper_tensor(PyObject*, PyObject* args) {
  PyObject *type, *like;
  if (!PyArg_ParseTuple(args, "O!O!:_wrapper_tensor", &PyType_Type, &type, tensor_type, &like)) throw PythonError{};
  auto* python_type = reinterpret_cast<PyTypeObject*>(type);
  if (!PyType_IsSubtype(python_type, tensor_type) || is_plain_tensor_type(python_type))
    raise(PyExc_TypeError, "_wrapper_tensor() takes a subclass of Tensor");
  return Object::steal(wrap_as(python_type, make_wrapper(tensor_of(like))));
}

Object tells_wrapper(PyObject*, PyObject* tensor) {
  return owned(PyBool_FromLong(is_tensor(tensor) && is_wrapper(tensor)));
}

/// The default: the op itself, of which the arguments aren't asked.
Object default_hook(PyObject*, PyObject* args) {
  PyObject *function, *types, *values = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(args, "OO|OO", &function, &types, &values, &keywords)) throw PythonError{};
  const Unasked scope;
  const WithoutOverrides neither;
  const Object positional = values ? Object::share(values) : owned(PyTuple_New(0));
  return owned(PyObject_Call(function, positional.get(), keywords == Py_None ? nullptr : keywords));
}

}  // namespace

bool dispatches(PyTypeObject* type) {
  if (!asked.subclasses || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || is_plain_tensor_type(type)) return false;
  if (!PyType_IsSubtype(type, tensor_type)) return false;
  PyObject* const hook = hook_in(type);
  return hook && hook != Py_None && hook != hook_in(tensor_type);
}

Object dispatched(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords) {
  const size_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  if (!asked.modes && !any_dispatches(values, all)) return {};
  report_opaque("__torch_dispatch__", function);
  const Object args = owned(PyTuple_New(static_cast<Py_ssize_t>(count))), named = owned(PyDict_New());
  for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(args.get(), i, Py_NewRef(values[i]));
  for (size_t i = count; i < all; ++i)
    succeeded(PyDict_SetItem(named.get(), PyTuple_GET_ITEM(keywords, i - count), values[i]));
  Object result =
      owned(PyObject_CallFunctionObjArgs(of_package("called").get(), function, args.get(), named.get(), nullptr));
  return result.get() == Py_NotImplemented ? Object() : std::move(result);
}

Tensor dispatched_first_gradient(Borrowed root) {
  if ((!asked.modes && !dispatches(Py_TYPE(root))) || impl_of(root)->numel != 1) return {};
  const Object made = owned(PyObject_CallOneArg(of_package("first_gradient").get(), root));
  return tensor_of(made.get());
}

bool is_wrapper(Borrowed tensor) { return is_foreign(*impl_of(tensor)) && !is_sparse(*impl_of(tensor)); }
Object copied_wrapper(Borrowed tensor, Borrowed memo) {
  return owned(PyObject_CallFunctionObjArgs(of_package("copied").get(), tensor, memo, nullptr));
}
Object reduced_wrapper(Borrowed tensor) { return owned(PyObject_CallOneArg(of_package("reduced").get(), tensor)); }

PyMethodDef dispatch_methods[] = {{"__torch_dispatch__", method<default_hook>(), METH_VARARGS | METH_CLASS,
                                   "Called instead of an op of PyTorch's: func, types, args, kwargs."},
                                  {}};
PyMethodDef dispatch_functions[] = {
    {"_set_dispatch", method<set_asked>(), METH_VARARGS,
     "Says whether a mode, and whether subclasses of Tensor, see ops; returns what was said before."},
    {"_asked_of_dispatch", method<get_asked>(), METH_NOARGS, "(whether modes are asked, whether subclasses are)."},
    {"_dispatches", method<dispatches_type>(), METH_O, "Whether instances of a class see ops now."},
    {"_is_wrapper", method<tells_wrapper>(), METH_O, nullptr},
    {"_wrapper_tensor", method<wrapper_tensor>(), METH_VARARGS, nullptr},
    {}};

}  // namespace terra::hooks
