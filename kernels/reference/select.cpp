// What where and masked_fill mean: they move elements of any dtype.
#include <cstring>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

/// out = operand `Yes` where the byte of operand `Mask` isn't zero, else operand `No`.
template <int Mask, int Yes, int No, int Bytes>
void choose(char* const* data, const int64_t* strides, int64_t n, const KernelArg*) {
  for (int64_t i = 0; i < n; ++i) {
    const int from = element<uint8_t>(data, strides, Mask, i) ? Yes : No;
    std::memcpy(data[0] + i * strides[0], data[from] + i * strides[from], Bytes);
  }
}

template <int Mask, int Yes, int No>
consteval Kernel chooser(std::string_view op) {
  Kernel k{.op = op};
  for (int t = 0; t < kDTypeCount; ++t) {
    const int bytes = kDTypeInfo[t].size;
    k.loops[t] = bytes == 1   ? choose<Mask, Yes, No, 1>
                 : bytes == 2 ? choose<Mask, Yes, No, 2>
                 : bytes == 4 ? choose<Mask, Yes, No, 4>
                 : bytes == 8 ? choose<Mask, Yes, No, 8>
                              : choose<Mask, Yes, No, 16>;
  }
  return k;
}

constexpr Kernel kKernels[] = {chooser<1, 2, 3>("where"), chooser<2, 3, 1>("masked_fill")};

}  // namespace

std::span<const Kernel> select_kernels() { return kKernels; }

}  // namespace terra::reference
