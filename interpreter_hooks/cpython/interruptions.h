/* What can come between two instructions of a thread: handlers of signals, and other threads. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_INTERRUPTIONS_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_INTERRUPTIONS_H

#include <Python.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True when a signal has come whose handler the calling thread will run at its next chance: in the main thread only.
 * Nothing is handled. Needs no lock; a load and a comparison unless a signal waits. */
bool terra_signal_is_waiting(void);

/* Between the two, C functions that look for signals on their way (repr, str, arithmetic on long ints) run no handlers
 * of the program in the calling thread; CPython's evaluator finds those that waited. `held` is what terra_handlers_hold
 * returned; the pairs nest. */
unsigned long terra_handlers_hold(void);
void terra_handlers_resume(unsigned long held);

/* How often the interpreter's lock has gone to another thread since the process began. While it stays the same, the
 * calling thread, which holds the lock, has been alone. */
unsigned long terra_lock_switches(void);

#ifdef __cplusplus
}
#endif

#endif
