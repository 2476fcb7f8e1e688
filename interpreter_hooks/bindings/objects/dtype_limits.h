// torch.finfo and torch.iinfo: what numbers of a dtype can be.
#pragma once
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// The dtype that a finfo or an iinfo is about has one such object, which lives as long as the process.
bool is_dtype_limits(Borrowed object);
/// finfo or iinfo themselves.
bool is_dtype_limits_type(Borrowed object);

void create_dtype_limits_types(PyObject* module);

}  // namespace terra::hooks
