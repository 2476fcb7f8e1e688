// Joining, repeating and padding: elements move, values stay.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op cat, stack, hstack, vstack;
extern const Op flip, roll, repeat, tile, repeat_interleave, repeat_interleave_tensor, repeat_interleave_counts, rot90;
extern const Op constant_pad, pad_from_within, pad, pixel_shuffle, pixel_unshuffle, channel_shuffle, diag, diag_embed,
    diff, meshgrid, broadcast_tensors;

/// The gradient of a slice of dimension dim: grad at start, start + step, ..., zeros elsewhere.
extern const Op pad_slice;
/// The gradient of diagonal: grad on that diagonal, zeros elsewhere.
extern const Op diagonal_backward;

}  // namespace terra::ops
