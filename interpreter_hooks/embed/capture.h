// When capture begins in a process that runs Python programs, and when its reports are written.
#pragma once

namespace terra::embed {

// Reads the TERRA_ variables, puts the frame hook in unless they say off, and sees to it that the reports they ask for
// are written at exit, while the interpreter still exists. Only the first call does anything. Needs the GIL and a
// running interpreter; returns false with a Python exception set when something failed.
//
// Importing `_terra_C` calls this: a program without tensors never pays for a hook.
bool start_capture();

// True when the variables ask for capture, or a report of it, in programs that never import Terra too.
bool capture_starts_with_program();

// True when a report that they ask for could not be written.
bool reports_failed();

}  // namespace terra::embed
