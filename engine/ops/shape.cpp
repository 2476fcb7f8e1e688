#include "engine/ops/shape.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/layout.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
/// PyTorch lets a 1-d tensor without elements join anything.
bool joins_anything(const Tensor& t) { return t.rank() == 1 && t.numel() == 0; }

void cat_shape(Inference& f) {
  const auto list = f.tensors(0);
  check_kind(!list.empty(), ErrorKind::ValueError, "torch.cat(): expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  for (const Tensor& t : list) {
    check(t.rank() > 0, "zero-dimensional tensor (at position {}) cannot be concatenated", &t - list.data());
    if (!first && !joins_anything(t)) first = &t;
  }
  if (!first) first = &list[0];
  const int64_t dim = wrap_dim(f.integer(1), first->rank());
  Dims sizes = first->sizes();
  sizes[dim] = 0;
  for (const Tensor& t : list) {
    if (joins_anything(t)) continue;
    check(t.rank() == sizes.size(), "Tensors must have same number of dimensions: got {} and {}", sizes.size(),
          t.rank());
    for (size_t i = 0; i < sizes.size(); ++i)
      check(static_cast<int64_t>(i) == dim || t.sizes()[i] == sizes[i],
            "Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor number {} "
            "in the list.",
            dim, sizes[i], t.sizes()[i], &t - list.data());
    sizes[dim] = size_sum(sizes[dim], t.sizes()[dim]);
  }
  f.result(f.common, std::move(sizes));
}

void flip_shape(Inference& f) {
  if (!f.ints(1).empty()) dim_mask(f.arg(1), f.rank(0));
  rules::like_first(f);
}

void constant_pad_shape(Inference& f) {
  const auto pad = f.ints(1);
  if (!f.arg(2).is_tensor()) check_holds(f.arg(2).scalar(), f.dtype(0));
  check(pad.size() % 2 == 0, "Length of pad must be even but instead it equals {}", pad.size());
  check(pad.size() / 2 <= f.rank(0),
        "Length of pad should be no more than twice the number of dimensions of the input. Pad length is {} while the "
        "input has {} dimensions.",
        pad.size(), f.rank(0));
  Dims sizes(f.sizes(0));
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = sizes[sizes.size() - 1 - i];
    const int64_t have = size, before = pad[2 * i], after = pad[2 * i + 1];
    const int64_t kept = size_sum(have, size_sum(std::min<int64_t>(before, 0), std::min<int64_t>(after, 0)));
    size = size_sum(kept, size_sum(std::max<int64_t>(before, 0), std::max<int64_t>(after, 0)));
    check(size >= 0,
          "The input size {}, plus negative padding {} and {} resulted in a negative output size, which is invalid. "
          "Check dimension {} of your input.",
          have, before, after, sizes.size() - 1 - i);
    check(kept >= 0, "narrow(): length must be non-negative.");
  }
  f.result(f.dtype(0), std::move(sizes));
}

void pad_from_within_shape(Inference& f) {
  const auto pad = f.ints(1);
  check(pad.size() % 2 == 0 && pad.size() / 2 <= f.rank(0), "pad_from_within: {} numbers for {} dimensions", pad.size(),
        f.rank(0));
  Dims sizes(f.sizes(0));
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = sizes[sizes.size() - 1 - i];
    const int64_t have = size, before = pad[2 * i], after = pad[2 * i + 1];
    size = size_sum(size_sum(have, before), after);
    check(size >= 0 && (f.text(2) != "reflect" || (before < have && after < have)),
          "pad_from_within: {} elements padded by {} and {}", have, before, after);
    check_kind(size == 0 || have > 0, ErrorKind::IndexError, "index out of range in self");
    const int64_t left = have + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    check(f.text(2) != "circular" || size == 0 || left > 0, "ZeroDivisionError");
  }
  check_room(sizes, f.dtype(0));
  f.result(f.dtype(0), std::move(sizes));
}

void pad_slice_shape(Inference& f) {
  const auto grad = f.sizes(0), sizes = f.ints(1);
  const int64_t start = f.integer(3), step = f.integer(4);
  bool fits = grad.size() == sizes.size() && !sizes.empty() && step > 0;
  const auto dim = static_cast<size_t>(wrap_dim(f.integer(2), sizes.size()));
  for (size_t i = 0; fits && i < sizes.size(); ++i) fits = i == dim || grad[i] == sizes[i];
  if (fits && grad[dim] > 0) {
    const int64_t first = start < 0 ? start + sizes[dim] : start;
    fits = first >= 0 && first < sizes[dim] && (grad[dim] == 1 || (sizes[dim] - 1 - first) / step >= grad[dim] - 1);
  }
  check(fits,
        "pad_slice: elements {}, {} + {}, ... of dimension {} of a tensor of size {} are not those of a slice of "
        "size {}",
        start, start, step, dim, listed(sizes), listed(grad));
  f.result(f.dtype(0), Dims(sizes));
}

