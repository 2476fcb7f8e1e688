// The eager engine: every op computed at once.
#pragma once

namespace terra::eager {

/// Registers all ops, makes the eager emitter the default one and installs the tape. Idempotent.
void start();

}  // namespace terra::eager
