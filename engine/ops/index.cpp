#include "engine/ops/index.h"

#include <cstring>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index_rules.h"
#include "engine/ops/order.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"
#include "engine/tensor/sparse.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
void check_index_dtype(Inference& f, int param) {
  check(f.dtype(param) == DType::I64 || f.dtype(param) == DType::I32, "{}(): Expected dtype int32/int64 for index",
        f.op.name);
}

void index_select_shape(Inference& f) {
  check(f.dtype(2) == DType::I64 || f.dtype(2) == DType::I32,
        "index_select(): Expected dtype int32 or int64 for index");
  check_kind(f.rank(2) <= 1, ErrorKind::IndexError, "index_select(): Index is supposed to be a vector, but got dim: {}",
             f.rank(2));
  const int64_t dim = wrap_dim(f.integer(1), f.rank(0));
  Dims sizes(f.sizes(0));
  if (!sizes.empty())
    sizes[dim] = f.impl(2).numel;
  else
    check(f.impl(2).numel == 1, "index_select(): Index to scalar can have only 1 value, got {} value(s)",
          f.impl(2).numel);
  f.result(f.dtype(0), std::move(sizes));
}

/// Index and tensor have one rank; the index may be smaller, `along` says whether it may be longer there.
void check_index_fits(size_t dim, std::span<const int64_t> index, std::span<const int64_t> other, std::string_view of,
                      bool any_length_along_dim) {
  static constexpr int64_t kOne[] = {1};  // a number counts as a vector of one element
  if (index.empty()) index = kOne;
  if (other.empty()) other = kOne;
  check(index.size() == other.size(), "Index tensor must have the same number of dimensions as {} tensor", of);
  for (size_t i = 0; i < index.size(); ++i) {
    if ((i == dim && any_length_along_dim) || index[i] <= other[i]) continue;
    fail(ErrorKind::RuntimeError, "Size does not match at dimension {} expected index {} to be no larger than {} {}{}",
         i, to_string(index), of == "input" ? "self" : of, to_string(other),
         any_length_along_dim ? fmt::format(" apart from dimension {}", dim) : "");
  }
}

void gather_shape(Inference& f) {
  const auto dim = static_cast<size_t>(wrap_dim(f.integer(1), f.rank(0)));
  if (f.impl(2).numel > 0) {
    check_index_dtype(f, 2);
    check_index_fits(dim, f.sizes(2), f.sizes(0), "input", true);
  }
  f.result(f.dtype(0), Dims(f.sizes(2)));
}

}  // namespace

void check_scatter(Inference& f) {
  if (f.impl(2).numel > 0) check_index_dtype(f, 2);
  check(f.dtype(0) == f.dtype(3), "scatter(): Expected self.dtype to be equal to src.dtype");
  const auto dim = static_cast<size_t>(wrap_dim(f.integer(1), f.rank(0)));
  if (f.impl(2).numel > 0) {
    check_index_fits(dim, f.sizes(2), f.sizes(0), "self", true);
    check_index_fits(dim, f.sizes(2), f.sizes(3), "src", false);
  }
  rules::like_first(f);
}

namespace {

/// Sizes of self[indices]: the broadcast index shape stands where the indexed dimensions were if those are neighbours,
/// else in front.
Dims indexed_sizes(std::span<const int64_t> self, std::span<const Tensor> indices) {
  check_kind(indices.size() <= self.size(), ErrorKind::IndexError, "too many indices for tensor of dimension {}",
             self.size());
  Dims common;
  size_t first = self.size(), last = 0, count = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].defined()) continue;
    check_kind(indices[i].dtype() == DType::I64, ErrorKind::IndexError,
               "tensors used as indices must be long, int, byte or bool tensors");
    first = std::min(first, i);
    last = i;
    ++count;
    try {
      common = broadcast_sizes(common, indices[i].sizes());
    } catch (const Error&) {
      std::string shapes;
      for (const Tensor& t : indices)
        if (t.defined()) shapes += (shapes.empty() ? "" : ", ") + to_string(t.sizes());
      fail(ErrorKind::IndexError, "shape mismatch: indexing tensors could not be broadcast together with shapes {}",
           shapes);
    }
  }
  const bool neighbours = count > 0 && last - first + 1 == count;
  Dims sizes;
  if (!neighbours)
    for (int64_t s : common) sizes.push_back(s);
  for (size_t i = 0; i < self.size(); ++i) {
    const bool indexed = i < indices.size() && indices[i].defined();
    if (!indexed) sizes.push_back(self[i]);
    if (neighbours && i == first)
      for (int64_t s : common) sizes.push_back(s);
  }
  return sizes;
}

void index_shape(Inference& f) { f.result(f.dtype(0), indexed_sizes(f.sizes(0), f.tensors(1))); }

