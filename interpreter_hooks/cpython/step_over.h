/* One instruction of a frame, performed outside the evaluator: what stands between two parts of a frame that graphs
 * serve. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_STEP_OVER_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_STEP_OVER_H

#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/cpython/instructions.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TERRA_STEP_DONE,     /* the frame stands before the next instruction */
  TERRA_STEP_RAISED,   /* terra_frame_run(thread, frame, 1) goes on with the exception */
  TERRA_STEP_DECLINED, /* nothing was done: terra_frame_run(thread, frame, 0) */
} TerraStep;

/* Whether the instruction (of a call: the sequence that begins there) is one of those that can be performed. */
int terra_can_step_over(const TerraInstruction* instruction);

/* Performs the instruction that a frame of this thread, which the evaluator does not run, stands before (see
 * terra_frame_continue_at). Meanwhile the frame is in the thread's chain, at this instruction: callees, tracebacks and
 * sys._getframe() see what they see under the evaluator. */
TerraStep terra_frame_step_over(PyThreadState* thread, TerraFrame* frame);

#ifdef __cplusplus
}
#endif

#endif
