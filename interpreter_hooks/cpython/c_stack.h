/* How much of the calling thread's C stack is left. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_C_STACK_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_C_STACK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True when fewer than 256 KB are left: enough for C extensions and the handling of the RecursionError that follows.
 *
 * A thread-local comparison, except near the end of the stack. There the stack of the process's first thread is grown
 * in place, up to 512 MB, before the answer is true: without a hook, Python calls use no C stack and a program may have
 * raised its recursion limit far beyond what 8 MB hold. Growing on demand, rather than at the start, leaves programs
 * that never recurse so deep exactly as the operating system started them. Other threads keep the size they have. */
static inline int terra_c_stack_is_nearly_full(void);

/* Lowest address that frames of the thread may use: 0 when the bounds are unknown, UINTPTR_MAX before the first call.
 */
extern __thread uintptr_t terra_c_stack_lowest;
int terra_c_stack_is_nearly_full_after_growing(uintptr_t here);

static inline int terra_c_stack_is_nearly_full(void) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here < terra_c_stack_lowest && terra_c_stack_is_nearly_full_after_growing(here);
}

#ifdef __cplusplus
}
#endif

#endif
