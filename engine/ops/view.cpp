#include "engine/ops/view.h"

#include <algorithm>
#include <numeric>

#include "engine/errors/warnings.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"

namespace terra {

/// Walks both shapes from the right: every maximal run of dimensions that lies in memory like one must be split
/// exactly.
std::optional<Dims> strides_of_view(const Dims& sizes, const Dims& strides, std::span<const int64_t> wanted) {
  if (checked_numel(sizes) == 0) return sizes == Dims(wanted) ? strides : contiguous_strides(wanted);
  Dims out(wanted.size(), 1);
  int64_t to = static_cast<int64_t>(wanted.size()) - 1;
  int64_t base = sizes.empty() ? 1 : strides.back();  // stride of the innermost dimension of the run
  int64_t in_run = 1, covered = 1;                    // elements of the run, and of the wanted dimensions put onto it
  for (int64_t from = static_cast<int64_t>(sizes.size()) - 1; from >= 0; --from) {
    in_run *= sizes[from];
    const bool run_ends = from == 0 || (sizes[from - 1] != 1 && strides[from - 1] != stride_product(in_run, base));
    if (!run_ends) continue;
    while (to >= 0 && (covered < in_run || wanted[to] == 1)) {
      out[to] = stride_product(covered, base);
      covered *= wanted[to--];
    }
    if (covered != in_run) return std::nullopt;
    if (from > 0) {
      base = strides[from - 1];
      in_run = covered = 1;
    }
  }
  if (to != -1 && !sizes.empty()) return std::nullopt;
  return out;
}

Dims inferred_sizes(std::span<const int64_t> wanted, int64_t numel) {
  Dims out(wanted);
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == -1) {
      check(unknown < 0, "only one dimension can be inferred");
      unknown = static_cast<int64_t>(i);
    } else {
      check(wanted[i] >= 0, "invalid shape dimension {}", wanted[i]);
      check(!__builtin_mul_overflow(known, wanted[i], &known), "shape '{}' is invalid for input of size {}",
            listed(wanted), numel);
    }
  }
  if (unknown >= 0) {
    check(
        known != 0 || numel != 0,
        "cannot reshape tensor of 0 elements into shape {} because the unspecified dimension size -1 can be any value "
        "and is ambiguous",
        listed(wanted));
    check(known != 0 && numel % known == 0, "shape '{}' is invalid for input of size {}", listed(wanted), numel);
    out[unknown] = numel / known;
  } else {
    check(known == numel, "shape '{}' is invalid for input of size {}", listed(wanted), numel);
  }
  return out;
}

namespace ops {
namespace {

/// The operand's shape, to be changed in place and handed out as a view.
struct Shape {
  Dims sizes, strides;
  int64_t offset;
  explicit Shape(Inference& f) : sizes(f.impl(0).sizes), strides(f.impl(0).strides), offset(f.impl(0).offset) {}
  /// Begins at that index of a dimension.
  void skip(int64_t dim, int64_t index) { offset += stride_product(index, strides[static_cast<size_t>(dim)]); }
  void erase(size_t dim) {
    sizes.erase(dim);
    strides.erase(dim);
  }
  void becomes(Inference& f) { f.view(std::move(sizes), std::move(strides), offset); }
};

// ---- shapes ---------------------------------------------------------------------------------------------------------
void view_shape(Inference& f) {
  const TensorImpl& self = f.impl(0);
  Dims sizes = inferred_sizes(f.ints(1), self.numel);
  auto strides = strides_of_view(self.sizes, self.strides, sizes);
  check(strides.has_value(),
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous subspaces). Use .reshape(...) instead.");
  f.view(std::move(sizes), std::move(*strides), self.offset);
}

void permute_shape(Inference& f) {
  const Shape from(f);
  const auto dims = f.ints(1);
  const size_t rank = from.sizes.size();
  check(dims.size() == rank,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
        "ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
        rank, dims.size());
  Shape to(f);
  uint64_t seen = 0;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t d = wrap_dim(dims[i], rank);
    check((seen >> d & 1) == 0, "permute(): duplicate dims are not allowed.");
    seen |= uint64_t{1} << d;
    to.sizes[i] = from.sizes[d];
    to.strides[i] = from.strides[d];
  }
  to.becomes(f);
}

void transpose_shape(Inference& f) {
  Shape s(f);
  const int64_t a = wrap_dim(f.integer(1), f.rank(0)), b = wrap_dim(f.integer(2), f.rank(0));
  if (f.rank(0) > 0) {
    std::swap(s.sizes[a], s.sizes[b]);
    std::swap(s.strides[a], s.strides[b]);
  }
  s.becomes(f);
}

void squeeze_shape(Inference& f) {
  Shape s(f);
  const uint64_t mask = f.has(1) && f.ints(1).empty() ? 0 : dim_mask(f.arg(1), f.rank(0));
  for (size_t i = s.sizes.size(); i-- > 0;)
    if ((mask >> i & 1) && s.sizes[i] == 1) s.erase(i);
  s.becomes(f);
}

void unsqueeze_shape(Inference& f) {
  Shape s(f);
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0) + 1);
  const bool last = dim == static_cast<int64_t>(f.rank(0));
  const int64_t stride = last ? 1 : stride_product(s.sizes[dim], s.strides[dim]);
  s.sizes.insert(dim, 1);
  s.strides.insert(dim, stride);
  s.becomes(f);
}

