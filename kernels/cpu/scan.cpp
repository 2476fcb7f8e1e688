// Running sums, products and extremes along a dimension. Floats accumulate in double, integers wrap around.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/cpu/along.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"

namespace terra::cpu {

namespace {

/// Lines that are walked at the same time, at most.
constexpr int64_t kTogether = 256;

/// cumsum(self, dim): bools and integers arrive converted to the output's dtype, or are converted here.
template <bool kProduct>
void scan(const KernelCall& call) {
  const View& out = call.out[0];
  const bool converts = call.view(0).dtype != out.dtype;
  if (converts) convert_elements(out, call.view(0));
  if (out.numel() == 0) return;
  const View operands[] = {out, converts ? out : call.view(0)};
  Lines lines;
  lines_along(operands, out.rank == 0 ? 0 : wrapped(call.integer(1), out.rank), lines);
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    using Acc = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<std::is_integral_v<T>, uint64_t, std::complex<double>>>;
    const auto join = [](Acc& acc, T element) {
      acc = kProduct ? acc * static_cast<Acc>(element) : acc + static_cast<Acc>(element);
      return static_cast<T>(acc);
    };
    const auto walk = [&](char* to, const char* from, int64_t to_step, int64_t from_step) {
      Acc acc = kProduct ? 1 : 0;
      for (int64_t i = 0; i < lines.lengths[0]; ++i)
        *reinterpret_cast<T*>(to + i * to_step) = join(acc, *reinterpret_cast<const T*>(from + i * from_step));
    };
    // Lines side by side, element by element of all.
    const auto walk_together = [&](char* to, const char* from, int64_t count) {
      Acc accs[kTogether];
      std::fill_n(accs, count, Acc(kProduct ? 1 : 0));
      for (int64_t i = 0; i < lines.lengths[0]; ++i) {
        T* const row = reinterpret_cast<T*>(to + i * lines.strides[0]);
        const T* const in = reinterpret_cast<const T*>(from + i * lines.strides[1]);
#pragma GCC ivdep
        for (int64_t j = 0; j < count; ++j) row[j] = join(accs[j], in[j]);
      }
    };
    constexpr int64_t kSize = sizeof(T);
    const bool dense = lines.strides[0] == kSize && lines.strides[1] == kSize;
    const int last = lines.starts.rank - 1;
    const int64_t to_next = lines.starts.strides[0][last], from_next = lines.starts.strides[1][last];
    if (!dense && to_next == kSize && from_next == kSize) {
      return for_neighbours(lines, 8, [&](char* const* at, int64_t n) {
        for (int64_t j = 0; j < n; j += kTogether)
          walk_together(at[0] + j * kSize, at[1] + j * kSize, std::min(kTogether, n - j));
      });
    }
    for_lines(lines, 8, [&](char* const* at) {
      if (dense)
        walk(at[0], at[1], kSize, kSize);
      else
        walk(at[0], at[1], lines.strides[0], lines.strides[1]);
    });
  });
}

/// cummax and cummin(self, dim) -> (values, indices): the last of equal elements; a NaN beats every number.
template <bool kLargest>
void extremes(const KernelCall& call) {
  const View& in = call.view(0);
  const View operands[] = {in, call.out[0], call.out[1]};
  if (in.numel() == 0) return;
  Lines lines;
  lines_along(operands, in.rank == 0 ? 0 : wrapped(call.integer(1), in.rank), lines);
  const auto walk = [&]<class T>(T) {
    for_lines(lines, 8, [&](char* const* at) {
      T best = *reinterpret_cast<const T*>(at[0]);
      int64_t place = 0;
      for (int64_t i = 0; i < lines.lengths[0]; ++i) {
        const T x = *reinterpret_cast<const T*>(at[0] + i * lines.strides[0]);
        if (x != x || (best == best && (kLargest ? x >= best : x <= best))) {
          best = x;
          place = i;
        }
        *reinterpret_cast<T*>(at[1] + i * lines.strides[1]) = best;
        *reinterpret_cast<int64_t*>(at[2] + i * lines.strides[2]) = place;
      }
    });
  };
  if (in.dtype == DType::Bool)
    walk(bool{});
  else
    with_number(in.dtype, walk);
}

/// logcumsumexp(self, dim): the total so far is kept as its largest element and the sum over exp of it.
void logcumsumexp(const KernelCall& call) {
  const View operands[] = {call.view(0), call.out[0]};
  if (call.out[0].numel() == 0) return;
  Lines lines;
  lines_along(operands, operands[0].rank == 0 ? 0 : wrapped(call.integer(1), operands[0].rank), lines);
  with_float(operands[0].dtype, [&]<class T>(T) {
    for_lines(lines, 80, [&](char* const* at) {
      double total = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < lines.lengths[0]; ++i) {
        const double x = *reinterpret_cast<const T*>(at[0] + i * lines.strides[0]);
        const double high = x > total ? x : total, low = x > total ? total : x;
        total = x != x || total != total ? x + total
                : std::isinf(high)       ? high
                                         : high + std::log1p(std::exp(low - high));
        *reinterpret_cast<T*>(at[1] + i * lines.strides[1]) = static_cast<T>(total);
      }
    });
  });
}

constexpr Kernel kKernels[] = {
    {.op = "cumsum", .run = scan<false>},        {.op = "cumprod", .run = scan<true>},
    {.op = "cummax", .run = extremes<true>},     {.op = "cummin", .run = extremes<false>},
    {.op = "logcumsumexp", .run = logcumsumexp},
};

}  // namespace

std::span<const Kernel> scan_kernels() { return kKernels; }

}  // namespace terra::cpu
