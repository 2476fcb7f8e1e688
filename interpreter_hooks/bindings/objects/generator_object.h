// terra.Generator.
#pragma once
#include "interpreter_hooks/bindings/entry.h"

namespace terra {
class Generator;
}

namespace terra::hooks {

bool is_generator(Borrowed object);
/// Borrowed; the object must be a generator.
Generator* generator_of(Borrowed object);

void create_generator_type(PyObject* module);

}  // namespace terra::hooks
