// Kernels that only move elements: copies, fills, concatenation, padding, flips, triangles.
#include <algorithm>

#include "kernels/abi/parallel.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/subview.h"

namespace terra::cpu {

namespace {

void clone(const KernelCall& call) { copy_elements(call.out[0], call.view(0)); }

/// copy(self, src): the new value of self.
void copy(const KernelCall& call) { convert_elements(call.out[0], call.view(1)); }

/// fill(self, value) and full(size, value).
void fill(const KernelCall& call) { fill_elements(call.out[0], call.scalar(1)); }

void zero(const KernelCall& call) { fill_elements(call.out[0], Scalar(0)); }

/// cat(tensors, dim); an input without elements takes no room, whatever its rank.
void cat(const KernelCall& call) {
  const View& out = call.out[0];
  const int dim = wrapped(call.integer(1), out.rank);
  int64_t at = 0;
  for (const View& in : call.views(0)) {
    if (in.numel() == 0) continue;
    SubView part(out);
    part.slice(dim, at, in.sizes[dim]);
    convert_elements(part.view(), in);
    at += in.sizes[dim];
  }
}

/// constant_pad(self, pad, value): `pad` holds (before, after) from the last dimension backwards; negative ones crop.
void constant_pad(const KernelCall& call) {
  const View& out = call.out[0];
  const View& in = call.view(0);
  const auto pad = call.ints(1);
  fill_elements(out, call.scalar(2));
  SubView inside(out), kept(in);
  for (size_t i = 0; i + 1 < pad.size(); i += 2) {
    const int d = in.rank - 1 - static_cast<int>(i / 2);
    const int64_t before = pad[i], after = pad[i + 1];
    const int64_t length = in.sizes[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    inside.slice(d, std::max<int64_t>(before, 0), length);
    kept.slice(d, std::max<int64_t>(-before, 0), length);
  }
  copy_elements(inside.view(), kept.view());
}

/// pad_slice(grad, input_sizes, dim, start, step): the adjoint of slice. Zeros, and grad where it was taken from.
void pad_slice(const KernelCall& call) {
  const View& out = call.out[0];
  const View& grad = call.view(0);
  const int dim = wrapped(call.integer(2), out.rank);
  const int64_t start = call.integer(3) < 0 ? call.integer(3) + out.sizes[dim] : call.integer(3);
  fill_elements(out, Scalar(0));
  if (grad.numel() == 0) return;
  SubView part(out);
  part.slice(dim, start, grad.sizes[dim], call.integer(4));
  copy_elements(part.view(), grad);
}

void flip(const KernelCall& call) {
  SubView reversed(call.view(0));
  for (int64_t dim : call.ints(1)) reversed.reverse(wrapped(dim, call.view(0).rank));
  copy_elements(call.out[0], reversed.view());
}

/// tril(self, diagonal) keeps columns up to row + diagonal, triu those from it on; the rest is zero.
template <bool kLower>
void triangle(const KernelCall& call) {
  const View& out = call.out[0];
  const int64_t rows = out.sizes[out.rank - 2], columns = out.sizes[out.rank - 1];
  const int64_t diagonal = std::clamp(call.integer(1), -rows, columns);
  const auto size = static_cast<int64_t>(size_of(out.dtype));
  copy_elements(out, call.view(0));
  if (out.numel() == 0) return;
  const int64_t all_rows = out.numel() / columns;  // the output is contiguous
  parallel_for(all_rows, std::max<int64_t>(1, 65536 / columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t border = std::clamp<int64_t>(row % rows + diagonal + (kLower ? 1 : 0), 0, columns);
      char* at = out.bytes() + row * columns * size;
      if (kLower)
        std::fill(at + border * size, at + columns * size, char{0});
      else
        std::fill(at, at + border * size, char{0});
    }
  });
}

constexpr Kernel kKernels[] = {
    {.op = "clone", .run = clone, .any_strides = true},
    {.op = "clone_strided", .run = clone, .any_strides = true},
    {.op = "copy", .run = copy, .any_strides = true},
    {.op = "fill", .run = fill, .any_strides = true},
    {.op = "full", .run = fill, .any_strides = true},
    {.op = "zero", .run = zero, .any_strides = true},
    {.op = "cat", .run = cat, .any_strides = true},
    {.op = "constant_pad", .run = constant_pad, .any_strides = true},
    {.op = "pad_slice", .run = pad_slice},
    {.op = "flip", .run = flip, .any_strides = true},
    {.op = "tril", .run = triangle<true>},
    {.op = "triu", .run = triangle<false>},
};

}  // namespace

std::span<const Kernel> movement_kernels() { return kKernels; }

}  // namespace terra::cpu
