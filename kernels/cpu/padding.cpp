// Tensors padded with elements of their own, row by row: a row is a few runs of a row of the input.
#include <vector>

#include "kernels/abi/padding.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/element_bits.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/row_copy.h"

namespace terra::cpu {
namespace {

/// Bytes one thread moves at least.
constexpr int64_t kGrainBytes = 128 << 10;

/// `count` elements of a row from the output's place `to` on, which come from places `step` apart.
struct Run {
  int64_t to, from, step, count;
};

std::vector<Run> runs_of(const std::vector<int64_t>& places) {
  std::vector<Run> runs;
  for (const int64_t place : places) {
    Run* const run = runs.empty() ? nullptr : &runs.back();
    const int64_t step = run ? place - (run->from + run->step * (run->count - 1)) : 0;
    if (run && (run->count == 1 ? step >= -1 && step <= 1 : step == run->step)) {
      run->step = step;
      ++run->count;
    } else {
      runs.push_back({run ? run->to + run->count : 0, place, 0, 1});
    }
  }
  return runs;
}

template <class Bits>
void copy_run(char* to, const char* from, int64_t stride, int64_t n) {
  constexpr int64_t kSize = sizeof(Bits), kFew = 8;
  if (stride == kSize && n * kSize <= kShortRowBytes) {
    copy_short(to, from, n * kSize);
  } else if (n <= kFew) {
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<Bits*>(to)[i] = *reinterpret_cast<const Bits*>(from + i * stride);
  } else {
    copy_row<Bits>(to, kSize, from, stride, n);
  }
}

/// pad_from_within(self, pad, mode): `pad` holds (before, after) from the last dimension backwards.
void pad_from_within(const KernelCall& call) {
  const View &out = call.out[0], &in = call.view(0);
  const auto pad = call.ints(1);
  const PaddingRule rule = padding_rule(call.text(2));
  if (out.numel() == 0) return;
  const auto size = static_cast<int64_t>(size_of(in.dtype));
  const int last = out.rank - 1;
  // By dimension, where its places come from: bytes, but for the last one.
  std::vector<std::vector<int64_t>> from(static_cast<size_t>(out.rank));
  for (int d = 0; d <= last; ++d) {
    const auto at = static_cast<size_t>(2 * (last - d));
    const int64_t before = at < pad.size() ? pad[at] : 0, after = at < pad.size() ? pad[at + 1] : 0;
    const int64_t step = d == last ? 1 : in.strides[d] * size;
    for (int64_t i = 0; i < out.sizes[d]; ++i)
      from[static_cast<size_t>(d)].push_back(step * place_within(rule, in.sizes[d], before, after, i));
  }
  const std::vector<Run> runs = runs_of(from.back());
  const int64_t width = out.sizes[last] * size, stride = in.strides[last] * size;
  // Rows that differ in the last dimension but one lie in a plane.
  const int64_t height = last > 0 ? out.sizes[last - 1] : 1;
  const auto plane_at = [&](int64_t plane) {
    const char* at = in.bytes();
    for (int d = last - 2; d >= 0; plane /= out.sizes[d--])
      at += from[static_cast<size_t>(d)][static_cast<size_t>(plane % out.sizes[d])];
    return at;
  };
  with_bits(size_of(in.dtype), [&]<class Bits>(Bits) {
    const auto copy_rows = [&](int64_t begin, int64_t end) {
      const char* plane = plane_at(begin / height);
      int64_t y = begin % height;
      for (int64_t row = begin; row < end; ++row, ++y) {
        if (y == height) {
          plane = plane_at(row / height);
          y = 0;
        }
        const char* const line = last > 0 ? plane + from[static_cast<size_t>(last - 1)][static_cast<size_t>(y)] : plane;
        char* const to = out.bytes() + row * width;
        for (const Run& run : runs)
          copy_run<Bits>(to + run.to * size, line + run.from * stride, run.step * stride, run.count);
      }
    };
    parallel_for(out.numel() / out.sizes[last], std::max<int64_t>(1, kGrainBytes / width), copy_rows);
  });
}

constexpr Kernel kKernels[] = {{.op = "pad_from_within", .run = pad_from_within}};

}  // namespace

std::span<const Kernel> padding_kernels() { return kKernels; }

}  // namespace terra::cpu