void index_put_shape(Inference& f) {
  const Dims target = indexed_sizes(f.sizes(0), f.tensors(1));
  check(f.dtype(0) == f.dtype(2),
        "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
        scalar_type_name(f.dtype(0)), scalar_type_name(f.dtype(2)));
  bool fits = f.rank(2) <= target.size();
  for (size_t i = 0; fits && i < f.rank(2); ++i) {
    const int64_t have = f.sizes(2)[f.rank(2) - 1 - i];
    fits = have == 1 || have == target[target.size() - 1 - i];
  }
  check(fits, "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}",
        listed(f.sizes(2)), listed(target));
  rules::like_first(f);
}

void embedding_shape(Inference& f) {
  check(f.rank(0) == 2, "'weight' must be 2-D");
  check(f.dtype(1) == DType::I64 || f.dtype(1) == DType::I32,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.{}Tensor instead (while checking arguments for embedding)",
        scalar_type_name(f.dtype(1)));
  Dims sizes(f.sizes(1));
  sizes.push_back(f.sizes(0)[1]);
  f.result(f.dtype(0), std::move(sizes));
}
void embedding_backward_shape(Inference& f) {
  check(f.dtype(1) == DType::I64 || f.dtype(1) == DType::I32,
        "embedding_backward(): Expected dtype int32 or int64 for "
        "indices");
  const auto grad = f.sizes(0), indices = f.sizes(1);
  check(grad.size() == indices.size() + 1 && std::equal(indices.begin(), indices.end(), grad.begin()),
        "embedding_backward: a gradient of size {} doesn't come from indices of size {}", listed(grad),
        listed(indices));
  f.result(f.dtype(0), Dims{f.integer(2), grad.back()});
}

// ---- gradients ------------------------------------------------------------------------------------------------------
/// [:, ..., index] with the index at dim.
std::vector<Tensor> at_dim(int64_t dim, const Tensor& index) {
  std::vector<Tensor> list(static_cast<size_t>(dim) + 1);
  list.back() = index;
  return list;
}
Tensor as_long(const Tensor& t) { return t.dtype() == DType::I64 ? t : to_dtype(t, DType::I64); }

void index_select_gradient(Backward& b) {
  const Dims& sizes = b.sizes(0);
  if (sizes.empty()) return b.set(0, view(b.grad(), sizes));
  const Tensor index = reshape(as_long(b.in(2)), {-1});
  b.set(0,
        index_put(zeros(sizes, b.grad().dtype()), at_dim(wrap_dim(b.integer(1), sizes.size()), index), b.grad(), true));
}
void gather_gradient(Backward& b) {
  b.set(0, scatter_add(zeros(b.sizes(0), b.grad().dtype()), b.arg(1), b.arg(2), b.grad()));
}
void scatter_gradient(Backward& b) {
  const Tensor index = b.in(2);
  if (b.needs(0)) b.set(0, scatter(b.grad(), b.arg(1), index, zeros(index.sizes(), b.grad().dtype())));
  if (b.needs(3)) b.set(3, gather(b.grad(), b.arg(1), index));
}
void scatter_add_gradient(Backward& b) {
  b.set(0, b.grad());
  if (b.needs(3)) b.set(3, gather(b.grad(), b.arg(1), b.arg(2)));
}
void index_gradient(Backward& b) { b.set(0, index_put(zeros(b.sizes(0), b.grad().dtype()), b.arg(1), b.grad(), true)); }
void index_put_gradient(Backward& b) {
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, b.flag(3) ? g : index_put(g, b.arg(1), zeros(Dims{}, g.dtype())));
  if (b.needs(2)) b.set(2, index(g, b.arg(1)));
}
void embedding_gradient(Backward& b) {
  const Tensor grad = b.grad();
  if (!b.flag(3)) return b.set(0, embedding_backward(grad, b.arg(1), b.sizes(0)[0], b.arg(2)));
  ensure(!grad->is_symbolic(), "graphs compute no sparse gradients: who builds one takes those of the rows");
  b.set(0, sparse_hooks().rows(grad, b.in(1), b.sizes(0)[0], b.integer(2)));
}
/// Rows of padding_idx got nothing, so they give nothing.
void embedding_backward_gradient(Backward& b) {
  const Tensor rows = embedding_forward(b.grad(), b.arg(1), -1);
  const int64_t padding = b.integer(3);
  b.set(0, padding < 0 ? rows : where(unsqueeze(eq(b.arg(1), padding), -1), 0.0, rows));
}

