#include "interpreter_hooks/cpython/thread_exit.h"

#include <unistd.h>

void terra_thread_stays(void) {
  for (;;) pause();
}

void __wrap_PyThread_exit_thread(void) __attribute__((noreturn));
void __wrap_PyThread_exit_thread(void) { terra_thread_stays(); }
