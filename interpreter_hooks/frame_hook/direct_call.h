// Calls of captured functions that never become frames.
//
// What serves a call needs its arguments, not a frame. So once an entry has served a function, calls of the function
// come here first; those that the likely entry doesn't serve the short way go on as CPython would have them, to the
// hook.
#pragma once
#include "interpreter_hooks/frame_hook/code_record.h"

namespace terra::capture {

/// Whether the arguments of such a call are its positional ones in their order: no *args, **kwargs or keyword-only
/// ones.
bool takes_direct_calls(const PyCodeObject* code);

/// An entry of `record` has just served `function`.
void offer_direct_calls(const CodeRecord& record, PyFunctionObject* function);

}  // namespace terra::capture
