// Which of OpenBLAS's kernel tables runs.
#pragma once

namespace terra::cpu::blas {

/// Chooses on the first call; later calls cost one load. Nobody may be inside OpenBLAS during the first call, which the
/// callers (all in blas.cpp) see to by calling it before anything else.
void ensure_core();

}  // namespace terra::cpu::blas
