// The numbers of values while a trace is being built.
#pragma once
#include "graph/trace/trace.h"

namespace terra::capture {

/// Provisional numbers of inputs are counted from here, those of scalars and constants from the others, those of
/// results from 0.
inline constexpr graph::TraceId first_input = 1u << 30;
inline constexpr graph::TraceId first_scalar = first_input + (1u << 29);
inline constexpr graph::TraceId first_constant = first_scalar + (1u << 28);

}  // namespace terra::capture
