// C callables of generators and exceptions.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

namespace terra::capture {

namespace {

Value the_none(Recording&, ShadowFrame& f, PyObject* result) {
  f.pending.used_returns = true;
  return Value::fact(result);
}

// ---- generators: their frames are recorded ----

/// What is sent is taken up when the generator's frame goes on (rules_call.cpp).
void begin_send(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() != 2) return r.stop(Reason::UnmodelledCall, "generator.send");
  f.pending.extra = in[1];
}
Value end_resumed(Recording& r, ShadowFrame& f, PyObject* result) { return r.next(f, arguments(f)[0], result); }
bool raised_below(Recording&, ShadowFrame& f) { return f.pending.child_raised || f.pending.ended.known(); }

/// A generator that delegates has its stack changed by C code in between.
void begin_throw(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  PyObject* inner = in.empty() ? nullptr : PyObject_GetAttrString(in[0].object, "gi_yieldfrom");
  if (inner != Py_None) r.stop(Reason::UnmodelledCall, "generator.throw");
  Py_XDECREF(inner);
  for (Value& value : in) r.must_be_made_inside(value.object);
}

// ---- exceptions ----

Value end_exception_init(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  Shadow& made = r.shadow(in[0]);
  if (!PyExceptionInstance_Check(in[0].object) || made.outside) {
    r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  }
  made.items.assign(in.begin() + 1, in.end());
  return Value::fact(result);
}

constexpr CallModel models[] = {
    {"generator", "send", begin_send, end_resumed, kResumes, raised_below},
    {"generator", "throw", begin_throw, end_resumed, kResumes, raised_below},
    {"generator", "close", nullptr, the_none, kNothing, raised_below},
    {"generator", "__next__", nullptr, end_resumed, kResumes, raised_below},
    {"BaseException", "__init__", nullptr, end_exception_init},
    {"Exception", "__init__", nullptr, end_exception_init},
};

}  // namespace

ModelList control_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
