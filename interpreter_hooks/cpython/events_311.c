/* events.h for CPython 3.11: a C trace function with opcode events.
 *
 * The trace path of 3.11 stores the stack pointer before the callback and de-optimises the opcode before dispatch, so
 * specialised instructions never show up and the value stack is complete. */
#include "interpreter_hooks/cpython/events.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "events_311.c knows CPython 3.11 only"
#endif

#include <frameobject.h>
#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#include <internal/pycore_pystate.h>
#undef Py_BUILD_CORE

static _Thread_local TerraStartEvent on_start;
static _Thread_local TerraInstructionEvent on_instruction;
static _Thread_local int on; /* from start to stop, also while somebody else's trace function is in place of ours */

static void want_opcodes(PyFrameObject* object, int wanted) {
  object->f_trace_opcodes = (char)wanted;
  object->f_trace_lines = (char)!wanted;
}

static int tracer(PyObject* self, PyFrameObject* object, int what, PyObject* argument) {
  (void)self;
  (void)argument;
  switch (what) {
    case PyTrace_CALL:
      want_opcodes(object, 1);
      on_start(object->f_frame);
      break;
    case PyTrace_OPCODE: on_instruction(object->f_frame); break;
    case PyTrace_RETURN: /* also sent for a yield: the generator may be traced by others before it comes back */
      want_opcodes(object, 0);
      break;
    default: break;
  }
  return 0;
}

/* What PyEval_SetTrace does, without its audit event: hooks of the program would run, switch threads (where 3.11
 * refuses whoever sets a tracer meanwhile) and hear of tracing that the program knows nothing of. Ours has no object.
 */
static void set_tracer(PyThreadState* thread, Py_tracefunc wanted) {
  thread->c_tracefunc = wanted;
  _PyThreadState_UpdateTracingState(thread);
}

int terra_events_start(TerraStartEvent start, TerraInstructionEvent instruction) {
  PyThreadState* thread = PyThreadState_Get();
  if (terra_thread_is_observed(thread)) return 0;
  on_start = start;
  on_instruction = instruction;
  set_tracer(thread, tracer);
  on = 1;
  return 1;
}

int terra_events_tool(void) { return -1; }

void terra_events_watch(TerraFrame* frame) { want_opcodes(_PyFrame_GetFrameObject(frame), 1); }

void terra_events_stop(void) {
  PyThreadState* thread = PyThreadState_Get();
  if (!on) return;
  on = 0;
  if (thread->c_tracefunc == tracer) set_tracer(thread, NULL);
  for (TerraFrame* frame = thread->cframe->current_frame; frame; frame = frame->previous) {
    PyFrameObject* object = frame->frame_obj;
    if (object && object->f_trace_opcodes && !object->f_trace_lines) want_opcodes(object, 0);
  }
}

int terra_events_are_on(const PyThreadState* thread) { return thread->c_tracefunc == tracer; }
