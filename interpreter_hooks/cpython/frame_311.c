/* frame.h for CPython 3.11. The layout was read in pycore_frame.h of 3.11.2 and 3.11.7. */
#include "interpreter_hooks/cpython/frame.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "frame_311.c knows the frame layout of CPython 3.11 only; write and verify a file for this version"
#endif

/* CPython 3.11 defines this macro in both a public and an internal header (python/cpython#105268). */
#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

#include "interpreter_hooks/cpython/c_stack.h"
#include "interpreter_hooks/cpython/code_extra_311.h"

PyObject* terra_frame_run(PyThreadState* thread, TerraFrame* frame, int throwing) {
  if (terra_c_stack_is_nearly_full()) {
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the thread's C stack is used up");
    return NULL;
  }
  return _PyEval_EvalFrameDefault(thread, frame, throwing);
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
  return evaluator(thread, frame, throwing);
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

int terra_thread_depth(const PyThreadState* thread) { return thread->recursion_limit - thread->recursion_remaining; }

int terra_thread_room(const PyThreadState* thread) { return thread->recursion_remaining; }

int terra_frame_can_run(const PyThreadState* thread) {
  return thread->recursion_remaining > 1 && !terra_c_stack_is_nearly_full();
}

void terra_frame_continue_at(TerraFrame* frame, int instruction, int depth) {
  terra_frame_set_instruction(frame, instruction - 1);
  terra_frame_set_stack_depth(frame, depth);
}

/* As _PyEval_EvalFrameDefault puts a frame into the chain and takes it out. */
int terra_frame_perform(PyThreadState* thread, TerraFrame* frame, int (*perform)(TerraFrame*, void*), void* context) {
  _PyCFrame link = {.use_tracing = thread->cframe->use_tracing, .current_frame = frame, .previous = thread->cframe};
  frame->is_entry = true;
  frame->previous = link.previous->current_frame;
  thread->cframe = &link;
  thread->recursion_remaining--;
  const int done = perform(frame, context);
  thread->recursion_remaining++;
  thread->cframe = link.previous;
  thread->cframe->use_tracing = link.use_tracing;
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

PyFunctionObject* terra_frame_function(const TerraFrame* frame) { return frame->f_func; }

PyObject** terra_frame_localsplus(TerraFrame* frame) { return frame->localsplus; }

TerraFrame* terra_frame_current(PyThreadState* thread) { return thread->cframe->current_frame; }

TerraFrame* terra_frame_caller(const TerraFrame* frame) { return frame->previous; }

int terra_frame_instruction(const TerraFrame* frame) { return _PyInterpreterFrame_LASTI(frame); }

int terra_frame_stack_depth(const TerraFrame* frame) { return frame->stacktop - frame->f_code->co_nlocalsplus; }

PyObject* terra_thread_handled_exception(const PyThreadState* thread) {
  for (const _PyErr_StackItem* item = thread->exc_info; item; item = item->previous_item) {
    if (item->exc_value && item->exc_value != Py_None) return item->exc_value;
  }
  return NULL;
}

int terra_thread_is_observed(const PyThreadState* thread) {
  return thread->tracing || thread->c_tracefunc || thread->c_profilefunc;
}
