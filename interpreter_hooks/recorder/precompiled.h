// What nearly every unit of recorder, verify and frame_hook includes, as engine/precompiled.h.
#pragma once
#include "interpreter_hooks/precompiled.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
