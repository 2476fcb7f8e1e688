// Python for unit tests: names and the statements that change what they stand for.
#pragma once
#include "interpreter_hooks/embed/builtin_modules.h"
#include "interpreter_hooks/guards/kinds.h"

#include <catch2/catch.hpp>

#include <initializer_list>
#include <string>
#include <vector>

namespace terra::capture {

/// Starts the interpreter, for the first of them. Only one lives at a time.
class Names {
 public:
  explicit Names(const std::string& source = "") {
    if (!Py_IsInitialized()) {
      embed::register_builtin_modules();
      Py_Initialize();
    }
    globals_ = PyDict_New();
    PyDict_SetItemString(globals_, "__builtins__", PyEval_GetBuiltins());
    PyDict_SetItemString(globals_, "__name__", PyUnicode_FromString("names"));
    run(source);
  }
  ~Names() {
    PyDict_Clear(globals_);
    Py_DECREF(globals_);
  }
  Names(const Names&) = delete;

  void run(const std::string& source) {
    PyObject* done = PyRun_String(source.c_str(), Py_file_input, globals_, globals_);
    if (!done) PyErr_Print();
    REQUIRE(done);
    Py_DECREF(done);
  }
  void set(const char* name, PyObject* value) {
    PyDict_SetItemString(globals_, name, value);
    Py_DECREF(value);
  }
  /// Borrowed from the name.
  PyObject* operator[](const char* name) const {
    PyObject* found = PyDict_GetItemString(globals_, name);
    REQUIRE(found);
    return found;
  }
  /// repr of an expression.
  std::string shown(const std::string& expression) {
    PyObject* value = PyRun_String(expression.c_str(), Py_eval_input, globals_, globals_);
    if (!value) PyErr_Print();
    REQUIRE(value);
    PyObject* text = PyObject_Repr(value);
    const std::string result = PyUnicode_AsUTF8(text);
    Py_DECREF(text);
    Py_DECREF(value);
    return result;
  }

 private:
  PyObject* globals_;
};

inline PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

/// An entry program over arguments.
class Guarded {
 public:
  RegisterFile file;
  Program program{kinds};

  Register argument(Word index) { return read(Op::Argument, no_register, {index}); }
  Register read(Op op, Register base, std::vector<Word> operands = {}, Register b = no_register) {
    const Register reg = file.add("r" + std::to_string(file.size()), false);
    program.emit(op, reg, base, b, operands);
    return reg;
  }
  void guard(Op op, Register a, std::vector<Word> operands = {}, Register b = no_register) {
    program.emit(op, no_register, a, b, operands);
  }
  bool holds(std::vector<PyObject*> arguments) {
    std::vector<PyObject*> space(file.words());
    Run run{file.prepare(space.data()), arguments.data()};
    const bool held = program.run(run) < 0;
    file.release(run.registers);
    CHECK_FALSE(PyErr_Occurred());
    return held;
  }
};

}  // namespace terra::capture
