#include "engine/ops/split.h"

#include <algorithm>

#include "engine/ops/emitter.h"
#include "engine/ops/rules.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

/// A view that is in PyTorch one of the many results of one node.
Tensor one_of_many(Tensor view, uint32_t number) {
  tape_hooks().one_of_many(view, number);
  return view;
}
/// Calls take(piece, number) with the consecutive pieces of the given lengths.
void each_piece(Composition& c, int64_t dim, std::span<const int64_t> lengths, const auto& take) {
  int64_t at = 0;
  uint32_t number = 0;
  for (int64_t n : lengths) {
    take(narrow(c.tensor(0), dim, at, n), number++);
    at += n;
  }
}
void pieces(Composition& c, int64_t dim, std::span<const int64_t> lengths) {
  each_piece(c, dim, lengths, [&](const Tensor& piece, uint32_t number) { c.result(one_of_many(piece, number)); });
}
/// Pieces of `length`, the last one shorter.
void split_by(Composition& c, int64_t dim, int64_t length) {
  const int64_t size = c.tensor(0).sizes()[dim];
  Dims lengths;
  for (int64_t at = 0; at < size; at += length) lengths.push_back(std::min(length, size - at));
  if (lengths.empty()) lengths.push_back(0);
  pieces(c, dim, lengths);
}
int64_t split_dim(Composition& c, int param) {
  check(c.tensor(0).rank() > 0, "{} expects at least a 1-dimensional tensor", c.op.name.substr(0, c.op.name.find('_')));
  return wrap_dim(c.integer(param), c.tensor(0).rank());
}
void split_of(Composition& c) {
  const int64_t dim = split_dim(c, 2), length = c.integer(1), size = c.tensor(0).sizes()[dim];
  check(length >= 0, "split expects split_size be non-negative, but got split_size={}", length);
  check(length > 0 || size == 0, "split_size can only be 0 if dimension size is 0, but got dimension size of {}", size);
  split_by(c, dim, std::max<int64_t>(length, 1));
}
void split_sizes_of(Composition& c) {
  const int64_t dim = split_dim(c, 2), size = c.tensor(0).sizes()[dim];
  int64_t total = 0;
  for (int64_t n : c.ints(1)) {
    check(n >= 0, "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={}",
          listed(c.ints(1)));
    total += n;
  }
  check(total == size,
        "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at dimension {}), but got "
        "split_sizes={}",
        size, dim, listed(c.ints(1)));
  pieces(c, dim, c.ints(1));
}
void chunk_of(Composition& c) {
  const int64_t dim = split_dim(c, 2), chunks = c.integer(1), size = c.tensor(0).sizes()[dim];
  check(chunks > 0, "chunk expects `chunks` to be greater than 0, got: {}", chunks);
  if (size == 0) return pieces(c, dim, Dims(static_cast<size_t>(chunks), 0));
  split_by(c, dim, (size - 1) / chunks + 1);
}
void tensor_split_of(Composition& c) {
  const int64_t dim = split_dim(c, 2), sections = c.integer(1), size = c.tensor(0).sizes()[dim];
  check(sections > 0, "number of sections must be larger than 0, got {}", sections);
  Dims lengths;
  for (int64_t i = 0; i < sections; ++i) lengths.push_back(size / sections + (i < size % sections ? 1 : 0));
  each_piece(c, dim, lengths, [&](const Tensor& piece, uint32_t) { c.result(piece); });
}
/// Cut in front of each index, as slices are.
void split_at(Composition& c, int64_t dim, std::span<const int64_t> indices) {
  const int64_t size = c.tensor(0).sizes()[dim];
  const auto place = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  int64_t begin = 0;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const int64_t end = i < indices.size() ? place(indices[i]) : size;
    c.result(narrow(c.tensor(0), dim, begin, std::max<int64_t>(0, end - begin)));
    begin = end;
  }
}
void tensor_split_at_of(Composition& c) { split_at(c, split_dim(c, 2), c.ints(1)); }
void tensor_split_tensor_of(Composition& c) {
  const Tensor where = c.tensor(1);
  check(where.dtype() == DType::I64 && where.rank() <= 1,
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor of dtype "
        "long, but got {}",
        describe(where));
  if (where.rank() == 0) {
    for (const Tensor& t : tensor_split.all(c.arg(0), known_integer(where), c.arg(2))) c.result(t);
    return;
  }
  Dims indices;
  for (int64_t i = 0; i < where.numel(); ++i) indices.push_back(known_integer(select(where, 0, i)));
  split_at(c, split_dim(c, 2), indices);
}
void unbind_of(Composition& c) {
  check_kind(c.tensor(0).rank() > 0, ErrorKind::IndexError, "Dimension specified as {} but tensor has no dimensions",
             c.integer(1));
  const int64_t dim = split_dim(c, 1);
  for (int64_t i = 0; i < c.tensor(0).sizes()[dim]; ++i)
    c.result(one_of_many(select(c.tensor(0), dim, i), static_cast<uint32_t>(i)));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op split{
    {.name = "split",
     .signature = "(Tensor self, int split_size_or_sections, int dim=0) -> Tensor[]",
     .doc = "Views of consecutive pieces of that length (the last may be shorter), or of the lengths in a list.",
     .example = "terra.split(terra.arange(5), 2)",
     .flags = kMayAlias,
     .composite = split_of,
     .grad_fn = "SplitBackward0",
     .samples = {{"randn(5, 2), 2"}, {"randn(2, 6), 3, dim=1"}}}};
const Op split_sizes{{.name = "split_sizes",
                      .signature = "(Tensor self, int[] split_size_or_sections, int dim=0) -> Tensor[]",
                      .doc = "Views of consecutive pieces of the given lengths.",
                      .example = "",
                      .flags = kMayAlias,
                      .composite = split_sizes_of,
                      .aliases = "split_with_sizes",
                      .grad_fn = "SplitWithSizesBackward0",
                      .samples = {{"randn(5, 2), [2, 3]"}, {"randn(2, 6), (1, 0, 5), 1"}}}};
const Op chunk{{.name = "chunk",
                .signature = "(Tensor self, int chunks, int dim=0) -> Tensor[]",
                .doc = "Views of at most `chunks` pieces of equal length (the last may be shorter).",
                .example = "terra.chunk(terra.arange(5), 2)",
                .flags = kVisible | kMayAlias,
                .composite = chunk_of,
                .grad_fn = "SplitBackward0",
                .samples = {{"randn(5, 2), 2"}, {"randn(2, 6), 4, -1"}}}};
const Op tensor_split{{.name = "tensor_split",
                       .signature = "(Tensor self, int indices_or_sections, int dim=0) -> Tensor[]",
                       .doc = "Views of exactly that many pieces, whose lengths differ by at most one.",
                       .example = "terra.tensor_split(terra.arange(5), 3)",
                       .flags = kVisible | kMayAlias,
                       .composite = tensor_split_of,
                       .samples = {{"randn(5, 2), 3"}}}};
const Op tensor_split_at{{.name = "tensor_split_at",
                          .signature = "(Tensor self, int[] indices_or_sections, int dim=0) -> Tensor[]",
                          .doc = "Views of the pieces between the given indices.",
                          .example = "",
                          .flags = kMayAlias,
                          .composite = tensor_split_at_of,
                          .samples = {{"randn(5, 2), (1, 3)"}, {"randn(2, 5), (4, 2, 9), 1"}}}};
const Op tensor_split_tensor{{.name = "tensor_split_tensor",
                              .signature = "(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]",
                              .doc = "Views of so many pieces, or of the pieces between the indices in a tensor.",
                              .example = "",
                              .flags = kMayAlias,
                              .composite = tensor_split_tensor_of,
                              .samples = {{"randn(5, 2), terra.tensor([1, 3])"}, {"randn(5, 2), terra.tensor(2)"}}}};
const Op unbind{{.name = "unbind",
                 .signature = "(Tensor self, int dim=0) -> Tensor[]",
                 .doc = "Views of all indices of dim.",
                 .example = "terra.unbind(terra.eye(2))",
                 .flags = kVisible | kMayAlias,
                 .composite = unbind_of,
                 .grad_fn = "UnbindBackward0",
                 .samples = {{"randn(3, 2)"}, {"randn(3, 2), 1"}}}};

}  // namespace terra::ops
