#include "interpreter_hooks/frame_hook/release.h"

#include "interpreter_hooks/cpython/interruptions.h"
#include "interpreter_hooks/cpython/thread_exit.h"
#include "interpreter_hooks/entry/registers.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include "engine/eager/host_lock.h"

namespace terra::capture {

namespace {

/// What a register holds in two runs. Objects that the run made, and numbers, are the same where their values are; what
/// it made of other things (a dict) counts as different, for nothing tells whether it is.
bool same(PyObject* before, PyObject* after, bool made) {
  if (before == after) return true;
  return before && after && (made || is_atom(before)) && same_value(before, after);
}

bool lock_is_shared() { return PyThreadState_Next(PyInterpreterState_ThreadHead(PyThreadState_Get()->interp)); }

void* drop_lock() {
  PyThreadState* own = PyGILState_GetThisThreadState();
  return own && own == _PyThreadState_UncheckedGet() ? PyEval_SaveThread() : nullptr;
}

void take_lock(void* dropped) {
  if (WithoutHostLock::is_over()) terra_thread_stays();
  PyEval_RestoreThread(static_cast<PyThreadState*>(dropped));
}

}  // namespace

void EntryRelease::hold() {
  held_ = std::make_unique<Held>();
  entry_.checks.released(entry_.hits);
  for (TensorImpl* tensor : *lent_) held_->tensors.push_back(kept(tensor));
  const std::vector<bool> read = entry_.read_later();
  for (size_t r = 0; r < read.size(); r++) {
    PyObject* object = run_.registers[r];
    if (read[r] && !entry_.file.owned(static_cast<Register>(r)) && object)
      held_->objects.push_back(hooks::Object::share(object));
  }
}

bool EntryRelease::stands() {
  if (entry_.file.stale()) return false;
  Registers registers(entry_.file);
  Run now{registers.first(), run_.arguments, run_.function};
  if (entry_.entry.run(now) >= 0) return false;
  const std::vector<bool> read = entry_.read_later();
  for (size_t r = 0; r < read.size(); r++) {
    if (!read[r]) continue;
    if (!same(run_.registers[r], now.registers[r], entry_.file.owned(static_cast<Register>(r)))) return false;
  }
  for (size_t i = 0; i < held_->tensors.size(); i++) {
    if (held_->tensors[i].get() != tensor_of(now.registers[entry_.tensors[i]])) return false;
  }
  return true;
}

bool wait_for_another_run() {
  if (terra_signal_is_waiting()) return false;
  graph::await_landing();
  return true;
}

void install_host_lock() { host_lock() = {drop_lock, take_lock, lock_is_shared, terra_lock_switches}; }

}  // namespace terra::capture
