// Motion between stack, locals, cells and globals.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

namespace terra::capture {

Value dict_of_program(Recording& r, PyObject* dict, const std::string& path) {
  return r.find(dict) ? r.constant(dict) : r.put(dict, Value::fact(dict), true, path).self;
}

Value dict_of_module(Recording& r, PyObject* module) {
  return dict_of_program(r, PyModule_GetDict(module), name_of_module(module));
}

namespace {

void copy(Recording&, ShadowFrame& f) {
  auto& in = f.pending.in;
  Value deepest = in.front();
  for (Value& value : in) f.push(value);
  f.push(deepest);
}

void swap(Recording&, ShadowFrame& f) {
  auto& in = f.pending.in;
  std::swap(in.front(), in.back());
  for (Value& value : in) f.push(value);
}

void push_null(Recording&, ShadowFrame& f) { f.push(Value::null()); }

void load_const(Recording&, ShadowFrame& f) { f.push(Value::fact(f.real(1))); }

void load_fast(Recording& r, ShadowFrame& f) { f.push(r.local(f, f.pending.arg)); }
/// A NULL on the stack is what an unbound variable held.
void store_fast(Recording&, ShadowFrame& f) {
  const Value& value = f.pending.in[0];
  f.locals[f.pending.arg] = value.kind == Value::Null ? Value() : value;
}
/// That there is one is a fact.
void begin_delete_fast(Recording& r, ShadowFrame& f) { r.local(f, f.pending.arg); }
void delete_fast(Recording&, ShadowFrame& f) { f.locals[f.pending.arg] = Value(); }

PyObject* cell_at(ShadowFrame& f) { return terra_frame_localsplus(f.frame)[f.pending.arg]; }

void load_deref(Recording& r, ShadowFrame& f) { f.push(r.cell(cell_at(f))); }

void store_deref(Recording& r, ShadowFrame& f) {
  Shadow* cell = r.find(cell_at(f));
  if (!cell) return r.stop(Reason::UnknownOrigin, "a cell");
  cell->content = f.pending.in[0];
  if (cell->fresh()) return;
  cell->written = true;
  r.write({Effect::SetCell, cell->self, nullptr, f.pending.in[0], {}, cell->path});
}

void load_global(Recording& r, ShadowFrame& f) {
  PyObject* name = f.name(f.pending.arg);
  PyFunctionObject* function = f.callee();
  Value globals = dict_of_program(r, function->func_globals, "globals()");
  Value value = r.dict_item(globals, name);
  if (!value.known()) {
    Value builtins = dict_of_program(r, function->func_builtins, "builtins");
    value = r.dict_item(builtins, name);
  }
  if (!value.known()) r.stop(Reason::UnknownOrigin, utf8_of(name));
  if (f.pending.flags & TERRA_PUSHES_NULL) f.push(Value::null());
  f.push(value);
}

/// Whether the global was there decides its place among the keys: to be looked at before the store.
void begin_store_global(Recording&, ShadowFrame& f) {
  f.pending.extra.kind =
      PyDict_Contains(f.callee()->func_globals, f.name(f.pending.arg)) == 1 ? Value::Fact : Value::Unknown;
}
void store_global(Recording& r, ShadowFrame& f) {
  Value globals = dict_of_program(r, f.callee()->func_globals, "globals()");
  r.dict_store(globals, f.name(f.pending.arg), f.pending.in[0], f.pending.extra.known());
}

/// Only a cell of the frame's own: an empty one from outside is nothing that an effect could make.
void begin_delete_deref(Recording& r, ShadowFrame& f) {
  Shadow* cell = r.find(cell_at(f));
  if (!cell || cell->outside) r.stop(Reason::UnmodelledContainer, "del of a variable of an outer function");
}
void delete_deref(Recording& r, ShadowFrame& f) { r.find(cell_at(f))->content = Value(); }

void begin_delete_global(Recording& r, ShadowFrame& f) {
  Value globals = dict_of_program(r, f.callee()->func_globals, "globals()");
  r.dict_item(globals, f.name(f.pending.arg));  // that it is there is a fact
}
void delete_global(Recording& r, ShadowFrame& f) {
  Value globals = dict_of_program(r, f.callee()->func_globals, "globals()");
  r.dict_delete(globals, Value::fact(f.name(f.pending.arg)));
}

constexpr Rule rules[] = {
    {TERRA_NOP, nullptr, nullptr},
    {TERRA_RESUME, nullptr, nullptr},
    {TERRA_POP_TOP, nullptr, nullptr},
    {TERRA_PUSH_NULL, nullptr, push_null},
    {TERRA_COPY, nullptr, copy},
    {TERRA_SWAP, nullptr, swap},
    {TERRA_LOAD_CONST, nullptr, load_const},
    {TERRA_LOAD_FAST, nullptr, load_fast},
    {TERRA_STORE_FAST, nullptr, store_fast},
    {TERRA_DELETE_FAST, begin_delete_fast, delete_fast},
    {TERRA_LOAD_CLOSURE, nullptr, load_fast},
    {TERRA_LOAD_DEREF, nullptr, load_deref},
    {TERRA_STORE_DEREF, nullptr, store_deref},
    {TERRA_LOAD_GLOBAL, nullptr, load_global},
    {TERRA_STORE_GLOBAL, begin_store_global, store_global},
    {TERRA_DELETE_DEREF, begin_delete_deref, delete_deref},
    {TERRA_DELETE_GLOBAL, begin_delete_global, delete_global},
    {TERRA_LOAD_ASSERTION_ERROR, nullptr, load_const},
};

}  // namespace

RuleList stack_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
