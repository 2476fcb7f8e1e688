#include "engine/ops/arrange.h"

#include <algorithm>
#include <array>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/composed.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/order.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"
#include "engine/ops/split.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- joined and turned ----------------------------------------------------------------------------------------------
void broadcast_to_of(Composition& c) { c.result(expand(c.tensor(0), c.ints(1))); }
void column_stack_of(Composition& c) {
  std::vector<Tensor> list;
  for (const Tensor& t : c.tensors(0)) list.push_back(t.rank() < 2 ? reshape(t, Dims{t.numel(), 1}) : t);
  check(!list.empty(), "column_stack expects a non-empty TensorList");
  c.result(cat(list, 1));
}
/// As blocks with a third dimension: a row becomes one of a plane.
void dstack_of(Composition& c) {
  std::vector<Tensor> list;
  for (const Tensor& t : c.tensors(0))
    list.push_back(t.rank() < 2 ? reshape(t, Dims{1, t.numel(), 1}) : t.rank() == 2 ? unsqueeze(t, -1) : t);
  check(!list.empty(), "dstack expects a non-empty TensorList");
  c.result(cat(list, 2));
}
void flipud_of(Composition& c) {
  check(c.tensor(0).rank() >= 1, "Input must be >= 1-d.");
  c.result(flip(c.tensor(0), {0}));
}
void fliplr_of(Composition& c) {
  check(c.tensor(0).rank() >= 2, "Input must be >= 2-d.");
  c.result(flip(c.tensor(0), {1}));
}
void diagflat_of(Composition& c) { c.result(diag(reshape(c.tensor(0), {-1}), c.arg(1))); }
/// [a, b] and [c, d] as [a, 1, b, 1] * [1, c, 1, d], then [a c, b d].
void kron_of(Composition& c) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  const size_t rank = std::max(x.rank(), y.rank());
  Dims left, right, sizes;
  for (size_t d = 0; d < rank; ++d) {
    const auto size = [&](const Tensor& t) { return d + t.rank() < rank ? 1 : t.sizes()[d + t.rank() - rank]; };
    left.push_back(size(x));
    left.push_back(1);
    right.push_back(1);
    right.push_back(size(y));
    sizes.push_back(size_product(size(x), size(y)));
  }
  c.result(reshape(reshape(x, left) * reshape(y, right), sizes));
}
void msort_of(Composition& c) { c.result(sort.all(c.arg(0), 0)[0]); }

// ---- split ----------------------------------------------------------------------------------------------------------
struct Split {
  std::string_view name;
  int64_t dim, least_rank;
};
constexpr Split kH{"hsplit", 1, 1}, kV{"vsplit", 0, 2}, kD{"dsplit", 2, 3};

/// Vectors are split along their only dimension.
int64_t checked_dim(const Tensor& t, const Split& s) {
  check(static_cast<int64_t>(t.rank()) >= s.least_rank,
        "torch.{} requires a tensor with at least {} dimension, but got a tensor with {} dimensions!", s.name,
        s.least_rank, t.rank());
  return t.rank() == 1 ? 0 : s.dim;
}
void split_evenly(Composition& c, const Split& s) {
  const int64_t dim = checked_dim(c.tensor(0), s), sections = c.integer(1), size = c.tensor(0).size(dim);
  check(sections != 0 && size % sections == 0,
        "torch.{} attempted to split along dimension {}, but the size of the dimension {} is not divisible by the "
        "split_size {}!",
        s.name, dim, size, sections);
  for (const Tensor& t : tensor_split.all(c.arg(0), c.arg(1), dim)) c.result(t);
}
void split_at(Composition& c, const Split& s) {
  for (const Tensor& t : tensor_split_at.all(c.arg(0), c.arg(1), checked_dim(c.tensor(0), s))) c.result(t);
}

// ---- indices of triangles -------------------------------------------------------------------------------------------
/// The places (row, column) of a rows x columns matrix where column - row <= offset, or >= it.
void triangle(Composition& c, bool lower) {
  const int64_t rows = c.integer(0), columns = c.integer(1), offset = c.integer(2);
  check(rows >= 0, "row must be non-negative, got{}", rows);
  check(columns >= 0, "col must be non-negative, got{}", columns);
  const DType dtype = dtype_or(c.arg(3), DType::I64);
  check_kind(dtype == DType::I64 || dtype == DType::I32, ErrorKind::NotImplementedError,
             "\"{}\" not implemented for '{}'", c.op.name, scalar_type_name(dtype));
  const Tensor across = sub(arange(0, columns), reshape(arange(0, rows), {-1, 1}));
  c.result(to_dtype(t(nonzero(lower ? le(across, offset) : ge(across, offset))), dtype));
}