void expand_shape(Inference& f) {
  const Shape from(f);
  const auto wanted = f.ints(1);
  check(wanted.size() >= from.sizes.size(),
        "expand(torch.{}Tensor{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the "
        "number of dimensions in the tensor ({})",
        scalar_type_name(f.dtype(0)), listed(from.sizes), listed(wanted), wanted.size(), from.sizes.size());
  const size_t lead = wanted.size() - from.sizes.size();
  Dims sizes(wanted), strides(wanted.size(), 0);
  for (size_t i = wanted.size(); i-- > 0;) {
    if (i < lead) {
      check(wanted[i] >= 0,
            "The expanded size of the tensor ({}) isn't allowed in a leading, non-existing dimension {}", wanted[i], i);
      continue;
    }
    const int64_t have = from.sizes[i - lead];
    if (wanted[i] == -1) sizes[i] = have;
    check(sizes[i] == have || have == 1,
          "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}.  "
          "Target sizes: {}.  Tensor sizes: {}",
          wanted[i], have, i, listed(wanted), listed(from.sizes));
    if (sizes[i] == have) strides[i] = from.strides[i - lead];
  }
  f.view(std::move(sizes), std::move(strides), from.offset);
}

void narrow_shape(Inference& f) {
  check(f.rank(0) > 0, "narrow() cannot be applied to a 0-dim tensor.");
  Shape s(f);
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0)), length = f.integer(3), size = s.sizes[dim];
  int64_t start = f.integer(2);
  check(length >= 0, "narrow(): length must be non-negative.");
  check_kind(start >= -size && start <= size, ErrorKind::IndexError,
             "start out of range (expected to be in range of [{}, {}], but got {})", -size, size, start);
  if (start < 0) start += size;
  check(length <= size - start, "start ({}) + length ({}) exceeds dimension size ({}).", start, length, size);
  s.skip(dim, start);
  s.sizes[dim] = length;
  s.becomes(f);
}

void select_shape(Inference& f) {
  check_kind(f.rank(0) > 0, ErrorKind::IndexError, "select() cannot be applied to a 0-dim tensor.");
  Shape s(f);
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0)), index = f.integer(2), size = s.sizes[dim];
  check_kind(index >= -size && index < size, ErrorKind::IndexError,
             "select(): index {} out of range for tensor of size {} at dimension {}", index, listed(f.sizes(0)), dim);
  s.skip(dim, index < 0 ? index + size : index);
  s.erase(dim);
  s.becomes(f);
}

/// Start and length of a Python slice on `size` elements, clipped as Python clips.
std::pair<int64_t, int64_t> sliced(const Arg& first, const Arg& last, int64_t step, int64_t size) {
  const auto clip = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t start = first.is_none() ? 0 : clip(first.scalar().to_int());
  const int64_t end = std::max(start, last.is_none() ? size : clip(last.scalar().to_int()));
  return {start, end == start ? 0 : (end - start - 1) / step + 1};
}

