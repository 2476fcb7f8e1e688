#include "interpreter_hooks/frame_hook/idle_unhook.h"

#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/session.h"
#include "interpreter_hooks/verify/chaos.h"

namespace terra::capture {

namespace {

struct Quiet {
  uint64_t operations = 0;  ///< tensor operations and served calls up to the last stretch
  unsigned stretches = 0;   ///< quiet ones in a row
  unsigned enough = 1;
};
Quiet quiet;

constexpr int deep = 1000;

void wake() { set_mode(settings().mode); }

bool may_be_out() {
  if (frame_mode() != Mode::Auto || chaos_is_on() || session_of_thread || !terra_hook_is_in_front()) return false;
  // A recursion that has gone deep under the hook ends where the C stack does; without it nothing would hold it.
  return terra_thread_depth(PyThreadState_Get()) <= deep;
}

}  // namespace

bool is_resting() { return hooks::counters.wake == wake; }

void consider_rest() {
  const uint64_t operations = hooks::counters.eager_calls + static_cast<uint64_t>(totals().replays);
  quiet.stretches = operations == quiet.operations ? quiet.stretches + 1 : 0;
  quiet.operations = operations;
  if (quiet.stretches < quiet.enough || !may_be_out()) return;
  quiet.stretches = 0;
  quiet.enough *= 2;
  hooks::counters.wake = wake;
  terra_hook_uninstall();
}

Unhooked::Unhooked() : is_out_(may_be_out()) {
  if (is_out_) terra_hook_uninstall();
}

Unhooked::~Unhooked() {
  if (is_out_) apply_hook();
}

}  // namespace terra::capture
