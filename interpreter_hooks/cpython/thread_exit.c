/* What becomes of a thread that the interpreter has outlived.
 *
 * CPython before 3.14 ends such a thread where it asks for the lock, by pthread_exit: that unwinds its C stack, and
 * destructors of every C++ frame below a Python frame would drop references without the lock, in an interpreter that is
 * gone. As in 3.14, the thread stays where it is until the process ends. The linker sends CPython's calls here
 * (LINKER:--wrap in interpreter_hooks/CMakeLists.txt). */
#include <unistd.h>

void __wrap_PyThread_exit_thread(void) __attribute__((noreturn));
void __wrap_PyThread_exit_thread(void) {
  for (;;) pause();
}