// ---- gradients ------------------------------------------------------------------------------------------------------
void cat_gradient(Backward& b) {
  const auto list = b.list(0);
  const Tensor g = b.grad();
  const int64_t dim = wrap_dim(b.integer(1), g.rank());
  std::vector<Tensor> parts;
  parts.reserve(list.size());
  int64_t at = 0;
  for (const TensorMeta& t : list) {
    if (t.sizes.size() != g.rank()) {  // an empty one that joins anything
      parts.push_back(zeros(t.sizes, g.dtype()));
      continue;
    }
    parts.push_back(narrow(g, dim, at, t.sizes[dim]));
    at += t.sizes[dim];
  }
  b.set_list(0, std::move(parts));
}
void flip_gradient(Backward& b) { b.set(0, flip(b.grad(), b.arg(1))); }
void constant_pad_gradient(Backward& b) {
  Dims inverse(b.ints(1));
  for (int64_t& p : inverse) p = -p;
  b.set(0, constant_pad(b.grad(), inverse));
}
/// Indices of one dimension of size n after reflection or replication of `before` and `after` elements, or going round
/// in what negative ones leave of it.
Tensor padded_index(std::string_view mode, int64_t n, int64_t before, int64_t after) {
  if (mode == "circular") {
    const int64_t first = std::max<int64_t>(0, -before), left = n - first - std::max<int64_t>(0, -after);
    return add(remainder(arange(std::min<int64_t>(0, -before), left + std::max<int64_t>(0, after)), left), first);
  }
  const Tensor i = arange(-before, n + after);
  if (mode == "replicate") return clamp(i, 0, n - 1);
  const Tensor mirrored = abs(i);  // reflect: -1 -> 1, n -> n - 2
  return minimum(mirrored, sub(2 * (n - 1), mirrored));
}
/// Dimension by dimension, back from the last one that was padded.
void pad_from_within_gradient(Backward& b) {
  const auto pad = b.ints(1);
  const Dims& sizes = b.sizes(0);
  Tensor g = b.grad();
  for (size_t k = pad.size() / 2; k-- > 0;) {
    const auto dim = static_cast<int64_t>(sizes.size() - 1 - k);
    if (pad[2 * k] == 0 && pad[2 * k + 1] == 0) continue;
    Dims before = g.sizes();
    before[dim] = sizes[dim];
    g = index_add(zeros(before, g.dtype()), dim, padded_index(b.text(2), sizes[dim], pad[2 * k], pad[2 * k + 1]), g);
  }
  b.set(0, g);
}
void pad_slice_gradient(Backward& b) {
  const int64_t dim = b.integer(2), start = b.integer(3), step = b.integer(4);
  const int64_t length = b.sizes(0)[dim], end = length == 0 ? start : start + (length - 1) * step + 1;
  b.set(0, slice(b.grad(), dim, start, end, step));
}

// ---- composites -----------------------------------------------------------------------------------------------------
std::vector<Tensor> list_of(std::span<const Tensor> tensors) { return {tensors.begin(), tensors.end()}; }

void stack_of(Composition& c) {
  auto list = list_of(c.tensors(0));
  check(!list.empty(), "stack expects a non-empty TensorList");
  const Dims& sizes = list[0].sizes();
  for (size_t i = 0; i < list.size(); ++i)
    check(list[i].sizes() == sizes,
          "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}", listed(sizes),
          listed(list[i].sizes()), i);
  const int64_t dim = wrap_dim(c.integer(1), sizes.size() + 1), count = static_cast<int64_t>(list.size());
  const bool by_rows = std::all_of(list.begin(), list.end(), [](const Tensor& t) { return t.is_contiguous(); });
  if (!by_rows && dim < static_cast<int64_t>(sizes.size())) {
    // Laid out as what they join to is, so that images with channels last keep them there.
    const int64_t each = sizes[static_cast<size_t>(dim)];
    return c.result(unflatten(cat(list, dim), dim, Dims{count, each}));
  }
  for (Tensor& t : list) t = unsqueeze(t, dim);
  c.result(cat(list, dim));
}
void hstack_of(Composition& c) {
  auto list = list_of(c.tensors(0));
  check(!list.empty(), "hstack expects a non-empty TensorList");
  bool vectors = true;
  for (Tensor& t : list) {
    if (t.rank() == 0) t = reshape(t, Dims{1});
    vectors &= t.rank() == 1;
  }
  for (size_t i = 1; i < list.size(); ++i)
    check(list[i].rank() == list[0].rank(), "Tensors must have same number of dimensions: got {} and {}",
          list[0].rank(), list[i].rank());
  c.result(cat(list, vectors ? 0 : 1));
}
void vstack_of(Composition& c) {
  auto list = list_of(c.tensors(0));
  check(!list.empty(), "vstack expects a non-empty TensorList");
  for (Tensor& t : list)
    if (t.rank() < 2) t = reshape(t, Dims{1, -1});
  c.result(cat(list, 0));
}

