// The exception that is set while work of ours runs below C code of the program.
#pragma once
#include <Python.h>

#include <string>

namespace terra::capture {

/// Puts aside the exception that is set, and sets it again at the end of the scope, whatever the work between has left.
class ErrorIndicator {
 public:
  ErrorIndicator() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorIndicator() { PyErr_Restore(type_, value_, traceback_); }
  ErrorIndicator(const ErrorIndicator&) = delete;

  /// The class of the exception that was set, borrowed, or null.
  PyObject* kept() const { return type_; }

  /// Drops what the work has left set, and says what it was; empty if nothing. A call of Python's API has failed and
  /// nobody has asked.
  static std::string left_behind() {
    PyObject* type = PyErr_Occurred();
    if (!type) return {};
    std::string name = reinterpret_cast<PyTypeObject*>(type)->tp_name;
    PyErr_Clear();
    return "an exception was left set: " + name;
  }

 private:
  PyObject *type_, *value_, *traceback_;
};

}  // namespace terra::capture
