// Instructions that stand for several others, which some compilers write instead: they are read as what they stand for.
#include "interpreter_hooks/recorder/opcodes/rules.h"

namespace terra::capture {

namespace {

/// The open instruction goes on as one of another kind.
void read_as(Recording& r, ShadowFrame& f, int kind, std::vector<Value> in) {
  f.pending.kind = static_cast<uint16_t>(kind);
  f.pending.in = std::move(in);
  if (r.alive()) rules_of(kind).rule->begin(r, f);
}

/// slice(start, stop), known as BUILD_SLICE leaves it.
Value slice_between(Recording& r, const Value& start, const Value& stop) {
  const std::vector<Value> bounds = {start, stop};
  if (!all_atoms(bounds)) {
    r.stop(Reason::UnmodelledContainer, "a slice of objects");
    return {};
  }
  PyObject* const slice = PySlice_New(start.object, stop.object, nullptr);
  Value value = Value::fact(r.hold(slice));
  if (!all_facts(bounds)) {
    Shadow& made = r.fresh(slice);
    made.items = {start, stop};
    value = made.self;
  }
  Py_DECREF(slice);
  return value;
}

/// container[start:stop]
void begin_binary_slice(Recording& r, ShadowFrame& f) {
  const std::vector<Value> in = f.pending.in;
  read_as(r, f, TERRA_BINARY_SUBSCR, {in[0], slice_between(r, in[1], in[2])});
}
/// container[start:stop] = value
void begin_store_slice(Recording& r, ShadowFrame& f) {
  const std::vector<Value> in = f.pending.in;
  read_as(r, f, TERRA_STORE_SUBSCR, {in[0], in[1], slice_between(r, in[2], in[3])});
}

/// super(class, object).name: the super() is never made, so that one is made here.
void begin_load_super(Recording& r, ShadowFrame& f) {
  std::vector<Value> in = f.pending.in;
  auto* const super_type = reinterpret_cast<PyObject*>(&PySuper_Type);
  if (!in[0].is_fact() || in[0].object != super_type) return r.stop(Reason::UnmodelledCall, "super");
  r.pin(in[1]);
  PyObject* const super = PyObject_CallFunctionObjArgs(super_type, in[1].object, in[2].object, nullptr);
  if (!super || !r.alive()) {
    PyErr_Clear();
    Py_XDECREF(super);
    return r.stop(Reason::UnmodelledCall, "super");
  }
  Shadow& made = r.fresh(super);
  made.receiver = in[2];
  const Value value = made.self;
  Py_DECREF(super);
  if (!(f.pending.flags & TERRA_PUSHES_NULL)) return read_as(r, f, TERRA_LOAD_ATTR, {value});
  f.pending.in = {value};
  rules_of(TERRA_LOAD_ATTR).rule->begin(r, f);
}
/// [function, object], or [NULL, attribute]
void load_super_method(Recording& r, ShadowFrame& f) {
  PyObject* const method = f.real(2);
  Value owner = f.pending.in[0];
  Value value = r.attribute(f, owner, f.name(f.pending.arg), method ? method : f.real(1));
  if (!method) f.push(Value::null());
  f.push(value);
  if (method) f.push(r.shadow(owner).receiver);
}

void begin_return_const(Recording& r, ShadowFrame& f) {
  r.give_back(f, Value::fact(PyTuple_GET_ITEM(f.code->co_consts, f.pending.arg)));
}

/// Before the variable of a comprehension that is not a function of its own takes its place.
void load_fast_and_clear(Recording& r, ShadowFrame& f) {
  const Value value = r.local(f, f.pending.arg);
  f.push(f.real(1) ? value : Value::null());
  f.locals[f.pending.arg] = Value();
}

void end_send(Recording&, ShadowFrame& f) { f.push(f.pending.in[1]); }

/// The handler around a whole generator: a StopIteration becomes a RuntimeError, others pass.
void stop_iteration_error(Recording& r, ShadowFrame& f) {
  if (f.real(1) != f.pending.in[0].object) r.stop(Reason::OpaqueRaise, "StopIteration in a generator");
  f.push(f.pending.in[0]);
}

constexpr Rule rules[] = {
    {TERRA_BINARY_SLICE, begin_binary_slice, nullptr},
    {TERRA_STORE_SLICE, begin_store_slice, nullptr},
    {TERRA_LOAD_SUPER_ATTR, begin_load_super, load_super_method},
    {TERRA_RETURN_CONST, begin_return_const, nullptr},
    {TERRA_LOAD_FAST_AND_CLEAR, nullptr, load_fast_and_clear},
    {TERRA_END_FOR, nullptr, nullptr},
    {TERRA_END_SEND, nullptr, end_send},
    {TERRA_STOP_ITERATION_ERROR, nullptr, stop_iteration_error},
};

}  // namespace

RuleList shorthand_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