void slice_shape(Inference& f) {
  check(f.rank(0) > 0, "slice() cannot be applied to a 0-dim tensor.");
  Shape s(f);
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0)), step = f.integer(4);
  check_kind(step > 0, ErrorKind::ValueError, "step must be greater than zero");
  const auto [start, length] = sliced(f.arg(2), f.arg(3), step, s.sizes[dim]);
  s.skip(dim, start);
  s.sizes[dim] = length;
  s.strides[dim] = stride_product(s.strides[dim], step);
  s.becomes(f);
}

void diagonal_shape(Inference& f) {
  Shape s(f);
  const int64_t a = wrap_dim(f.integer(2), f.rank(0)), b = wrap_dim(f.integer(3), f.rank(0)), k = f.integer(1);
  check(a != b, "diagonal dimensions cannot be identical {}, {}", f.integer(2), f.integer(3));
  const int64_t length =
      std::max<int64_t>(0, k >= 0 ? std::min(s.sizes[a], s.sizes[b] - k) : std::min(s.sizes[a] + k, s.sizes[b]));
  if (length > 0) s.skip(k >= 0 ? b : a, k >= 0 ? k : -k);
  const int64_t stride = length > 1 ? s.strides[a] + s.strides[b] : 1;
  s.erase(std::max(a, b));
  s.erase(std::min(a, b));
  s.sizes.push_back(length);
  s.strides.push_back(stride);
  s.becomes(f);
}

void as_strided_shape(Inference& f) {
  const TensorImpl& self = f.impl(0);
  const auto sizes = f.ints(1), strides = f.ints(2);
  check(sizes.size() == strides.size(), "mismatch in length of strides and shape");
  const int64_t offset = f.has(3) ? f.integer(3) : self.offset;
  for (int64_t stride : strides)
    check(stride >= 0, "as_strided: Negative strides are not supported at the moment, got strides: {}",
          listed(strides));
  check(offset >= 0, "Tensor: invalid storage offset {}", offset);
  f.view(Dims(sizes), Dims(strides), offset);
}

void unfold_shape(Inference& f) {
  Shape s(f);
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0)), length = f.integer(2), step = f.integer(3);
  const int64_t size = s.sizes.empty() ? 1 : s.sizes[dim];
  check(length >= 0 && length <= size, "maximum size for tensor at dimension {} is {} but size is {}", dim, size,
        length);
  check(step > 0, "step is {} but must be > 0", step);
  if (s.sizes.empty()) {
    s.sizes = s.strides = Dims{1};
    s.sizes[0] = length;
    return s.becomes(f);
  }
  const int64_t stride = s.strides[dim];
  s.sizes[dim] = (size - length) / step + 1;
  s.strides[dim] = stride_product(stride, step);
  s.sizes.push_back(length);
  s.strides.push_back(stride);
  s.becomes(f);
}

void same_shape(Inference& f) { Shape(f).becomes(f); }

void t_shape(Inference& f) {
  check(f.rank(0) <= 2, "t() expects a tensor with <= 2 dimensions, but self is {}D", f.rank(0));
  Shape s(f);
  if (s.sizes.size() == 2) {
    std::swap(s.sizes[0], s.sizes[1]);
    std::swap(s.strides[0], s.strides[1]);
  }
  s.becomes(f);
}

