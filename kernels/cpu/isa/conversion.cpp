// Loops from each real dtype, floats of 16 bits apart, to each other.
#include "kernels/cpu/isa/convert.h"
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// Bools are bytes to loops: so the vectorizer takes them.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <class From, class To>
struct Convert {
  using In = Stored<From>;
  using Out = Stored<To>;
  explicit Convert(const KernelArg*) {}
  Out operator()(In x) const {
    if constexpr (std::is_same_v<From, bool>)
      return static_cast<Out>(convert_real<To>(int{x} < 1 ? int{x} : 1));  // any byte but 0 is true
    else
      return static_cast<Out>(convert_real<To>(x));
  }
};

struct Conversions {
  ElementwiseLoop to[kDTypeCount] = {};
};

template <class From, class... To>
consteval Conversions conversions_of() {
  Conversions row;
  ((row.to[static_cast<int>(dtype_of<To>())] = unary_loop<Convert<From, To>>), ...);
  return row;
}

template <class... T>
struct Table {
  Conversions from[kDTypeCount] = {};
  consteval Table() { ((from[static_cast<int>(dtype_of<T>())] = conversions_of<T, T...>()), ...); }
};
constexpr Table<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t, float, double> kTable;

}  // namespace

ElementwiseLoop real_conversion(DType from, DType to) {
  return kTable.from[static_cast<int>(from)].to[static_cast<int>(to)];
}

}  // namespace terra::cpu::TERRA_ISA
