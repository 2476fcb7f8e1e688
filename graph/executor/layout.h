// Where the elements of a value lie.
#pragma once
#include <span>
#include <vector>

#include "graph/ir/graph.h"

namespace terra::graph {

/// A strided arrangement in a buffer of a plan. Element (i, j, ...) lies at byte
/// `offset + size_of(dtype) * (i * strides[0] + j * strides[1] + ...)` of the buffer.
struct Place {
  int32_t buffer = -1;
  int64_t offset = 0;
  DType dtype = DType::F32;
  Dims sizes, strides;

  int64_t numel() const;
  bool is_contiguous() const;
};

/// The same elements at the same bytes.
bool same_place(const Place& a, const Place& b);

/// The arrangement of `view` of a value that lies at `base`, by the op's shape rule; false if the rule refuses this
/// layout (it then needs a contiguous copy). `attributes` are the op's arguments from 1 on.
bool place_view(const Op& view, const Place& base, std::span<const NodeArg> attributes, Place& result);

}  // namespace terra::graph
