#define _GNU_SOURCE
#include "interpreter_hooks/cpython/c_stack.h"

#include <pthread.h>
#include <stdint.h>

enum { RESERVE = 256 * 1024 };

/* Lowest address that frames may still use: 0 when unknown, UNREAD before the first call in this thread. */
#define UNREAD UINTPTR_MAX
static _Thread_local uintptr_t lowest = UNREAD;

static uintptr_t read_lowest(void) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* base = NULL;
  size_t size = 0;
  int failed = pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_destroy(&attributes);
  /* A stack this small (a thread made with an unusual stack_size) keeps CPython's own protection only. */
  if (failed || size < 2 * RESERVE) return 0;
  return (uintptr_t)base + RESERVE;
}

int terra_c_stack_is_nearly_full(void) {
  if (lowest == UNREAD) lowest = read_lowest();
  return (uintptr_t)__builtin_frame_address(0) < lowest;
}
