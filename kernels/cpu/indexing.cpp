// Kernels that pick or place elements by tensors of indices.
//
// All but the embedding's gradient become one walk: an offset in bytes for every index, then a copy through it.
#include <algorithm>
#include <vector>

#include "kernels/cpu/along.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/indirect.h"
#include "kernels/cpu/row_copy.h"
#include "kernels/cpu/subview.h"

namespace terra::cpu {

namespace {

int64_t byte_stride(const View& v, int dim) {
  return v.rank == 0 ? 0 : v.strides[dim] * static_cast<int64_t>(size_of(v.dtype));
}
int64_t size_along(const View& v, int dim) { return v.rank == 0 ? 1 : v.sizes[dim]; }

/// Checked indices, and the bytes that one of them is: those of the caller where they lie side by side, else a copy.
struct Offsets {
  Offsets(const View& indices, const IndexRule& rule, int64_t stride) : step(stride) {
    const int64_t n = indices.numel();
    if (indices.dtype == DType::I64 && indices.is_contiguous() && are_within(indices.as<int64_t>(), n, rule.size)) {
      at = indices.as<int64_t>();
      return;
    }
    own = read_indices(indices);
    check_indices(own.get(), n, rule);
    at = own.get();
  }
  int64_t operator[](int64_t i) const { return at[i] * step; }

  std::unique_ptr<int64_t[]> own;
  int64_t* at;
  int64_t step;
};

/// A shape of `rank` dimensions over which offsets vary along some only.
struct OffsetsView {
  int64_t sizes[kMaxViewRank], strides[kMaxViewRank] = {};
  View view(int64_t* offsets, int rank) const { return {offsets, sizes, strides, rank, DType::I64}; }
};

/// Elements of a line that lie side by side, in bytes.
struct Run {
  int64_t to, from, size;
};

/// The runs of elements of `size` bytes at n offsets; none if they are short on the average.
std::vector<Run> runs_of(const Offsets& offsets, int64_t n, int64_t size) {
  constexpr int64_t kShortest = 4;
  std::vector<Run> runs;
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0 && offsets[i] == offsets[i - 1] + size) {
      runs.back().size += size;
      continue;
    }
    if ((static_cast<int64_t>(runs.size()) + 1) * kShortest > n) return {};
    runs.push_back({i * size, offsets[i], size});
  }
  return runs;
}

/// Copies the same runs of all lines along the last dimension, which is dense; false if that is no way to select.
bool select_runs(const View& out, const View& in, const Offsets& offsets) {
  const int last = in.rank - 1;
  if (in.strides[last] != 1 || out.strides[last] != 1 || out.numel() == 0) return false;
  const auto size = static_cast<int64_t>(size_of(in.dtype));
  const std::vector<Run> runs = runs_of(offsets, out.sizes[last], size);
  if (runs.empty()) return false;
  const View operands[] = {out, in};
  Lines lines;
  lines_along(operands, last, lines);
  for_lines(lines, 1, [&](char* const* at) {
    for (const Run& run : runs) {
      if (run.size <= kShortRowBytes)
        copy_short(at[0] + run.to, at[1] + run.from, run.size);
      else
        copy_bytes(at[0] + run.to, at[1] + run.from, run.size);
    }
  });
  return true;
}

/// index_select(self, dim, index).
void index_select(const KernelCall& call) {
  const View& out = call.out[0];
  const View& in = call.view(0);
  const int dim = in.rank == 0 ? 0 : wrapped(call.integer(1), in.rank);
  const IndexRule rule{dim, size_along(in, dim), false, KernelError::Kind::Index, out_of_range_in_self};
  const Offsets offsets(call.view(2), rule, byte_stride(in, dim));
  if (in.rank > 0 && dim == in.rank - 1 && select_runs(out, in, offsets)) return;
  OffsetsView shape;
  std::copy_n(out.sizes, out.rank, shape.sizes);
  SubView base(in);
  if (in.rank > 0) {
    shape.strides[dim] = 1;
    base.repeat(dim, out.sizes[dim]);
  }
  gather_elements(out, base.view(), shape.view(offsets.at, out.rank), offsets.step);
}

/// embedding_forward(weight, indices): rows of weight, out has the shape of indices and the row.
void embedding_forward(const KernelCall& call) {
  const View& out = call.out[0];
  const View& weight = call.view(0);
  const View& indices = call.view(1);
  const IndexRule rule{0, weight.sizes[0], false, KernelError::Kind::Index, out_of_range_in_self};
  const Offsets offsets(indices, rule, byte_stride(weight, 0));
  const int64_t n = indices.numel(), width = weight.sizes[1];
  const int64_t sizes[] = {n, width}, out_strides[] = {width, 1}, base_strides[] = {0, weight.strides[1]},
                offset_strides[] = {1, 0};
  gather_elements(View{out.data, sizes, out_strides, 2, out.dtype},
                  View{weight.data, sizes, base_strides, 2, weight.dtype},
                  View{offsets.at, sizes, offset_strides, 2, DType::I64}, offsets.step);
}

