// What the arithmetic ops mean.
#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

constexpr auto kNeg = [](auto x) { return -x; };
constexpr auto kAbs = [](auto x) { return std::abs(x); };
constexpr auto kSign = [](auto x) { return (x > 0) - (x < 0); };
constexpr auto kFloor = [](auto x) { return std::floor(x); };
constexpr auto kCeil = [](auto x) { return std::ceil(x); };
constexpr auto kRound = [](auto x) { return std::nearbyint(x); };  // halves to even
constexpr auto kTrunc = [](auto x) { return std::trunc(x); };
constexpr auto kIdentity = [](auto x) { return x; };
constexpr auto kSqrt = [](double x) { return std::sqrt(x); };
constexpr auto kRsqrt = [](double x) { return 1 / std::sqrt(x); };
constexpr auto kReciprocal = [](double x) { return 1 / x; };
constexpr auto kRelu = [](auto x) { return x < 0 ? decltype(x)(0) : x; };
constexpr auto kLeakyRelu = [](double x, const KernelArg* p) { return x > 0 ? x : x * attribute<double>(p[1]); };

constexpr auto kAdd = [](auto a, auto b, const KernelArg* p) { return a + attribute<decltype(a)>(p[2]) * b; };
constexpr auto kSub = [](auto a, auto b, const KernelArg* p) { return a - attribute<decltype(a)>(p[2]) * b; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };
constexpr auto kDivide = [](double a, double b) { return a / b; };
constexpr auto kMaximum = [](auto a, auto b) { return a < b || b != b ? b : a; };  // a NaN wins
constexpr auto kMinimum = [](auto a, auto b) { return b < a || b != b ? b : a; };
constexpr auto kFmax = [](auto a, auto b) { return a < b || a != a ? b : a; };  // a NaN loses
constexpr auto kFmin = [](auto a, auto b) { return b < a || a != a ? b : a; };
constexpr auto kSigmoidBackward = [](double grad, double y) { return grad * y * (1 - y); };
constexpr auto kTanhBackward = [](double grad, double y) { return grad * (1 - y * y); };
constexpr auto kThresholdBackward = [](double grad, double x, const KernelArg* p) {
  return x <= attribute<double>(p[2]) ? 0 : grad;
};
constexpr auto kAddcmul = [](auto self, auto a, auto b, const KernelArg* p) {
  return self + attribute<decltype(self)>(p[3]) * a * b;
};
constexpr auto kAddcdiv = [](double self, double a, double b, const KernelArg* p) {
  return self + attribute<double>(p[3]) * a / b;
};
constexpr auto kLerp = [](double a, double b, double weight) {
  return std::abs(weight) < 0.5 ? a + weight * (b - a) : b - (b - a) * (1 - weight);
};
constexpr auto kSoftshrink = [](double x, const KernelArg* p) {
  const double lambda = attribute<double>(p[1]);
  return std::abs(x) <= lambda ? x * 0 : x > 0 ? x - lambda : x + lambda;
};
constexpr auto kHardshrink = [](double x, const KernelArg* p) {
  return std::abs(x) <= attribute<double>(p[1]) ? 0 : x;
};
constexpr auto kHardsigmoid = [](double x) { return (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6; };
constexpr auto kHardswish = [](double x) { return x * kHardsigmoid(x); };
constexpr auto kParabolaWithLines = [](double x, const KernelArg* p) {
  const double knee = attribute<double>(p[1]), size = std::abs(x);
  return size > knee ? knee * (size - knee / 2) : size * size / 2;
};
constexpr auto kClamp = [](auto x, const KernelArg* p) {
  using W = decltype(x);
  if (p[1].kind != KernelArg::Kind::None) {
    const W low = attribute<W>(p[1]);
    x = x < low || low != low ? low : x;
  }
  if (p[2].kind != KernelArg::Kind::None) {
    const W high = attribute<W>(p[2]);
    x = x > high || high != high ? high : x;
  }
  return x;
};

constexpr auto kNanToNum = [](double x, const KernelArg* p) {
  return std::isnan(x) ? attribute<double>(p[1]) : std::isinf(x) ? attribute<double>(p[x > 0 ? 2 : 3]) : x;
};

constexpr auto kClampBetween = [](auto x, auto low, auto high) {
  x = x < low || low != low ? low : x;
  return x > high || high != high ? high : x;
};

/// Bits that leave a narrower element than int64 leave it when the result is stored.
constexpr auto kLeftShift = [](int64_t x, int64_t places) {
  return places < 0 || places > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << places);
};
constexpr auto kRightShift = [](int64_t x, int64_t places) { return x >> (places < 0 || places > 63 ? 63 : places); };
constexpr auto kBitwiseAnd = [](auto a, auto b) { return a & b; };
constexpr auto kBitwiseOr = [](auto a, auto b) { return a | b; };
constexpr auto kBitwiseXor = [](auto a, auto b) { return a ^ b; };
constexpr auto kBitwiseNot = [](auto x) { return ~x; };

