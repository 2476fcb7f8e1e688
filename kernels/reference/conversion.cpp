// What to_dtype means.
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/numbers.h"

namespace terra::reference {

namespace {

template <DType From>
void to_dtype(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  for (int64_t i = 0; i < n; ++i) {
    write(params[1].dtype, data[0] + i * strides[0], read(From, data[1] + i * strides[1]));
  }
}

constexpr Kernel kKernels[] = {
    {.op = "to_dtype",
     .loops = {to_dtype<DType::Bool>, to_dtype<DType::U8>, to_dtype<DType::I8>, to_dtype<DType::I16>,
               to_dtype<DType::I32>, to_dtype<DType::I64>, to_dtype<DType::U16>, to_dtype<DType::U32>,
               to_dtype<DType::U64>, to_dtype<DType::F16>, to_dtype<DType::BF16>, to_dtype<DType::F32>,
               to_dtype<DType::F64>, to_dtype<DType::C32>, to_dtype<DType::BC32>, to_dtype<DType::C64>,
               to_dtype<DType::C128>}}};

}  // namespace

std::span<const Kernel> conversion_kernels() { return kKernels; }

}  // namespace terra::reference
