/* frame.h for CPython 3.12. The layout was read in pycore_frame.h of 3.12.1.
 *
 * Here the evaluator owns the frame: it takes down what it has run, and whoever takes its place does so with what has
 * not. Below every evaluator stands an entry frame on the C stack, which runs no code of the program. */
#include "interpreter_hooks/cpython/frame.h"

#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x030d0000
#error "frame_312.c knows the frame layout of CPython 3.12 only; write and verify a file for this version"
#endif

/* CPython 3.11 defines this macro in both a public and an internal header (python/cpython#105268). */
#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "interpreter_hooks/cpython/c_stack.h"
#include "interpreter_hooks/cpython/code_extra_311.h"
#include "interpreter_hooks/cpython/events.h"
#include "interpreter_hooks/cpython/instructions.h"

/* A frame that has come to our evaluator. */
typedef struct Visit {
  TerraFrame* frame;
  struct Visit* outer;
  int has_run;
} Visit;
static _Thread_local Visit* visits;

/* What CPython takes off `c_recursion_remaining` for a frame that is run through a hook. The C stack is looked at
 * (c_stack.h), so that this count, which stops at 748 frames, need not protect it. */
enum { c_stack_units = 2 };

PyObject* terra_frame_run(PyThreadState* thread, TerraFrame* frame, int throwing) {
  if (terra_c_stack_is_nearly_full()) {
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the thread's C stack is used up");
    return NULL;
  }
  if (visits && visits->frame == frame) visits->has_run = 1;
  terra_events_watch(frame);
  thread->c_recursion_remaining += c_stack_units;
  PyObject* result = _PyEval_EvalFrameDefault(thread, frame, throwing);
  thread->c_recursion_remaining -= c_stack_units;
  return result;
}

/* As _PyEvalFrameClearAndPop takes down a frame of a function that has not been run, or not to its end. */
static void clear_and_pop(PyThreadState* thread, TerraFrame* frame) {
  PyObject* raised = PyErr_GetRaisedException(); /* dropping references may run code of the program */
  const int count = frame->stacktop;
  frame->stacktop = 0;
  for (int i = 0; i < count; i++) Py_XDECREF(frame->localsplus[i]);
  Py_CLEAR(frame->frame_obj); /* that nobody else holds: terra_frame_is_watched */
  Py_XDECREF(frame->f_locals);
  Py_DECREF(frame->f_funcobj);
  Py_DECREF(frame->f_code);

  _PyStackChunk* chunk = thread->datastack_chunk;
  PyObject** const base = (PyObject**)frame;
  if (base == chunk->data) { /* the first of its chunk */
    _PyStackChunk* previous = chunk->previous;
    thread->datastack_top = &previous->data[previous->top];
    thread->datastack_chunk = previous;
    thread->datastack_limit = (PyObject**)((char*)previous + previous->size);
    PyObjectArenaAllocator arena;
    PyObject_GetArenaAllocator(&arena);
    arena.free(arena.ctx, chunk, chunk->size);
  } else {
    thread->datastack_top = base;
  }
  PyErr_SetRaisedException(raised);
}

int terra_frame_is_borrowed(const TerraFrame* frame) { return frame->owner != FRAME_OWNED_BY_THREAD; }

static TerraEvaluator installed;
static void (*when_overtaken)(void);
static int linked; /* `hook` is in the interpreter's chain of evaluators, perhaps behind somebody else's */

uint64_t terra_frames_seen;
static int watchers;
static Py_ssize_t notes = -1;

static int is_left_alone(PyCodeObject* code) {
  TerraCodeNote* note = notes < 0 ? NULL : code_extra(code, notes);
  if (!note || note->unseen == 0) return 0;
  note->unseen--;
  return 1;
}

static PyObject* hook(PyThreadState* thread, TerraFrame* frame, int throwing) {
  TerraEvaluator evaluator = installed;
  /* CPython has just read eval_frame to get here: the comparison is as good as free. */
  if (evaluator && thread->interp->eval_frame != hook) {
    evaluator = installed = NULL;
    if (when_overtaken) when_overtaken();
  }
  if (!evaluator) return terra_frame_run(thread, frame, throwing);
  terra_frames_seen++;
  if (!watchers && !terra_stretch_ends() && (terra_frame_is_borrowed(frame) || is_left_alone(frame->f_code))) {
    return terra_frame_run(thread, frame, throwing);
  }
  /* The code object is looked at after its last run, too. */
  PyObject* code = Py_NewRef(frame->f_code);
  const int ours = !terra_frame_is_borrowed(frame);
  Visit visit = {.frame = frame, .outer = visits};
  visits = &visit;
  PyObject* result = evaluator(thread, frame, throwing);
  visits = visit.outer;
  if (!visit.has_run && ours) clear_and_pop(thread, frame);
  Py_DECREF(code);
  return result;
}

