#define _GNU_SOURCE
#include "interpreter_hooks/cpython/c_stack.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>

#define KB ((uintptr_t)1024)
#define MB (1024 * KB)
#define RESERVE (256 * KB)
#define LARGEST_STACK (512 * MB)
/* Kept free above the mapping below the stack: the kernel insists on a gap of 1 MB itself. */
#define GAP (4 * MB)

#define UNREAD UINTPTR_MAX
__thread uintptr_t terra_c_stack_lowest = UNREAD;
static _Thread_local int has_grown;

/* An address at the top of the stack of the process's first thread (glibc). */
extern void* __libc_stack_end;

static uintptr_t read_lowest(void) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* base = NULL;
  size_t size = 0;
  int failed = pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_destroy(&attributes);
  /* A stack this small (an unusual threading.stack_size) keeps CPython's own protection only. */
  if (failed || size < 2 * RESERVE) return 0;
  return (uintptr_t)base + RESERVE;
}

/* Finds the first thread's stack in the memory map, and the end of the mapping below it. */
static int find_first_stack(uintptr_t* begin, uintptr_t* end, uintptr_t* below) {
  FILE* maps = fopen("/proc/self/maps", "re");
  if (!maps) return 0;
  uintptr_t previous = 0, from = 0, to = 0;
  int found = 0;
  while (!found && fscanf(maps, "%lx-%lx%*[^\n]", &from, &to) == 2) {
    found = from <= (uintptr_t)__libc_stack_end && (uintptr_t)__libc_stack_end < to;
    if (!found) previous = to;
  }
  fclose(maps);
  *begin = from;
  *end = to;
  *below = previous;
  return found;
}

/* The kernel grows this stack when an address below it is touched, as far as the limit allows at that moment. So the
 * limit is raised for one touch and put back; children inherit nothing. The touch is a system call that fails where an
 * ordinary write would be a segmentation fault. */
static uintptr_t grow_first_stack(uintptr_t here) {
  uintptr_t begin, end, below;
  if (!find_first_stack(&begin, &end, &below) || here < begin || here >= end) return 0;
  uintptr_t target = end - LARGEST_STACK;
  if (target < below + GAP) target = below + GAP;
  if (target >= begin) return 0;

  struct rlimit before, raised;
  if (getrlimit(RLIMIT_STACK, &before) != 0) return 0;
  raised = before;
  if (raised.rlim_cur < LARGEST_STACK + MB) raised.rlim_cur = LARGEST_STACK + MB;
  if (raised.rlim_cur > before.rlim_max) raised.rlim_cur = before.rlim_max;
  if (end - target >= raised.rlim_cur) target = end - raised.rlim_cur + MB;
  if (target >= begin || setrlimit(RLIMIT_STACK, &raised) != 0) return 0;
  int grown = getrandom((void*)target, 1, GRND_NONBLOCK) == 1;
  setrlimit(RLIMIT_STACK, &before);
  return grown ? target : 0;
}

int terra_c_stack_is_nearly_full_after_growing(uintptr_t here) {
  if (terra_c_stack_lowest == UNREAD) terra_c_stack_lowest = read_lowest();
  if (here >= terra_c_stack_lowest) return 0;
  if (!has_grown) {
    has_grown = 1;
    uintptr_t grown = grow_first_stack(here);
    if (grown) terra_c_stack_lowest = grown + RESERVE;
  }
  return here < terra_c_stack_lowest;
}
