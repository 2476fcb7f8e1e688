// Running sums and products along a dimension: cumsum, cumprod. Floats accumulate in double, integers wrap around.
#include "kernels/cpu/along.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/dtype_dispatch.h"
#include "kernels/cpu/families.h"

namespace terra::cpu {

namespace {

/// cumsum(self, dim): bools and integers arrive converted to the output's dtype, or are converted here.
template <bool kProduct>
void scan(const KernelCall& call) {
  const View& out = call.out[0];
  convert_elements(out, call.view(0));
  if (out.numel() == 0) return;
  Lines lines;
  lines_along({&out, 1}, out.rank == 0 ? 0 : wrapped(call.integer(1), out.rank), lines);
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    using Acc = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<std::is_integral_v<T>, uint64_t, std::complex<double>>>;
    for_lines(lines, 8, [&](char* const* at) {
      Acc acc = kProduct ? 1 : 0;
      for (int64_t i = 0; i < lines.lengths[0]; ++i) {
        T& element = *reinterpret_cast<T*>(at[0] + i * lines.strides[0]);
        acc = kProduct ? acc * static_cast<Acc>(element) : acc + static_cast<Acc>(element);
        element = static_cast<T>(acc);
      }
    });
  });
}

constexpr Kernel kKernels[] = {{.op = "cumsum", .run = scan<false>}, {.op = "cumprod", .run = scan<true>}};

}  // namespace

std::span<const Kernel> scan_kernels() { return kKernels; }

}  // namespace terra::cpu
