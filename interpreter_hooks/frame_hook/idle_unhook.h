// A program that does nothing for capture to find runs without the hook.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

namespace terra::capture {

/// At the end of a stretch of frames, which is quiet if neither a tensor operation nor a served call lies in it. When
/// enough of them in a row were quiet, the hook is taken out, which gives CPython its full speed back; the
/// next tensor operation puts it in again. Each time it had to come back it waits for twice as many: what it misses of
/// a program that works on tensors now and then is bounded.
void consider_rest();
inline void frame_seen() {
  if (terra_stretch_ends()) [[unlikely]]
    consider_rest();
}

bool is_resting();

}  // namespace terra::capture
