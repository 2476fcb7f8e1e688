// Orders of dimensions in memory that have a name: PyTorch's memory formats.
#pragma once
#include <string_view>

#include "engine/tensor/tensor.h"

namespace terra {

enum class MemoryFormat : uint8_t {
  Contiguous,      ///< row by row
  Preserve,        ///< as another tensor has it
  ChannelsLast,    ///< images [N, C, H, W] pixel by pixel, all channels of one together
  ChannelsLast3d,  ///< volumes [N, C, D, H, W] in the same way
};

/// "channels_last", as Python names it.
std::string_view name_of(MemoryFormat format);
/// The format of that name; throws InternalError for another one.
MemoryFormat memory_format_named(std::string_view name);

/// Strides of a tensor without gaps in that format. Throws Error for Preserve and for a rank that the format isn't of.
Dims strides_in(MemoryFormat format, std::span<const int64_t> sizes);
/// True iff the elements lie without gaps in that format (for Preserve: row by row). Dimensions of size 1 don't count.
bool is_contiguous_in(const TensorImpl& t, MemoryFormat format);
/// The format that the strides speak for: channels last where no step of a dimension is longer than that of the one
/// around it in that order, gaps or not, and where they don't say row by row as well.
MemoryFormat suggested_format(const TensorImpl& t);

}  // namespace terra
