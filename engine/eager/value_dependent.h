// Calls whose results have sizes that depend on element values.
#pragma once
#include <cstdint>

namespace terra::eager {

/// How many such ops (nonzero, masked_select, ...) have run eagerly on this thread, those inside composites
/// included. A graph can't hold one.
uint64_t& value_dependent_calls();

}  // namespace terra::eager