void terra_hook_read_notes(Py_ssize_t index) { notes = index; }

void terra_hook_watch(int change) { watchers += change; }

int terra_hook_is_in_front(void) { return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Main()) == hook; }

int terra_hook_install(TerraEvaluator evaluator, void (*overtaken)(void)) {
  PyInterpreterState* interpreter = PyInterpreterState_Main();
  if (linked && !terra_hook_is_in_front()) return 0;
  if (!linked) {
    if (_PyInterpreterState_GetEvalFrameFunc(interpreter) != _PyEval_EvalFrameDefault) return 0;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, hook);
    linked = 1;
  }
  installed = evaluator;
  when_overtaken = overtaken;
  return 1;
}

void terra_hook_uninstall(void) {
  installed = NULL;
  PyInterpreterState* interpreter = PyInterpreterState_Main();
  if (!linked || _PyInterpreterState_GetEvalFrameFunc(interpreter) != hook) return;
  _PyInterpreterState_SetEvalFrameFunc(interpreter, _PyEval_EvalFrameDefault);
  linked = 0;
}

int terra_hook_is_installed(void) { return installed != NULL; }

int terra_hook_sees(const PyThreadState* thread) { return installed && thread->interp->eval_frame == hook; }

int terra_thread_depth(const PyThreadState* thread) {
  return thread->py_recursion_limit - thread->py_recursion_remaining;
}

int terra_thread_room(const PyThreadState* thread) { return thread->py_recursion_remaining; }

int terra_frame_can_run(const PyThreadState* thread) {
  return thread->py_recursion_remaining > 1 && !terra_c_stack_is_nearly_full();
}

void terra_frame_continue_at(TerraFrame* frame, int instruction, int depth) {
  terra_frame_set_instruction(frame, instruction - 1);
  terra_frame_set_stack_depth(frame, depth);
}

/* As _PyEval_EvalFrameDefault puts a frame into the chain and takes it out. */
int terra_frame_perform(PyThreadState* thread, TerraFrame* frame, int (*perform)(TerraFrame*, void*), void* context) {
  _PyCFrame link = {.current_frame = frame, .previous = thread->cframe};
  frame->previous = link.previous->current_frame;
  thread->cframe = &link;
  thread->py_recursion_remaining--;
  const int done = perform(frame, context);
  thread->py_recursion_remaining++;
  thread->cframe = link.previous;
  return done;
}

void terra_frame_set_instruction(TerraFrame* frame, int instruction) {
  frame->prev_instr = _PyCode_CODE(frame->f_code) + instruction;
}

void terra_frame_set_stack_depth(TerraFrame* frame, int depth) {
  frame->stacktop = frame->f_code->co_nlocalsplus + depth;
}

int terra_frame_is_watched(const TerraFrame* frame) { return frame->frame_obj && Py_REFCNT(frame->frame_obj) > 1; }

PyCodeObject* terra_frame_code(const TerraFrame* frame) { return frame->f_code; }

PyFunctionObject* terra_frame_function(const TerraFrame* frame) { return (PyFunctionObject*)frame->f_funcobj; }

PyObject** terra_frame_localsplus(TerraFrame* frame) { return frame->localsplus; }

/* Entry frames are passed over. */
static TerraFrame* of_program(TerraFrame* frame) {
  while (frame && frame->owner == FRAME_OWNED_BY_CSTACK) frame = frame->previous;
  return frame;
}

TerraFrame* terra_frame_current(PyThreadState* thread) { return of_program(thread->cframe->current_frame); }

TerraFrame* terra_frame_caller(const TerraFrame* frame) { return of_program(frame->previous); }

int terra_frame_instruction(const TerraFrame* frame) { return _PyInterpreterFrame_LASTI(frame); }

/* The evaluator keeps the height of the stack to itself; the code says what it is at an instruction. */
int terra_frame_stack_depth(const TerraFrame* frame) {
  if (frame->stacktop >= 0) return frame->stacktop - frame->f_code->co_nlocalsplus;
  const TerraInstruction* all = terra_instructions(frame->f_code);
  return all ? all[terra_frame_instruction(frame)].depth : 0;
}

PyObject* terra_thread_handled_exception(const PyThreadState* thread) {
  for (const _PyErr_StackItem* item = thread->exc_info; item; item = item->previous_item) {
    if (item->exc_value && item->exc_value != Py_None) return item->exc_value;
  }
  return NULL;
}

int terra_thread_is_observed(const PyThreadState* thread) {
  if (thread->tracing || thread->c_tracefunc || thread->c_profilefunc) return 1;
  for (int tool = 0; tool < PY_MONITORING_TOOL_IDS; tool++) {
    if (thread->interp->monitoring_tool_names[tool] && tool != terra_events_tool()) return 1;
  }
  return 0;
}
