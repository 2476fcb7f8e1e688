/* events.h for CPython 3.12 and later: the INSTRUCTION events of sys.monitoring (PEP 669), for the code objects whose
 * frames start while events are on.
 *
 * Instrumented code runs without specialisation, so that the value stack is complete. Each prefix of an instruction
 * sends an event of its own; what comes before the first RESUME sends none, and neither does a RESUME. */
#include "interpreter_hooks/cpython/events.h"

#include "interpreter_hooks/cpython/instructions.h"

#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x030e0000
#error "events_312.c knows CPython 3.12 and 3.13 only"
#endif

#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_instruments.h>
#undef Py_BUILD_CORE

/* sys.monitoring leaves 3 and 4 to whoever comes. */
enum { our_tool = 4 };

static _Thread_local TerraStartEvent on_start;
static _Thread_local TerraInstructionEvent on_instruction;
static _Thread_local int on; /* from start to stop */

static PyObject* monitoring; /* sys.monitoring; null before the first start */
static PyObject* instruction_events;
static _Thread_local PyObject* watched; /* a list of the code objects that this thread has made send events */

int terra_events_tool(void) { return monitoring ? our_tool : -1; }

/* The instruction at an offset begins there, not with a prefix before it. */
static int begins_at(const TerraInstruction* all, int offset) {
  return offset == 0 || all[offset - 1].kind == TERRA_NOTHING || all[offset - 1].at < offset;
}

static PyObject* event(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self, (void)count;
  if (!on) Py_RETURN_NONE;
  TerraFrame* frame = terra_frame_current(PyThreadState_Get());
  const TerraInstruction* all = terra_instructions((PyCodeObject*)arguments[0]);
  const int offset = terra_frame_instruction(frame);
  if (!all || !begins_at(all, offset)) Py_RETURN_NONE;
  if (offset > 0 && all[offset - 1].kind == TERRA_RESUME) on_start(frame);
  if (on) on_instruction(frame);
  Py_RETURN_NONE;
}

/* Makes us known to sys.monitoring, once. */
static int register_tool(void) {
  if (monitoring) return 1;
  static PyMethodDef definition = {"terra_event", (PyCFunction)(void (*)(void))event, METH_FASTCALL, NULL};
  PyObject* module = PySys_GetObject("monitoring"); /* borrowed */
  PyObject* function = PyCFunction_New(&definition, NULL);
  PyObject* events = module ? PyObject_GetAttrString(module, "events") : NULL;
  PyObject* instruction = events ? PyObject_GetAttrString(events, "INSTRUCTION") : NULL;
  PyObject* named =
      function && instruction ? PyObject_CallMethod(module, "use_tool_id", "is", our_tool, "terra") : NULL;
  PyObject* before =
      named ? PyObject_CallMethod(module, "register_callback", "iOO", our_tool, instruction, function) : NULL;
  if (before) {
    monitoring = Py_NewRef(module);
    instruction_events = Py_NewRef(instruction);
  }
  PyErr_Clear();
  Py_XDECREF(before);
  Py_XDECREF(named);
  Py_XDECREF(instruction);
  Py_XDECREF(events);
  Py_XDECREF(function);
  return monitoring != NULL;
}

static int set_events(PyObject* code, PyObject* events) {
  PyObject* done = PyObject_CallMethod(monitoring, "set_local_events", "iOO", our_tool, code, events);
  Py_XDECREF(done);
  return done != NULL;
}

int terra_events_start(TerraStartEvent start, TerraInstructionEvent instruction) {
  if (terra_thread_is_observed(PyThreadState_Get()) || !register_tool()) return 0;
  on_start = start;
  on_instruction = instruction;
  watched = PyList_New(0);
  if (!watched) PyErr_Clear();
  on = watched != NULL;
  return on;
}

static int sends_events(const PyCodeObject* code) {
  const _PyCoMonitoringData* data = code->_co_monitoring;
  return data && data->local_monitors.tools[PY_MONITORING_EVENT_INSTRUCTION] & 1 << our_tool;
}

void terra_events_watch(TerraFrame* frame) {
  PyCodeObject* code = terra_frame_code(frame);
  if (!on || sends_events(code)) return;
  PyObject* raised = PyErr_GetRaisedException(); /* thrown into a generator */
  if (!set_events((PyObject*)code, instruction_events) || PyList_Append(watched, (PyObject*)code) < 0) PyErr_Clear();
  PyErr_SetRaisedException(raised);
}

void terra_events_stop(void) {
  if (!on) return;
  on = 0;
  PyObject* raised = PyErr_GetRaisedException();
  PyObject* none = PyLong_FromLong(0);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(watched); i++) {
    if (!set_events(PyList_GET_ITEM(watched, i), none)) PyErr_Clear();
  }
  Py_CLEAR(watched);
  Py_XDECREF(none);
  PyErr_SetRaisedException(raised);
}

int terra_events_are_on(const PyThreadState* thread) { return on && !thread->c_tracefunc && !thread->c_profilefunc; }
