// What comparisons and predicates mean; results are bools.
#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

#define TERRA_COMPARISON(name, set, expression) \
  elementwise<2, [](auto a, auto b) { return (expression); }, set, bool>(name)
#define TERRA_PREDICATE(name, set, expression) elementwise<1, [](auto x) { return (expression); }, set, bool>(name)

constexpr Kernel kKernels[] = {
    TERRA_COMPARISON("eq", kAll | kBarebones, a == b),
    TERRA_COMPARISON("ne", kAll | kBarebones, a != b),
    TERRA_COMPARISON("lt", kAll, a < b),
    TERRA_COMPARISON("le", kAll, a <= b),
    TERRA_COMPARISON("gt", kAll, a > b),
    TERRA_COMPARISON("ge", kAll, a >= b),
    TERRA_COMPARISON("logical_and", kAll, a != 0 && b != 0),
    TERRA_COMPARISON("logical_or", kAll, a != 0 || b != 0),
    TERRA_COMPARISON("logical_xor", kAll, (a != 0) != (b != 0)),
    TERRA_PREDICATE("logical_not", kAll, x == 0),
    TERRA_PREDICATE("isnan", kAll | kBarebones, std::isnan(static_cast<double>(x))),
    TERRA_PREDICATE("signbit", kAll | kBarebones, std::signbit(static_cast<double>(x))),
    TERRA_PREDICATE("isinf", kAll | kBarebones, std::isinf(static_cast<double>(x))),
};

}  // namespace

std::span<const Kernel> compare_kernels() { return kKernels; }

}  // namespace terra::reference
