// Guards in words, for people who ask why a call missed.
#pragma once
#include "interpreter_hooks/guards/program.h"

namespace terra::capture {

/// True for an instruction of an entry program that only fetches something for the guards behind it.
bool is_read(const Word* at);

/// What a failing instruction of an entry program found in place of what it demands: "x.shape[0] was 4, now 5". `run`
/// has stopped there.
std::string miss_text(const Word* at, const Run& run, const RegisterFile& file);

}  // namespace terra::capture
