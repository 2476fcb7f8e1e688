// What the ops that only move elements mean: each output element names the input element it comes from.
#include <algorithm>
#include <cmath>

#include "kernels/abi/padding.h"
#include "kernels/reference/families.h"
#include "kernels/reference/index.h"
#include "kernels/reference/numbers.h"

namespace terra::reference {

namespace {

using Index = std::vector<int64_t>;

int wrapped(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + rank : dim); }

Index copied(const int64_t* index, int rank) { return Index(index, index + rank); }

/// out[index] = in[from], with conversion if their dtypes differ.
void move(const View& out, const int64_t* index, const View& in, const int64_t* from) {
  write(out.dtype, address_at(out, index), read(in.dtype, address_at(in, from)));
}

void clone(const KernelCall& call) {
  for_each_index(call.out[0], [&](const int64_t* i) { move(call.out[0], i, call.view(0), i); });
}

/// copy(self, src): src is broadcast to self.
void copy(const KernelCall& call) {
  const View& out = call.out[0];
  const View& in = call.view(1);
  for_each_index(out, [&](const int64_t* i) {
    Index from = copied(i + out.rank - in.rank, in.rank);
    for (int d = 0; d < in.rank; ++d) {
      if (in.sizes[d] == 1) from[d] = 0;
    }
    move(out, i, in, from.data());
  });
}

void fill_with(const View& out, const Scalar& value) {
  for_each_index(out, [&](const int64_t* i) {
    if (value.is_complex())
      write(out.dtype, address_at(out, i), value.to_complex());
    else if (value.is_float())
      write(out.dtype, address_at(out, i), value.to_double());
    else
      write(out.dtype, address_at(out, i), value.to_int());
  });
}

void fill(const KernelCall& call) { fill_with(call.out[0], call.scalar(1)); }
void zero(const KernelCall& call) { fill_with(call.out[0], Scalar(0)); }

void cat(const KernelCall& call) {
  const View& out = call.out[0];
  const int dim = wrapped(call.integer(1), out.rank);
  int64_t before = 0;
  for (const View& in : call.views(0)) {
    if (in.numel() == 0) continue;
    for_each_index(in, [&](const int64_t* i) {
      Index to = copied(i, in.rank);
      to[dim] += before;
      move(out, to.data(), in, i);
    });
    before += in.sizes[dim];
  }
}

void constant_pad(const KernelCall& call) {
  const View& out = call.out[0];
  const View& in = call.view(0);
  const auto pad = call.ints(1);
  fill_with(out, call.scalar(2));
  for_each_index(in, [&](const int64_t* i) {
    Index to = copied(i, in.rank);
    for (size_t k = 0; k + 1 < pad.size(); k += 2) to[in.rank - 1 - k / 2] += pad[k];
    for (int d = 0; d < in.rank; ++d) {
      if (to[d] < 0 || to[d] >= out.sizes[d]) return;
    }
    move(out, to.data(), in, i);
  });
}

void pad_slice(const KernelCall& call) {
  const View& out = call.out[0];
  const View& grad = call.view(0);
  const int dim = wrapped(call.integer(2), out.rank);
  const int64_t start = call.integer(3) < 0 ? call.integer(3) + out.sizes[dim] : call.integer(3);
  fill_with(out, Scalar(0));
  for_each_index(grad, [&](const int64_t* i) {
    Index to = copied(i, grad.rank);
    to[dim] = start + i[dim] * call.integer(4);
    move(out, to.data(), grad, i);
  });
}

void flip(const KernelCall& call) {
  const View& in = call.view(0);
  for_each_index(in, [&](const int64_t* i) {
    Index from = copied(i, in.rank);
    for (int64_t dim : in.rank == 0 ? std::span<const int64_t>() : call.ints(1)) {
      const int d = wrapped(dim, in.rank);
      from[d] = in.sizes[d] - 1 - i[d];
    }
    move(call.out[0], i, in, from.data());
  });
}

template <bool kLower>
void triangle(const KernelCall& call) {
  const View& out = call.out[0];
  for_each_index(out, [&](const int64_t* i) {
    const int64_t row = i[out.rank - 2], column = i[out.rank - 1];
    const int64_t diagonal = std::clamp(call.integer(1), -out.sizes[out.rank - 2], out.sizes[out.rank - 1]);
    const int64_t border = row + diagonal;
    const bool keeps = kLower ? column <= border : column >= border;
    if (keeps)
      move(out, i, call.view(0), i);
    else
      write(out.dtype, address_at(out, i), int64_t{0});
  });
}

void arange(const KernelCall& call) {
  const View& out = call.out[0];
  for_each_index(out, [&](const int64_t* i) {
    if (is_floating(out.dtype)) {
      write(out.dtype, address_at(out, i), call.real(0) + static_cast<double>(i[0]) * call.real(2));
    } else {
      write(out.dtype, address_at(out, i), call.integer(0) + i[0] * call.integer(2));
    }
  });
}

void linspace(const KernelCall& call) {
  const View& out = call.out[0];
  const auto bound = [&](int i) { return is_floating(out.dtype) ? call.real(i) : std::trunc(call.real(i)); };
  const double start = bound(0), end = bound(1);
  for_each_index(out, [&](const int64_t* i) {
    const double steps = out.sizes[0] > 1 ? static_cast<double>(out.sizes[0] - 1) : 1, done = static_cast<double>(i[0]);
    const bool is_last = out.sizes[0] > 1 && i[0] == out.sizes[0] - 1;
    write(out.dtype, address_at(out, i), is_last ? end : start + (end - start) * (done / steps));
  });
}

void eye(const KernelCall& call) {
  for_each_index(call.out[0], [&](const int64_t* i) {
    write(call.out[0].dtype, address_at(call.out[0], i), int64_t{i[0] == i[1]});
  });
}

/// pad_from_within(self, pad, mode).
void pad_from_within(const KernelCall& call) {
  const View &out = call.out[0], &in = call.view(0);
  const auto pad = call.ints(1);
  for_each_index(out, [&](const int64_t* i) {
    Index from = copied(i, out.rank);
    for (int d = 0; d < out.rank; ++d) {
      const auto at = static_cast<size_t>(2 * (out.rank - 1 - d));
      if (at < pad.size()) from[d] = place_within(padding_rule(call.text(2)), in.sizes[d], pad[at], pad[at + 1], i[d]);
    }
    move(out, i, in, from.data());
  });
}

constexpr Kernel kKernels[] = {
    {.op = "clone", .run = clone, .any_strides = true},
    {.op = "clone_strided", .run = clone, .any_strides = true},
    {.op = "copy", .run = copy, .any_strides = true},
    {.op = "fill", .run = fill, .any_strides = true},
    {.op = "full", .run = fill},
    {.op = "zero", .run = zero, .any_strides = true},
    {.op = "cat", .run = cat},
    {.op = "constant_pad", .run = constant_pad},
    {.op = "pad_from_within", .run = pad_from_within},
    {.op = "pad_slice", .run = pad_slice},
    {.op = "flip", .run = flip},
    {.op = "tril", .run = triangle<true>},
    {.op = "triu", .run = triangle<false>},
    {.op = "arange", .run = arange},
    {.op = "linspace", .run = linspace},
    {.op = "eye", .run = eye},
};

}  // namespace

std::span<const Kernel> movement_kernels() { return kKernels; }

}  // namespace terra::reference
