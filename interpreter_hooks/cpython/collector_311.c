#include "interpreter_hooks/cpython/collector.h"

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030D0000
#error "collector_311.c was verified for CPython 3.11 and 3.12 only"
#endif

/* Objects with a collector head have it directly in front of them: two words, the second of which keeps this flag in
 * its lowest bit (Include/internal/pycore_gc.h, _PyGC_PREV_MASK_FINALIZED). */
enum { finalized_bit = 1 };

void terra_rearm_finalizer(PyObject* object) { ((uintptr_t*)object)[-1] &= ~(uintptr_t)finalized_bit; }
