// `with`, and what handlers do. A raise that is caught inside the recording is deterministic under the guards.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

namespace terra::capture {

namespace {

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

/// A call of a method that CPython looks up on the class of `owner` (with no other arguments).
void open_special(Recording& r, ShadowFrame& f, Value owner, PyObject* name, std::vector<Value> more) {
  PyObject* object = owner.object;
  r.guard_type(object);
  PyObject* found = r.look_up(Py_TYPE(object), name);
  if (!found) return r.stop(Reason::UnmodelledAttribute, utf8_of(name));
  more.insert(more.begin(), owner);
  r.open_call(f, found, Value::fact(found), std::move(more), {}, {});
}

void begin_with(Recording& r, ShadowFrame& f) {
  static PyObject* enter = interned("__enter__");
  open_special(r, f, f.pending.in[0], enter, {});
}

/// [exit, value of __enter__]
void with(Recording& r, ShadowFrame& f) {
  static PyObject* exit_name = interned("__exit__");
  Value owner = f.pending.in[0];
  Value entered = r.call_result(f, f.real(1));
  PyObject* exit = f.real(2);
  PyObject* found = r.look_up(Py_TYPE(owner.object), exit_name);
  Shadow& made = r.fresh(exit);
  made.receiver = owner;
  if (PyMethod_Check(exit)) made.function = Value::fact(found);
  f.push(made.self);
  f.push(entered);
}

/// Stack: exit, lasti, previous exception, exception. Calls exit(type, exception, traceback).
void begin_with_except(Recording& r, ShadowFrame& f) {
  PyObject* exception = f.real(1);
  Value exit = f.top(4);
  PyObject* traceback = PyException_GetTraceback(exception);
  Value third = Value::fact(r.hold(traceback ? traceback : Py_None));
  Py_XDECREF(traceback);
  std::vector<Value> arguments = {Value::fact(reinterpret_cast<PyObject*>(Py_TYPE(exception))), f.top(1), third};
  r.open_call(f, exit.object, exit, std::move(arguments), {}, {});
}
void with_except(Recording& r, ShadowFrame& f) { f.push(r.call_result(f, f.real(1))); }

void push_exception_info(Recording& r, ShadowFrame& f) {
  f.push(Value::fact(r.hold(f.real(2))));  // the exception being handled outside
  f.push(f.pending.in[0]);
}

/// The class or tuple of classes decides together with the exception's own class.
void begin_check_match(Recording& r, ShadowFrame& f) {
  if (!r.read_deep(f.pending.in[0])) r.stop(Reason::OpaqueRaise, "except with unusual classes");
}
void check_match(Recording&, ShadowFrame& f) { f.push(Value::fact(f.real(1))); }

/// An exception from outside would keep a traceback that no replay can give it.
void begin_raise(Recording& r, ShadowFrame& f) {
  PyObject* again = f.pending.arg == 0 ? PyErr_GetHandledException() : nullptr;
  if (again) r.must_be_made_inside(again);
  Py_XDECREF(again);
  for (Value& value : f.pending.in) r.must_be_made_inside(value.object);
}

constexpr Rule rules[] = {
    {TERRA_BEFORE_WITH, begin_with, with},
    {TERRA_WITH_EXCEPT_START, begin_with_except, with_except},
    {TERRA_PUSH_EXC_INFO, nullptr, push_exception_info},
    {TERRA_CHECK_EXC_MATCH, begin_check_match, check_match},
    {TERRA_POP_EXCEPT, nullptr, nullptr},
    {TERRA_RAISE_VARARGS, begin_raise, nullptr},
    {TERRA_RERAISE, nullptr, nullptr},
};

}  // namespace

RuleList exception_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
