#include "interpreter_hooks/recursion/python_objects.h"

#include "interpreter_hooks/bindings/interpreter_lock.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "recursive/ir/host.h"

namespace terra::capture {
namespace {

using hooks::Borrowed;
using hooks::Object;
using hooks::owned;

/// With the interpreter, on whatever thread.
template <void (*F)(PyObject*)>
void with_interpreter(void* object) {
  if (const hooks::InterpreterLock lock; lock) F(static_cast<PyObject*>(object));
}
void retain(PyObject* object) { Py_INCREF(object); }
void release(PyObject* object) { Py_DECREF(object); }

graph::HostValue read(Borrowed result, std::string_view kind) {
  if (kind == "handle") return graph::Handle(result);
  if (kind == "bool") return Scalar(hooks::succeeded(PyObject_IsTrue(result)) != 0);
  Scalar number;
  if (!hooks::to_scalar(result, number) || (kind == "int" && number.kind() == Scalar::Kind::Float))
    hooks::raise(PyExc_TypeError, "a host read was declared to give an %s, but gave %R", std::string(kind).c_str(),
                 result);
  return kind == "int" ? Scalar(number.to_int()) : Scalar(number.to_double());
}

}  // namespace

void let_handles_own_objects() {
  graph::handle_table().retain = with_interpreter<retain>;
  graph::handle_table().release = with_interpreter<release>;
}

graph::HostValue host_value_of(Borrowed object) {
  if (hooks::is_tensor(object)) return hooks::tensor_of(object);
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (PyLong_Check(object) || PyFloat_Check(object)) {
    Scalar number;
    hooks::to_scalar(object, number);
    return number;
  }
  return graph::Handle(object);
}

Object object_of(const graph::HostValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return Object::steal(hooks::wrap(*tensor));
  if (const auto* number = std::get_if<Scalar>(&value)) return owned(hooks::from_scalar(*number));
  return Object::share(static_cast<PyObject*>(std::get<graph::Handle>(value).get()));
}

uint32_t add_python_function(Borrowed function, std::string kind) {
  Py_INCREF(function);
  return recursive::add_host_function([function, kind](std::span<const graph::HostValue> args) {
    const Object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(args.size())));
    for (size_t i = 0; i < args.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), object_of(args[i]).release());
    return read(owned(PyObject_CallObject(function, tuple.get())).get(), kind);
  });
}

}  // namespace terra::capture
