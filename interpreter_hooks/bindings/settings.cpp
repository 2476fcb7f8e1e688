// Engine-wide settings: default dtype, threads, number formats, promotion questions.
#include "engine/eager/kernel_call.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/epoch.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "kernels/abi/parallel.h"

namespace terra::hooks {
namespace {

DType checked_dtype(Borrowed object, const char* function) {
  if (!is_dtype(object))
    raise(PyExc_TypeError, "%s(): argument must be torch.dtype, not %s", function, Py_TYPE(object)->tp_name);
  return *dtype_from(object);
}

Object get_default_dtype(PyObject*, PyObject*) { return Object::share(dtype_object(default_dtype())); }
Object set_default_dtype_function(PyObject*, PyObject* object) {
  report_opaque("set_default_dtype()");
  const DType dtype = checked_dtype(object, "set_default_dtype");
  check_kind(is_floating(dtype), ErrorKind::TypeError,
             "only floating-point types are supported as the default type, not {}", name_of(dtype));
  set_default_dtype(dtype);
  return Object::share(Py_None);
}

Object result_type_function(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2) raise(PyExc_TypeError, "result_type() takes two tensors or numbers");
  Arg operands[2];
  for (int i = 0; i < 2; ++i) {
    Scalar number;
    if (is_tensor(args[i]))
      operands[i] = Arg(impl_of(args[i]));
    else if (to_scalar(args[i], number))
      operands[i] = Arg(number);
    else
      raise(PyExc_TypeError, "result_type(): argument must be Tensor or Number, not %s", Py_TYPE(args[i])->tp_name);
  }
  return Object::share(dtype_object(result_type(operands)));
}
Object promote_types_function(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2) raise(PyExc_TypeError, "promote_types() takes two dtypes");
  return Object::share(
      dtype_object(promote_types(checked_dtype(args[0], "promote_types"), checked_dtype(args[1], "promote_types"))));
}
Object can_cast(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2) raise(PyExc_TypeError, "can_cast() takes two dtypes");
  const DType from = checked_dtype(args[0], "can_cast"), to = checked_dtype(args[1], "can_cast");
  return owned(PyBool_FromLong(kind_of(from) <= kind_of(to)));
}

Object get_num_threads(PyObject*, PyObject*) {
  report_opaque("get_num_threads()");
  return owned(PyLong_FromLong(cpu::threads()));
}
Object set_num_threads(PyObject*, PyObject* object) {
  report_opaque("set_num_threads()");
  const long n = PyLong_Check(object) && !PyBool_Check(object) ? PyLong_AsLong(object) : -1;
  if (PyErr_Occurred()) throw PythonError{};
  if (!PyLong_Check(object))
    raise(PyExc_TypeError, "set_num_threads expects an int, but got %s", Py_TYPE(object)->tp_name);
  check(n > 0, "set_num_threads expects a positive integer");
  cpu::set_threads(static_cast<int>(n));
  return Object::share(Py_None);
}

Object use_reference_kernels(PyObject*, PyObject* yes) {
  report_opaque("_use_reference_kernels()");
  eager::use_reference_kernels(succeeded(PyObject_IsTrue(yes)) != 0);
  return Object::share(Py_None);
}

Object epoch_of_tensors(PyObject*, PyObject*) { return owned(PyLong_FromUnsignedLongLong(tensor_epoch)); }

}  // namespace

PyMethodDef setting_functions[] = {
    {"_tensor_epoch", method<epoch_of_tensors>(), METH_NOARGS,
     "Grows whenever a tensor that Python sees changes what it is, elements aside."},
    {"get_default_dtype", method<get_default_dtype>(), METH_NOARGS, "The dtype of Python floats."},
    {"set_default_dtype", method<set_default_dtype_function>(), METH_O, "Changes the dtype of Python floats."},
    {"result_type", method<result_type_function>(), METH_FASTCALL, "The dtype of a result of two operands."},
    {"promote_types", method<promote_types_function>(), METH_FASTCALL, "The smallest dtype that holds both."},
    {"can_cast", method<can_cast>(), METH_FASTCALL, "True when PyTorch allows the conversion in place."},
    {"_use_reference_kernels", method<use_reference_kernels>(), METH_O,
     "Whether ops run the slow loops that define them (tests)."},
    {"get_num_threads", method<get_num_threads>(), METH_NOARGS, "The number of threads that kernels use."},
    {"set_num_threads", method<set_num_threads>(), METH_O, "Changes the number of threads that kernels use."},
    {}};

}  // namespace terra::hooks
