#include "interpreter_hooks/cpython/interruptions.h"

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030C0000
#error "interruptions_311.c was verified for CPython 3.11 only"
#endif

#undef _PyGC_FINALIZED /* python/cpython#105268 */
#define Py_BUILD_CORE
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

/* Whoever asks may do so without the interpreter's lock, while the main thread has made itself none. */
static unsigned long main_thread(void) { return __atomic_load_n(&_PyRuntime.main_thread, __ATOMIC_RELAXED); }
static void set_main_thread(unsigned long self) { __atomic_store_n(&_PyRuntime.main_thread, self, __ATOMIC_RELAXED); }

bool terra_signal_is_waiting(void) {
  return _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending) && PyThread_get_thread_ident() == main_thread();
}

/* Handlers run in the main thread only: for the moment there is none. A signal that comes now sets the evaluator's flag
 * all the same. The identity is read again each time, for a forked child has another main thread. */
unsigned long terra_handlers_hold(void) {
  const unsigned long self = PyThread_get_thread_ident();
  if (self != main_thread()) return 0;
  set_main_thread(0);
  return self;
}

/* Whatever takes the interpreter's lock or looks at the evaluator's flag in between clears it: no thread could handle.
 */
void terra_handlers_resume(unsigned long held) {
  if (!held) return;
  set_main_thread(held);
  if (_Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending))
    _Py_atomic_store_relaxed(&PyInterpreterState_Main()->ceval.eval_breaker, 1);
}

unsigned long terra_lock_switches(void) { return _PyRuntime.ceval.gil.switch_number; }
