// Ownership of Python objects, visible in the type.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace terra::hooks {

/// A reference that somebody else owns for at least as long as it is used here.
using Borrowed = PyObject*;

/// A strong reference; null when default-constructed.
class Object {
 public:
  Object() = default;
  Object(std::nullptr_t) {}
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object(const Object& other) : object_(Py_XNewRef(other.object_)) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  /// Takes over a new reference.
  static Object steal(PyObject* object) {
    Object result;
    result.object_ = object;
    return result;
  }
  /// Makes a reference of its own.
  static Object share(Borrowed object) { return steal(Py_XNewRef(object)); }

  Borrowed get() const { return object_; }
  /// Gives the reference to the caller.
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Thrown when Python's error indicator is set: the entry point just returns failure.
struct PythonError {};

/// A new reference that a C-API call made; throws PythonError where it failed.
inline Object owned(PyObject* result) {
  if (!result) throw PythonError{};
  return Object::steal(result);
}
/// A borrowed reference that a C-API call lent; throws PythonError where it failed.
inline Borrowed lent(PyObject* result) {
  if (!result) throw PythonError{};
  return result;
}
/// The int result of a C-API call; throws PythonError on -1.
inline int succeeded(int result) {
  if (result < 0) throw PythonError{};
  return result;
}

}  // namespace terra::hooks
