// A call served from the entries of its code object: which one is tried, what a failure teaches.
#pragma once
#include "interpreter_hooks/frame_hook/code_record.h"
#include "interpreter_hooks/verify/verify.h"

namespace terra::capture {

/// What became of a call to a function that has entries.
enum class Served : unsigned char {
  Done,     ///< an entry served it
  Cut,      ///< an entry served its first part: the frame stands where it goes on
  Missed,   ///< no entry's guards hold
  Refused,  ///< guards held, but a graph found that it wasn't made for these values
  Busy,     ///< a graph fits, but doesn't serve at present: recording another would change nothing
  Broken,   ///< by fault injection, a signal or an error of ours: this frame runs plainly
};

/// Counts a call that `entry` has served.
void count_hit(CodeRecord& record, Entry& entry);

/// The likely entry if its guards hold for this call, else null; nothing is run or changed.
const Entry* would_serve(CodeRecord& record, TerraFrame* frame);

/// Tries the likely entry first, then the others. `result` is the frame's when Done. In a verifying mode there is no
/// result, and nothing but `verification` knows what it would have been.
Served serve(CodeRecord& record, PyThreadState* thread, TerraFrame* frame, PyObject** result,
             std::unique_ptr<Verification>& verification);

}  // namespace terra::capture
