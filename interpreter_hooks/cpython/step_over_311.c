/* step_over.h for CPython 3.11: what ceval.c of 3.11.2 does for these instructions. */
#include "interpreter_hooks/cpython/step_over.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "step_over_311.c knows CPython 3.11 only"
#endif

#include <opcode.h>
#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

/* ---- instructions with a fixed number of operands: `in` from the deepest to the top ---- */

static PyObject* name_of(PyCodeObject* code, int arg) { return PyTuple_GET_ITEM(code->co_names, arg); }

/* Of those that have no result: None stands for success. */
static PyObject* success(int error) { return error < 0 ? NULL : Py_NewRef(Py_None); }

static PyObject* load_attr(PyCodeObject* code, int arg, PyObject** in) {
  return PyObject_GetAttr(in[0], name_of(code, arg));
}
static PyObject* store_attr(PyCodeObject* code, int arg, PyObject** in) {
  return success(PyObject_SetAttr(in[1], name_of(code, arg), in[0]));
}
static PyObject* delete_attr(PyCodeObject* code, int arg, PyObject** in) {
  return success(PyObject_SetAttr(in[0], name_of(code, arg), NULL));
}
static PyObject* binary_subscr(PyCodeObject* code, int arg, PyObject** in) {
  (void)code, (void)arg;
  return PyObject_GetItem(in[0], in[1]);
}
static PyObject* store_subscr(PyCodeObject* code, int arg, PyObject** in) {
  (void)code, (void)arg;
  return success(PyObject_SetItem(in[1], in[2], in[0]));
}
static PyObject* delete_subscr(PyCodeObject* code, int arg, PyObject** in) {
  (void)code, (void)arg;
  return success(PyObject_DelItem(in[0], in[1]));
}
static PyObject* compare_op(PyCodeObject* code, int arg, PyObject** in) {
  (void)code;
  return PyObject_RichCompare(in[0], in[1], arg);
}
static PyObject* contains_op(PyCodeObject* code, int arg, PyObject** in) {
  (void)code;
  const int found = PySequence_Contains(in[1], in[0]);
  return found < 0 ? NULL : PyBool_FromLong(found ^ arg);
}
static PyObject* get_iter(PyCodeObject* code, int arg, PyObject** in) {
  (void)code, (void)arg;
  return PyObject_GetIter(in[0]);
}

static PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }
static PyObject* in_place_power(PyObject* a, PyObject* b) { return PyNumber_InPlacePower(a, b, Py_None); }

static PyObject* binary_op(PyCodeObject* code, int arg, PyObject** in) {
  static const binaryfunc operators[] = {
      [NB_ADD] = PyNumber_Add,
      [NB_AND] = PyNumber_And,
      [NB_FLOOR_DIVIDE] = PyNumber_FloorDivide,
      [NB_LSHIFT] = PyNumber_Lshift,
      [NB_MATRIX_MULTIPLY] = PyNumber_MatrixMultiply,
      [NB_MULTIPLY] = PyNumber_Multiply,
      [NB_REMAINDER] = PyNumber_Remainder,
      [NB_OR] = PyNumber_Or,
      [NB_POWER] = power,
      [NB_RSHIFT] = PyNumber_Rshift,
      [NB_SUBTRACT] = PyNumber_Subtract,
      [NB_TRUE_DIVIDE] = PyNumber_TrueDivide,
      [NB_XOR] = PyNumber_Xor,
      [NB_INPLACE_ADD] = PyNumber_InPlaceAdd,
      [NB_INPLACE_AND] = PyNumber_InPlaceAnd,
      [NB_INPLACE_FLOOR_DIVIDE] = PyNumber_InPlaceFloorDivide,
      [NB_INPLACE_LSHIFT] = PyNumber_InPlaceLshift,
      [NB_INPLACE_MATRIX_MULTIPLY] = PyNumber_InPlaceMatrixMultiply,
      [NB_INPLACE_MULTIPLY] = PyNumber_InPlaceMultiply,
      [NB_INPLACE_REMAINDER] = PyNumber_InPlaceRemainder,
      [NB_INPLACE_OR] = PyNumber_InPlaceOr,
      [NB_INPLACE_POWER] = in_place_power,
      [NB_INPLACE_RSHIFT] = PyNumber_InPlaceRshift,
      [NB_INPLACE_SUBTRACT] = PyNumber_InPlaceSubtract,
      [NB_INPLACE_TRUE_DIVIDE] = PyNumber_InPlaceTrueDivide,
      [NB_INPLACE_XOR] = PyNumber_InPlaceXor,
  };
  (void)code;
  return operators[arg](in[0], in[1]);
}

typedef struct {
  int opcode, pops;
  int nulls, results; /* pushed: NULLs, then what `perform` gives */
  PyObject* (*perform)(PyCodeObject* code, int arg, PyObject** in);
} Simple;

static const Simple simple[] = {
    {LOAD_ATTR, 1, 0, 1, load_attr},         {LOAD_METHOD, 1, 1, 1, load_attr},
    {STORE_ATTR, 2, 0, 0, store_attr},       {DELETE_ATTR, 1, 0, 0, delete_attr},
    {BINARY_SUBSCR, 2, 0, 1, binary_subscr}, {STORE_SUBSCR, 3, 0, 0, store_subscr},
    {DELETE_SUBSCR, 2, 0, 0, delete_subscr}, {BINARY_OP, 2, 0, 1, binary_op},
    {COMPARE_OP, 2, 0, 1, compare_op},       {CONTAINS_OP, 2, 0, 1, contains_op},
    {GET_ITER, 1, 0, 1, get_iter},
};

static const Simple* simple_row(int opcode) {
  for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
    if (simple[i].opcode == opcode) return &simple[i];
  return NULL;
}

