/* How much of the calling thread's C stack is left. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_C_STACK_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_C_STACK_H

#ifdef __cplusplus
extern "C" {
#endif

/* True when fewer than 256 KB are left: enough for C extensions and the handling of the RecursionError that follows.
 * A thread-local comparison after the thread's first call; false where the bounds of the stack are unknown. */
int terra_c_stack_is_nearly_full(void);

#ifdef __cplusplus
}
#endif

#endif
