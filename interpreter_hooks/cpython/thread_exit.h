/* What becomes of a thread that the interpreter has outlived. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_THREAD_EXIT_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_THREAD_EXIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread stays where it is until the process ends.
 *
 * CPython before 3.14 ends such a thread where it asks for the lock, by pthread_exit: that unwinds its C stack, and
 * destructors of every C++ frame below a Python frame would drop references without the lock, in an interpreter that is
 * gone. As in 3.14, it stays: the linker sends CPython's calls of PyThread_exit_thread here
 * (LINKER:--wrap in interpreter_hooks/CMakeLists.txt). */
void terra_thread_stays(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
