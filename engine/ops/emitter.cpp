#include "engine/ops/emitter.h"

#include "engine/errors/errors.h"
#include "engine/ops/program_emitter.h"

namespace terra {
namespace {

Emitter* eager_emitter = nullptr;
thread_local Emitter* scoped_emitter = nullptr;
thread_local Emitter* program_emitter = nullptr;

}  // namespace

Emitter& current_emitter() {
  if (scoped_emitter) return *scoped_emitter;
  if (program_emitter) return *program_emitter;
  return default_emitter();
}

Emitter& default_emitter() {
  ensure(eager_emitter != nullptr, "the eager engine was not started (eager::start)");
  return *eager_emitter;
}

void set_program_emitter(Emitter* emitter) { program_emitter = emitter; }

void set_default_emitter(Emitter* emitter) { eager_emitter = emitter; }

EmitterScope::EmitterScope(Emitter& emitter) : before_(scoped_emitter) { scoped_emitter = &emitter; }
EmitterScope::~EmitterScope() { scoped_emitter = before_; }

TapeHooks& tape_hooks() {
  static TapeHooks hooks;
  return hooks;
}

}  // namespace terra