// ---- composites -----------------------------------------------------------------------------------------------------
/// Values put at the indices of a dimension; a number counts as a vector of one element.
Tensor put_along(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& values, bool accumulate) {
  if (self.rank() == 0) return reshape(put_along(reshape(self, {1}), dim, index, values, accumulate), Dims{});
  return index_put(self, at_dim(wrap_dim(dim, self.rank()), reshape(as_long(index), {-1})), values, accumulate);
}
void index_add_of(Composition& c) {
  const Tensor self = c.tensor(0), index = c.tensor(2), given = c.tensor(3);
  check(index.rank() <= 1, "index_add_(): Index is supposed to be a vector");
  check(given.dtype() == self.dtype(), "index_add_(): self ({}) and source ({}) must have the same scalar type",
        scalar_type_name(self.dtype()), scalar_type_name(given.dtype()));
  const int64_t dim = wrap_dim(c.integer(1), self.rank());
  Dims fitting = self.sizes();
  if (!fitting.empty()) fitting[dim] = index.numel();
  const bool fits = given.sizes() == fitting || (given.numel() == 1 && checked_numel(fitting) == 1);
  check(fits,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} "
        "source.shape = {}",
        listed(self.sizes()), listed(given.sizes()));
  const Tensor source = is_value(c.arg(4).scalar(), 1) ? given : mul(given, c.arg(4));
  c.result(put_along(self, dim, index, self.rank() == 0 ? reshape(source, {-1}) : reshape(source, fitting), true));
}
void index_fill_of(Composition& c) {
  const Tensor self = c.tensor(0);
  c.result(put_along(self, c.integer(1), c.tensor(2), full(Dims{}, c.arg(3), self.dtype()), false));
}
void index_fill_tensor_of(Composition& c) {
  const Tensor self = c.tensor(0), value = c.tensor(3);
  check(value.rank() == 0,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).", value.rank());
  // Each place once, however often it is named: the gradient of the value is the sum over places.
  const Tensor nowhere = zeros(self.sizes(), DType::Bool);
  const Tensor here = put_along(nowhere, c.integer(1), c.tensor(2), full(Dims{}, true, DType::Bool), false);
  c.result(where(here, to_dtype(value, self.dtype()), self));
}
void scatter_value_of(Composition& c) {
  c.result(scatter(c.arg(0), c.arg(1), c.arg(2), full(c.tensor(2).sizes(), c.arg(3), c.tensor(0).dtype())));
}
void take_along_dim_of(Composition& c) {
  const Tensor self = c.tensor(0), index = c.tensor(1);
  if (!c.has(2)) return c.result(gather(reshape(self, {-1}), 0, reshape(index, {-1})));
  check(
      self.rank() == index.rank(),
      "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions for "
      "input, and {} dimensions for indices",
      self.rank(), index.rank());
  const int64_t dim = wrap_dim(c.integer(2), self.rank()), size = self.size(dim);
  Dims common_self = self.sizes(), common_index = index.sizes();
  common_self[dim] = common_index[dim] = 1;
  common_self = common_index = broadcast_sizes(common_self, common_index);
  common_self[dim] = self.size(dim);
  common_index[dim] = index.size(dim);
  const Tensor wrapped = where(lt(index, 0), add(index, size), index);
  c.result(gather(expand(self, common_self), dim, expand(wrapped, common_index)));
}
void take_of(Composition& c) {
  const Tensor places = c.tensor(1);
  check(places.dtype() == DType::I64, "take(): Expected a long tensor for index, but got {}",
        scalar_type_name(places.dtype()));
  c.result(index(reshape(c.tensor(0), {-1}), std::vector{places}));
}

/// Integer indices in place of masks (one for each dimension that a mask covers), all int64.
std::vector<Tensor> plain_indices(const Tensor& self, std::span<const Tensor> given) {
  std::vector<Tensor> plain;
  for (const Tensor& t : given) {
    if (!t.defined()) {
      plain.emplace_back();
    } else if (t.dtype() == DType::Bool || t.dtype() == DType::U8) {
      for (size_t i = 0; i < t.rank(); ++i) {
        const size_t dim = plain.size() + i;
        check_kind(dim < self.rank(), ErrorKind::IndexError, "too many indices for tensor of dimension {}",
                   self.rank());
        check_kind(t.sizes()[i] == self.sizes()[dim], ErrorKind::IndexError,
                   "The shape of the mask {} at index {} does not match the shape of the indexed tensor {} at index {}",
                   listed(t.sizes()), i, listed(self.sizes()), dim);
      }
      const Tensor where_true = nonzero(t);
      for (size_t i = 0; i < t.rank(); ++i) plain.push_back(select(where_true, 1, i));
    } else {
      check_kind(t.dtype() == DType::I64 || t.dtype() == DType::I32, ErrorKind::IndexError,
                 "tensors used as indices must be long, int, byte or bool tensors");
      plain.push_back(as_long(t));
    }
  }
  check_kind(plain.size() <= self.rank(), ErrorKind::IndexError, "too many indices for tensor of dimension {}",
             self.rank());
  return plain;
}
bool selects_nothing(std::span<const Tensor> indices) {
  return std::none_of(indices.begin(), indices.end(), [](const Tensor& t) { return t.defined(); });
}
/// The mask, arranged to broadcast with `self`, if the indices are one mask over neighbouring dimensions.
Tensor only_mask(const Tensor& self, std::span<const Tensor> indices) {
  const auto is_given = [](const Tensor& t) { return t.defined(); };
  const auto given = std::find_if(indices.begin(), indices.end(), is_given);
  if (given == indices.end() || std::any_of(given + 1, indices.end(), is_given) || given->dtype() != DType::Bool)
    return {};
  const Tensor& mask = *given;
  const auto first = static_cast<size_t>(given - indices.begin());
  if (first + mask.rank() > self.rank() ||
      !std::equal(mask.sizes().begin(), mask.sizes().end(), self.sizes().begin() + first))
    return {};
  Dims sizes = mask.sizes();
  sizes.resize(self.rank() - first, 1);
  return sizes.size() == mask.rank() ? mask : reshape(mask, sizes);
}