/* ---- the stack of a frame that the evaluator does not run ---- */

static PyObject** top_of(TerraFrame* frame) { return frame->localsplus + frame->stacktop; }

/* Those on top go, and what was made of them comes. */
static void replace(TerraFrame* frame, int pops, int nulls, PyObject* result) {
  for (; pops > 0; pops--) {
    frame->stacktop--;
    Py_XDECREF(*top_of(frame));
  }
  for (; nulls > 0; nulls--) frame->localsplus[frame->stacktop++] = NULL;
  if (result) frame->localsplus[frame->stacktop++] = result;
}

/* ---- instructions ---- */

typedef struct {
  int opcode, arg;
  int at, next; /* offsets of the instruction behind its prefixes, and of the one after it */
} Instruction;

static Instruction decode(const unsigned char* code, int offset) {
  Instruction i = {.arg = code[2 * offset + 1], .at = offset};
  while (code[2 * i.at] == EXTENDED_ARG) {
    i.at++;
    i.arg = i.arg << 8 | code[2 * i.at + 1];
  }
  i.opcode = code[2 * i.at];
  i.next = i.at + 1;
  while (code[2 * i.next] == CACHE) i.next++;
  return i;
}

static void stand_at(TerraFrame* frame, int instruction) {
  frame->prev_instr = _PyCode_CODE(frame->f_code) + instruction;
}

/* [NULL, function, arguments] or [method, self, arguments] on the stack. */
static int call(TerraFrame* frame, int arg, PyObject* names) {
  PyObject** const top = top_of(frame);
  const int total = arg + (top[-(arg + 2)] != NULL);
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  PyObject* result = PyObject_Vectorcall(top[-(total + 1)], top - total,
                                         (size_t)(total - named) | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
  replace(frame, arg + 2, 0, result);
  return result != NULL;
}

/* [NULL, function, tuple] and perhaps a dict. */
static int call_with_tuple(TerraFrame* frame, int arg) {
  PyObject** const top = top_of(frame) - (arg & 1);
  PyObject* result = PyObject_Call(top[-2], top[-1], arg & 1 ? top[0] : NULL);
  replace(frame, 3 + (arg & 1), 0, result);
  return result != NULL;
}

/* Moves the frame on: behind the loop where the iterator has come to its end. */
static int for_iter(TerraFrame* frame, Instruction* i) {
  PyObject* iterator = top_of(frame)[-1];
  PyObject* item = Py_TYPE(iterator)->tp_iternext(iterator);
  if (item) {
    replace(frame, 0, 0, item);
    return 1;
  }
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return 0;
    PyErr_Clear();
  }
  replace(frame, 1, 0, NULL);
  i->next += i->arg;
  return 1;
}

static int perform_simple(TerraFrame* frame, const Simple* row, int arg) {
  PyObject* result = row->perform(frame->f_code, arg, top_of(frame) - row->pops);
  if (result && !row->results) Py_CLEAR(result);
  const int done = !PyErr_Occurred();
  replace(frame, row->pops, done ? row->nulls : 0, result);
  return done;
}

/* True iff it came out; `i` is the last instruction of the sequence then. */
static int perform(TerraFrame* frame, const unsigned char* code, Instruction* i) {
  PyObject* names = NULL;
  if (i->opcode == KW_NAMES) {
    names = PyTuple_GET_ITEM(frame->f_code->co_consts, i->arg);
    *i = decode(code, i->next);
  }
  if (i->opcode == PRECALL) *i = decode(code, i->next);
  stand_at(frame, i->at);
  switch (i->opcode) {
    case CALL: return call(frame, i->arg, names);
    case CALL_FUNCTION_EX: return call_with_tuple(frame, i->arg);
    case FOR_ITER: return for_iter(frame, i);
    default: return perform_simple(frame, simple_row(i->opcode), i->arg);
  }
}

/* CALL_FUNCTION_EX also takes any iterable for its tuple: that is left to the evaluator. */
static int takes_operands(TerraFrame* frame, const Instruction* i) {
  return i->opcode != CALL_FUNCTION_EX || PyTuple_CheckExact(top_of(frame)[-1 - (i->arg & 1)]);
}

int terra_can_step_over(const unsigned char* code, int instruction) {
  const int opcode = decode(code, instruction).opcode;
  return opcode == KW_NAMES || opcode == PRECALL || opcode == CALL_FUNCTION_EX || opcode == FOR_ITER ||
         simple_row(opcode) != NULL;
}

TerraStep terra_frame_step_over(PyThreadState* thread, TerraFrame* frame, const unsigned char* code) {
  const int before = _PyInterpreterFrame_LASTI(frame);
  if (!terra_can_step_over(code, before + 1) || !terra_frame_can_run(thread)) return TERRA_STEP_DECLINED;
  Instruction i = decode(code, before + 1);
  if (!takes_operands(frame, &i)) return TERRA_STEP_DECLINED;

  /* As _PyEval_EvalFrameDefault puts a frame into the chain and takes it out. */
  _PyCFrame link = {.use_tracing = thread->cframe->use_tracing, .current_frame = frame, .previous = thread->cframe};
  frame->is_entry = true;
  frame->previous = link.previous->current_frame;
  thread->cframe = &link;
  thread->recursion_remaining--;
  const int done = perform(frame, code, &i);
  thread->recursion_remaining++;
  thread->cframe = link.previous;
  thread->cframe->use_tracing = link.use_tracing;

  if (done) stand_at(frame, i.next - 1);
  return done ? TERRA_STEP_DONE : TERRA_STEP_RAISED;
}

int terra_frame_is_watched(const TerraFrame* frame) { return frame->frame_obj && Py_REFCNT(frame->frame_obj) > 1; }
