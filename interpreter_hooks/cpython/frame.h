/* A running Python frame, and the hook that sees every frame before it runs (PEP 523).
 *
 * CPython's frame layout changes with every minor version. It is known to frame_3xx.c alone; everybody else sees an
 * opaque Frame and the functions below. All of them need the GIL.
 */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_FRAME_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_FRAME_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _PyInterpreterFrame TerraFrame;

/* What the hook calls instead of the evaluator. `throwing` is true when an exception is being thrown into a suspended
 * generator; such a frame must go straight to terra_frame_run.
 *
 * The evaluator may return a value (new reference) or NULL with an exception set without running the frame. On 3.11
 * its caller clears the frame in either case. */
typedef PyObject* (*TerraEvaluator)(PyThreadState* thread, TerraFrame* frame, int throwing);

/* ---- the hook: one per process, in front of CPython's own evaluator ---- */

/* Every frame of the interpreter that starts from now on goes through `evaluator`; frames that run already do not.
 * False when somebody else's evaluator is there, which may do anything with a frame: nothing is installed then.
 * `overtaken` (or NULL) is called at the first frame that comes by way of an evaluator which somebody has put in front
 * of ours since; from then on every frame is passed through, as after terra_hook_uninstall. */
int terra_hook_install(TerraEvaluator evaluator, void (*overtaken)(void));

/* False when somebody has put an evaluator of theirs in front of ours. */
int terra_hook_is_in_front(void);

/* Restores CPython's evaluator and with it its full speed. When somebody has chained in front of us
 * meanwhile, the hook stays in place and passes every frame through. */
void terra_hook_uninstall(void);

int terra_hook_is_installed(void);

/* Frames that the hook has seen. 2^16 of them are a stretch; the one that ends it always comes to the evaluator. */
extern uint64_t terra_frames_seen;
static inline int terra_stretch_ends(void) { return (terra_frames_seen & 0xffff) == 0; }

/* The evaluator may say of a code object how many starts of its frames it need not see, which makes calls of small
 * functions cheaper. */
typedef struct {
  uint32_t unseen;
} TerraCodeNote;

/* Notes are kept with code objects under this index of terra_code_extra_index. */
void terra_hook_read_notes(Py_ssize_t index);

/* While the sum of all `change` is above zero, the evaluator sees every frame: notes are not read, and the frames of
 * generators and coroutines come to it, too. Those are left out otherwise: there is one at each resumption, and nothing
 * to decide. */
void terra_hook_watch(int change);

/* True when the next frame of the thread would come to our evaluator first. */
int terra_hook_sees(const PyThreadState* thread);

/* Runs the frame as CPython would have without the hook. Under a hook every Python call uses C stack, whatever the
 * recursion limit says, so this raises RecursionError when the thread's stack is nearly used up. */
PyObject* terra_frame_run(PyThreadState* thread, TerraFrame* frame, int throwing);

/* Python calls that are under way on the thread, one in another. */
int terra_thread_depth(const PyThreadState* thread);

/* How many more may be under way before the recursion limit is met. */
int terra_thread_room(const PyThreadState* thread);

/* True while terra_frame_run would not raise RecursionError at once. */
int terra_frame_can_run(const PyThreadState* thread);

/* Makes terra_frame_run go on in the middle of a frame that has not started: at `instruction` (code units, not inside a
 * call sequence), with `depth` items on the value stack. Before it runs, the caller fills all slots of localsplus, the
 * stack included, with references that the frame owns (NULL: an unbound local or a NULL on the stack), and does what
 * the skipped prologue would have done: cells and free variables are in their slots. Not for generators. Exception and
 * line tables are static: enclosing `try` and `with` blocks, tracebacks and f_lineno need nothing else. */
void terra_frame_continue_at(TerraFrame* frame, int instruction, int depth);

/* ---- a frame that the evaluator does not run, moved on by somebody else (step_over.h) ---- */

/* Calls perform(frame, context) with the frame in the thread's chain, where callees, tracebacks and sys._getframe() see
 * it as they see those that the evaluator runs, and returns what that returns. */
int terra_frame_perform(PyThreadState* thread, TerraFrame* frame, int (*perform)(TerraFrame*, void*), void* context);

/* The instruction at this offset (behind its prefixes) is running. */
void terra_frame_set_instruction(TerraFrame* frame, int instruction);
void terra_frame_set_stack_depth(TerraFrame* frame, int depth);

/* Somebody holds the frame's object and may look at it at any time. */
int terra_frame_is_watched(const TerraFrame* frame);

/* ---- what a frame is (borrowed references) ---- */

PyCodeObject* terra_frame_code(const TerraFrame* frame);
PyFunctionObject* terra_frame_function(const TerraFrame* frame);

/* Locals, then cells, then free variables (co_nlocalsplus slots), then the value stack. Before the first instruction
 * only the argument slots are filled, and an argument that is also a cell is still the raw argument; free variables
 * are in the function's closure. */
PyObject** terra_frame_localsplus(TerraFrame* frame);

/* True for generators, coroutines and frames kept by a frame object: they start more than once, or are not ours. */
int terra_frame_is_borrowed(const TerraFrame* frame);

/* ---- where a running frame is ---- */

/* The frame that `thread` runs at the moment, and the one that called it; NULL at the end of the chain. */
TerraFrame* terra_frame_current(PyThreadState* thread);
TerraFrame* terra_frame_caller(const TerraFrame* frame);

/* Offset, in code units, of the instruction that is running or (at a trace event) about to run; -1 before the first. */
int terra_frame_instruction(const TerraFrame* frame);

/* Number of items on the value stack. Valid at a trace event and outside the evaluator (3.11). */
int terra_frame_stack_depth(const TerraFrame* frame);

/* The exception that an `except` or `finally` block of the thread's frames handles (borrowed), or NULL. */
PyObject* terra_thread_handled_exception(const PyThreadState* thread);

/* ---- who else is watching ---- */

/* True while a debugger, profiler or coverage tool is attached to the thread, or one of their callbacks runs. Work that
 * takes the place of a frame would be invisible to them. */
int terra_thread_is_observed(const PyThreadState* thread);

#ifdef __cplusplus
}
#endif

#endif
