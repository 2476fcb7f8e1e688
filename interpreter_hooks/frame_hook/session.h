// A recording as the frame hook runs it: around a frame, once, with what it asks of the process.
#pragma once
#include "interpreter_hooks/frame_hook/code_record.h"

namespace terra::capture {

/// Runs the frame under CPython and watches. The result is the frame's in every case.
PyObject* record_frame(CodeRecord& record, PyThreadState* thread, TerraFrame* frame);

/// TERRA_STRICT=1: what broke inside the engine is the program's business, too. Returns null.
PyObject* raise_internal_error(const CodeRecord& record);

class Session;
/// The recording that this thread has begun and not ended, or null. It may be over long before its frame is.
inline thread_local constinit Session* session_of_thread = nullptr;
/// While one is under way, no other begins and no entry serves. Ends one that is over.
bool is_recording();

}  // namespace terra::capture
