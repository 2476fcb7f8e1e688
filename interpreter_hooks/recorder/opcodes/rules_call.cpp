// Calls and returns.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

namespace terra::capture {

namespace {

void keyword_names(Recording&, ShadowFrame& f) { f.keyword_names = PyTuple_GET_ITEM(f.code->co_consts, f.pending.arg); }

/// What isn't modelled is not waited for: it may install a debugger, fork, or ask what the collector does.
void refuse_unmodelled(Recording& r, ShadowFrame& f) {
  const CallSite& site = f.pending.call;
  if (!r.alive() || site.kind != CallSite::Unknown) return;
  r.stop(refusal_of(site.callee), callable_name(site.callee));
}

/// PRECALL unpacks a bound method in the stack: [NULL, method] becomes [function, receiver].
void end_precall(Recording& r, ShadowFrame& f) {
  int n = f.pending.arg;
  Value &below = f.top(n + 2), &callee = f.top(n + 1);
  if (f.real(n + 2) == below.object) return;
  Shadow* method = r.find(callee.object);
  if (!method || !PyMethod_Check(callee.object)) return r.stop(Reason::UnknownOrigin, "a bound method");
  if (!method->function.known()) {
    method->function =
        r.read(Op::MethodPart, r.reg_of(method->self), {0}, PyMethod_GET_FUNCTION(callee.object), method->path);
    method = r.find(callee.object);
    method->receiver = r.read(Op::MethodPart, r.reg_of(method->self), {1}, PyMethod_GET_SELF(callee.object),
                              method->path + ".__self__");
    method = r.find(callee.object);
  }
  below = method->function;
  callee = method->receiver;
}

void begin_call(Recording& r, ShadowFrame& f) {
  auto& in = f.pending.in;
  bool method = in[0].kind != Value::Null;
  Value callee = in[method ? 0 : 1];
  std::vector<Value> positional(in.begin() + (method ? 1 : 2), in.end());
  std::vector<PyObject*> keywords;
  std::vector<Value> values;
  if (f.keyword_names) {
    Py_ssize_t count = PyTuple_GET_SIZE(f.keyword_names);
    for (Py_ssize_t i = 0; i < count; i++) keywords.push_back(PyTuple_GET_ITEM(f.keyword_names, i));
    values.assign(positional.end() - count, positional.end());
    positional.resize(positional.size() - count);
  }
  f.keyword_names = nullptr;
  r.open_call(f, callee.object, callee, std::move(positional), std::move(keywords), std::move(values));
  r.call_asked(f);
  refuse_unmodelled(r, f);
}

/// True for what C code walks over without running a frame.
bool walks_in_c(Recording& r, PyObject* object) {
  if (PyRange_Check(object) || is_dict(object) || is_set(object) || is_sequence(object)) return true;
  const Iterator* iterator = r.iterator_of(object);
  if (!iterator) return false;
  switch (iterator->kind) {
    case Iterator::Generator:
    case Iterator::Mapped:
    case Iterator::Filtered:
    case Iterator::Combined:
    case Iterator::Popped: return false;
    default: break;
  }
  for (const Value& child : iterator->children) {
    if (!walks_in_c(r, child.object)) return false;
  }
  return true;
}

/// f(*iterator), f(*x.shape): the evaluator begins the instruction by making a tuple of it. That is done here, so that
/// the callee's frame finds its arguments known.
void spread(Recording& r, ShadowFrame& f, Value& iterable, int from_top) {
  r.adopt(iterable);
  PyObject* tuple = walks_in_c(r, iterable.object) ? PySequence_Tuple(iterable.object) : nullptr;
  if (!tuple) {
    PyErr_Clear();
    return r.stop(Reason::UnmodelledIteration, std::string("* of a ") + Py_TYPE(iterable.object)->tp_name);
  }
  PyObject*& place = f.real_stack()[f.real_depth() - from_top];
  r.hold_new(place);
  place = tuple;
  std::vector<Value> items = r.drain(f, iterable, tuple);
  if (r.alive()) iterable = r.make_sequence(tuple, std::move(items));
}

void begin_call_ex(Recording& r, ShadowFrame& f) {
  auto& in = f.pending.in;  // NULL, callable, iterable, [mapping]
  Value callee = in[1];
  std::vector<PyObject*> keywords;
  std::vector<Value> values;
  if (!PyTuple_CheckExact(in[2].object) && !PyList_CheckExact(in[2].object)) {
    spread(r, f, in[2], in.size() > 3 ? 2 : 1);
    if (!r.alive()) return;
  }
  std::vector<Value> positional = r.items(in[2]);
  if (in.size() > 3) {
    if (!PyDict_CheckExact(in[3].object))
      return r.stop(Reason::UnmodelledContainer, "** of something else than a dict");
    r.know_keys(in[3]);
    for (auto& entry : r.shadow(in[3]).entries) keywords.push_back(entry.key);
    for (PyObject* key : keywords) values.push_back(r.dict_item(in[3], key));
  }
  r.open_call(f, callee.object, callee, std::move(positional), std::move(keywords), std::move(values));
  r.call_asked(f);
  refuse_unmodelled(r, f);
}

void end_call(Recording& r, ShadowFrame& f) {
  Value value = r.call_result(f, f.real(1));
  if (r.alive() && !value.known()) r.stop(Reason::UnknownOrigin, "the result of a call");
  f.push(value);
}

void return_value(Recording& r, ShadowFrame& f) { r.give_back(f, f.pending.in[0]); }

/// What the consumer sends in (or the None of a plain next) is on the stack when the generator goes on.
void resume(Recording& r, ShadowFrame& f) {
  PyObject* sent = f.real(1);
  if (sent == Py_None) return f.push(Value::fact(sent));
  Value value = r.below_top() ? r.below_top()->pending.extra : Value();
  if (!value.known() || value.object != sent) return r.stop(Reason::UnknownOrigin, "a value sent to a generator");
  f.push(value);
}

constexpr Rule rules[] = {
    {TERRA_KW_NAMES, keyword_names, nullptr},    {TERRA_PRECALL, nullptr, end_precall},
    {TERRA_CALL, begin_call, end_call},          {TERRA_CALL_FUNCTION_EX, begin_call_ex, end_call},
    {TERRA_RETURN_VALUE, return_value, nullptr}, {TERRA_YIELD_VALUE, return_value, resume},
};

}  // namespace

RuleList call_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
