// Functions, methods and properties made from the op records.
#pragma once
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// Fills the module (kFunction), Tensor (kMethod, kProperty), `_functional` (kFunctional) and `_ops` (every record by
/// its own name), aliases, overloads and in-place forms included.
void generate_ops(Borrowed module);

}  // namespace terra::hooks
