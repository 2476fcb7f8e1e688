// Who takes a thread's calls where no scope says otherwise.
#pragma once
#include "engine/ops/emitter.h"

namespace terra {

/// From now on the thread's calls outside of scopes go to this emitter, as if it were the eager one; null: to that one.
void set_program_emitter(Emitter* emitter);

}  // namespace terra
