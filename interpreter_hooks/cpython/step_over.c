#include "interpreter_hooks/cpython/step_over.h"

#include "interpreter_hooks/cpython/instructions.h"

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
      [TERRA_ADD] = PyNumber_Add,
      [TERRA_AND] = PyNumber_And,
      [TERRA_FLOOR_DIVIDE] = PyNumber_FloorDivide,
      [TERRA_LEFT_SHIFT] = PyNumber_Lshift,
      [TERRA_MATRIX_MULTIPLY] = PyNumber_MatrixMultiply,
      [TERRA_MULTIPLY] = PyNumber_Multiply,
      [TERRA_REMAINDER] = PyNumber_Remainder,
      [TERRA_OR] = PyNumber_Or,
      [TERRA_POWER] = power,
      [TERRA_RIGHT_SHIFT] = PyNumber_Rshift,
      [TERRA_SUBTRACT] = PyNumber_Subtract,
      [TERRA_TRUE_DIVIDE] = PyNumber_TrueDivide,
      [TERRA_XOR] = PyNumber_Xor,
      [TERRA_IN_PLACE + TERRA_ADD] = PyNumber_InPlaceAdd,
      [TERRA_IN_PLACE + TERRA_AND] = PyNumber_InPlaceAnd,
      [TERRA_IN_PLACE + TERRA_FLOOR_DIVIDE] = PyNumber_InPlaceFloorDivide,
      [TERRA_IN_PLACE + TERRA_LEFT_SHIFT] = PyNumber_InPlaceLshift,
      [TERRA_IN_PLACE + TERRA_MATRIX_MULTIPLY] = PyNumber_InPlaceMatrixMultiply,
      [TERRA_IN_PLACE + TERRA_MULTIPLY] = PyNumber_InPlaceMultiply,
      [TERRA_IN_PLACE + TERRA_REMAINDER] = PyNumber_InPlaceRemainder,
      [TERRA_IN_PLACE + TERRA_OR] = PyNumber_InPlaceOr,
      [TERRA_IN_PLACE + TERRA_POWER] = in_place_power,
      [TERRA_IN_PLACE + TERRA_RIGHT_SHIFT] = PyNumber_InPlaceRshift,
      [TERRA_IN_PLACE + TERRA_SUBTRACT] = PyNumber_InPlaceSubtract,
      [TERRA_IN_PLACE + TERRA_TRUE_DIVIDE] = PyNumber_InPlaceTrueDivide,
      [TERRA_IN_PLACE + TERRA_XOR] = PyNumber_InPlaceXor,
  };
  (void)code;
  return operators[arg](in[0], in[1]);
}

typedef struct {
  int kind, pops;
  int nulls, results; /* pushed: NULLs, then what `perform` gives */
  PyObject* (*perform)(PyCodeObject* code, int arg, PyObject** in);
} Simple;

static const Simple simple[] = {
    {TERRA_LOAD_ATTR, 1, 0, 1, load_attr},         {TERRA_LOAD_METHOD, 1, 1, 1, load_attr},
    {TERRA_STORE_ATTR, 2, 0, 0, store_attr},       {TERRA_DELETE_ATTR, 1, 0, 0, delete_attr},
    {TERRA_BINARY_SUBSCR, 2, 0, 1, binary_subscr}, {TERRA_STORE_SUBSCR, 3, 0, 0, store_subscr},
    {TERRA_DELETE_SUBSCR, 2, 0, 0, delete_subscr}, {TERRA_BINARY_OP, 2, 0, 1, binary_op},
    {TERRA_COMPARE_OP, 2, 0, 1, compare_op},       {TERRA_CONTAINS_OP, 2, 0, 1, contains_op},
    {TERRA_GET_ITER, 1, 0, 1, get_iter},
};

static const Simple* simple_row(int kind) {
  for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
    if (simple[i].kind == kind) return &simple[i];
  return NULL;
}

/* ---- the stack of a frame that the evaluator does not run ---- */

