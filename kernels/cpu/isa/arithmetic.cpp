// Arithmetic of floats that is exact or correctly rounded: the vectorizer's part.
#include "kernels/cpu/isa/tables.h"
#include "kernels/cpu/isa/loop.h"

namespace terra::cpu::TERRA_ISA {

namespace {

template <class T>
struct Add {
  using In = T;
  using Out = T;
  explicit Add(const KernelArg* params) : alpha(static_cast<T>(params[2].number.to_double())) {}
  T operator()(T a, T b) const { return a + alpha * b; }
  T alpha;
};

template <class T>
struct Mul : Plain {
  using In = T;
  using Out = T;
  using Plain::Plain;
  T operator()(T a, T b) const { return a * b; }
};

constexpr Kernel kTable[] = {
    binary_kernel<Add, float, double>("add", 1),
    binary_kernel<Mul, float, double>("mul", 1),
};

}  // namespace

KernelList arithmetic_table() { return {kTable, sizeof(kTable) / sizeof(kTable[0])}; }

}  // namespace terra::cpu::TERRA_ISA
