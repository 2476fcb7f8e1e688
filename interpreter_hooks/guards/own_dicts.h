// Where objects keep what stores to their attributes change. The program can reach it in two ways, as the object and as
// its dict (o.__dict__, vars(o), module._buffers), and two objects can be given one dict.
#pragma once
#include "interpreter_hooks/guards/module_parts.h"

#include <Python.h>

namespace terra::capture {

constexpr int most_own_dicts = module_dict_count;

/// Fills in the dicts that keep the attributes of `object`, borrowed, and returns their number, at least one: a dict
/// stands for itself, and so does an object that has none.
int own_dicts_of(PyObject* object, PyObject** dicts);

}  // namespace terra::capture
