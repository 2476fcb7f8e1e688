// Comparisons and predicates of floats; results are bools.
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu::TERRA_ISA {

namespace {

#define TERRA_COMPARISON(Name, expression)                 \
  template <class T>                                       \
  struct Name : Plain<T, bool> {                           \
    using Plain<T, bool>::Plain;                           \
    bool operator()(T a, T b) const { return expression; } \
  };
#define TERRA_PREDICATE(Name, expression)             \
  template <class T>                                  \
  struct Name : Plain<T, bool> {                      \
    using Plain<T, bool>::Plain;                      \
    bool operator()(T x) const { return expression; } \
  };

TERRA_COMPARISON(Eq, a == b)
TERRA_COMPARISON(Ne, a != b)
TERRA_COMPARISON(Lt, a < b)
TERRA_COMPARISON(Le, a <= b)
TERRA_COMPARISON(Gt, a > b)
TERRA_COMPARISON(Ge, a >= b)
TERRA_COMPARISON(LogicalAnd, (a != T(0)) & (b != T(0)))
TERRA_COMPARISON(LogicalOr, (a != T(0)) | (b != T(0)))
TERRA_COMPARISON(LogicalXor, (a != T(0)) ^ (b != T(0)))
TERRA_PREDICATE(LogicalNot, x == T(0))
TERRA_PREDICATE(IsNan, x != x)
TERRA_PREDICATE(SignBit, __builtin_signbit(x) != 0)
TERRA_PREDICATE(IsInf, (x == T(__builtin_inf())) | (x == -T(__builtin_inf())))

constexpr Kernel kTable[] = {
    binary<Eq, float, double>("eq"),
    binary<Ne, float, double>("ne"),
    binary<Lt, float, double>("lt"),
    binary<Le, float, double>("le"),
    binary<Gt, float, double>("gt"),
    binary<Ge, float, double>("ge"),
    binary<LogicalAnd, float, double>("logical_and"),
    binary<LogicalOr, float, double>("logical_or"),
    binary<LogicalXor, float, double>("logical_xor"),
    unary<LogicalNot, float, double>("logical_not"),
    unary<IsNan, float, double>("isnan"),
    unary<IsInf, float, double>("isinf"),
    unary<SignBit, float, double>("signbit"),
};

}  // namespace

KernelList compare_table() { return {kTable, sizeof(kTable) / sizeof(kTable[0])}; }

}  // namespace terra::cpu::TERRA_ISA