static PyObject** top_of(TerraFrame* frame) {
  return terra_frame_localsplus(frame) + terra_frame_code(frame)->co_nlocalsplus + terra_frame_stack_depth(frame);
}

/* Those on top go, and what was made of them comes. */
static void replace(TerraFrame* frame, int pops, int nulls, PyObject* result) {
  PyObject** top = top_of(frame);
  int depth = terra_frame_stack_depth(frame);
  for (; pops > 0; pops--) {
    terra_frame_set_stack_depth(frame, --depth); /* what goes runs code that may look at the frame */
    Py_XDECREF(*--top);
  }
  for (; nulls > 0; nulls--, depth++) *top++ = NULL;
  if (result) {
    *top = result;
    depth++;
  }
  terra_frame_set_stack_depth(frame, depth);
}

/* ---- instructions ---- */

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

/* True unless it raises. `next`: where the frame goes on, behind the loop where the iterator has come to its end. */
static int for_iter(TerraFrame* frame, const TerraInstruction* i, int* next) {
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
  *next = i->target;
  return 1;
}

static int perform_simple(TerraFrame* frame, const Simple* row, int arg) {
  PyObject* result = row->perform(terra_frame_code(frame), arg, top_of(frame) - row->pops);
  if (result && !row->results) Py_CLEAR(result);
  const int done = !PyErr_Occurred();
  replace(frame, row->pops, done ? row->nulls : 0, result);
  return done;
}

/* The instruction or, of a call, the sequence that begins with `i`; `next` becomes where the frame goes on. */
typedef struct {
  const TerraInstruction* i;
  int next;
} Performance;

/* True iff it came out. */
static int perform(TerraFrame* frame, void* context) {
  Performance* performance = context;
  const TerraInstruction* const all = terra_instructions(terra_frame_code(frame));
  const TerraInstruction* i = performance->i;
  PyObject* names = NULL;
  if (i->kind == TERRA_KW_NAMES) {
    names = PyTuple_GET_ITEM(terra_frame_code(frame)->co_consts, i->arg);
    i = &all[i->next];
  }
  if (i->kind == TERRA_PRECALL) i = &all[i->next];
  terra_frame_set_instruction(frame, i->at);
  performance->next = i->next;
  switch (i->kind) {
    case TERRA_CALL: return call(frame, i->arg, names);
    case TERRA_CALL_FUNCTION_EX: return call_with_tuple(frame, i->arg);
    case TERRA_FOR_ITER: return for_iter(frame, i, &performance->next);
    default: return perform_simple(frame, simple_row(i->kind), i->arg);
  }
}

/* CALL_FUNCTION_EX also takes any iterable for its tuple: that is left to the evaluator. */
static int takes_operands(TerraFrame* frame, const TerraInstruction* i) {
  return i->kind != TERRA_CALL_FUNCTION_EX || PyTuple_CheckExact(top_of(frame)[-1 - (i->arg & 1)]);
}

int terra_can_step_over(const TerraInstruction* i) {
  switch (i->kind) {
    case TERRA_KW_NAMES:
    case TERRA_PRECALL:
    case TERRA_CALL:
    case TERRA_CALL_FUNCTION_EX:
    case TERRA_FOR_ITER: return 1;
    default: return simple_row(i->kind) != NULL;
  }
}

TerraStep terra_frame_step_over(PyThreadState* thread, TerraFrame* frame) {
  const TerraInstruction* const all = terra_instructions(terra_frame_code(frame));
  if (!all) return TERRA_STEP_DECLINED;
  Performance performance = {.i = &all[terra_frame_instruction(frame) + 1]};
  if (!terra_can_step_over(performance.i) || !terra_frame_can_run(thread)) return TERRA_STEP_DECLINED;
  if (!takes_operands(frame, performance.i)) return TERRA_STEP_DECLINED;
  if (!terra_frame_perform(thread, frame, perform, &performance)) return TERRA_STEP_RAISED;
  terra_frame_continue_at(frame, performance.next, terra_frame_stack_depth(frame));
  return TERRA_STEP_DONE;
}
