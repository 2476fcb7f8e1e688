// Sparse tensors: objects of a class of the package, which keeps their indices and values. The engine asks it for sums.
#include "engine/tensor/sparse.h"

#include <initializer_list>

#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

// Strong once the package has set them.
PyObject *sum_function = nullptr, *to_dense_function = nullptr, *kept_function = nullptr, *rows_function = nullptr;

/// Backward runs on the thread that called it, which holds the lock.
Tensor asked_of_host(PyObject* function, std::initializer_list<PyObject*> args) {
  ensure(function != nullptr, "the package has said how sparse tensors add up before it made one");
  report_opaque("a sparse gradient", nullptr);
  const Object result = owned(PyObject_Vectorcall(function, args.begin(), args.size(), nullptr));
  if (!is_tensor(result.get())) raise(PyExc_TypeError, "a sum of tensors is a tensor");
  return tensor_of(result.get());
}

Tensor sum(const Tensor& a, const Tensor& b, bool in_place) {
  const Object left = Object::steal(wrap(a)), right = Object::steal(wrap(b));
  return asked_of_host(sum_function, {left.get(), right.get(), in_place ? Py_True : Py_False});
}

Tensor to_dense(const Tensor& t) {
  const Object object = Object::steal(wrap(t));
  return asked_of_host(to_dense_function, {object.get()});
}

Tensor kept(const Tensor& gradient, bool ours) {
  const Object object = Object::steal(wrap(gradient));
  return asked_of_host(kept_function, {object.get(), ours ? Py_True : Py_False});
}

Tensor rows(const Tensor& values, const Tensor& places, int64_t count, int64_t padding) {
  const Object elements = Object::steal(wrap(values)), indices = Object::steal(wrap(places)),
               number = owned(PyLong_FromLongLong(count)), skipped = owned(PyLong_FromLongLong(padding));
  return asked_of_host(rows_function, {elements.get(), indices.get(), number.get(), skipped.get()});
}

/// _sparse_tensor(type, sizes, dtype): an instance of the class, whose parts are still to be set.
Object sparse_tensor(PyObject*, PyObject* args) {
  PyObject *type, *sizes, *dtype;
  if (!PyArg_ParseTuple(args, "O!O!O:_sparse_tensor", &PyType_Type, &type, &PyTuple_Type, &sizes, &dtype))
    throw PythonError{};
  const auto element = dtype_from(dtype);
  auto* python_type = reinterpret_cast<PyTypeObject*>(type);
  if (!element || !PyType_IsSubtype(python_type, tensor_type) || is_plain_tensor_type(python_type))
    raise(PyExc_TypeError, "_sparse_tensor() takes a subclass of Tensor, sizes and a dtype");
  Dims dims;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); ++i) {
    dims.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i)));
    if (dims.back() == -1 && PyErr_Occurred()) throw PythonError{};
  }
  return Object::steal(wrap_as(python_type, make_sparse({*element, std::move(dims)})));
}

/// _set_sparse_hooks(sum, to_dense, kept, rows): sum(a, b, in_place), to_dense(a) and kept(gradient, ours) of tensors
/// of which some are sparse, or that somebody sees, and rows(values, places, rows, padding), which makes one.
Object set_sparse_hooks(PyObject*, PyObject* args) {
  PyObject *given_sum, *given_to_dense, *given_kept, *given_rows;
  if (!PyArg_ParseTuple(args, "OOOO:_set_sparse_hooks", &given_sum, &given_to_dense, &given_kept, &given_rows))
    throw PythonError{};
  Py_XSETREF(sum_function, Py_NewRef(given_sum));
  Py_XSETREF(to_dense_function, Py_NewRef(given_to_dense));
  Py_XSETREF(kept_function, Py_NewRef(given_kept));
  Py_XSETREF(rows_function, Py_NewRef(given_rows));
  sparse_hooks() = {sum, to_dense, kept, rows};
  return Object::share(Py_None);
}

}  // namespace

PyMethodDef sparse_functions[] = {{"_sparse_tensor", method<sparse_tensor>(), METH_VARARGS, nullptr},
                                  {"_set_sparse_hooks", method<set_sparse_hooks>(), METH_VARARGS, nullptr},
                                  {}};

}  // namespace terra::hooks
