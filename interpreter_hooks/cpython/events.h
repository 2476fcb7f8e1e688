/* One event per opcode of the frames of this thread that start while events are on.
 *
 * 3.11 delivers them through the C trace function with f_trace_opcodes; 3.12 and later through sys.monitoring. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_EVENTS_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_EVENTS_H

#include "interpreter_hooks/cpython/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the frame is: terra_frame_instruction(frame) is the instruction about to run; for an instruction with
 * EXTENDED_ARG there is one event, at the first prefix. The stack of the frame is readable. */
typedef void (*TerraInstructionEvent)(TerraFrame* frame);

/* Called at the first instruction of a frame (RESUME) and whenever a generator goes on: cells exist from here on. */
typedef void (*TerraStartEvent)(TerraFrame* frame);

/* Switches events on for the calling thread; audit hooks hear nothing of it. False when somebody else traces the
 * thread. */
int terra_events_start(TerraStartEvent start, TerraInstructionEvent instruction);

/* After a start: sends the events of a frame that goes on in the middle, too. It has no start event. */
void terra_events_watch(TerraFrame* frame);

/* Under which number sys.monitoring knows us; -1 as long as it doesn't. */
int terra_events_tool(void);

/* Switches them off again; allowed inside an event. Frames that are running go on without further events, and their
 * frame objects carry no marks that a later debugger would see. A tracer that is not ours any more stays. */
void terra_events_stop(void);

/* False as soon as the program has installed a trace function of its own (sys.settrace inside the recorded frame). */
int terra_events_are_on(const PyThreadState* thread);

#ifdef __cplusplus
}
#endif

#endif