// ---- another dtype --------------------------------------------------------------------------------------------------
void view_dtype_shape(Inference& f) {
  const TensorImpl& self = f.impl(0);
  const DType dtype = f.arg(1).dtype();
  const auto have = static_cast<int64_t>(size_of(self.dtype)), want = static_cast<int64_t>(size_of(dtype));
  if (have == want) return f.view(dtype, Dims(self.sizes), Dims(self.strides), self.offset);
  check(!self.sizes.empty(), "self.dim() cannot be 0 to view {} as {} (different element sizes)",
        scalar_type_name(self.dtype), scalar_type_name(dtype));
  Dims sizes = self.sizes, strides = self.strides;
  const size_t last = sizes.size() - 1;
  check(strides[last] == 1, "self.stride(-1) must be 1 to view {} as {} (different element sizes), but got {}",
        scalar_type_name(self.dtype), scalar_type_name(dtype), strides[last]);
  if (want < have) {
    const int64_t parts = have / want;
    sizes[last] = size_product(sizes[last], parts);
    for (size_t d = 0; d < last; ++d) strides[d] *= parts;
    return f.view(dtype, std::move(sizes), std::move(strides), self.offset * parts);
  }
  const int64_t parts = want / have;
  check(sizes[last] % parts == 0,
        "self.size(-1) must be divisible by {} to view {} as {} (different element sizes), but got {}", parts,
        scalar_type_name(self.dtype), scalar_type_name(dtype), sizes[last]);
  check(self.offset % parts == 0,
        "self.storage_offset() must be divisible by {} to view {} as {} (different element sizes), but got {}", parts,
        scalar_type_name(self.dtype), scalar_type_name(dtype), self.offset);
  for (size_t d = 0; d < last; ++d) {
    check(strides[d] % parts == 0,
          "self.stride({}) must be divisible by {} to view {} as {} (different element sizes), but got {}", d, parts,
          scalar_type_name(self.dtype), scalar_type_name(dtype), strides[d]);
    strides[d] /= parts;
  }
  sizes[last] /= parts;
  f.view(dtype, std::move(sizes), std::move(strides), self.offset / parts);
}

// ---- records --------------------------------------------------------------------------------------------------------
OpRecord moved(std::string_view name, std::string_view signature, std::string_view doc, std::string_view example,
               CompositeRule rule, std::vector<Sample> samples, uint32_t flags = kVisible | kMovesBytes,
               std::string_view grad_fn = "") {
  return composed(name, signature, doc, example, rule, std::move(samples), flags, grad_fn);
}
OpRecord evenly(std::string_view name, std::string_view doc, CompositeRule rule, std::string_view sample) {
  return moved(name, "(Tensor self, int sections) -> Tensor[]", doc, "", rule, {{sample}}, kMayAlias);
}
OpRecord before_each(std::string_view name, std::string_view doc, CompositeRule rule, std::string_view sample) {
  return moved(name, "(Tensor self, int[] indices) -> Tensor[]", doc, "", rule, {{sample}}, kMayAlias);
}
OpRecord triangle_indices(std::string_view name, std::string_view doc, std::string_view example, CompositeRule rule) {
  return {.name = name,
          .signature = "(int row, int col, int offset=0, *, dtype? dtype=None) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kFunction | kFactory | kNoGradient,
          .composite = rule,
          .samples = {{"3, 4", "int", false}, {"3, 3, 1", "int", false}, {"0, 2", "int", false}}};
}

}  // namespace

const Op broadcast_to{moved("broadcast_to", "(Tensor self, int[] *size) -> Tensor", "The view in a larger shape.",
                            "terra.broadcast_to(terra.ones(2), (3, 2)).shape", broadcast_to_of,
                            {{"randn(3, 1), (3, 4)"}}, kVisible | kMayAlias)};
