// What the arithmetic ops mean.
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

/// A number among the attributes, in the type that elements are computed in.
template <class W>
W attribute(const KernelArg& arg) {
  if constexpr (std::is_same_v<W, double>) return arg.number.to_double();
  else return arg.number.to_int();
}

constexpr auto kAdd = [](auto a, auto b, const KernelArg* p) { return a + attribute<decltype(a)>(p[2]) * b; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };

constexpr Kernel kKernels[] = {
    elementwise<2, kAdd>("add", kAll),
    elementwise<2, kMul>("mul", kAll),
};

}  // namespace

std::span<const Kernel> arithmetic_kernels() { return kKernels; }

}  // namespace terra::reference