/// `index` once along the dimensions over which it was expanded.
struct Unexpanded {
  explicit Unexpanded(const View& index) : index_(index) {
    for (int d = 0; d < index.rank; ++d) sizes_[d] = index.strides[d] == 0 && index.sizes[d] > 0 ? 1 : index.sizes[d];
  }
  View view() const { return {index_.data, sizes_, index_.strides, index_.rank, index_.dtype}; }

 private:
  const View& index_;
  int64_t sizes_[kMaxViewRank];
};

/// The walk of gather and scatter: over the shape of `index`, in `indexed` a place is given by the index along `dim`.
/// Numbers count as vectors of one element.
struct AlongDim {
  AlongDim(const View& indexed, const View& index, int64_t dim_argument)
      : dim(indexed.rank == 0 ? 0 : wrapped(dim_argument, indexed.rank)),
        offsets(Unexpanded(index).view(),
                {dim, size_along(indexed, dim), false, KernelError::Kind::Runtime, out_of_bounds},
                byte_stride(indexed, dim)),
        base(indexed) {
    rank = std::max(index.rank, 1);
    for (int64_t d = rank - 1, step = 1; d >= 0; --d) {
      shape.sizes[d] = size_along(index, static_cast<int>(d));
      const bool is_expanded = index.rank > 0 && index.strides[d] == 0;
      shape.strides[d] = is_expanded ? 0 : step;
      if (!is_expanded) step *= shape.sizes[d];
      if (d < indexed.rank) base.resize(static_cast<int>(d), shape.sizes[d]);
    }
    if (dim < rank) base.repeat(dim, shape.sizes[dim]);
    offsets_view = shape.view(offsets.at, rank);
  }

  int dim, rank;
  Offsets offsets;
  SubView base;
  OffsetsView shape;
  View offsets_view;
};

/// gather(self, dim, index).
void gather(const KernelCall& call) {
  const AlongDim walk(call.view(0), call.view(2), call.integer(1));
  gather_elements(call.out[0], walk.base.view(), walk.offsets_view, walk.offsets.step);
}

/// The output of an op that changes some elements of `self` starts as a copy of it, unless it is `self`.
void start_from(const View& out, const View& self) {
  if (out.data != self.data) copy_elements(out, self);
}

/// Puts src into a copy of self: write(base, src, offsets, step). src may be larger than index.
template <class Write>
void scatter_by(const KernelCall& call, Write write) {
  const View& out = call.out[0];
  const View& index = call.view(2);
  const AlongDim walk(out, index, call.integer(1));
  start_from(out, call.view(0));
  if (index.numel() == 0) return;
  SubView src(call.view(3));
  for (int d = 0; d < walk.rank; ++d) src.resize(d, walk.shape.sizes[d]);
  write(walk.base.view(), src.view(), walk.offsets_view, walk.offsets.step);
}
/// scatter and scatter_add(self, dim, index, src).
void scatter(const KernelCall& call) { scatter_by(call, scatter_elements); }
void scatter_add(const KernelCall& call) { scatter_by(call, scatter_add_elements); }
/// scatter_combine(self, dim, index, src, reduce).
void scatter_combine(const KernelCall& call) {
  const Combination how = call.text(4) == "prod"   ? Combination::Product
                          : call.text(4) == "amax" ? Combination::Largest
                                                   : Combination::Smallest;
  scatter_by(call, [how](const View& base, const View& dense, const View& offsets, int64_t step) {
    scatter_combined_elements(base, dense, offsets, step, how);
  });
}

/// Advanced indexing. The dimensions of `indexed` that have an index tensor become those of the broadcast index
/// tensors: at the place of the first if they are neighbours, else in front.
class Indexed {
 public:
  Indexed(const View& indexed, std::span<const View> indices, const View& result) : result_rank_(result.rank) {
    std::vector<int> dims;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (indices[d].defined()) dims.push_back(static_cast<int>(d));
    }
    int index_rank = 0;
    for (int d : dims) index_rank = std::max(index_rank, indices[static_cast<size_t>(d)].rank);
    bool neighbours = true;
    for (size_t k = 1; k < dims.size(); ++k) neighbours &= dims[k] == dims[k - 1] + 1;
    const int place = neighbours && !dims.empty() ? dims[0] : 0;

    // The result's dimensions: those of the index at `place`, the others of `indexed` around them.
    std::copy_n(result.sizes, result.rank, offsets_shape_.sizes);
    const int64_t* index_sizes = result.sizes + place;
    int64_t count = 1;
    for (int k = index_rank - 1; k >= 0; --k) {
      offsets_shape_.strides[place + k] = count;
      base_strides_[place + k] = 0;
      count *= index_sizes[k];
    }
    int at = place == 0 ? index_rank : 0;
    for (int d = 0; d < indexed.rank; ++d) {
      if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
      if (at == place && place > 0) at += index_rank;
      base_strides_[at++] = indexed.strides[d];
    }

