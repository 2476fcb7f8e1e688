// Python's arithmetic on the numbers that a trace knows.
#pragma once
#include <vector>

#include "graph/trace/trace.h"

namespace terra::graph {

/// The result of a record's operation. Throws InternalError where Python would raise, or where it would need integers
/// of more than 64 bits.
Scalar computed(NumberRecord::Op op, const Scalar& a, const Scalar& b);

/// Kind and bits, to tell 1, 1.0, True, 0.0 and -0.0 apart.
std::vector<int64_t> bits_of(const Scalar& number);

}  // namespace terra::graph