void advanced_index_of(Composition& c) {
  const Tensor self = c.tensor(0);
  if (self.rank() == 0 && c.tensors(1).size() == 1 && c.tensors(1)[0].defined() &&
      c.tensors(1)[0].dtype() == DType::Bool && c.tensors(1)[0].rank() == 0)  // x[True] of a number
    return c.result(index_select(reshape(self, {1}), 0, reshape(nonzero(reshape(c.tensors(1)[0], {1})), {-1})));
  const auto indices = plain_indices(self, c.tensors(1));
  c.result(selects_nothing(indices) ? alias(self) : index(self, indices));
}
void index_put_masked_of(Composition& c) {
  const Tensor self = c.tensor(0);
  c.result(index_put(self, plain_indices(self, c.tensors(1)), c.arg(2), c.arg(3)));
}
void advanced_index_put_of(Composition& c) {
  const Tensor self = c.tensor(0);
  const Tensor value = !c.arg(2).is_tensor()                 ? full(Dims{}, c.arg(2), self.dtype())
                       : c.tensor(2).dtype() == self.dtype() ? c.tensor(2)
                                                             : to_dtype(c.tensor(2), self.dtype());
  const Tensor mask = only_mask(self, c.tensors(1));
  if (mask.defined() && value.numel() == 1 && !c.flag(3))  // no need to know where the mask holds
    return c.result(where(mask, reshape(value, Dims{}), self));
  const auto indices = plain_indices(self, c.tensors(1));
  if (selects_nothing(indices)) return c.result(c.flag(3) ? self + value : expand(value, self.sizes()));
  c.result(index_put(self, indices, value, c.arg(3)));
}

void masked_select_of(Composition& c) {
  const Tensor self = c.tensor(0), mask = c.tensor(1);
  check(mask.dtype() == DType::Bool, "masked_select: expected BoolTensor for mask");
  const Dims sizes = broadcast_sizes(self.sizes(), mask.sizes());
  if (sizes.empty()) return c.result(advanced_index(reshape(self, {1}), std::vector{reshape(mask, {1})}));
  c.result(advanced_index(expand(self, sizes), std::vector{expand(mask, sizes)}));
}
void where_true_of(Composition& c) {
  const Tensor self = c.tensor(0).rank() == 0 ? reshape(c.tensor(0), {1}) : c.tensor(0);
  const Tensor positions = nonzero(self);
  for (size_t i = 0; i < self.rank(); ++i) c.result(select(positions, 1, i));
}
void one_hot_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check(self.dtype() == DType::I64, "one_hot is only applicable to index tensor of type LongTensor.");
  int64_t classes = c.integer(1);
  check(classes >= -1 && classes != 0, "num_classes should be positive or -1 (to be inferred)");
  if (classes == -1) {
    check(self.numel() > 0, "Can not infer total number of classes from empty tensor.");
    classes = size_sum(known_integer(amax(self)), 1);
  }
  if (!self->is_symbolic() && !self.device().is_meta() && self.numel() > 0) {
    check(known_integer(amin(self)) >= 0, "Class values must be non-negative.");
    check(known_integer(amax(self)) < classes, "Class values must be smaller than num_classes.");
  }
  Dims sizes = self.sizes();
  sizes.push_back(classes);
  const Tensor index = unsqueeze(self, -1);
  c.result(scatter(zeros(sizes, DType::I64), -1, index, ones(index.sizes(), DType::I64)));
}
void embedding_of(Composition& c) {
  const int64_t rows = c.tensor(0).rank() == 2 ? c.tensor(0).size(0) : 0;
  int64_t padding = c.has(2) ? c.integer(2) : -1;
  if (padding < -1) padding += rows;
  c.result(embedding_forward(c.arg(0), c.arg(1), padding));
}