const Op column_stack{moved("column_stack", "(Tensor[] tensors) -> Tensor", "Vectors and matrices side by side.",
                            "terra.column_stack([terra.zeros(2), terra.ones(2)])", column_stack_of,
                            {{"[randn(3), randn(3, 2)]"}, {"[randn(()), randn(())]"}}, kFunction | kMovesBytes)};
const Op dstack{moved("dstack", "(Tensor[] tensors) -> Tensor", "The tensors one behind another: along dimension 2.",
                      "terra.dstack([terra.zeros(2), terra.ones(2)]).shape", dstack_of,
                      {{"[randn(3), randn(3)]"}, {"[randn(2, 3), randn(2, 3, 2)]"}}, kFunction | kMovesBytes)};
const Op flipud{moved("flipud", "(Tensor self) -> Tensor", "The rows in reverse order.",
                      "terra.flipud(terra.arange(3))", flipud_of, {{"randn(3, 4)"}, {"randn(3)"}})};
const Op fliplr{moved("fliplr", "(Tensor self) -> Tensor", "The columns in reverse order.",
                      "terra.fliplr(terra.eye(2))", fliplr_of, {{"randn(3, 4)"}})};
const Op diagflat{moved("diagflat", "(Tensor self, int offset=0) -> Tensor",
                        "The matrix with all elements on a diagonal.", "terra.diagflat(terra.ones(2))", diagflat_of,
                        {{"randn(2, 3)"}, {"randn(3), -1"}})};
const Op kron{moved("kron", "(Tensor self, Tensor other) -> Tensor",
                    "Kronecker's product: a copy of other for each element of self, times it.",
                    "terra.kron(terra.eye(2), terra.ones(1, 2))", kron_of,
                    {{"randn(2, 3), randn(3, 2)"}, {"randn(2), randn(2, 2, 2)"}}, kVisible, "UnsafeViewBackward0")};
const Op msort{moved("msort", "(Tensor self) -> Tensor", "The elements along dimension 0 in order.",
                     "terra.msort(terra.tensor([3, 1, 2]))", msort_of, {{"randn(3, 4)"}}, kVisible)};

const Op hsplit{evenly(
    "hsplit", "Equal parts along dimension 1, of a vector along 0.", [](Composition& c) { split_evenly(c, kH); },
    "randn(3, 4), 2")};
const Op hsplit_at{before_each(
    "hsplit_at", "The parts between indices of dimension 1, of a vector along 0.",
    [](Composition& c) { split_at(c, kH); }, "randn(3, 4), (1, 3)")};
const Op vsplit{evenly(
    "vsplit", "Equal parts along dimension 0.", [](Composition& c) { split_evenly(c, kV); }, "randn(4, 3), 2")};
const Op vsplit_at{before_each(
    "vsplit_at", "The parts between indices of dimension 0.", [](Composition& c) { split_at(c, kV); },
    "randn(4, 3), (1, 3)")};
const Op dsplit{evenly(
    "dsplit", "Equal parts along dimension 2.", [](Composition& c) { split_evenly(c, kD); }, "randn(2, 3, 4), 2")};
const Op dsplit_at{before_each(
    "dsplit_at", "The parts between indices of dimension 2.", [](Composition& c) { split_at(c, kD); },
    "randn(2, 3, 4), (1, 3)")};

const Op tril_indices{triangle_indices("tril_indices", "Rows and columns of the lower triangle of a matrix.",
                                       "terra.tril_indices(2, 2)", [](Composition& c) { triangle(c, true); })};
const Op triu_indices{triangle_indices("triu_indices", "Rows and columns of the upper triangle of a matrix.",
                                       "terra.triu_indices(2, 2)", [](Composition& c) { triangle(c, false); })};
const Op view_dtype{{.name = "view_dtype",
                     .signature = "(Tensor self, dtype dtype) -> Tensor",
                     .doc = "The view of the same bytes as elements of another dtype.",
                     .example = "terra.ones(2).view(terra.int32)",
                     .flags = kView | kCheap | kNoGradient,
                     .shape = view_dtype_shape,
                     .samples = {{"randn(3, 4), terra.uint8", "float", false},
                                 {"randn(3, 4), terra.int16", "float", false},
                                 {"randint(0, 9, (3, 4)), terra.float32", "int", false}}}};

}  // namespace terra::ops