// ---- gradients: each undoes its view --------------------------------------------------------------------------------
void reshape_gradient(Backward& b) { b.set(0, reshape(b.grad(), b.sizes(0))); }
void permute_gradient(Backward& b) {
  const auto dims = b.ints(1);
  Dims inverse(dims.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) inverse[wrap_dim(dims[i], dims.size())] = static_cast<int64_t>(i);
  b.set(0, permute(b.grad(), inverse));
}
void transpose_gradient(Backward& b) { b.set(0, transpose(b.grad(), b.arg(1), b.arg(2))); }
void t_gradient(Backward& b) { b.set(0, t(b.grad())); }
void expand_gradient(Backward& b) { b.set(0, sum_to_size(b.grad(), b.sizes(0))); }
void detached_gradient(Backward& b) { b.set(0, b.grad()); }
Tensor padded(Backward& b, const Tensor& grad, int64_t dim, int64_t start, int64_t step) {
  return pad_slice(grad, b.sizes(0), dim, start, step);
}
void narrow_gradient(Backward& b) {
  const int64_t dim = wrap_dim(b.integer(1), b.sizes(0).size()), start = b.integer(2);
  b.set(0, padded(b, b.grad(), dim, start < 0 ? start + b.sizes(0)[dim] : start, 1));
}
void select_gradient(Backward& b) {
  const int64_t dim = wrap_dim(b.integer(1), b.sizes(0).size()), index = b.integer(2);
  b.set(0, padded(b, unsqueeze(b.grad(), dim), dim, index < 0 ? index + b.sizes(0)[dim] : index, 1));
}
void slice_gradient(Backward& b) {
  const int64_t dim = wrap_dim(b.integer(1), b.sizes(0).size()), step = b.integer(4);
  const auto [start, length] = sliced(b.arg(2), b.arg(3), step, b.sizes(0)[dim]);
  b.set(0, padded(b, b.grad(), dim, start, step));
}
void diagonal_gradient(Backward& b) { b.set(0, diagonal_backward(b.grad(), b.sizes(0), b.arg(1), b.arg(2), b.arg(3))); }

/// Where in memory, counted from `first`, each element of a strided view lies.
Tensor positions(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset, int64_t first) {
  Tensor at = full(Dims{}, offset - first, DType::I64);
  for (size_t i = 0; i < sizes.size(); ++i) at = unsqueeze(at, -1) + mul(arange(0, sizes[i]), strides[i]);
  return reshape(at, {-1});
}
int64_t end_of(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) {
  for (size_t i = 0; i < sizes.size(); ++i) offset += (sizes[i] - 1) * strides[i];
  return offset + 1;
}
/// Gradients are added up where their elements lie in memory; from there each element of the operand takes what is at
/// its place, divided among those that share it.
void as_strided_gradient(Backward& b) {
  const Tensor self = b.in(0);
  const auto sizes = b.ints(1), strides = b.ints(2);
  if (self.numel() == 0 || b.grad().numel() == 0) return b.set(0, zeros(self.sizes(), b.grad().dtype()));
  const int64_t offset = b.has(3) ? b.integer(3) : self->offset, first = std::min(offset, self->offset);
  const int64_t end = std::max(end_of(sizes, strides, offset), end_of(self.sizes(), self.strides(), self->offset));
  const Tensor memory = zeros(Dims{end - first}, b.grad().dtype());
  const Tensor own = positions(self.sizes(), self.strides(), self->offset, first);
  const auto added = [&memory](const Tensor& at, const Tensor& values) {
    return index_put(memory, std::vector{at}, values, true);
  };
  const Tensor sums = added(positions(sizes, strides, offset, first), reshape(b.grad(), {-1}));
  const Tensor sharers = added(own, ones(Dims{}, b.grad().dtype()));
  b.set(0, reshape(index_select(sums / clamp(sharers, 1), 0, own), self.sizes()));
}

/// Every element gets the sum of its gradients in all windows.
void unfold_gradient(Backward& b) {
  const Dims& sizes = b.sizes(0);
  if (sizes.empty()) return b.set(0, reshape(b.grad(), sizes));
  const int64_t dim = wrap_dim(b.integer(1), sizes.size()), length = b.integer(2), step = b.integer(3);
  const int64_t windows = (sizes[dim] - length) / step + 1;
  const Tensor index = mul(unsqueeze(arange(0, windows), 1), step) + arange(0, length);
  const Tensor grad = flatten(movedim(b.grad(), Dims{-1}, Dims{dim + 1}), dim, dim + 1);
  b.set(0, index_add(zeros(sizes, grad.dtype()), dim, reshape(index, {-1}), grad));
}