void roll_of(Composition& c) {
  const auto shifts = c.ints(1), dims = c.has(2) ? c.ints(2) : std::span<const int64_t>();
  Tensor t = c.tensor(0);
  check(!shifts.empty(), "`shifts` required");
  if (dims.empty()) {
    check(shifts.size() == 1, "shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(), dims.size());
    return c.result(reshape(roll(reshape(t, Dims{-1}), shifts, Dims{0}), t.sizes()));
  }
  check(shifts.size() == dims.size(), "shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(),
        dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], t.rank()), n = t.size(dim);
    const int64_t by = n == 0 ? 0 : ((shifts[i] % n) + n) % n;
    if (by != 0) t = cat(std::vector{narrow(t, dim, n - by, by), narrow(t, dim, 0, n - by)}, dim);
  }
  c.result(t);
}

/// A copy of the tensor in a grid of repeats: [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r * a, s * b].
Tensor repeated(const Tensor& self, std::span<const int64_t> repeats) {
  const size_t lead = repeats.size() - self.rank();
  Dims apart, grid, sizes;
  for (size_t i = 0; i < repeats.size(); ++i) {
    check(repeats[i] >= 0, "Trying to create tensor with negative dimension {}: {}", repeats[i], listed(repeats));
    const int64_t size = i < lead ? 1 : self.sizes()[i - lead];
    apart.push_back(1);
    apart.push_back(size);
    grid.push_back(repeats[i]);
    grid.push_back(size);
    sizes.push_back(size_product(repeats[i], size));
  }
  return reshape(expand(reshape(self, apart), grid), sizes);
}
void repeat_of(Composition& c) {
  check(c.ints(1).size() >= c.tensor(0).rank(),
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  c.result(repeated(c.tensor(0), c.ints(1)));
}
void tile_of(Composition& c) {
  Dims repeats(c.ints(1));
  while (repeats.size() < c.tensor(0).rank()) repeats.insert(0, 1);
  c.result(repeated(c.tensor(0), repeats));
}
/// What the caller says that the repeated dimension will be.
void check_output_size(const Composition& c, int64_t size) {
  check(!c.has(3) || c.integer(3) == size, "allocated size does not match required size");
}
void repeat_interleave_of(Composition& c) {
  const int64_t n = c.integer(1);
  check(n >= 0, "Repeats must be non-negative");
  check_output_size(c, n * (c.has(2) ? c.tensor(0).size(c.integer(2)) : c.tensor(0).numel()));
  Tensor t = c.has(2) ? c.tensor(0) : reshape(c.tensor(0), Dims{-1});
  const int64_t dim = c.has(2) ? wrap_dim(c.integer(2), t.rank()) : 0;
  Dims grid = t.sizes(), sizes = t.sizes();
  grid.insert(dim + 1, n);
  sizes[dim] = size_product(sizes[dim], n);
  c.result(reshape(expand(unsqueeze(t, dim + 1), grid), sizes));
}
void repeat_interleave_tensor_of(Composition& c) {
  const Tensor t = c.has(2) ? c.tensor(0) : reshape(c.tensor(0), Dims{-1});
  const int64_t dim = c.has(2) ? wrap_dim(c.integer(2), t.rank()) : 0;
  const Tensor given = c.tensor(1);
  check(given.rank() < 2, "repeats must be 0-dim or 1-dim tensor");
  check(given.numel() == 1 || given.numel() == t.size(dim),
        "repeats must have the same size as input along dim, but got repeats.size(0) = {} and input.size({}) = {}",
        given.numel(), dim, t.size(dim));
  const Tensor repeats = expand(given, Dims{t.size(dim)});
  if (repeats.device().is_meta()) {
    check(c.has(3), "cannot repeat_interleave a meta tensor without output_size");
    return c.result(index_select(t, dim, empty(Dims{c.integer(3)}, DType::I64)));
  }
  const Tensor picked = index_select(t, dim, repeat_index(repeats));
  check_output_size(c, picked.size(dim));
  c.result(picked);
}
/// Each index as often as its element says.
void repeat_interleave_counts_of(Composition& c) {
  const Tensor repeats = c.tensor(0);
  check(repeats.rank() == 1, "repeat_interleave only accept 1D vector as repeat");
  check_kind(is_integral(repeats.dtype(), false), ErrorKind::NotImplementedError,
             "\"repeat_interleave_cpu\" not implemented for '{}'", scalar_type_name(repeats.dtype()));
  const Tensor index = repeat_index(repeats);
  check(!c.has(1) || c.integer(1) == index.numel(), "allocated size does not match required size");
  c.result(to_dtype(index, repeats.dtype()));
}
void rot90_of(Composition& c) {
  const auto dims = c.ints(2);
  const Tensor t = c.tensor(0);
  check(dims.size() == 2, "expected total rotation dims == 2, but got dims = {}", dims.size());
  check(t.rank() >= 2, "expected total dims >= 2, but got total dims = {}", t.rank());
  check(wrap_dim(dims[0], t.rank()) != wrap_dim(dims[1], t.rank()),
        "expected rotation dims to be different, but got dim0 = {} and dim1 = {}", dims[0], dims[1]);
  const int64_t turns = ((c.integer(1) % 4) + 4) % 4;
  if (turns == 0) return c.result(clone(t));
  if (turns == 2) return c.result(flip(t, dims));
  const Tensor flipped = flip(t, Dims{turns == 1 ? dims[1] : dims[0]});
  c.result(transpose(flipped, dims[0], dims[1]));
}

/// Other modes than constants pad the last one to three dimensions, behind a channel and perhaps a batch dimension.
void check_padded_dims(const Tensor& t, size_t padded, std::string_view mode) {
  const size_t rank = t.rank();
  check_kind(padded >= 1 && padded <= 3 && (rank == padded + 1 || rank == padded + 2), ErrorKind::NotImplementedError,
             "Padding size {} is not supported for {}D input tensor.\n"
             "Supported combinations for non-constant padding:\n"
             "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
             "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
             "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)",
             2 * padded, rank);
  for (size_t i = rank - padded - 1; mode == "reflect" && i < rank; ++i)
    check(t.sizes()[i] > 0,
          "Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
          "but got: {}",
          padded + 1, padded + 2, listed(t.sizes()));
}
void pad_of(Composition& c) {
  const std::string_view mode = c.text(2);
  const auto pad = c.ints(1);
  Tensor t = c.tensor(0);
  check(pad.size() % 2 == 0, "Padding length must be divisible by 2");
  check(pad.size() / 2 <= t.rank(),
        "Padding length should be less than or equal to two times the input dimension but got padding length {} and "
        "input of dimension {}",
        pad.size(), t.rank());
  if (mode == "constant") return c.result(constant_pad(c.tensor(0), c.arg(1), c.has(3) ? c.arg(3) : Arg(0)));
  check_kind(mode == "reflect" || mode == "replicate" || mode == "circular", ErrorKind::NotImplementedError,
             "Unrecognised padding mode {}", mode);
  check(!c.has(3) || c.real(3) == 0, "Padding mode \"{}\" doesn't take in value argument", mode);
  check_padded_dims(t, pad.size() / 2, mode);
  if (mode != "circular") t = kinked(t);
  bool changes = false;
  for (size_t k = 0; k < pad.size() / 2; ++k) {
    const int64_t dim = static_cast<int64_t>(t.rank() - 1 - k), n = t.size(dim), before = pad[2 * k],
                  after = pad[2 * k + 1];
    check(mode != "reflect" || (before < n && after < n),
          "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({}, {}) "
          "at dimension {} of input {}",
          before, after, dim, listed(t.sizes()));
    check(mode != "circular" || (before <= n && after <= n), "Padding value causes wrapping around more than once.");
    const int64_t size = size_sum(size_sum(n, before), after);
    check(size >= 0, "Negative padding value is resulting in an empty dimension");
    changes |= before != 0 || after != 0;
  }
  c.result(changes ? pad_from_within(t, c.arg(1), c.arg(2)) : t);
}

void pixel_shuffle_of(Composition& c) {
  const Tensor t = c.tensor(0);
  const int64_t r = c.integer(1);
  check(t.rank() >= 3, "pixel_shuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)",
        t.rank());
  const int64_t channels = t.size(-3), h = t.size(-2), w = t.size(-1);
  check(r > 0, "pixel_shuffle expects a positive upscale_factor, but got {}", r);
  const int64_t group = size_product(r, r);
  check(channels % group == 0,
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
        "input.size(-3)={} is not divisible by {}",
        channels, group);
  Dims lead(std::span<const int64_t>(t.sizes()).first(t.rank() - 3));
  Dims out = lead;
  for (int64_t s : {channels / group, size_product(h, r), size_product(w, r)}) out.push_back(s);
  const Tensor split = reshape(t, Dims{checked_numel(lead), channels / group, r, r, h, w});
  c.result(reshape(permute(split, Dims{0, 1, 4, 2, 5, 3}), out));
}
void pixel_unshuffle_of(Composition& c) {
  const Tensor t = c.tensor(0);
  const int64_t r = c.integer(1);
  check(t.rank() >= 3,
        "pixel_unshuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)", t.rank());
  check(r > 0, "pixel_unshuffle expects a positive downscale_factor, but got {}", r);
  const int64_t channels = t.size(-3), h = t.size(-2), w = t.size(-1);
  check(h % r == 0,
        "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)={} is not divisible by "
        "{}",
        h, r);
  check(w % r == 0,
        "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)={} is not divisible by "
        "{}",
        w, r);
  if (t.numel() == 0) return c.result(clone(t));  // as PyTorch: its sizes stay what they are
  const Dims lead(std::span<const int64_t>(t.sizes()).first(t.rank() - 3));
  Dims out = lead;
  for (int64_t s : {channels * r * r, h / r, w / r}) out.push_back(s);
  const Tensor split = reshape(t, Dims{checked_numel(lead), channels, h / r, r, w / r, r});
  c.result(reshape(permute(split, Dims{0, 1, 3, 5, 2, 4}), out));
}
void channel_shuffle_of(Composition& c) {
  const Tensor t = c.tensor(0);
  const int64_t groups = c.integer(1);
  check(t.rank() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes {}", listed(t.sizes()));
  check(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:{}", groups);
  check(t.size(1) % groups == 0, "Number of channels must be divisible by groups. Got {} channels and {} groups.",
        t.size(1), groups);
  Dims split{t.size(0), groups, t.size(1) / groups};
  for (size_t i = 2; i < t.rank(); ++i) split.push_back(t.sizes()[i]);
  c.result(reshape(transpose(reshape(t, split), 1, 2), t.sizes()));
}

void diagonal_backward_of(Composition& c) {
  const Dims sizes(c.ints(1));
  check(sizes.size() >= 2, "diagonal_backward: a tensor of size {} has no diagonal", listed(sizes));
  const int64_t a = wrap_dim(c.integer(3), sizes.size()), b = wrap_dim(c.integer(4), sizes.size());
  const int64_t rows = sizes[a], columns = sizes[b], k = std::clamp(c.integer(2), -rows, columns);
  const Tensor grad = c.tensor(0);
  // In row-major order elements of a diagonal are columns + 1 apart.
  const int64_t n = grad.size(-1), apart = columns + 1, before = k < 0 ? -k * columns : k;
  Dims line(std::span<const int64_t>(grad.sizes()).first(grad.rank() - 1)), matrices = line;
  line.push_back(n * apart);
  matrices.push_back(rows);
  matrices.push_back(columns);
  const Tensor spread = reshape(constant_pad(unsqueeze(grad, -1), Dims{0, columns}), line);
  const Tensor all = constant_pad(spread, Dims{before, rows * columns - before - n * apart});
  c.result(movedim(reshape(all, matrices), Dims{-2, -1}, Dims{a, b}));
}
void diag_embed_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t k = c.integer(1), n = size_sum(self.size(-1), k < 0 ? size_product(k, -1) : k);
  Dims sizes = self.sizes();
  sizes.pop_back();
  const int64_t a = wrap_dim(c.integer(2), self.rank() + 1), b = wrap_dim(c.integer(3), self.rank() + 1);
  check(a != b, "diagonal dimensions cannot be identical {}, {}", c.integer(2), c.integer(3));
  sizes.insert(std::min(a, b), n);
  sizes.insert(std::max(a, b), n);
  check_room(sizes, self.dtype());
  c.result(diagonal_backward(self, sizes, k, a, b));
}
void diag_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check(self.rank() == 1 || self.rank() == 2, "diag(): Supports 1D or 2D tensors. Got {}D", self.rank());
  c.result(self.rank() == 1 ? diag_embed(self, c.arg(1)) : clone(diagonal(self, c.arg(1))));
}
std::string_view pad_name(std::span<const Arg> args) {
  static constexpr std::string_view kNames[] = {"ReflectionPad1DBackward0",  "ReflectionPad2DBackward0",
                                                "ReflectionPad3DBackward0",  "ReplicationPad1DBackward0",
                                                "ReplicationPad2DBackward0", "ReplicationPad3DBackward0"};
  const std::string_view mode = args[2].text();
  const size_t dims = args[1].ints().size() / 2;
  if ((mode != "reflect" && mode != "replicate") || dims < 1 || dims > 3) return "";
  return kNames[(mode == "replicate") * 3 + dims - 1];
}
std::string_view diag_name(std::span<const Arg> args) {
  return args[0].tensor().rank() == 1 ? "DiagEmbedBackward0" : "DiagonalBackward0_copy";
}
void diff_of(Composition& c) {
  Tensor t = c.tensor(0);
  check(t.rank() > 0, "diff expects input to be at least one-dimensional");
  check(c.integer(1) >= 0, "order must be non-negative but got {}", c.integer(1));
  const int64_t dim = wrap_dim(c.integer(2), t.rank());
  if (c.integer(1) > 0 && (c.has(3) || c.has(4))) {
    std::vector<Tensor> parts;
    if (c.has(3)) parts.push_back(c.tensor(3));
    parts.push_back(t);
    if (c.has(4)) parts.push_back(c.tensor(4));
    t = cat(parts, dim);
  }
  for (int64_t i = 0; i < c.integer(1) && t.size(dim) > 0; ++i) {
    const int64_t n = t.size(dim) - 1;
    const Tensor later = narrow(t, dim, 1, n), sooner = narrow(t, dim, 0, n);
    t = t.dtype() == DType::Bool ? ne(later, sooner) : later - sooner;
  }
  c.result(t);
}
void meshgrid_of(Composition& c) {
  auto list = list_of(c.tensors(0));
  const bool columns = c.text(1) == "xy";  // dimension 0 belongs to the second tensor
  check(columns || c.text(1) == "ij", "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {}",
        c.text(1));
  for (const Tensor& t : list)
    check(t.rank() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}", describe(t));
  if (columns && list.size() > 1) std::swap(list[0], list[1]);
  Dims sizes;
  for (const Tensor& t : list) sizes.push_back(t.numel());
  std::vector<Tensor> grids;
  for (size_t i = 0; i < list.size(); ++i) {
    Dims own(list.size(), 1);
    own[i] = list[i].numel();
    grids.push_back(expand(reshape(list[i], own), sizes));
  }
  if (columns && list.size() > 1) std::swap(grids[0], grids[1]);
  for (Tensor& grid : grids) c.result(grid);
}
void broadcast_tensors_of(Composition& c) {
  Dims sizes;
  for (const Tensor& t : c.tensors(0)) sizes = broadcast_sizes(sizes, t.sizes());
  for (const Tensor& t : c.tensors(0)) c.result(expand(t, sizes));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op cat{{.name = "cat",
              .signature = "(Tensor[] tensors, int dim=0) -> Tensor",
              .doc = "The tensors one after another along dim.",
              .example = "terra.cat([terra.zeros(2), terra.ones(1)])",
              .flags = kFunction | kMovesBytes | kKeepsFormat,
              .promotion = Promotion::Common,
              .shape = cat_shape,
              .gradient = cat_gradient,
              .aliases = "concat,concatenate",
              .samples = {{"[randn(2, 3), randn(1, 3)]"},
                          {"[randn(2, 3)]"},
                          {"[randn(2, 3), randn(2, 1), randn(2, 0)], dim=-1"},
                          {"[randn(3, 2).t(), randn(2, 3)], 1"},
                          {"[randint(0, 9, (2,)), randint(0, 9, (3,))]", "int", false},
                          {"[crandn(2, 3), crandn(1, 3)], 0", "complex"}}}};
const Op stack{{.name = "stack",
                .signature = "(Tensor[] tensors, int dim=0) -> Tensor",
                .doc = "Equally shaped tensors along a new dimension.",
                .example = "terra.stack([terra.zeros(2), terra.ones(2)])",
                .flags = kFunction | kMovesBytes,
                .composite = stack_of,
                .grad_fn = "StackBackward0",
                .samples = {{"[randn(2, 3), randn(2, 3)]"}, {"[randn(2), randn(2), randn(2)], -1"}}}};
const Op hstack{{.name = "hstack",
                 .signature = "(Tensor[] tensors) -> Tensor",
                 .doc = "The tensors side by side: along dimension 1, vectors along 0.",
                 .example = "terra.hstack([terra.zeros(2), terra.ones(2)])",
                 .flags = kFunction | kMovesBytes,
                 .composite = hstack_of,
                 .samples = {{"[randn(2), randn(3)]"}, {"[randn(2, 3), randn(2, 1)]"}}}};
const Op vstack{{.name = "vstack",
                 .signature = "(Tensor[] tensors) -> Tensor",
                 .doc = "The tensors as rows below each other.",
                 .example = "terra.vstack([terra.zeros(2), terra.ones(2)])",
                 .flags = kFunction | kMovesBytes,
                 .composite = vstack_of,
                 .aliases = "row_stack",
                 .samples = {{"[randn(3), randn(2, 3)]"}}}};
const Op flip{{.name = "flip",
               .signature = "(Tensor self, int[] *dims) -> Tensor",
               .doc = "A copy with some dimensions in reverse order.",
               .example = "terra.flip(terra.arange(3), (0,))",
               .flags = kVisible | kMovesBytes | kLaidOutAsAsked,
               .shape = flip_shape,
               .gradient = flip_gradient,
               .samples = {{"randn(3, 4), (0,)"},
                           {"randn(3, 4), (0, -1)"},
                           {"randn(3, 4).t(), (1,)"},
                           {"randint(0, 9, (5,)), (0,)", "int", false},
                           {"randn(3, 4), ()"},
                           {"crandn(2, 3), (1,)", "complex"}}}};
const Op roll{{.name = "roll",
               .signature = "(Tensor self, int[1] shifts, int[1]? dims=None) -> Tensor",
               .doc = "A copy with elements moved along dims; what leaves at the end enters at the front.",
               .example = "terra.roll(terra.arange(4), 1)",
               .flags = kVisible | kMovesBytes,
               .composite = roll_of,
               .grad_fn = "RollBackward0",
               .samples = {{"randn(3, 4), 1"},
                           {"randn(3, 4), (1, -2), (0, 1)"},
                           {"randn(3, 4), 0, 0"},
                           {"randn(3, 4), 1, None"},
                           {"randn(3, 4), (3, -4), (0, 1)"}}}};
const Op repeat{{.name = "repeat",
                 .signature = "(Tensor self, int[] *repeats) -> Tensor",
                 .doc = "Copies of the tensor in a grid.",
                 .example = "terra.arange(2).repeat(2, 2)",
                 .flags = kMethod | kMovesBytes,
                 .composite = repeat_of,
                 .grad_fn = "RepeatBackward0",
                 .samples = {{"randn(2, 3), (2, 1)"},
                             {"randn(3), (2, 2)"},
                             {"randn(2), (0,)"},
                             {"randn(3), (1,)"},
                             {"randn(1, 3), (2, 1)"},
                             {"randn(2, 1), (1, 1, 1)"}}}};
const Op tile{{.name = "tile",
               .signature = "(Tensor self, int[] *dims) -> Tensor",
               .doc = "Copies of the tensor in a grid; missing leading repeats are 1.",
               .example = "terra.tile(terra.arange(2), (2,))",
               .flags = kVisible | kMovesBytes,
               .composite = tile_of,
               .grad_fn = "RepeatBackward0",
               .samples = {{"randn(2, 3), (2,)"}, {"randn(3), (2, 2)"}, {"randn(3), (1, 1)"}, {"randn(2, 3), ()"}}}};
const Op repeat_interleave{
    {.name = "repeat_interleave",
     .signature = "(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
     .doc = "Each element `repeats` times in a row.",
     .example = "terra.repeat_interleave(terra.arange(2), 2)",
     .flags = kMovesBytes,
     .composite = repeat_interleave_of,
     .samples = {{"randn(2, 3), 2"}, {"randn(2, 3), 3, 1"}, {"randn(2, 3), 1, 0"}, {"randn(3), 1"}}}};
const Op repeat_interleave_tensor{
    {.name = "repeat_interleave_tensor",
     .signature = "(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
     .doc = "Each element repeats[i] times in a row.",
     .example = "",
     .flags = kMovesBytes,
     .composite = repeat_interleave_tensor_of,
     .samples = {{"randn(3, 2), terra.tensor([2, 0, 1]), 0"}}}};
const Op repeat_interleave_counts{{.name = "repeat_interleave_counts",
                                   .signature = "(Tensor repeats, *, int? output_size=None) -> Tensor",
                                   .doc = "Each index i repeats[i] times in a row.",
                                   .example = "",
                                   .flags = kMovesBytes,
                                   .composite = repeat_interleave_counts_of,
                                   .samples = {{"terra.tensor([2, 0, 1])"}}}};
const Op rot90{
    {.name = "rot90",
     .signature = "(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
     .doc = "The plane of two dimensions turned by k right angles.",
     .example = "terra.rot90(terra.eye(2))",
     .flags = kVisible | kMovesBytes,
     .composite = rot90_of,
     .grad_fn = "Rot90Backward0",
     .samples = {
         {"randn(2, 3)"}, {"randn(2, 3), 2"}, {"randn(2, 3), -1, (0, 1)"}, {"randn(2, 3), 0"}, {"randn(2, 3), 4"}}}};
const Op constant_pad{{.name = "constant_pad",
                       .signature = "(Tensor self, int[] pad, Number value=0) -> Tensor",
                       .doc = "`value` around the tensor: pad holds (before, after) from the last dimension on.",
                       .example = "",
                       .flags = kComplex | kBarebones | kKeepsFormat,
                       .shape = constant_pad_shape,
                       .gradient = constant_pad_gradient,
                       .aliases = "constant_pad_nd",
                       .grad_fn = "ConstantPadNdBackward0",
                       .samples = {{"randn(2, 3), (1, 2)"},
                                   {"randn(2, 3), (1, 0, 0, 2), 1.5"},
                                   {"randn(4, 5), (-1, 2)"},
                                   {"randint(0, 9, (3,)), (1, 1), 7", "int", false},
                                   {"crandn(2, 3), [1, 2], 1j", "complex"}}}};
const Op pad_from_within{
    {.name = "pad_from_within",
     .signature = "(Tensor self, int[] pad, str mode) -> Tensor",
     .doc = "The tensor with (before, after) further elements of its own, counted from the last dimension on.",
     .example = "",
     .flags = kMovesBytes,
     .shape = pad_from_within_shape,
     .gradient = pad_from_within_gradient,
     .samples = {{"randn(2, 4), (1, 2), 'reflect'"},
                 {"randn(1, 3, 4), (2, 1, 0, 3), 'replicate'"},
                 {"randn(3, 4).t(), (1, 2, -1, 1), 'circular'"}}}};
const Op pad{{.name = "pad",
              .signature = "(Tensor self, int[] pad, str mode='constant', Number? value=None) -> Tensor",
              .doc = "The tensor with (before, after) further elements, counted from the last dimension on.",
              .example = "terra.nn.functional.pad(terra.ones(2), (1, 1))",
              .flags = kFunctional | kMovesBytes,
              .composite = pad_of,
              .grad_fn_of = pad_name,
              .samples = {{"randn(2, 3), (1, 2)"},
                          {"randn(1, 2, 4), (1, 2), mode='reflect'"},
                          {"randn(1, 2, 4, 3), (1, 2, 0, 1), mode='replicate'"},
                          {"randn(1, 2, 4), (1, 2), mode='circular'"},
                          {"randn(2, 3), (0, 0)"},
                          {"randn(1, 2, 4), (0, 0), mode='reflect'"},
                          {"randn(1, 2, 4), (0, 0), mode='replicate'"},
                          {"randn(1, 2, 4), (0, 0), mode='circular'"},
                          {"randn(1, 2, 4), (2, -1), mode='circular'"}}}};
const Op pixel_shuffle{{.name = "pixel_shuffle",
                        .signature = "(Tensor self, int upscale_factor) -> Tensor",
                        .doc = "Groups of r * r channels spread over blocks of r x r pixels.",
                        .example = "terra.pixel_shuffle(terra.ones(1, 4, 2, 2), 2).shape",
                        .flags = kFunction | kFunctional | kMovesBytes | kKeepsFormat,
                        .composite = pixel_shuffle_of,
                        .grad_fn = "PixelShuffleBackward0",
                        .samples = {{"randn(2, 8, 2, 3), 2"}, {"randn(1, 2, 3), 1"}, {"randn(0, 4, 2, 2), 2"}}}};
const Op pixel_unshuffle{{.name = "pixel_unshuffle",
                          .signature = "(Tensor self, int downscale_factor) -> Tensor",
                          .doc = "Blocks of r x r pixels spread over groups of r * r channels.",
                          .example = "terra.pixel_unshuffle(terra.ones(1, 1, 4, 4), 2).shape",
                          .flags = kFunction | kFunctional | kMovesBytes | kKeepsFormat,
                          .composite = pixel_unshuffle_of,
                          .grad_fn = "PixelUnshuffleBackward0",
                          .samples = {{"randn(2, 2, 4, 6), 2"}, {"randn(1, 2, 3), 1"}, {"randn(0, 1, 2, 2), 2"}}}};
const Op channel_shuffle{{.name = "channel_shuffle",
                          .signature = "(Tensor self, int groups) -> Tensor",
                          .doc = "The channels of all groups by turns.",
                          .example = "terra.channel_shuffle(terra.ones(1, 4, 2), 2).shape",
                          .flags = kFunction | kFunctional | kMovesBytes | kKeepsFormat,
                          .composite = channel_shuffle_of,
                          .grad_fn = "ChannelShuffleBackward0",
                          .samples = {{"randn(2, 6, 2), 3"}, {"randn(1, 2, 3, 2), 1"}}}};
const Op diag{{.name = "diag",
               .signature = "(Tensor self, int diagonal=0) -> Tensor",
               .doc = "The diagonal of a matrix, or the matrix with that diagonal.",
               .example = "terra.diag(terra.ones(2))",
               .flags = kVisible | kMovesBytes,
               .composite = diag_of,
               .grad_fn_of = diag_name,
               .samples = {{"randn(3)"}, {"randn(3, 4), 1"}, {"randn(2), -1"}}}};
const Op diag_embed{{.name = "diag_embed",
                     .signature = "(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
                     .doc = "Matrices whose diagonals are the last dimension.",
                     .example = "terra.diag_embed(terra.ones(2, 2)).shape",
                     .flags = kVisible | kMovesBytes,
                     .composite = diag_embed_of,
                     .grad_fn = "DiagEmbedBackward0",
                     .samples = {{"randn(2, 3)"}, {"randn(2, 3), 1"}}}};
const Op diff{{.name = "diff",
               .signature = "(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
               .doc = "The differences of neighbours along dim, taken n times.",
               .example = "terra.diff(terra.tensor([1, 4, 9]))",
               .flags = kVisible,
               .composite = diff_of,
               .samples = {{"randn(3, 4)"},
                           {"randn(4, 2), 2, 0"},
                           {"randint(0, 9, (4,))", "int", false},
                           {"randn(4), 0"},
                           {"randn(4), append=randn(2)"}}}};
const Op meshgrid{{.name = "meshgrid",
                   .signature = "(Tensor[] tensors, str indexing='ij') -> Tensor[]",
                   .doc = "The coordinates of a grid, one tensor per axis.",
                   .example = "terra.meshgrid([terra.arange(2), terra.arange(3)], indexing='ij')[0]",
                   .flags = kFunction | kMayAlias,
                   .composite = meshgrid_of,
                   .samples = {{"[randn(2), randn(3)]"}, {"[randn(2), randn(3)], indexing='xy'"}}}};
const Op broadcast_tensors{{.name = "broadcast_tensors",
                            .signature = "(Tensor[] tensors) -> Tensor[]",
                            .doc = "Views of the tensors in their common broadcast shape.",
                            .example = "terra.broadcast_tensors([terra.ones(2, 1), terra.ones(3)])[0].shape",
                            .flags = kFunction | kMayAlias,
                            .composite = broadcast_tensors_of,
                            .samples = {{"[randn(2, 1), randn(3)]"}}}};
const Op pad_slice{{.name = "pad_slice",
                    .signature = "(Tensor grad, int[] input_sizes, int dim, int start, int step) -> Tensor",
                    .doc = "The gradient of a slice: grad at start, start + step, ... of dim, zeros elsewhere.",
                    .example = "",
                    .flags = kComplex,
                    .shape = pad_slice_shape,
                    .gradient = pad_slice_gradient,
                    .samples = {{"randn(2, 3), (2, 5), 1, 1, 1"}, {"randn(2, 3), (5, 3), 0, 1, 3"}}}};
const Op diagonal_backward{{.name = "diagonal_backward",
                            .signature = "(Tensor grad, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
                            .doc = "The gradient of diagonal: grad on that diagonal, zeros elsewhere.",
                            .example = "",
                            .flags = kMovesBytes,
                            .composite = diagonal_backward_of,
                            .samples = {{"randn(3), (3, 4), 1, 0, 1"}}}};

}  // namespace terra::ops
