// to_dtype: every dtype to every other. The loop of the input's dtype looks up that of the output's. Complex numbers
// become real ones by their real part.
#include "kernels/abi/half.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/isa/convert.h"
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu {

namespace {

using namespace TERRA_ISA;

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
constexpr bool kIsComplexHalf = std::is_same_v<T, ComplexHalf> || std::is_same_v<T, ComplexBFloat16>;
template <class T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (kIsComplexHalf<From>)
    return convert<To>(std::complex<float>(x));
  else if constexpr (kIsComplexHalf<To>)
    return To(convert<std::complex<float>>(x));
  else if constexpr (kIsComplex<From> && kIsComplex<To>)
    return To(x);
  else if constexpr (kIsComplex<From> && !std::is_same_v<To, bool>)
    return convert<To>(x.real());
  else if constexpr (kIsComplex<To>)
    return To(convert<typename To::value_type>(x));
  else if constexpr (kIsHalf<From>)
    return convert<To>(static_cast<float>(x));
  else if constexpr (kIsHalf<To>)
    return To(static_cast<float>(x));
  else if constexpr (kIsComplex<From>)
    return x != From(0);
  else
    return convert_real<To>(x);
}

template <class From, class To>
struct Convert {
  using In = From;
  using Out = To;
  explicit Convert(const KernelArg*) {}
  To operator()(From x) const { return convert<To>(x); }
};

/// Loops between complex numbers and others.
template <class From>
ElementwiseLoop loop_to(DType to) {
  if constexpr (kIsComplex<From> || kIsComplexHalf<From>) {
    static constexpr ElementwiseLoop kTo[kDTypeCount] = {unary_loop<Convert<From, bool>>,
                                                         unary_loop<Convert<From, uint8_t>>,
                                                         unary_loop<Convert<From, int8_t>>,
                                                         unary_loop<Convert<From, int16_t>>,
                                                         unary_loop<Convert<From, int32_t>>,
                                                         unary_loop<Convert<From, int64_t>>,
                                                         unary_loop<Convert<From, uint16_t>>,
                                                         unary_loop<Convert<From, uint32_t>>,
                                                         unary_loop<Convert<From, uint64_t>>,
                                                         unary_loop<Convert<From, Half>>,
                                                         unary_loop<Convert<From, BFloat16>>,
                                                         unary_loop<Convert<From, float>>,
                                                         unary_loop<Convert<From, double>>,
                                                         unary_loop<Convert<From, ComplexHalf>>,
                                                         unary_loop<Convert<From, ComplexBFloat16>>,
                                                         unary_loop<Convert<From, std::complex<float>>>,
                                                         unary_loop<Convert<From, std::complex<double>>>};
    return kTo[static_cast<int>(to)];
  } else {
    switch (to) {
      case DType::C32: return unary_loop<Convert<From, ComplexHalf>>;
      case DType::BC32: return unary_loop<Convert<From, ComplexBFloat16>>;
      case DType::C64: return unary_loop<Convert<From, std::complex<float>>>;
      case DType::C128: return unary_loop<Convert<From, std::complex<double>>>;
      default: return TERRA_PICK(real_conversion)(dtype_of<From>(), to);
    }
  }
}

/// One conversion behind another, which meet in f32.
void through_floats(ElementwiseLoop widen, ElementwiseLoop narrow, char* const* data, const int64_t* strides, int64_t n,
                    const KernelArg* params) {
  float buffer[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = n - i < kBlock ? n - i : kBlock;
    char* const floats = reinterpret_cast<char*>(buffer);
    char* const before[] = {floats, data[1] + i * strides[1]};
    char* const behind[] = {data[0] + i * strides[0], floats};
    const int64_t steps_before[] = {stride_of<float>, strides[1]}, steps_behind[] = {strides[0], stride_of<float>};
    widen(before, steps_before, count, params);
    narrow(behind, steps_behind, count, params);
  }
}

/// What has floats of 16 bits at either end is left to vectors: by way of f32, if that isn't at the other.
template <class From>
void to_dtype_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  const DType to = params[1].dtype;
  if constexpr (kIsHalf<From>) {
    const ElementwiseLoop widen = half_loops_of(std::is_same_v<From, Half> ? DType::F16 : DType::BF16)->widen;
    if (to == DType::F32) return widen(data, strides, n, params);
    return through_floats(widen, to_dtype_loop<float>, data, strides, n, params);
  } else {
    if (const HalfLoops* loops = half_loops_of(to)) {
      if constexpr (std::is_same_v<From, float>) return loops->narrow(data, strides, n, params);
      return through_floats(loop_to<From>(DType::F32), loops->narrow, data, strides, n, params);
    }
    loop_to<From>(to)(data, strides, n, params);
  }
}

constexpr Kernel kKernels[] = {
    {.op = "to_dtype",
     .loops = {to_dtype_loop<bool>, to_dtype_loop<uint8_t>, to_dtype_loop<int8_t>, to_dtype_loop<int16_t>,
               to_dtype_loop<int32_t>, to_dtype_loop<int64_t>, to_dtype_loop<uint16_t>, to_dtype_loop<uint32_t>,
               to_dtype_loop<uint64_t>, to_dtype_loop<Half>, to_dtype_loop<BFloat16>, to_dtype_loop<float>,
               to_dtype_loop<double>, to_dtype_loop<ComplexHalf>, to_dtype_loop<ComplexBFloat16>,
               to_dtype_loop<std::complex<float>>, to_dtype_loop<std::complex<double>>},
     .cost = 2}};

}  // namespace

std::span<const Kernel> conversion_kernels() { return kKernels; }

}  // namespace terra::cpu
