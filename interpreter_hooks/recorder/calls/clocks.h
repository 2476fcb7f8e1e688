// Clocks: a number that is another one in each run.
#pragma once
#include "interpreter_hooks/guards/program.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

namespace terra::capture {

/// What such a program has computed can't be compared with what another run of the frame computes.
bool reads_a_clock(const Program& entry);

}  // namespace terra::capture
