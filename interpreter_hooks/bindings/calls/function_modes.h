// torch.overrides.TorchFunctionMode: objects that see every call of this thread before tensors are asked.
#pragma once
#include "interpreter_hooks/bindings/object.h"

namespace terra::hooks {

/// True while a mode of this thread sees the calls that run, one of these or one of __torch_dispatch__ (dispatch.h).
/// Calls cost one load and a branch where none does.
inline thread_local constinit bool modes_see_calls = false;
/// Whether one of these does.
bool function_modes_see_calls();
/// Says whether one of __torch_dispatch__ does.
void let_dispatch_modes_see_calls(bool yes);

/// Takes the innermost mode off the stack for a scope: what the mode itself calls is seen by those around it.
class ModeAside {
 public:
  ModeAside();
  ~ModeAside();
  ModeAside(const ModeAside&) = delete;
  Borrowed mode() const { return mode_.get(); }

 private:
  Object mode_;
};

/// The innermost mode, or null. Borrowed.
Borrowed innermost_mode();
/// Whether modes are asked on this thread (torch._C.DisableTorchFunction switches them off with everything else).
bool modes_are_enabled();
void enable_modes(bool yes);

extern PyMethodDef mode_functions[];

}  // namespace terra::hooks
