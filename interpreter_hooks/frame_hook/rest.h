// A program that does nothing for capture to find runs without the hook.
#pragma once
#include <cstdint>

namespace terra::capture {

/// Frames that the hook has seen.
inline uint64_t frames_seen = 0;
/// So many frames without a tensor operation between them are a quiet stretch.
constexpr uint64_t stretch = 1 << 16;

/// At the end of a stretch. When enough of them in a row were quiet and nothing has ever been captured, the hook is taken
/// out, which gives CPython its full speed back; the next tensor operation puts it in again. Each time it had to come
/// back it waits for twice as many: what it misses of a program that works on tensors now and then is bounded.
void consider_rest();
inline void frame_seen() {
  if ((++frames_seen & (stretch - 1)) == 0) [[unlikely]] consider_rest();
}

bool is_resting();

}  // namespace terra::capture
