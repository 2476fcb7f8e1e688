#include "interpreter_hooks/cpython/interruptions.h"

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030C0000
#error "interruptions_311.c was verified for CPython 3.11 only"
#endif

#undef _PyGC_FINALIZED /* python/cpython#105268 */
#define Py_BUILD_CORE
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

bool terra_signal_is_waiting(void) {
  return _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending) &&
         PyThread_get_thread_ident() == _PyRuntime.main_thread;
}

/* Handlers run in the main thread only: for the moment there is none. A signal that comes now sets the evaluator's flag all
 * the same. The identity is read again each time, for a forked child has another main thread. */
unsigned long terra_handlers_hold(void) {
  const unsigned long self = PyThread_get_thread_ident();
  if (self != _PyRuntime.main_thread) return 0;
  _PyRuntime.main_thread = 0;
  return self;
}

void terra_handlers_resume(unsigned long held) {
  if (held) _PyRuntime.main_thread = held;
}

unsigned long terra_lock_switches(void) { return _PyRuntime.ceval.gil.switch_number; }
