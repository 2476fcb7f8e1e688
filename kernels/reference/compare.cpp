// What comparisons and predicates mean; results are bools.
#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

#define TERRA_COMPARISON(name, expression) elementwise<2, [](auto a, auto b) { return (expression); }, kAll, bool>(name)
#define TERRA_PREDICATE(name, expression) elementwise<1, [](auto x) { return (expression); }, kAll, bool>(name)

constexpr Kernel kKernels[] = {
    TERRA_COMPARISON("eq", a == b),
    TERRA_COMPARISON("ne", a != b),
    TERRA_COMPARISON("lt", a < b),
    TERRA_COMPARISON("le", a <= b),
    TERRA_COMPARISON("gt", a > b),
    TERRA_COMPARISON("ge", a >= b),
    TERRA_COMPARISON("logical_and", a != 0 && b != 0),
    TERRA_COMPARISON("logical_or", a != 0 || b != 0),
    TERRA_COMPARISON("logical_xor", (a != 0) != (b != 0)),
    TERRA_PREDICATE("logical_not", x == 0),
    TERRA_PREDICATE("isnan", std::isnan(static_cast<double>(x))),
    TERRA_PREDICATE("signbit", std::signbit(static_cast<double>(x))),
    TERRA_PREDICATE("isinf", std::isinf(static_cast<double>(x))),
};

}  // namespace

std::span<const Kernel> compare_kernels() { return kKernels; }

}  // namespace terra::reference
