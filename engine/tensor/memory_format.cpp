#include "engine/tensor/memory_format.h"

#include "engine/errors/errors.h"

namespace terra {
namespace {

constexpr std::string_view kNames[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};

size_t rank_of(MemoryFormat format) { return format == MemoryFormat::ChannelsLast ? 4 : 5; }

/// Calls visit(dimension) from the channels, whose steps are the shortest, to the batch. It returns false to stop.
template <class F>
bool from_channels(size_t rank, F&& visit) {
  if (!visit(size_t{1})) return false;
  for (size_t d = rank - 1; d >= 2; --d)
    if (!visit(d)) return false;
  return visit(size_t{0});
}

bool suggests_channels_last(const TensorImpl& t) {
  if (t.strides[1] == 0) return false;
  int64_t least = 0;
  return from_channels(t.sizes.size(), [&](size_t d) {
    if (t.sizes[d] == 0 || t.strides[d] < least) return false;
    if (d == 0 && least == t.strides[1]) return false;  // [N, 1, 1, 1], or [N, C, 1, 1] row by row
    least = t.sizes[d] > 1 ? t.strides[d] * t.sizes[d] : t.strides[d];
    return true;
  });
}

}  // namespace

std::string_view name_of(MemoryFormat format) { return kNames[static_cast<size_t>(format)]; }

MemoryFormat memory_format_named(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<MemoryFormat>(i);
  throw InternalError("no memory format is called '" + std::string(name) + "'");
}

Dims strides_in(MemoryFormat format, std::span<const int64_t> sizes) {
  if (format == MemoryFormat::Contiguous) return contiguous_strides(sizes);
  check(format != MemoryFormat::Preserve, "unsupported memory format Preserve");
  check(sizes.size() == rank_of(format), "required rank {} tensor to use {} format", rank_of(format), name_of(format));
  Dims strides(sizes.size(), 0);
  int64_t step = 1;
  from_channels(sizes.size(), [&](size_t d) {
    strides[d] = step;
    step = stride_product(step, sizes[d]);
    return true;
  });
  return strides;
}

bool is_contiguous_in(const TensorImpl& t, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return t.is_contiguous();
  if (t.sizes.size() != rank_of(format)) return false;
  int64_t expected = 1;
  return from_channels(t.sizes.size(), [&](size_t d) {
    if (t.sizes[d] != 1 && t.strides[d] != expected) return false;
    expected = stride_product(expected, t.sizes[d]);
    return true;
  });
}

MemoryFormat suggested_format(const TensorImpl& t) {
  const size_t rank = t.sizes.size();
  if ((rank != 4 && rank != 5) || !suggests_channels_last(t)) return MemoryFormat::Contiguous;
  return rank == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

}  // namespace terra
