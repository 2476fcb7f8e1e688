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

unsigned long terra_lock_switches(void) { return _PyRuntime.ceval.gil.switch_number; }