// ---- composites -----------------------------------------------------------------------------------------------------
void reshape_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const Dims sizes = inferred_sizes(c.ints(1), self.numel());
  const bool viewable = strides_of_view(self.sizes(), self.strides(), sizes).has_value();
  c.result(view(viewable ? self : clone(self, "contiguous_format"), sizes));
}
void flatten_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t first = wrap_dim(c.integer(1), self.rank()), last = wrap_dim(c.integer(2), self.rank());
  check(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.rank() == 0) return c.result(reshape(self, Dims{1}));
  if (first == last) return c.result(self);
  Dims sizes;
  int64_t merged = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(self.rank()); ++i) {
    if (i >= first && i <= last) merged *= self.sizes()[i];
    if (i < first || i > last) sizes.push_back(self.sizes()[i]);
    if (i == last) sizes.push_back(merged);
  }
  c.result(reshape(self, sizes));
}
void unflatten_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const int64_t dim = wrap_dim(c.integer(1), self.rank());
  const std::span<const int64_t> given = c.ints(2);
  const int64_t size = self.sizes()[dim];
  const bool is_open = std::count(given.begin(), given.end(), -1) > 0;
  check(is_open || std::accumulate(given.begin(), given.end(), int64_t{1}, size_product) == size,
        "unflatten: Provided sizes {} don't multiply up to the size of dim {} ({}) in the input tensor", listed(given),
        dim, size);
  const Dims inner = inferred_sizes(given, size);
  Dims sizes;
  for (int64_t i = 0; i < static_cast<int64_t>(self.rank()); ++i) {
    if (i != dim) sizes.push_back(self.sizes()[i]);
    if (i == dim)
      for (int64_t s : inner) sizes.push_back(s);
  }
  c.result(view(self, sizes));
}
void ravel_of(Composition& c) { c.result(reshape(contiguous(c.tensor(0)), Dims{-1})); }
void expand_as_of(Composition& c) { c.result(expand(c.tensor(0), c.tensor(1).sizes())); }
void view_as_of(Composition& c) { c.result(view(c.tensor(0), c.tensor(1).sizes())); }
void reshape_as_of(Composition& c) { c.result(reshape(c.tensor(0), c.tensor(1).sizes())); }
/// The dimensions in a list of movedim, as a bit mask.
uint64_t moved_dims(std::span<const int64_t> dims, std::string_view list, size_t rank) {
  uint64_t mask = 0;
  for (int64_t d : dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(d, rank);
    check((mask & bit) == 0, "movedim: repeated dim in `{}` ({})", list, listed(dims));
    mask |= bit;
  }
  return mask;
}
void movedim_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const auto from = c.ints(1), to = c.ints(2);
  check(from.size() == to.size(),
        "movedim: Invalid source or destination dims: source ({} dims) should contain the same number of dims as "
        "destination ({} dims)",
        listed(from), listed(to));
  const uint64_t moved = moved_dims(from, "source", self.rank());
  moved_dims(to, "destination", self.rank());
  Dims order(self.rank(), -1);
  for (size_t i = 0; i < from.size(); ++i) order[wrap_dim(to[i], self.rank())] = wrap_dim(from[i], self.rank());
  size_t next = 0;
  for (int64_t& d : order) {
    while (next < self.rank() && (moved >> next & 1)) ++next;
    if (d < 0) d = static_cast<int64_t>(next++);
  }
  c.result(self.rank() == 0 ? self : permute(self, order));
}
void reversed_of(Composition& c) {
  static bool told = false;
  const Tensor self = c.tensor(0);
  if (self.rank() == 0)
    warn_once(told, "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.");
  else if (self.rank() != 2)
    warn_once(told,
              "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
              "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
              "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.");
  Dims order;
  for (size_t i = self.rank(); i-- > 0;) order.push_back(static_cast<int64_t>(i));
  c.result(permute(self, order));
}
void narrow_tensor_of(Composition& c) {
  const Tensor start = c.tensor(2);
  check(start.rank() == 0 && !is_inexact(start.dtype()) && start.dtype() != DType::Bool,
        "start must be an 0-dim integral Tensor.");
  c.result(narrow(c.tensor(0), c.arg(1), known_integer(start), c.arg(3)));
}
void mT_of(Composition& c) {
  check(c.tensor(0).rank() >= 2, "tensor.mT is only supported on matrices or batches of matrices. Got {}-D tensor.",
        c.tensor(0).rank());
  c.result(transpose(c.tensor(0), -2, -1));
}

constexpr uint32_t kViewVisible = kView | kVisible | kCheap;

