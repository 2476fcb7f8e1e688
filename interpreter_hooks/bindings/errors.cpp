#include "engine/errors/errors.h"

#include <cstdarg>
#include <new>

#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {
namespace {

/// The Python exception of each ErrorKind, in its order.
Borrowed exception_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::RuntimeError: return PyExc_RuntimeError;
    case ErrorKind::ValueError: return PyExc_ValueError;
    case ErrorKind::TypeError: return PyExc_TypeError;
    case ErrorKind::IndexError: return PyExc_IndexError;
    case ErrorKind::OverflowError: return PyExc_OverflowError;
    case ErrorKind::NotImplementedError: return PyExc_NotImplementedError;
    case ErrorKind::OutOfMemoryError: return out_of_memory_error();
    case ErrorKind::LinAlgError: return linear_algebra_error();
  }
  return PyExc_SystemError;
}

}  // namespace

Borrowed out_of_memory_error() {
  static PyObject* type = PyErr_NewExceptionWithDoc(
      "terra.OutOfMemoryError", "There is not enough memory for a tensor.", PyExc_RuntimeError, nullptr);
  return type ? type : PyExc_RuntimeError;
}

Borrowed linear_algebra_error() {
  static PyObject* type = PyErr_NewExceptionWithDoc(
      "torch._C._LinAlgError", "A matrix can't be factorized or inverted.", PyExc_RuntimeError, nullptr);
  return type ? type : PyExc_RuntimeError;
}

void translate_exception() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a call failed without saying why");
  } catch (const Error& error) {
    PyErr_SetString(exception_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_Format(PyExc_SystemError, "internal error of Terra: %s", error.what());
  }
}

void raise(PyObject* type, const char* format, ...) {
  va_list values;
  va_start(values, format);
  PyErr_FormatV(type, format, values);
  va_end(values);
  throw PythonError{};
}

}  // namespace terra::hooks
