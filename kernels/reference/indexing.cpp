// What picking and placing elements by tensors of indices means.
#include <algorithm>
#include <string>

#include "kernels/abi/kernel_error.h"
#include "kernels/reference/families.h"
#include "kernels/reference/index.h"
#include "kernels/reference/numbers.h"

namespace terra::reference {

namespace {

using Index = std::vector<int64_t>;

int wrapped(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + rank : dim); }

void move(const View& out, const int64_t* to, const View& in, const int64_t* from) {
  write(out.dtype, address_at(out, to), read(in.dtype, address_at(in, from)));
}
void add(const View& out, const int64_t* to, const View& in, const int64_t* from) {
  const Number a = read(out.dtype, address_at(out, to)), b = read(in.dtype, address_at(in, from));
  if (is_complex(out.dtype))
    write(out.dtype, address_at(out, to), to_complex(a) + to_complex(b));
  else if (is_floating(out.dtype))
    write(out.dtype, address_at(out, to), to_double(a) + to_double(b));
  else
    write(out.dtype, address_at(out, to), bits_of(a) + bits_of(b));
}

int64_t index_at(const View& indices, const int64_t* at) {
  return std::get<int64_t>(read(indices.dtype, address_at(indices, at)));
}

int64_t checked(int64_t index, int64_t dim, int64_t size, KernelError::Kind kind) {
  if (index < 0 || index >= size) {
    throw KernelError(kind, kind == KernelError::Kind::Index
                                ? "index out of range in self"
                                : "index " + std::to_string(index) + " is out of bounds for dimension " +
                                      std::to_string(dim) + " with size " + std::to_string(size));
  }
  return index;
}

void index_select(const KernelCall& call) {
  const View& in = call.view(0);
  const int dim = in.rank == 0 ? 0 : wrapped(call.integer(1), in.rank);
  for_each_index(call.out[0], [&](const int64_t* i) {
    Index from(i, i + in.rank + 1);
    if (in.rank > 0) {
      from[dim] = checked(index_at(call.view(2), i + dim), dim, in.sizes[dim], KernelError::Kind::Index);
    }
    move(call.out[0], i, in, from.data());
  });
}

void embedding_forward(const KernelCall& call) {
  const View& weight = call.view(0);
  const View& indices = call.view(1);
  for_each_index(call.out[0], [&](const int64_t* i) {
    const int64_t row = checked(index_at(indices, i), 0, weight.sizes[0], KernelError::Kind::Index);
    const int64_t from[] = {row, i[indices.rank]};
    move(call.out[0], i, weight, from);
  });
}

void embedding_backward(const KernelCall& call) {
  const View& out = call.out[0];
  const View& grad = call.view(0);
  const View& indices = call.view(1);
  for_each_index(out, [&](const int64_t* i) { write(out.dtype, address_at(out, i), int64_t{0}); });
  for_each_index(grad, [&](const int64_t* i) {
    const int64_t row = checked(index_at(indices, i), 0, out.sizes[0], KernelError::Kind::Index);
    const int64_t to[] = {row, i[indices.rank]};
    if (row != call.integer(3)) add(out, to, grad, i);
  });
}

/// The place of an index in a shape of another rank, when one of them is a number.
Index place_of(const int64_t* index, int index_rank, int rank) {
  Index place(static_cast<size_t>(rank) + 1, 0);
  std::copy_n(index, std::min(index_rank, rank), place.begin());
  return place;
}

void gather(const KernelCall& call) {
  const View& in = call.view(0);
  const int dim = in.rank == 0 ? 0 : wrapped(call.integer(1), in.rank);
  for_each_index(call.out[0], [&](const int64_t* i) {
    Index from = place_of(i, call.view(2).rank, in.rank);
    const int64_t size = in.rank == 0 ? 1 : in.sizes[dim];
    const int64_t index = checked(index_at(call.view(2), i), dim, size, KernelError::Kind::Runtime);
    if (in.rank > 0) from[dim] = index;
    move(call.out[0], i, in, from.data());
  });
}

void start_from(const View& out, const View& self) {
  for_each_index(out, [&](const int64_t* i) { move(out, i, self, i); });
}

/// Starts from the operand and calls put(out, place, i) for every index i and the place in the result that it names.
template <class Put>
void scatter_with(const KernelCall& call, const Put& put) {
  const View& out = call.out[0];
  const View& index = call.view(2);
  const int dim = out.rank == 0 ? 0 : wrapped(call.integer(1), out.rank);
  start_from(out, call.view(0));
  for_each_index(index, [&](const int64_t* i) {
    Index to = place_of(i, index.rank, out.rank);
    const int64_t size = out.rank == 0 ? 1 : out.sizes[dim];
    const int64_t place = checked(index_at(index, i), dim, size, KernelError::Kind::Runtime);
    if (out.rank > 0) to[dim] = place;
    put(out, to.data(), i);
  });
}

template <bool kAdd>
void scatter(const KernelCall& call) {
  scatter_with(call, [&](const View& out, const int64_t* to, const int64_t* i) {
    (kAdd ? add : move)(out, to, call.view(3), i);
  });
}

/// An element and the one that comes to its place as one; a NaN stays.
Number combined(Number a, Number b, std::string_view how) {
  if (std::holds_alternative<std::complex<double>>(a)) return to_complex(a) * to_complex(b);
  if (is_whole(a) && how == "prod") return bits_of(a) * bits_of(b);
  if (const auto* x = std::get_if<int64_t>(&a)) {
    const int64_t y = std::get<int64_t>(b);
    return how == "amax" ? std::max(*x, y) : std::min(*x, y);
  }
  const double x = to_double(a), y = to_double(b);
  if (how == "prod" || x != x || y != y) return how == "prod" ? x * y : x + y;
  return how == "amax" ? std::max(x, y) : std::min(x, y);
}
void scatter_combine(const KernelCall& call) {
  const View& src = call.view(3);
  scatter_with(call, [&](const View& out, const int64_t* to, const int64_t* i) {
    char* at = address_at(out, to);
    write(out.dtype, at, combined(read(out.dtype, at), read(src.dtype, address_at(src, i)), call.text(4)));
  });
}

/// Visits self[indices] of advanced indexing: body(place in the result, place in self).
template <class Body>
void for_each_indexed(const View& self, std::span<const View> indices, Body body) {
  Index common, rest;
  int first = -1, last = -1, defined = 0;
  const auto has = [&](int d) { return d < static_cast<int>(indices.size()) && indices[d].defined(); };
  for (int d = 0; d < self.rank; ++d) {
    if (!has(d)) {
      rest.push_back(self.sizes[d]);
      continue;
    }
    if (first < 0) first = d;
    last = d;
    ++defined;
    while (common.size() < static_cast<size_t>(indices[d].rank)) common.insert(common.begin(), 1);
    for (int k = 0; k < indices[d].rank; ++k) {
      if (indices[d].sizes[k] != 1) common[common.size() - indices[d].rank + k] = indices[d].sizes[k];
    }
  }
  // Neighbouring index tensors stay where the first was, others move to the front.
  const int place = defined > 0 && last - first + 1 == defined ? first : 0;
  Index sizes = rest;
  sizes.insert(sizes.begin() + place, common.begin(), common.end());
  const int common_rank = static_cast<int>(common.size());
  for_each_index(sizes, [&](const int64_t* i) {
    Index from;
    int next = 0;
    for (int d = 0; d < self.rank; ++d) {
      if (!has(d)) {
        from.push_back(i[next < place ? next : next + common_rank]);
        ++next;
        continue;
      }
      Index at;
      for (int k = 0; k < indices[d].rank; ++k) {
        at.push_back(indices[d].sizes[k] == 1 ? 0 : i[place + common_rank - indices[d].rank + k]);
      }
      at.push_back(0);
      int64_t index = index_at(indices[d], at.data());
      if (index < -self.sizes[d] || index >= self.sizes[d]) {
        throw KernelError(KernelError::Kind::Index, "index " + std::to_string(index) +
                                                        " is out of bounds for dimension " + std::to_string(d) +
                                                        " with size " + std::to_string(self.sizes[d]));
      }
      from.push_back(index < 0 ? index + self.sizes[d] : index);
    }
    from.push_back(0);
    body(i, static_cast<int>(sizes.size()), from.data());
  });
}

void index(const KernelCall& call) {
  for_each_indexed(call.view(0), call.views(1),
                   [&](const int64_t* i, int, const int64_t* from) { move(call.out[0], i, call.view(0), from); });
}

void index_put(const KernelCall& call) {
  const View& out = call.out[0];
  const View& values = call.view(2);
  start_from(out, call.view(0));
  for_each_indexed(out, call.views(1), [&](const int64_t* i, int rank, const int64_t* to) {
    Index from;
    for (int d = 0; d < values.rank; ++d) {
      const int at = d + rank - values.rank;
      from.push_back(values.sizes[d] == 1 || at < 0 ? 0 : i[at]);
    }
    from.push_back(0);
    (call.flag(3) ? add : move)(out, to, values, from.data());
  });
}

constexpr Kernel kKernels[] = {
    {.op = "index_select", .run = index_select},
    {.op = "embedding_forward", .run = embedding_forward},
    {.op = "embedding_backward", .run = embedding_backward},
    {.op = "gather", .run = gather},
    {.op = "scatter", .run = scatter<false>, .any_strides = true},
    {.op = "scatter_add", .run = scatter<true>, .any_strides = true},
    {.op = "scatter_combine", .run = scatter_combine, .any_strides = true},
    {.op = "index", .run = index},
    {.op = "index_put", .run = index_put, .any_strides = true},
};

}  // namespace

std::span<const Kernel> indexing_kernels() { return kKernels; }

}  // namespace terra::reference
