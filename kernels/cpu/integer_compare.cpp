// Comparisons and predicates of integers and bools; results are bools.
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/loop.h"

namespace terra::cpu {

namespace {

using namespace TERRA_ISA;

#define TERRA_COMPARISON(Name, expression)                 \
  template <class T>                                       \
  struct Name : Plain<T, bool> {                           \
    using Plain<T, bool>::Plain;                           \
    bool operator()(T a, T b) const { return expression; } \
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

template <class T>
struct LogicalNot : Plain<T, bool> {
  using Plain<T, bool>::Plain;
  bool operator()(T x) const { return x == T(0); }
};
template <class T>
struct SignBit : Plain<T, bool> {
  using Plain<T, bool>::Plain;
  bool operator()(T x) const { return x < T(0); }
};
/// No integer is NaN or infinite.
template <class T>
struct Never : Plain<T, bool> {
  using Plain<T, bool>::Plain;
  bool operator()(T) const { return false; }
};

#define TERRA_INTEGERS_AND_BOOL bool, uint8_t, int8_t, int16_t, int32_t, int64_t
#define TERRA_ALL_INTEGERS_AND_BOOL TERRA_INTEGERS_AND_BOOL, uint16_t, uint32_t, uint64_t

constexpr Kernel kKernels[] = {
    binary<Eq, TERRA_ALL_INTEGERS_AND_BOOL>("eq"),
    binary<Ne, TERRA_ALL_INTEGERS_AND_BOOL>("ne"),
    binary<Lt, TERRA_INTEGERS_AND_BOOL>("lt"),
    binary<Le, TERRA_INTEGERS_AND_BOOL>("le"),
    binary<Gt, TERRA_INTEGERS_AND_BOOL>("gt"),
    binary<Ge, TERRA_INTEGERS_AND_BOOL>("ge"),
    binary<LogicalAnd, TERRA_INTEGERS_AND_BOOL>("logical_and"),
    binary<LogicalOr, TERRA_INTEGERS_AND_BOOL>("logical_or"),
    binary<LogicalXor, TERRA_INTEGERS_AND_BOOL>("logical_xor"),
    unary<LogicalNot, uint8_t, int8_t, int16_t, int32_t, int64_t>("logical_not"),
    unary<Never, TERRA_ALL_INTEGERS_AND_BOOL>("isnan"),
    unary<Never, TERRA_ALL_INTEGERS_AND_BOOL>("isinf"),
    unary<SignBit, TERRA_ALL_INTEGERS_AND_BOOL>("signbit"),
};

}  // namespace

std::span<const Kernel> integer_compare_kernels() { return kKernels; }

}  // namespace terra::cpu
