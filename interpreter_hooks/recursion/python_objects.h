// Python objects as graphs see them: handles and numbers, which Python functions read.
#pragma once
#include "graph/ir/handle.h"
#include "interpreter_hooks/bindings/object.h"

namespace terra::capture {

/// From now on handles own the Python objects that they are of.
void let_handles_own_objects();

/// A tensor, a number (bool, int, float), or a handle of any other object.
graph::HostValue host_value_of(hooks::Borrowed object);
/// The object that it was made of; numbers and tensors anew.
hooks::Object object_of(const graph::HostValue& value);

/// The number of a host function that calls `function`, which lives for ever. What it returns must be a `kind`:
/// "handle", "bool", "int" or "float".
uint32_t add_python_function(hooks::Borrowed function, std::string kind);

}  // namespace terra::capture
