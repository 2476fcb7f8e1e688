#include "engine/ops/layout.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/memory/inline_array.h"
#include "engine/ops/call.h"
#include "engine/ops/rules.h"
#include "engine/tensor/memory_format.h"

namespace terra {
namespace {

/// Row by row is as good as any other layout.
bool gives_no_order(const TensorImpl& like, const TensorImpl& value) {
  return value.sizes != like.sizes || like.is_contiguous() || !is_dense(like);
}

/// Row by row, perhaps with gaps, and it is told apart from any other layout: the case that has to cost nothing.
bool is_plainly_by_rows(const TensorImpl& t) {
  const size_t rank = t.sizes.size();
  const int64_t *sizes = t.sizes.data(), *strides = t.strides.data();
  for (size_t d = 1; d < rank; ++d)
    if (strides[d - 1] <= strides[d] && (strides[d - 1] != strides[d] || sizes[d] != 1)) return false;
  return true;
}

// ---- elementwise results --------------------------------------------------------------------------------------------

using Operands = std::span<const TensorImpl* const>;

/// The operand's step along dimension `d` of a result; 0 where it is repeated there.
int64_t step_along(const TensorImpl& operand, std::span<const int64_t> sizes, size_t d) {
  const size_t missing = sizes.size() - operand.sizes.size();
  if (d < missing) return 0;
  return operand.sizes[d - missing] == 1 && sizes[d] != 1 ? 0 : operand.strides[d - missing];
}

/// Which of two dimensions is the inner one: the one along which the first operand that tells them apart has shorter
/// steps. Negative: `a`, positive: `b`, 0: no operand tells.
int inner_of(Operands operands, std::span<const int64_t> sizes, size_t a, size_t b) {
  for (const TensorImpl* operand : operands) {
    const int64_t of_a = step_along(*operand, sizes, a), of_b = step_along(*operand, sizes, b);
    if (of_a == 0 || of_b == 0) continue;
    if (of_a != of_b) return of_a < of_b ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

/// Strides without gaps for dimensions in the order of the operands' steps. Operands may tell some dimensions apart and
/// not others, so that how they are sorted matters: each in turn, beginning with the second last, moves inwards past
/// those that are further out, over those of which nobody can tell.
Dims ordered_strides(Operands operands, std::span<const int64_t> sizes) {
  const size_t rank = sizes.size();
  Dims inwards(rank, 0);  // from inner to outer
  for (size_t i = 0; i < rank; ++i) inwards[i] = static_cast<int64_t>(rank - 1 - i);
  for (size_t i = 1; i < rank; ++i) {
    size_t at = i;
    for (size_t other = i; other-- > 0;) {
      const int inner =
          inner_of(operands, sizes, static_cast<size_t>(inwards[other]), static_cast<size_t>(inwards[at]));
      if (inner < 0) break;
      if (inner == 0) continue;
      std::swap(inwards[other], inwards[at]);
      at = other;
    }
  }
  Dims strides(rank, 0);
  int64_t step = 1;
  for (int64_t d : inwards) {
    strides[static_cast<size_t>(d)] = step;
    step = stride_product(step, std::max<int64_t>(sizes[static_cast<size_t>(d)], 1));
  }
  return strides;
}

/// Operands that all have the sizes of the result and lie alike hand down their strides as they are, those of
/// dimensions of size 1 included.
Dims strides_of_alike(Operands operands) {
  const TensorImpl& first = *operands.front();
  const auto all = [&operands](auto&& holds) {
    return std::all_of(operands.begin(), operands.end(), [&](const TensorImpl* t) { return holds(*t); });
  };
  if (!all([&](const TensorImpl& t) { return t.sizes == first.sizes; })) return {};
  if (all([](const TensorImpl& t) { return t.is_contiguous(); })) return contiguous_strides(first.sizes);
  if (all([](const TensorImpl& t) { return is_contiguous_in(t, MemoryFormat::ChannelsLast); }))
    return strides_in(MemoryFormat::ChannelsLast, first.sizes);
  if (all([&](const TensorImpl& t) { return is_dense(t) && t.strides == first.strides; })) return first.strides;
  return {};
}

Dims elementwise_strides(Operands operands, std::span<const int64_t> sizes, bool with_numbers) {
  if (!with_numbers && operands.front()->sizes == Dims(sizes))
    if (Dims strides = strides_of_alike(operands); !strides.empty()) return strides;
  return ordered_strides(operands, sizes);
}

void lay_out_elementwise(const Op& op, std::span<const Arg> args, std::span<ResultMeta> metas) {
  bool by_rows = true;
  for (const Arg& a : args) by_rows = by_rows && (!a.is_tensor() || is_plainly_by_rows(*a.impl()));
  if (by_rows) [[likely]]
    return;
  InlineArray<const TensorImpl*, kMaxParams> operands(args.size());
  size_t count = 0;
  bool with_numbers = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const ParamType type = op.sig().params[i].type;
    // While a graph is built, a number that differs between runs stands as a tensor where the op takes numbers only.
    if (args[i].is_tensor() && (type == ParamType::Tensor || type == ParamType::TensorOrNumber))
      operands[count++] = args[i].impl();
    with_numbers |= !args[i].is_tensor() && type == ParamType::TensorOrNumber;
  }
  for (ResultMeta& m : metas) m.strides = elementwise_strides({operands.data(), count}, m.sizes, with_numbers);
}

// ---- images and volumes ---------------------------------------------------------------------------------------------

/// The format that all tensors of a list suggest; row by row where they differ.
MemoryFormat common_format(std::span<const Tensor> list) {
  const MemoryFormat format = suggested_format(*list[0]);
  for (const Tensor& t : list)
    if (suggested_format(*t) != format) return MemoryFormat::Contiguous;
  return format;
}

/// The format in which a result of that rank lies: channels last if an operand of the same rank does.
MemoryFormat format_kept(std::span<const Arg> args, size_t rank) {
  if (rank < 4) return MemoryFormat::Contiguous;
  for (const Arg& a : args) {
    MemoryFormat format = MemoryFormat::Contiguous;
    if (a.is_tensor() && a.impl()->sizes.size() == rank) format = suggested_format(*a.impl());
    if (a.kind() == Arg::Kind::TensorList && a.tensors()[0].rank() == rank) format = common_format(a.tensors());
    if (format != MemoryFormat::Contiguous) return format;
  }
  return MemoryFormat::Contiguous;
}

// ---- results that are asked for in a layout -------------------------------------------------------------------------

Dims strides_asked_for(const Op& op, std::span<const Arg> args) {
  if (const int strides = op.sig().find("strides"); strides >= 0)
    return Dims(args[static_cast<size_t>(strides)].ints());
  const int format = op.sig().find("memory_format");
  return strides_of_copy(*args[0].impl(), format < 0 ? Arg() : args[static_cast<size_t>(format)]);
}

void lay_out_as_asked(const Op& op, std::span<const Arg> args, ResultMeta& meta) {
  if (op.sig().find("strides") < 0 && args.back().is_none() && is_plainly_by_rows(*args[0].impl())) return;
  Dims strides = strides_asked_for(op, args);
  if (strides == contiguous_strides(meta.sizes)) return;
  check(leave_no_gaps(meta.sizes, strides), "{}: strides {} leave gaps or places of two elements in sizes {}", op.name,
        listed(strides), listed(meta.sizes));
  meta.strides = std::move(strides);
}

}  // namespace

bool is_dense(const TensorImpl& t) { return leave_no_gaps(t.sizes, t.strides); }

bool is_laid_out_like(const TensorImpl& a, const TensorImpl& b) {
  if (gives_no_order(b, a)) return a.is_contiguous();
  for (size_t d = 0; d < b.sizes.size(); ++d)
    if (b.sizes[d] != 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

Tensor copy_laid_out_like(const Tensor& value, const Tensor& like) {
  static const Op* const clone_strided = find_op("clone_strided");
  const bool by_rows = gives_no_order(*like.get(), *value.get());
  return (*clone_strided)(value, by_rows ? contiguous_strides(value.sizes()) : like.strides());
}

Dims preserved_strides(const TensorImpl& t) {
  if (is_dense(t)) return t.strides;
  const TensorImpl* const operands[] = {&t};
  return ordered_strides(operands, t.sizes);
}

Dims strides_of_copy(const TensorImpl& t, const Arg& memory_format) {
  const MemoryFormat format =
      memory_format.is_none() ? MemoryFormat::Preserve : memory_format_named(memory_format.text());
  if (format != MemoryFormat::Preserve) return strides_in(format, t.sizes);
  Dims by_rows = contiguous_strides(t.sizes);
  return t.strides == by_rows ? by_rows : preserved_strides(t);
}

Dims order_of_places(const TensorImpl& t) {
  if (t.is_contiguous()) return {};
  Dims order = from_outer_to_inner(preserved_strides(t));
  return std::is_sorted(order.begin(), order.end()) ? Dims{} : order;
}

Tensor in_place_of_rows(const Tensor& rows, const Dims& strides) {
  static const Op* const clone_strided = find_op("clone_strided");
  static const Op* const permute = find_op("permute");
  const Dims order = from_outer_to_inner(strides);
  Dims back(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return (*clone_strided)((*permute)(rows, back), strides);
}

void lay_out_results(const Op& op, std::span<const Arg> args, std::span<ResultMeta> metas) {
  if (op.is(kLaidOutAsAsked)) return lay_out_as_asked(op, args, metas[0]);
  if (op.is(kElementwise) && !op.is(kLiesByRows)) return lay_out_elementwise(op, args, metas);
  if (!op.is(kKeepsFormat)) return;
  for (ResultMeta& m : metas) {
    const MemoryFormat format = format_kept(args, m.sizes.size());
    if (format != MemoryFormat::Contiguous) m.strides = strides_in(format, m.sizes);
  }
}

void lay_out_made(const Op& op, std::span<const Arg> args, std::span<Tensor> results) {
  static const Op* const clone = find_op("clone");
  static const Op* const clone_strided = find_op("clone_strided");
  for (Tensor& t : results) {
    if (op.is(kKeepsFormat)) {
      const MemoryFormat format = format_kept(args, t.rank());
      if (format != MemoryFormat::Contiguous && suggested_format(*t) != format) t = (*clone)(t, name_of(format));
    } else if (t.sizes() == args[0].impl()->sizes) {
      const Dims strides = strides_asked_for(op, args);
      if (t.strides() != strides) t = (*clone_strided)(t, strides);
    }
  }
}

}  // namespace terra
