// The frame hook: sees every Python frame before it runs, and serves, records or passes it on.
#pragma once
#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/frame_hook/mode.h"

#include <string>

namespace terra::capture {

/// Reads the environment and installs the hook unless the mode is off. Once, when the interpreter is up.
void start();
/// Changes the mode of the process and takes the hook in or out accordingly. Returns the mode before.
Mode set_mode(Mode mode);
/// Takes the hook in or out as the mode has it.
void apply_hook();
/// Gives way to an evaluator (PEP 523) that has taken our place and doesn't call us: then nothing else tells of it.
void notice_foreign_evaluator();

/// What happened since the start; also in --report.
struct Totals {
  long replays = 0, misses = 0, fallbacks = 0, recordings = 0, captures = 0, internal_errors = 0;
  long wrong = 0;  ///< entries that were compared with plain execution and differed
  long cuts = 0;   ///< replays after which CPython went on in the middle of the frame
  double recording_ms = 0;
  unsigned long graph_calls = 0;  ///< user-level tensor calls that ran inside graphs
};
inline constinit Totals process_totals;
inline Totals& totals() { return process_totals; }

}  // namespace terra::capture
