// terra.Size: the tuple of a tensor's sizes.
#pragma once
#include <cstdint>
#include <span>

#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

extern PyTypeObject* size_type;

/// A new terra.Size.
PyObject* make_size(std::span<const int64_t> sizes);
/// A plain tuple of ints: new reference.
PyObject* make_tuple(std::span<const int64_t> values);

void create_size_type(PyObject* module);

}  // namespace terra::hooks
