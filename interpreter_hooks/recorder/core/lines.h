// Where in the program's text a frame is.
#pragma once
#include "interpreter_hooks/recorder/core/frames.h"

namespace terra::capture {

/// The line of the instruction at `offset` of the frame's code.
inline int line_at(const ShadowFrame& frame, int offset) { return terra_code_line(frame.code, offset); }
/// Of the instruction that it is at.
inline int line_of(const ShadowFrame& frame) { return line_at(frame, frame.pending.offset); }

}  // namespace terra::capture
