// Choices: where, masked_fill (both move bytes of any dtype), clamp of floats.
#include "kernels/cpu/element_bits.h"
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// where(condition, a, b) for elements of the size of Bits. By a mask, because the compiler makes a jump of a choice
/// between two loaded values, and conditions are as good as random.
template <class Bits>
struct Where {
  using First = uint8_t;
  using In = Bits;
  using Out = Bits;
  explicit Where(const KernelArg*) {}
  Bits operator()(uint8_t condition, Bits a, Bits b) const {
    const Bits mask = static_cast<Bits>(-static_cast<Bits>(condition != 0));
    return static_cast<Bits>((a & mask) | (b & static_cast<Bits>(~mask)));
  }
};

template <>
struct Where<Bits128> {
  using First = uint8_t;
  using In = Bits128;
  using Out = Bits128;
  explicit Where(const KernelArg*) {}
  Bits128 operator()(uint8_t condition, Bits128 a, Bits128 b) const {
    const Where<uint64_t> half(nullptr);
    return {half(condition, a.low, b.low), half(condition, a.high, b.high)};
  }
};

/// masked_fill(self, mask, value) = where(mask, value, self).
template <class Bits>
void masked_fill_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  char* const reordered[] = {data[0], data[2], data[3], data[1]};
  const int64_t reordered_strides[] = {strides[0], strides[2], strides[3], strides[1]};
  ternary_loop<Where<Bits>>(reordered, reordered_strides, n, params);
}

/// The loop of an op that moves elements, by their size.
consteval Kernel mover(std::string_view name, ElementwiseLoop of1, ElementwiseLoop of2, ElementwiseLoop of4,
                       ElementwiseLoop of8, ElementwiseLoop of16) {
  Kernel kernel{.op = name, .cost = 1};
  for (int t = 0; t < kDTypeCount; ++t) {
    const int size = kDTypeInfo[t].size;
    kernel.loops[t] = size == 1 ? of1 : size == 2 ? of2 : size == 4 ? of4 : size == 8 ? of8 : of16;
  }
  return kernel;
}

/// min(max(x, low), high); a missing bound doesn't bind, a NaN stays, a NaN bound makes everything NaN.
template <class T>
struct Clamp {
  using In = T;
  using Out = T;
  explicit Clamp(const KernelArg* params)
      : low(params[1].kind == KernelArg::Kind::None ? -T(__builtin_inf()) : attribute<T>(params, 1)),
        high(params[2].kind == KernelArg::Kind::None ? T(__builtin_inf()) : attribute<T>(params, 2)) {
    if (low != low) high = low;
    if (high != high) low = high;
  }
  T operator()(T x) const {
    const T raised = x < low || low != low ? low : x;
    return raised > high ? high : raised;
  }
  T low, high;
};

/// Numbers instead of NaN and the infinities.
template <class T>
struct NanToNum {
  using In = T;
  using Out = T;
  explicit NanToNum(const KernelArg* params)
      : nan(attribute<T>(params, 1)), high(attribute<T>(params, 2)), low(attribute<T>(params, 3)) {}
  T operator()(T x) const {
    const T finite = x == T(__builtin_inf()) ? high : x == -T(__builtin_inf()) ? low : x;
    return x != x ? nan : finite;
  }
  T nan, high, low;
};

/// Clamp between bounds of its own.
template <class T>
struct ClampBetween {
  using First = T;
  using In = T;
  using Out = T;
  explicit ClampBetween(const KernelArg*) {}
  T operator()(T x, T low, T high) const {
    const T raised = x < low || low != low ? low : x;
    return raised > high || high != high ? high : raised;
  }
};

constexpr Kernel kTable[] = {
    mover("where", ternary_loop<Where<uint8_t>>, ternary_loop<Where<uint16_t>>, ternary_loop<Where<uint32_t>>,
          ternary_loop<Where<uint64_t>>, ternary_loop<Where<Bits128>>),
    mover("masked_fill", masked_fill_loop<uint8_t>, masked_fill_loop<uint16_t>, masked_fill_loop<uint32_t>,
          masked_fill_loop<uint64_t>, masked_fill_loop<Bits128>),
    unary<Clamp, float, double>("clamp"),
    unary<Clamp, float, double>("hardtanh"),
    unary<NanToNum, float, double>("nan_to_num"),
    ternary<ClampBetween, float, double>("clamp_between"),
};

}  // namespace

KernelList select_table() { return {kTable, sizeof(kTable) / sizeof(kTable[0])}; }

}  // namespace terra::cpu::TERRA_ISA