    offsets_ = std::make_unique<int64_t[]>(static_cast<size_t>(count));
    for (int d : dims) {
      add_offsets(indexed, d, indices[static_cast<size_t>(d)], index_rank, index_sizes, count);
    }
    base_ = {indexed.data, offsets_shape_.sizes, base_strides_, result.rank, indexed.dtype};
  }

  const View& base() const { return base_; }
  View offsets() const { return offsets_shape_.view(offsets_.get(), result_rank_); }

 private:
  /// Adds what dimension d contributes; `index` is broadcast to the common shape of the index tensors.
  void add_offsets(const View& indexed, int d, const View& index, int index_rank, const int64_t* index_sizes,
                   int64_t count) {
    const IndexRule rule{d, indexed.sizes[d], true, KernelError::Kind::Index, out_of_bounds};
    const Offsets own(index, rule, byte_stride(indexed, d));
    int64_t steps[kMaxViewRank] = {};
    for (int64_t k = index.rank - 1, step = 1; k >= 0; --k) {
      steps[k + index_rank - index.rank] = index.sizes[k] == 1 ? 0 : step;
      step *= index.sizes[k];
    }
    if (index.numel() == count) {  // nothing is broadcast
      for (int64_t i = 0; i < count; ++i) offsets_[i] += own[i];
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, from = 0;
      for (int k = index_rank - 1; k >= 0; --k) {
        from += rest % index_sizes[k] * steps[k];
        rest /= index_sizes[k];
      }
      offsets_[i] += own[from];
    }
  }

  int result_rank_;
  std::unique_ptr<int64_t[]> offsets_;
  OffsetsView offsets_shape_;
  int64_t base_strides_[kMaxViewRank];
  View base_;
};

/// index(self, indices).
void index(const KernelCall& call) {
  const Indexed walk(call.view(0), call.views(1), call.out[0]);
  gather_elements(call.out[0], walk.base(), walk.offsets(), 1);
}

/// The shape that index(self, indices) would have.
std::vector<int64_t> indexed_sizes(const View& self, std::span<const View> indices) {
  std::vector<int64_t> common, rest;
  int first = -1, last = -1, defined = 0;
  for (int d = 0; d < self.rank; ++d) {
    if (d >= static_cast<int>(indices.size()) || !indices[static_cast<size_t>(d)].defined()) {
      rest.push_back(self.sizes[d]);
      continue;
    }
    const View& index = indices[static_cast<size_t>(d)];
    if (first < 0) first = d;
    last = d;
    ++defined;
    if (static_cast<size_t>(index.rank) > common.size()) {
      common.insert(common.begin(), static_cast<size_t>(index.rank) - common.size(), 1);
    }
    for (int k = 0; k < index.rank; ++k) {
      int64_t& size = common[common.size() - static_cast<size_t>(index.rank - k)];
      if (index.sizes[k] != 1) size = index.sizes[k];
    }
  }
  const bool neighbours = defined > 0 && last - first + 1 == defined;
  rest.insert(rest.begin() + (neighbours ? first : 0), common.begin(), common.end());
  return rest;
}

/// index_put(self, indices, values, accumulate): values are broadcast to the shape of self[indices].
void index_put(const KernelCall& call) {
  const View& out = call.out[0];
  const View& values = call.view(2);
  const std::vector<int64_t> sizes = indexed_sizes(out, call.views(1));
  const auto rank = static_cast<int>(sizes.size());
  int64_t strides[kMaxViewRank] = {};
  for (int d = 0; d < values.rank; ++d) {
    const int to = d + rank - values.rank;
    if (to >= 0) strides[to] = values.sizes[d] == 1 ? 0 : values.strides[d];
  }
  const View dense{values.data, sizes.data(), strides, rank, values.dtype};
  const Indexed walk(out, call.views(1), dense);
  start_from(out, call.view(0));
  if (call.flag(3))
    scatter_add_elements(walk.base(), dense, walk.offsets(), 1);
  else
    scatter_elements(walk.base(), dense, walk.offsets(), 1);
}

constexpr Kernel kKernels[] = {
    {.op = "index_select", .run = index_select},
    {.op = "embedding_forward", .run = embedding_forward},
    {.op = "gather", .run = gather},
    {.op = "scatter", .run = scatter, .any_strides = true},
    {.op = "scatter_add", .run = scatter_add, .any_strides = true},
    {.op = "scatter_combine", .run = scatter_combine, .any_strides = true},
    {.op = "index", .run = index},
    {.op = "index_put", .run = index_put, .any_strides = true},
};

}  // namespace

std::span<const Kernel> indexing_kernels() { return kKernels; }

}  // namespace terra::cpu
