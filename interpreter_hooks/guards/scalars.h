// Python values that are compared by value: what counts as one, when two are the same, how they are printed.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

#include <string>

namespace terra::capture {

/// True for immutable objects whose meaning is their value: numbers, strings, None, slices, ranges. Their identity is
/// never a fact (small ints are shared by chance).
bool is_atom(PyObject* object);

/// True for int and float themselves (not bool): the values that can become inputs of a program.
inline bool is_number(PyObject* object) { return PyLong_CheckExact(object) || PyFloat_CheckExact(object); }

/// What makes an int or float of an object of another type that stands for one wherever the engine or arithmetic in C
/// asks for a number, and that never changes: scalars of numpy, instances of subclasses of int and float (members of an
/// IntEnum). A C callable, borrowed; null for all other objects.
PyObject* number_conversion(PyObject* object);

/// The same value for every purpose: exact type and value, floats by bits (so -0.0, 0.0 and NaN are told apart, and so
/// are 1, 1.0 and True), tuples item by item, other objects by identity. Runs no Python code.
bool same_value(PyObject* a, PyObject* b);

/// A number that isn't equal to itself, also one among the items of a tuple.
bool holds_nan(PyObject* atom);

/// A short printed form. Runs no Python code: other objects than atoms print as their type.
std::string short_text(PyObject* object);

}  // namespace terra::capture
