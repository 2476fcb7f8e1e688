// One event: finish the instruction before, compare every slot with the real stack, begin the next one.
#include "interpreter_hooks/cpython/events.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/trace/builder.h"

namespace terra::capture {

namespace {

constexpr long event_budget = 2'000'000;

bool can_follow(const Pending& pending, int offset) {
  switch (rules_of(pending.kind).next) {
    case Next::Falls: return offset == pending.next;
    case Next::Jumps: return offset == pending.target;
    case Next::Branches: return offset == pending.next || offset == pending.target;
    default: return false;
  }
}

}  // namespace

/// The cells of the frame exist now: cells of its own are fresh, free variables are read from the function.
void Recording::start_event(TerraFrame* frame) {
  ShadowFrame* f = top();
  if (!f || f->frame != frame || f->started) return;
  f->started = true;
  PyCodeObject* code = f->code;
  for (int i = 0; i < code->co_nlocalsplus && alive_; i++) {
    PyObject* object = terra_frame_localsplus(frame)[i];
    int kind = terra_code_slot_kind(code, i);
    if (!object || !PyCell_Check(object)) continue;
    if (kind & TERRA_SLOT_CELL) {
      Value argument = f->locals[i];
      Shadow& made = fresh(object);
      made.path = utf8_of(terra_code_slot_name(code, i));
      made.content = argument;
      f->locals[i] = made.self;
    } else if (kind & TERRA_SLOT_FREE) {
      Shadow* known = find(object);
      const Shadow* function = find(f->function.object);  // of one made inside it is known which cells it has
      const bool again = !closures_read_.insert({f->function.object, i}).second || (function && function->fresh());
      if (known && (again || known->fresh())) {
        f->locals[i] = known->self;
        continue;
      }
      Word index = static_cast<Word>(i - (code->co_nlocalsplus - code->co_nfreevars));
      f->locals[i] = read(Op::Closure, reg_of(f->function), {index}, object, utf8_of(terra_code_slot_name(code, i)));
    }
  }
}

/// The open instruction of `f` raised an exception of that class: what made it do so becomes a fact, or the recording
/// ends. Exceptions that come from nowhere (a signal, a full stack or heap) are never foretold.
void Recording::raised(ShadowFrame& f, PyObject* kind) {
  if (!alive_ || !f.pending.is_open()) return;
  static PyObject* const sudden[] = {PyExc_KeyboardInterrupt, PyExc_RecursionError, PyExc_MemoryError,
                                     PyExc_SystemError};
  for (PyObject* type : sudden) {
    if (PyErr_GivenExceptionMatches(kind, type)) return stop(Reason::OpaqueRaise, short_text(kind));
  }
  const Rules& open = rules_of(f.pending.kind);
  if (!open.raised) return stop(Reason::OpaqueRaise, open.name);
  open.raised(*this, f);
  if (alive_) trace_->settle(f);
}

/// An exception brought the frame to a handler: the stack is cut and what the handler gets is a fact.
void Recording::unwind(ShadowFrame& f, int offset) {
  int depth = 0, lasti = 0;
  if (terra_code_handler(f.code, f.pending.offset, &depth, &lasti) != offset) {
    return stop(Reason::OutOfStep, "an instruction that cannot follow");
  }
  PyObject* caught = f.real_depth() > depth ? f.real(1) : nullptr;
  raised(f, caught ? reinterpret_cast<PyObject*>(Py_TYPE(caught)) : PyExc_SystemError);
  if (!alive_) return;
  if (f.pending.kind == TERRA_YIELD_VALUE) f.push(Value::fact(Py_None));  // what comes in with an exception
  if (static_cast<int>(f.stack.size()) < depth) return stop(Reason::OutOfStep, "a handler deeper than the stack");
  f.stack.resize(depth);
  // The handler around a whole generator raises again at once: held, the exception would keep what its frames hold.
  const bool passes = f.instructions[offset].kind == TERRA_STOP_ITERATION_ERROR;
  for (int i = depth; i < f.real_depth(); i++) {
    PyObject* object = f.real_stack()[i];
    if (passes) {
      f.push(Value::fact(object));
      continue;
    }
    bool exception = PyExceptionInstance_Check(object);
    if (exception && !find(object)) fresh(object);  // made by C code out of facts
    f.push(exception ? by_identity(object) : Value::fact(hold(object)));
  }
  f.keyword_names = nullptr;
  f.pending = Pending();
}

void Recording::check_slots(ShadowFrame& f) {
  int depth = f.real_depth();
  if (static_cast<int>(f.stack.size()) != depth) {
    recorder_stats().slots_wrong++;
    return stop(Reason::OutOfStep, "stack depth after " + std::string(rules_of(f.pending.kind).name));
  }
  PyObject** real = f.real_stack();
  recorder_stats().slots_checked += depth;
  for (int i = 0; i < depth; i++) {
    Value& known = f.stack[i];
    if (known.object == real[i]) continue;
    if (known.known() && PyLong_CheckExact(known.object) && real[i] && same_value(known.object, real[i])) {
      known.object = hold(real[i]);  // `len(x)  # 300`: beyond 256 each call makes a number of its own
      continue;
    }
    recorder_stats().slots_wrong++;
    const char* name = f.pending.is_open() ? rules_of(f.pending.kind).name : "the start";
    return stop(Reason::OutOfStep, "slot " + std::to_string(i) + " after " + std::string(name));
  }
}

void Recording::instruction_event(TerraFrame* frame) {
  recorder_stats().events++;
  if (returned_) return;  // of what ends with the frame: `enter` has seen to it
  if (++events_ > event_budget) return stop(Reason::TooLong, "instructions");
  ShadowFrame* top_frame = top();
  if (top_frame && top_frame->frame != frame && is_unseen(top_frame->pending)) return;
  if (!top_frame || top_frame->frame != frame) return stop(Reason::OutOfStep, "a frame that did not enter");
  ShadowFrame& f = *top_frame;
  int offset = terra_frame_instruction(frame);

  Pending& pending = f.pending;
  if (pending.is_open()) {
    if (can_follow(pending, offset)) {
      const Rules& before = rules_of(pending.kind);
      if (before.rule->end) before.rule->end(*this, f);
      if (alive_) trace_->settle(f);
      if (alive_ && live_iterators_.disturbed(*this, f))
        stop(Reason::UnmodelledIteration, "a container that changes below an iterator");
      if (alive_ && !pending.returns.empty() && !pending.used_returns) {
        stop(Reason::HiddenPythonCode, before.name);
      }
    } else {
      unwind(f, offset);
    }
  }
  if (!alive_) return;
  if (delays_a_callback()) return stop(Reason::Finalizer, "that a weak reference calls");
  check_wrappers();
  check_slots(f);
  if (!alive_) return;

  if (&f == frames_.front() && at_boundary(f, offset)) return;
  loops_->arrive(f, offset);
  if (!alive_) return;

  pending = Pending(f.instructions[offset], offset);
  const Rules& now = rules_of(pending.kind);
  if (!now.rule) {
    return stop(Reason::UnmodelledOpcode, now.name ? now.name : "opcode " + std::to_string(pending.flags));
  }
  int pops = now.pops(pending);
  if (pops > static_cast<int>(f.stack.size())) return stop(Reason::OutOfStep, now.name);
  pending.in.assign(f.stack.end() - pops, f.stack.end());
  f.stack.resize(f.stack.size() - pops);
  classes_asked(f);
  if (alive_ && now.rule->begin) now.rule->begin(*this, f);
}

}  // namespace terra::capture