std::string_view squeeze_name(std::span<const Arg> args) {
  return args[1].is_none() ? "SqueezeBackward0" : "SqueezeBackward1";
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op view{
    {.name = "view",
     .signature = "(Tensor self, int[] *size) -> Tensor",
     .doc = "The same elements under another shape; -1 stands for what is left.",
     .example = "terra.arange(6).view(2, -1)",
     .flags = kView | kMethod | kCheap,
     .shape = view_shape,
     .gradient = reshape_gradient,
     .samples = {{"randn(2, 6), (3, 4)"}, {"randn(2, 3, 4), (-1,)"}, {"randn(()), (1, 1)"}, {"randn(0, 3), (3, 0)"}}}};
const Op reshape{{.name = "reshape",
                  .signature = "(Tensor self, int[] *shape) -> Tensor",
                  .doc = "The same elements under another shape: a view where strides allow, else a copy.",
                  .example = "terra.arange(6).reshape(2, 3)",
                  .flags = kVisible | kMayAlias,
                  .composite = reshape_of,
                  .samples = {{"randn(2, 6), (3, 4)"}, {"randn(3, 4).t(), (2, -1)"}}}};
const Op permute{{.name = "permute",
                  .signature = "(Tensor self, int[] *dims) -> Tensor",
                  .doc = "The view whose dimension i is dimension dims[i].",
                  .example = "terra.ones(2, 3, 4).permute(2, 0, 1).shape",
                  .flags = kViewVisible,
                  .shape = permute_shape,
                  .gradient = permute_gradient,
                  .samples = {{"randn(2, 3, 4), (2, 0, 1)"}, {"randn(2, 3), (-1, 0)"}}}};
const Op transpose{{.name = "transpose",
                    .signature = "(Tensor self, int dim0, int dim1) -> Tensor",
                    .doc = "The view with two dimensions exchanged.",
                    .example = "terra.ones(2, 3).transpose(0, 1).shape",
                    .flags = kViewVisible,
                    .shape = transpose_shape,
                    .gradient = transpose_gradient,
                    .aliases = "swapaxes,swapdims",
                    .samples = {{"randn(2, 3, 4), 0, -1"}, {"randn(()), 0, 0"}}}};
const Op t{{.name = "t",
            .signature = "(Tensor self) -> Tensor",
            .doc = "The transpose of a matrix; a vector or number itself.",
            .example = "terra.ones(2, 3).t().shape",
            .flags = kViewVisible,
            .shape = t_shape,
            .gradient = t_gradient,
            .samples = {{"randn(2, 3)"}, {"randn(3)"}}}};
const Op squeeze{
    {.name = "squeeze",
     .signature = "(Tensor self, int[1]? *dim=None) -> Tensor",
     .doc = "The view without its dimensions of size 1, or without those of them that are in dim.",
     .example = "terra.ones(2, 1, 3).squeeze(1).shape",
     .flags = kViewVisible,
     .shape = squeeze_shape,
     .gradient = reshape_gradient,
     .grad_fn_of = squeeze_name,
     .samples = {{"randn(2, 1, 3, 1)"}, {"randn(2, 1, 3), 1"}, {"randn(2, 1, 3), 0"}, {"randn(1, 2, 1), (0, -1)"}}}};
const Op unsqueeze{{.name = "unsqueeze",
                    .signature = "(Tensor self, int dim) -> Tensor",
                    .doc = "The view with a further dimension of size 1 at dim.",
                    .example = "terra.ones(2).unsqueeze(0).shape",
                    .flags = kViewVisible,
                    .shape = unsqueeze_shape,
                    .gradient = reshape_gradient,
                    .samples = {{"randn(2, 3), 1"}, {"randn(2, 3), -1"}, {"randn(()), 0"}}}};
const Op expand{{.name = "expand",
                 .signature = "(Tensor self, int[] *size) -> Tensor",
                 .doc = "The view that repeats dimensions of size 1; -1 keeps a size.",
                 .example = "terra.ones(1, 2).expand(3, -1).shape",
                 .flags = kView | kMethod | kCheap,
                 .shape = expand_shape,
                 .gradient = expand_gradient,
                 .samples = {{"randn(3, 1), (3, 4)"}, {"randn(3, 1), (2, -1, 4)"}, {"randn(()), (2, 2)"}}}};
const Op narrow{{.name = "narrow",
                 .signature = "(Tensor self, int dim, int start, int length) -> Tensor",
                 .doc = "The view of `length` elements of dim from `start`.",
                 .example = "terra.arange(5).narrow(0, 1, 3)",
                 .flags = kViewVisible,
                 .shape = narrow_shape,
                 .gradient = narrow_gradient,
                 .grad_fn = "SliceBackward0",
                 .samples = {{"randn(4, 5), 1, 1, 3"}, {"randn(4, 5), 0, -2, 2"}, {"randn(4), 0, 1, 0"}}}};
const Op narrow_tensor{{.name = "narrow_tensor",
                        .signature = "(Tensor self, int dim, Tensor start, int length) -> Tensor",
                        .doc = "The view of `length` elements of dim from the integer in a tensor.",
                        .example = "",
                        .flags = kMayAlias | kLastResort,
                        .composite = narrow_tensor_of,
                        .samples = {{"randn(4, 5), 1, terra.tensor(1), 3"}}}};
const Op select{{.name = "select",
                 .signature = "(Tensor self, int dim, int index) -> Tensor",
                 .doc = "The view of one index of dim, without that dimension.",
                 .example = "terra.arange(6).view(2, 3).select(0, 1)",
                 .flags = kViewVisible,
                 .shape = select_shape,
                 .gradient = select_gradient,
                 .samples = {{"randn(4, 5), 1, 2"}, {"randn(4), 0, -1"}}}};
const Op slice{
    {.name = "slice",
     .signature = "(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
     .doc = "The view of a Python slice of dim.",
     .example = "terra.arange(6)[1:5:2]",
     .flags = kView | kCheap,
     .shape = slice_shape,
     .gradient = slice_gradient,
     .samples = {
         {"randn(5, 4), 0, 1, 4"}, {"randn(5, 4), 1, None, None, 3"}, {"randn(5), 0, -3, -1"}, {"randn(5), 0, 4, 2"}}}};
const Op diagonal{{.name = "diagonal",
                   .signature = "(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
                   .doc = "The view of a diagonal of two dimensions, as the last dimension.",
                   .example = "terra.eye(3).diagonal()",
                   .flags = kViewVisible,
                   .shape = diagonal_shape,
                   .gradient = diagonal_gradient,
                   .samples = {{"randn(3, 4)"}, {"randn(3, 4), 1"}, {"randn(2, 3, 4), -1, 1, 2"}}}};
const Op as_strided{{.name = "as_strided",
                     .signature = "(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
                     .doc = "Any view of the storage of a tensor; sizes, strides and offset count elements.",
                     .example = "terra.arange(6).as_strided((2, 2), (1, 2))",
                     .flags = kViewVisible,
                     .shape = as_strided_shape,
                     .gradient = as_strided_gradient,
                     .saved = saves({0}),
                     .samples = {{"randn(6), (2, 2), (1, 2)"},
                                 {"randn(3, 4).t(), (2, 3), (1, 1), 2"},
                                 {"randn(3, 1).expand(3, 2), (2,), (1,), 1"}}}};
const Op unfold{
    {.name = "unfold",
     .signature = "(Tensor self, int dimension, int size, int step) -> Tensor",
     .doc = "The view of all windows of `size` elements of a dimension, `step` apart, as the last dimension.",
     .example = "terra.arange(5).unfold(0, 2, 1)",
     .flags = kView | kMethod | kCheap,
     .shape = unfold_shape,
     .gradient = unfold_gradient,
     .samples = {{"randn(5), 0, 3, 1"}, {"randn(3, 6), 1, 2, 2"}, {"randn(5, 2), 0, 2, 3"}}}};
const Op detach{{.name = "detach",
                 .signature = "(Tensor self) -> Tensor",
                 .doc = "The same elements without gradient history.",
                 .example = "terra.ones(2, requires_grad=True).detach().requires_grad",
                 .flags = kViewVisible | kNoGradient,
                 .shape = same_shape,
                 .samples = {{"randn(2, 3)", "float", false}}}};
const Op alias{{.name = "alias",
                .signature = "(Tensor self) -> Tensor",
                .doc = "A view of all elements in the same shape.",
                .example = "",
                .flags = kView | kCheap,
                .shape = same_shape,
                .gradient = detached_gradient,
                .samples = {{"randn(2, 3)"}}}};
const Op kinked{{.name = "kinked",
                 .signature = "(Tensor self) -> Tensor",
                 .doc = "A view of all elements, for composites of them that are linear between kinks.",
                 .example = "",
                 .flags = kView | kCheap | kPiecewise,
                 .shape = same_shape,
                 .gradient = detached_gradient,
                 .samples = {{"randn(2, 3)"}}}};

const Op flatten{
    {.name = "flatten",
     .signature = "(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
     .doc = "The dimensions start_dim to end_dim as one.",
     .example = "terra.ones(2, 3, 4).flatten(1).shape",
     .flags = kVisible | kMayAlias,
     .composite = flatten_of,
     .samples = {{"randn(2, 3, 4)"}, {"randn(2, 3, 4), 1"}, {"randn(2, 3, 4).transpose(0, 1), 0, 1"}, {"randn(())"}}}};
const Op unflatten{{.name = "unflatten",
                    .signature = "(Tensor self, int dim, int[] sizes) -> Tensor",
                    .doc = "The view with dim split into dimensions of the given sizes.",
                    .example = "terra.ones(2, 6).unflatten(1, (2, 3)).shape",
                    .flags = kVisible | kMayAlias,
                    .composite = unflatten_of,
                    .samples = {{"randn(2, 6), 1, (2, -1)"}}}};
const Op ravel{{.name = "ravel",
                .signature = "(Tensor self) -> Tensor",
                .doc = "All elements in one dimension.",
                .example = "terra.ones(2, 3).ravel().shape",
                .flags = kVisible | kMayAlias,
                .composite = ravel_of,
                .samples = {{"randn(2, 3)"}}}};
const Op expand_as{{.name = "expand_as",
                    .signature = "(Tensor self, Tensor other) -> Tensor",
                    .doc = "The view that repeats dimensions of size 1 up to the shape of other.",
                    .example = "terra.ones(1, 2).expand_as(terra.ones(3, 2)).shape",
                    .flags = kMethod | kMayAlias,
                    .composite = expand_as_of,
                    .samples = {{"randn(1, 2), zeros(3, 2)"}}}};
const Op view_as{{.name = "view_as",
                  .signature = "(Tensor self, Tensor other) -> Tensor",
                  .doc = "The same elements under the shape of other.",
                  .example = "terra.arange(6).view_as(terra.ones(2, 3))",
                  .flags = kMethod | kMayAlias,
                  .composite = view_as_of,
                  .samples = {{"randn(6), zeros(3, 2)"}}}};
const Op reshape_as{{.name = "reshape_as",
                     .signature = "(Tensor self, Tensor other) -> Tensor",
                     .doc = "The same elements under the shape of other: a view where strides allow, else a copy.",
                     .example = "terra.arange(6).reshape_as(terra.ones(2, 3))",
                     .flags = kMethod | kMayAlias,
                     .composite = reshape_as_of,
                     .samples = {{"randn(2, 3).t(), zeros(6)"}}}};
const Op movedim{{.name = "movedim",
                  .signature = "(Tensor self, int[1] source, int[1] destination) -> Tensor",
                  .doc = "The view with some dimensions moved to other places; the rest keep their order.",
                  .example = "terra.ones(2, 3, 4).movedim(0, -1).shape",
                  .flags = kVisible | kMayAlias,
                  .composite = movedim_of,
                  .aliases = "moveaxis",
                  .samples = {{"randn(2, 3, 4), 0, -1"}, {"randn(2, 3, 4), (0, 1), (1, 2)"}}}};
const Op T{{.name = "T",
            .signature = "(Tensor self) -> Tensor",
            .doc = "The view with all dimensions in reverse order.",
            .example = "terra.ones(2, 3).T.shape",
            .flags = kProperty | kMayAlias,
            .composite = reversed_of,
            .samples = {{"randn(2, 3)"}}}};
const Op mT{{.name = "mT",
             .signature = "(Tensor self) -> Tensor",
             .doc = "The view with the last two dimensions exchanged.",
             .example = "terra.ones(4, 2, 3).mT.shape",
             .flags = kProperty | kMayAlias,
             .composite = mT_of,
             .samples = {{"randn(4, 2, 3)"}}}};

}  // namespace ops
}  // namespace terra