/// The loops of an op on the bits of floats of 16 bits, of which the top one is the sign.
template <auto F>
consteval Kernel of_halves(std::string_view op) {
  Kernel k{.op = op};
  k.loops[static_cast<int>(DType::F16)] = k.loops[static_cast<int>(DType::BF16)] = loop<uint16_t, uint16_t, 1, F>;
  return k;
}

constexpr Kernel kKernels[] = {
    of_halves<[](int64_t x) { return x ^ 0x8000; }>("neg"),
    of_halves<[](int64_t x) { return x & 0x7fff; }>("abs"),
    elementwise<1, kNeg, kNumbers>("neg"),
    elementwise<1, kAbs, kNumbers>("abs"),
    elementwise<1, kSign, kAll>("sign"),
    elementwise<1, kSign, kAll>("sgn"),
    elementwise<1, kFloor, kFloats>("floor"),
    elementwise<1, kCeil, kFloats>("ceil"),
    elementwise<1, kRound, kFloats>("round"),
    elementwise<1, kTrunc, kFloats>("trunc"),
    elementwise<1, kIdentity, kIntegers | kBarebones>("floor"),
    elementwise<1, kIdentity, kIntegers | kBarebones>("ceil"),
    elementwise<1, kIdentity, kIntegers | kBarebones>("round"),
    elementwise<1, kIdentity, kIntegers | kBarebones>("trunc"),
    elementwise<1, kSqrt, kFloats>("sqrt"),
    elementwise<1, kRsqrt, kFloats>("rsqrt"),
    elementwise<1, kReciprocal, kFloats>("reciprocal"),
    elementwise<1, kRelu, kNumbers | kBarebones>("relu"),
    elementwise<1, kLeakyRelu, kFloats>("leaky_relu"),
    elementwise<1, kSoftshrink, kFloats>("softshrink"),
    elementwise<1, kHardshrink, kFloats>("hardshrink"),
    elementwise<1, kHardsigmoid, kFloats>("hardsigmoid"),
    elementwise<1, kHardswish, kFloats>("hardswish"),
    elementwise<1, kParabolaWithLines, kFloats>("parabola_with_lines"),
    elementwise<1, kClamp, kNumbers | kBarebones>("clamp"),
    elementwise<1, kClamp, kNumbers | kBarebones>("hardtanh"),
    elementwise<2, kAdd, kAll>("add"),
    elementwise<2, kSub, kNumbers>("sub"),
    elementwise<2, kMul, kAll | kBarebones>("mul"),
    elementwise<2, kDivide, kFloats>("true_divide"),
    elementwise<2, kMaximum, kAll | kBarebones>("maximum"),
    elementwise<2, kMinimum, kAll | kBarebones>("minimum"),
    elementwise<2, kFmax, kAll | kBarebones>("fmax"),
    elementwise<2, kFmin, kAll | kBarebones>("fmin"),
    elementwise<2, kSigmoidBackward, kFloats>("sigmoid_backward"),
    elementwise<2, kTanhBackward, kFloats>("tanh_backward"),
    elementwise<2, kThresholdBackward, kFloats>("threshold_backward"),
    elementwise<3, kAddcmul, kNumbers>("addcmul"),
    elementwise<3, kAddcdiv, kFloats>("addcdiv"),
    elementwise<3, kLerp, kFloats>("lerp_reals"),
    elementwise<1, kNanToNum, kFloats>("nan_to_num"),
    elementwise<3, kClampBetween, kNumbers | kBarebones>("clamp_between"),
    elementwise<2, kBitwiseAnd, kIntegers | kBools | kBarebones>("bitwise_and"),
    elementwise<2, kBitwiseOr, kIntegers | kBools | kBarebones>("bitwise_or"),
    elementwise<2, kBitwiseXor, kIntegers | kBools | kBarebones>("bitwise_xor"),
    elementwise<2, kLeftShift, kIntegers>("bitwise_left_shift"),
    elementwise<2, kRightShift, kIntegers>("bitwise_right_shift"),
    elementwise<1, kBitwiseNot, kIntegers>("bitwise_not"),
    elementwise<1, [](int64_t x) { return x == 0; }, kBools>("bitwise_not"),
};

}  // namespace

std::span<const Kernel> arithmetic_kernels() { return kKernels; }

}  // namespace terra::reference