// ---- computed by the engine: sizes depend on values -----------------------------------------------------------------
Tensor as_bytes(const Tensor& t) {
  const Tensor truth = t.dtype() == DType::Bool ? t : to_dtype(t, DType::Bool);
  return contiguous(truth);
}
/// How many of n bytes are true, eight at a time: any that isn't 0 is, since bytes may come from outside.
int64_t count_true(const uint8_t* bytes, int64_t n) {
  constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7f * kOnes;
  int64_t found = 0, i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    const uint64_t truths = (word | ((word & kLow) + kLow)) >> 7 & kOnes;
    found += static_cast<int64_t>(truths * kOnes >> 56);  // their sum
  }
  return found + (n - i) - std::count(bytes + i, bytes + n, uint8_t{0});
}
/// Puts the positions of the true ones among n bytes behind each other, in room for one more than n: without a jump
/// that nobody could foresee. Returns how many there are.
int64_t places_of_true(const uint8_t* bytes, int64_t n, int64_t* places) {
  int64_t found = 0, i = 0;
  const auto look = [&](int64_t end) {
    for (; i < end; ++i) {
      places[found] = i;
      found += bytes[i] != 0;
    }
  };
  while (i + 8 <= n) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    if (word == 0)
      i += 8;
    else
      look(i + 8);
  }
  look(n);
  return found;
}
/// Positions of the nonzero elements, one row each, in row-major order.
void nonzero_host(std::span<const Arg> args, std::vector<Tensor>& results) {
  const Tensor truth = as_bytes(args[0].tensor());
  const auto rank = static_cast<int64_t>(truth.rank()), n = truth.numel();
  const auto* bytes = static_cast<const uint8_t*>(truth->data());
  Tensor out = Tensor::empty(Dims{count_true(bytes, n), rank}, DType::I64);
  int64_t* row = out->data_as<int64_t>();
  // Piece by piece of the lines along the last dimension: the other positions stay the same within one.
  constexpr int64_t kPiece = 256;
  int64_t places[kPiece + 1];
  const int64_t length = rank ? truth.sizes().back() : 1;
  Dims line(static_cast<size_t>(std::max<int64_t>(rank, 1)), 0);
  for (int64_t start = 0; start < n && rank > 0; start += length) {
    for (int64_t i = 0; i < length; i += kPiece) {
      const int64_t found = places_of_true(bytes + start + i, std::min(kPiece, length - i), places);
      for (int64_t k = 0; k < found; ++k)
        for (int64_t d = 0; d < rank; ++d) *row++ = d + 1 < rank ? line[static_cast<size_t>(d)] : i + places[k];
    }
    for (int64_t d = rank - 2; d >= 0 && ++line[static_cast<size_t>(d)] == truth.sizes()[static_cast<size_t>(d)]; --d)
      line[static_cast<size_t>(d)] = 0;
  }
  results.push_back(std::move(out));
}
/// [2, 0, 1] -> [0, 0, 2]
void repeat_index_host(std::span<const Arg> args, std::vector<Tensor>& results) {
  const Tensor counts = contiguous(as_long(args[0].tensor()));
  const std::span<const int64_t> repeats(counts->data_as<int64_t>(), counts.numel());
  int64_t total = 0;
  for (int64_t r : repeats) {
    check(r >= 0, "repeats can not be negative");
    total = size_sum(total, r);
  }
  Tensor out = Tensor::empty(Dims{total}, DType::I64);
  int64_t* to = out->data_as<int64_t>();
  for (size_t i = 0; i < repeats.size(); ++i) to = std::fill_n(to, repeats[i], static_cast<int64_t>(i));
  results.push_back(std::move(out));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op index_select{{.name = "index_select",
                       .signature = "(Tensor self, int dim, Tensor index) -> Tensor",
                       .doc = "The slices of dim that index names, in its order.",
                       .example = "terra.index_select(terra.eye(3), 0, terra.tensor([2, 0]))",
                       .flags = kVisible | kChecksValues | kMovesBytes,
                       .shape = index_select_shape,
                       .gradient = index_select_gradient,
                       .saved = saves({2}),
                       .samples = {{"randn(3, 4), 0, terra.tensor([2, 0, 2])"},
                                   {"randn(3, 4), -1, terra.tensor([1])"},
                                   {"randint(0, 9, (4,)), 0, terra.tensor([3, 3])", "int", false}}}};
const Op index_add{{.name = "index_add",
                    .signature = "(Tensor self, int dim, Tensor index, Tensor source, *, Number alpha=1) -> Tensor",
                    .doc = "self with alpha * source added to the slices of dim that index names.",
                    .example = "terra.zeros(3).index_add(0, terra.tensor([1, 1]), terra.ones(2))",
                    .flags = kVisibleInPlace | kScatters | kComplex,
                    .composite = index_add_of,
                    .grad_fn = "IndexAddBackward0",
                    .samples = {{"randn(3, 4), 0, terra.tensor([2, 0, 2]), randn(3, 4)"},
                                {"randn(3, 4), 1, terra.tensor([1]), randn(3, 1), alpha=2"}}}};
const Op index_fill{
    {.name = "index_fill",
     .signature = "(Tensor self, int dim, Tensor index, Number value) -> Tensor",
     .doc = "self with value in the slices of dim that index names.",
     .example = "terra.zeros(3).index_fill(0, terra.tensor([1]), 5)",
     .flags = kVisibleInPlace | kMovesBytes | kScatters,
     .composite = index_fill_of,
     .grad_fn = "IndexFillBackward0",
     .samples = {{"randn(3, 4), 1, terra.tensor([1, 3]), 2.5"}, {"randn(()), 0, terra.tensor([0]), 2.5"}}}};
const Op index_fill_tensor{{.name = "index_fill_tensor",
                            .signature = "(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
                            .doc = "self with the 0-d tensor value in the slices of dim that index names.",
                            .example = "",
                            .flags = kInPlace | kMovesBytes | kScatters,
                            .composite = index_fill_tensor_of,
                            .grad_fn = "IndexFillBackward1",
                            .samples = {{"randn(3, 4), 1, terra.tensor([1, 3]), randn(())"}}}};
const Op gather{{.name = "gather",
                 .signature = "(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
                 .doc = "Out of every line along dim the elements that index names.",
                 .example = "terra.gather(terra.eye(2), 1, terra.tensor([[0], [0]]))",
                 .flags = kVisible | kChecksValues | kMovesBytes,
                 .shape = gather_shape,
                 .gradient = gather_gradient,
                 .saved = saves({2}),
                 .samples = {{"randn(3, 4), 1, randint(0, 4, (3, 2))"},
                             {"randn(3, 4), 0, randint(0, 3, (5, 4))"},
                             {"randint(0, 9, (4,)), 0, terra.tensor([3, 3])", "int", false}}}};
const Op take_along_dim{{.name = "take_along_dim",
                         .signature = "(Tensor self, Tensor indices, int? dim=None) -> Tensor",
                         .doc = "gather with broadcasting; over all elements if dim is None.",
                         .example = "terra.take_along_dim(terra.eye(2), terra.tensor([[1]]), 1)",
                         .flags = kVisible | kMovesBytes,
                         .composite = take_along_dim_of,
                         .samples = {{"randn(3, 4), randint(0, 4, (3, 1)), 1"}, {"randn(3), terra.tensor([0, 0])"}}}};
const Op take{{.name = "take",
               .signature = "(Tensor self, Tensor index) -> Tensor",
               .doc = "The elements at positions of the flattened tensor.",
               .example = "terra.take(terra.eye(2), terra.tensor([3]))",
               .flags = kVisible | kMovesBytes,
               .composite = take_of,
               .grad_fn = "TakeBackward0",
               .samples = {{"randn(3, 4), terra.tensor([[0, 11], [5, 5]])"}}}};
const Op scatter{{.name = "scatter",
                  .signature = "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
                  .doc = "self with the elements of src at the places along dim that index names.",
                  .example = "terra.zeros(2, 2).scatter(1, terra.tensor([[1], [0]]), terra.ones(2, 1))",
                  .flags = kInPlace | kChecksValues | kMovesBytes | kScatters,
                  .shape = check_scatter,
                  .gradient = scatter_gradient,
                  .saved = saves({2}),
                  .reuses = params({0}),
                  .samples = {{"randn(3, 5), 1, terra.tensor([[0, 2], [1, 4], [3, 0]]), randn(3, 2)"},
                              {"randn(3, 2), 0, terra.tensor([[2, 0]]), randn(1, 2)"}}}};
const Op scatter_value{{.name = "scatter_value",
                        .signature = "(Tensor self, int dim, Tensor index, Number value) -> Tensor",
                        .doc = "self with value at the places along dim that index names.",
                        .example = "",
                        .flags = kInPlace | kMovesBytes | kScatters,
                        .composite = scatter_value_of,
                        .grad_fn = "ScatterBackward1",
                        .samples = {{"randn(3, 5), 1, terra.tensor([[0, 2], [1, 4], [3, 0]]), 2.5"}}}};
const Op scatter_add{{.name = "scatter_add",
                      .signature = "(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
                      .doc = "self with the elements of src added at the places along dim that index names.",
                      .example = "terra.zeros(2).scatter_add(0, terra.tensor([1, 1]), terra.ones(2))",
                      .flags = kVisibleInPlace | kChecksValues | kScatters | kComplex | kBarebones,
                      .shape = check_scatter,
                      .gradient = scatter_add_gradient,
                      .saved = saves({2}),
                      .reuses = params({0}),
                      .samples = {{"randn(3, 5), 1, randint(0, 5, (3, 2)), randn(3, 2)"},
                                  {"randn(3), 0, terra.tensor([1, 1, 1, 0]), randn(4)"},
                                  {"crandn(3, 4), 1, randint(0, 4, (3, 2)), crandn(3, 2)", "complex"}}}};
const Op index{{.name = "index",
                .signature = "(Tensor self, Tensor[]? indices) -> Tensor",
                .doc = "self[indices] for int64 tensors that broadcast together; an absent one means ':'.",
                .example = "",
                .flags = kChecksValues | kMovesBytes,
                .shape = index_shape,
                .gradient = index_gradient,
                .saved = saves({1}),
                .samples = {{"randn(3, 4), [terra.tensor([2, 0, 2])]"},
                            {"randn(3, 4), [terra.tensor([[2], [0]]), terra.tensor([1, -1])]"},
                            {"randn(3, 4), [None, terra.tensor([1, 1, 3])]"},
                            {"randn(2, 3, 4), [terra.tensor([0, 1]), None, terra.tensor([1, 3])]"}}}};
const Op index_put{{.name = "index_put",
                    .signature = "(Tensor self, Tensor[]? indices, Tensor values, bool accumulate=False) -> Tensor",
                    .doc = "self with self[indices] = values, or += if accumulate.",
                    .example = "terra.zeros(3).index_put((terra.tensor([1]),), terra.tensor(5.0))",
                    .flags = kVisibleInPlace | kChecksValues | kScatters | kComplex,
                    .shape = index_put_shape,
                    .gradient = index_put_gradient,
                    .saved = saves({1}),
                    .reuses = params({0}),
                    .samples = {{"randn(3, 4), [terra.tensor([2, 0])], randn(2, 4)"},
                                {"randn(3, 4), [terra.tensor([2, 0, 2])], randn(4), True"},
                                {"randn(3, 4), [None, terra.tensor([1, 3])], randn(())"},
                                {"randn(2, 3, 4), [terra.tensor([0, 1]), None, terra.tensor([1, 3])], randn(2, 3)"}}}};
const Op advanced_index{{.name = "advanced_index",
                         .signature = "(Tensor self, Tensor[]? indices) -> Tensor",
                         .doc = "self[indices] for tensors and masks; an absent one means ':'.",
                         .example = "terra.arange(4)[terra.tensor([True, False, True, False])]",
                         .flags = kMayAlias,
                         .composite = advanced_index_of,
                         .samples = {{"randn(3, 4), [terra.tensor([True, False, True])]"},
                                     {"randn(3, 4), [None, terra.tensor([1, 1, 3], dtype=terra.int32)]"},
                                     {"randn(2, 2), [terra.tensor([[True, False], [True, True]])]"}}}};
const Op advanced_index_put{{.name = "advanced_index_put",
                             .signature =
                                 "(Tensor self, Tensor[]? indices, Tensor|Number values, bool accumulate=False) "
                                 "-> Tensor",
                             .doc = "self with self[indices] = values for tensors and masks.",
                             .example = "",
                             .flags = kInPlace | kMovesBytes | kScatters,
                             .composite = advanced_index_put_of,
                             .samples = {{"randn(3, 4), [terra.tensor([True, False, True])], 2.5"},
                                         {"randn(3, 4), [terra.tensor([True, False, True])], randn(2, 4)"},
                                         {"randn(3, 4), [None, terra.tensor([1, 3])], randn(3, 1)"}}}};
const Op index_put_masked{
    {.name = "index_put_masked",
     .signature = "(Tensor self, Tensor[]? indices, Tensor values, bool accumulate=False) -> Tensor",
     .doc = "self with values at indices, which may be masks.",
     .example = "",
     .flags = kInPlace | kMovesBytes | kScatters,
     .composite = index_put_masked_of,
     .samples = {{"randn(3, 4), [terra.tensor([True, False, True])], randn(2, 4)"},
                 {"randn(3), [terra.tensor([1, 1])], randn(2), True"}}}};
const Op masked_select{{.name = "masked_select",
                        .signature = "(Tensor self, Tensor mask) -> Tensor",
                        .doc = "The elements where mask holds, in one dimension.",
                        .example = "terra.masked_select(terra.arange(3), terra.tensor([True, False, True]))",
                        .flags = kVisible | kMovesBytes,
                        .composite = masked_select_of,
                        .grad_fn = "MaskedSelectBackward0",
                        .samples = {{"randn(3, 4), terra.tensor([True, False, True, True])"}}}};
const Op nonzero{{.name = "nonzero",
                  .signature = "(Tensor self, *, bool as_tuple=False) -> Tensor",
                  .doc = "The positions of the nonzero elements, one row each.",
                  .example = "terra.nonzero(terra.tensor([0, 3, 4]))",
                  .flags = kHost | kNoGradient | kComplex,
                  .host = nonzero_host,
                  .samples = {{"randint(0, 2, (3, 4))", "int", false}, {"randn(0, 3)", "float", false}}}};
const Op nonzero_tuple{{.name = "nonzero_tuple",
                        .signature = "(Tensor self, *, bool as_tuple) -> Tensor[]",
                        .doc = "The positions of the nonzero elements, one tensor for each dimension.",
                        .example = "",
                        .flags = kNoGradient | kMovesBytes,
                        .composite = where_true_of,
                        .samples = {{"randint(0, 2, (3, 4)), as_tuple=True", "int", false}}}};
const Op where_true{{.name = "where_true",
                     .signature = "(Tensor condition) -> Tensor[]",
                     .doc = "The positions of the nonzero elements, one tensor for each dimension.",
                     .example = "",
                     .flags = kNoGradient | kMovesBytes,
                     .composite = where_true_of,
                     .samples = {{"randint(0, 2, (3, 4))", "int", false}}}};
const Op one_hot{
    {.name = "one_hot",
     .signature = "(Tensor self, int num_classes=-1) -> Tensor",
     .doc = "A further dimension with 1 at the position that each element names.",
     .example = "terra.nn.functional.one_hot(terra.tensor([0, 2]), 3)",
     .flags = kFunctional | kNoGradient | kMovesBytes,
     .composite = one_hot_of,
     .samples = {{"terra.tensor([0, 2, 1]), 4", "int", false}, {"terra.tensor([[0], [2]])", "int", false}}}};
const Op repeat_index{{.name = "repeat_index",
                       .signature = "(Tensor repeats) -> Tensor",
                       .doc = "Each position i repeats[i] times.",
                       .example = "",
                       .flags = kHost | kNoGradient,
                       .host = repeat_index_host,
                       .samples = {{"terra.tensor([2, 0, 1])", "int", false}}}};
const Op embedding{{.name = "embedding",
                    .signature = "(Tensor weight, Tensor indices, int? padding_idx=None) -> Tensor",
                    .doc = "The rows of weight that indices name; row padding_idx gets no gradient.",
                    .example = "terra.embedding(terra.eye(3), terra.tensor([2, 0]))",
                    .flags = kFunction | kMovesBytes,
                    .composite = embedding_of,
                    .samples = {{"randn(5, 3), terra.tensor([[0, 4], [2, 2]])"},
                                {"randn(5, 3), terra.tensor([0, 4, 2]), 4", "float", false}}}};
const Op embedding_forward{
    {.name = "embedding_forward",
     .signature = "(Tensor weight, Tensor indices, int padding_idx, bool sparse=False) -> Tensor",
     .doc = "The rows of weight that indices name; padding_idx (-1: none) gets no gradient. "
            "sparse: the gradient has the rows that were looked up, and no others.",
     .example = "",
     .flags = kChecksValues | kMovesBytes,
     .shape = embedding_shape,
     .gradient = embedding_gradient,
     .saved = saves({1}),
     .grad_fn = "EmbeddingBackward0",
     .samples = {{"randn(5, 3), terra.tensor([[0, 4], [2, 2]]), -1"}}}};
const Op embedding_backward{{.name = "embedding_backward",
                             .signature = "(Tensor grad, Tensor indices, int num_weights, int padding_idx) -> Tensor",
                             .doc = "The gradient of embedding: rows of grad added to the rows that indices name.",
                             .example = "",
                             .flags = kChecksValues | kComplex,
                             .shape = embedding_backward_shape,
                             .gradient = embedding_backward_gradient,
                             .saved = saves({1}),
                             .samples = {{"randn(2, 2, 3), terra.tensor([[0, 4], [2, 2]]), 5, -1"},
                                         {"randn(3, 3), terra.tensor([0, 4, 2]), 5, 4"}}}};

bool is_sparse_look_up(const Op& op, std::span<const Arg> args) {
  return &op == &embedding_forward && args.size() > 3 && args[3].kind() == Arg::Kind::Scalar &&
         args[3].scalar().to_bool() && args[0].is_tensor() && args[0].impl()->requires_grad();
}

}  // namespace terra::ops
