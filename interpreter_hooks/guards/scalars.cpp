#include "interpreter_hooks/guards/scalars.h"

#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/guards/undisturbed.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string_view>

namespace terra::capture {

bool is_atom(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return object == Py_None || type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type ||
         type == &PyUnicode_Type || type == &PyBytes_Type || type == &PyComplex_Type || type == &PySlice_Type ||
         type == &PyRange_Type || object == Py_Ellipsis || object == Py_NotImplemented;
}

PyObject* number_conversion(PyObject* object) {
  static PyObject* const item = PyUnicode_InternFromString("item");
  static PyObject* const as_int = PyDict_GetItemString(terra_class_dict(&PyLong_Type), "__int__");
  static PyObject* const as_float = PyDict_GetItemString(terra_class_dict(&PyFloat_Type), "__float__");
  if (is_atom(object)) return nullptr;
  const std::string_view name = Py_TYPE(object)->tp_name;
  const bool named = name.starts_with("numpy.float") || name.starts_with("numpy.int") || name.starts_with("numpy.uint");
  if (named && !terra_class_is_of_program(Py_TYPE(object))) {
    PyObject* found = _PyType_Lookup(Py_TYPE(object), item);
    return found && Py_TYPE(found) == &PyMethodDescr_Type ? found : nullptr;
  }
  return PyLong_Check(object) ? as_int : PyFloat_Check(object) ? as_float : nullptr;
}

/// Empty ones are equal whatever they would have begun with, others by the numbers in them.
static bool same_ranges(PyObject* a, PyObject* b) {
  static PyObject* const names[] = {PyUnicode_InternFromString("start"), PyUnicode_InternFromString("stop"),
                                    PyUnicode_InternFromString("step")};
  for (PyObject* name : names) {
    PyObject *x = PyObject_GetAttr(a, name), *y = PyObject_GetAttr(b, name);
    const bool same = x && y && same_value(x, y);
    PyErr_Clear();
    Py_XDECREF(x);
    Py_XDECREF(y);
    if (!same) return false;
  }
  return true;
}

bool same_value(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (!a || !b || Py_TYPE(a) != Py_TYPE(b)) return false;
  if (is_value_tuple(a)) {
    Py_ssize_t n = PyTuple_GET_SIZE(a);
    bool same = n == PyTuple_GET_SIZE(b);
    for (Py_ssize_t i = 0; same && i < n; i++) same = same_value(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i));
    return same;
  }
  if (!is_atom(a)) return false;
  if (PyFloat_CheckExact(a)) {
    double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (PyComplex_CheckExact(a)) {
    Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
  if (PySlice_Check(a)) {
    auto *x = reinterpret_cast<PySliceObject*>(a), *y = reinterpret_cast<PySliceObject*>(b);
    return same_value(x->start, y->start) && same_value(x->stop, y->stop) && same_value(x->step, y->step);
  }
  if (PyRange_Check(a)) return same_ranges(a, b);
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

bool holds_nan(PyObject* atom) {
  if (PyFloat_CheckExact(atom)) return std::isnan(PyFloat_AS_DOUBLE(atom));
  if (PyComplex_CheckExact(atom))
    return std::isnan(PyComplex_RealAsDouble(atom)) || std::isnan(PyComplex_ImagAsDouble(atom));
  if (!PyTuple_Check(atom)) return false;
  bool any = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(atom); i++) any = any || holds_nan(PyTuple_GET_ITEM(atom, i));
  return any;
}

/// Its repr runs no code of the program: a slice may hold anything.
static bool is_shown_by_c(PyObject* object) {
  if (!PySlice_Check(object)) return is_atom(object);
  auto* slice = reinterpret_cast<PySliceObject*>(object);
  return is_shown_by_c(slice->start) && is_shown_by_c(slice->stop) && is_shown_by_c(slice->step);
}

std::string short_text(PyObject* object) {
  if (!object) return "nothing";
  if (PyType_Check(object)) return fmt::format("class {}", reinterpret_cast<PyTypeObject*>(object)->tp_name);
  if (PyFunction_Check(object)) {
    return fmt::format("function {}", utf8_of(reinterpret_cast<PyFunctionObject*>(object)->func_qualname));
  }
  if (!is_shown_by_c(object)) return fmt::format("a {}", Py_TYPE(object)->tp_name);
  const Undisturbed held;
  PyObject* text = PyObject_Repr(object);
  const char* chars = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string result = chars ? chars : "?";
  PyErr_Clear();
  Py_XDECREF(text);
  if (result.size() > 60) result = result.substr(0, 57) + "...";
  return result;
}

}  // namespace terra::capture
