// Exceptions made inside the frame: what handlers can see of them.
//
// The fields that C code keeps (args, cause, context) follow from what the frame did. A traceback does not: it names
// real frames, so that an exception that was raised must not leave the recorded run.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// Whether what the frame is at raises into code of the program. Passed over are the exits of gradient modes, which the
/// run of an entry undoes anyway, the ends of handlers, which raise again, and what is around whole generators.
bool has_handler(const ShadowFrame& f) {
  int depth = 0, lasti = 0;
  for (int at = f.pending.offset;;) {
    at = terra_code_handler(f.code, at, &depth, &lasti);
    if (at < 0) return false;
    const int first = f.instructions[at].kind;
    if (first == TERRA_STOP_ITERATION_ERROR) continue;
    const int second = f.instructions[f.instructions[at].next].kind;
    if (first == TERRA_COPY && second == TERRA_POP_EXCEPT) continue;
    if (first != TERRA_PUSH_EXC_INFO || second != TERRA_WITH_EXCEPT_START) return true;
    PyObject* exit = f.stack[static_cast<size_t>(depth) - 1].object;
    PyObject* manager = exit && PyCFunction_Check(exit) ? PyCFunction_GET_SELF(exit) : nullptr;
    if (!manager || !is_grad_mode_type(reinterpret_cast<PyObject*>(Py_TYPE(manager)))) return true;
  }
}

}  // namespace

bool is_caught_inside(const Recording& r) {
  return std::any_of(r.frames().begin(), r.frames().end(), [](const ShadowFrame* f) { return has_handler(*f); });
}

/// Those that the frame passed, where they are still there; otherwise C code put them together from facts.
std::vector<Value> Recording::exception_arguments(Shadow& exception) {
  PyObject* real = reinterpret_cast<PyBaseExceptionObject*>(exception.self.object)->args;
  std::vector<Value> known = exception.items, all;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(real); i++) {
    PyObject* object = PyTuple_GET_ITEM(real, i);
    bool passed = i < static_cast<Py_ssize_t>(known.size()) && known[i].object == object;
    all.push_back(passed ? known[i] : is_atom(object) ? Value::fact(hold(object)) : by_identity(object));
    if (!all.back().known()) stop(Reason::UnknownOrigin, "an argument of an exception");
  }
  return all;
}

void Recording::must_be_made_inside(PyObject* exception) {
  if (!PyExceptionInstance_Check(exception)) return;
  Shadow* known = find(exception);
  if (!known || known->outside) stop(Reason::OpaqueRaise, "an exception made elsewhere is raised");
}

Value Recording::exception_attribute(Value& exception, PyObject* name, PyObject* result) {
  Shadow& known = shadow(exception);
  const std::string text = utf8_of(name);
  auto is = [&](const char* field) { return text == field; };
  if (known.fresh()) {
    if (is("args")) return make_sequence(result, exception_arguments(known));
    if (is("__class__") || is("__suppress_context__")) return Value::fact(hold(result));
    bool linked = is("__cause__") || is("__context__") || is("value");
    if (linked && is_atom(result)) return Value::fact(hold(result));
    if (linked && by_identity(result).known()) return by_identity(result);
  }
  stop(Reason::UnmodelledAttribute, std::string(Py_TYPE(exception.object)->tp_name) + "." + text);
  return {};
}

bool Recording::keeps_exception_field(Value& owner, PyObject* name) {
  if (!PyExceptionInstance_Check(owner.object)) return false;
  Shadow* known = find(owner.object);
  if (!known || known->outside) return false;
  const std::string text = utf8_of(name);
  for (const char* field : {"__traceback__", "__cause__", "__context__", "__suppress_context__"}) {
    if (text == field) return true;
  }
  return false;
}

}  // namespace terra::capture
