// What an instruction that raised leaves behind: guards under which it would raise again. A kind that is not in the
// table may not raise inside a recording. Python frames below the instruction have accounted for themselves already.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

namespace terra::capture {

namespace {

/// Nothing but the position in the code decides.
void always(Recording&, ShadowFrame&) {}

void opaque(Recording& r, ShadowFrame& f) { r.stop(Reason::OpaqueRaise, rules_of(f.pending.kind).name); }

/// Operands that are numbers, strings and the like become facts. False if there are others.
bool pin_atoms(Recording& r, std::vector<Value>& values) {
  for (Value& value : values) {
    if (value.kind == Value::Null) continue;
    if (!value.known() || !is_atom(value.object)) return false;
    r.pin(value);
  }
  return true;
}

/// A special method of the operands' classes raised.
void guard_classes(Recording& r, std::vector<Value>& values) {
  for (Value& value : values) {
    if (!value.known() || is_atom(value.object)) continue;
    r.guard_type(value.object);
    r.special_methods(Py_TYPE(value.object));
  }
}

void operation(Recording& r, ShadowFrame& f) {
  if (f.pending.child_raised) return guard_classes(r, f.pending.in);
  if (!pin_atoms(r, f.pending.in)) opaque(r, f);
}

/// Only Python code below it may have raised; what led there is guarded by the rule's begin.
void below(Recording& r, ShadowFrame& f) {
  if (!f.pending.child_raised) opaque(r, f);
}

void global_name(Recording& r, ShadowFrame& f) {
  PyObject* name = f.name(f.pending.arg);
  for (PyObject* dict : {f.callee()->func_globals, f.callee()->func_builtins}) {
    Value holder =
        r.by_identity(dict).known() ? r.by_identity(dict) : r.put(dict, Value::fact(dict), true, "globals()").self;
    r.dict_item(holder, name);
  }
}

void cell(Recording& r, ShadowFrame& f) {
  Shadow* known = r.find(terra_frame_localsplus(f.frame)[f.pending.arg]);
  if (!known || !known->fresh()) opaque(r, f);
}

void attribute(Recording& r, ShadowFrame& f) {
  Pending& pending = f.pending;
  Value& owner = pending.in[0];
  PyObject* name = f.name(pending.arg);
  if (is_atom(owner.object)) return r.pin(owner);
  if (pending.child_raised && runs_python(pending.access)) {
    r.guard_type(owner.object);
    r.special_methods(Py_TYPE(owner.object));
    return;
  }
  const bool plain = pending.access == Access::Module || pending.access == Access::None;
  plain ? r.absent(owner, name) : opaque(r, f);
}

void attribute_store(Recording& r, ShadowFrame& f) {
  if (!f.pending.child_raised) return opaque(r, f);
  Value& owner = f.pending.in[1];
  r.guard_type(owner.object);
  r.descriptor_facts(r.look_up(Py_TYPE(owner.object), f.name(f.pending.arg)));
  r.special_methods(Py_TYPE(owner.object));
}

/// container[key] with `container` at `place` and the key behind it.
void item(Recording& r, ShadowFrame& f, int place) {
  Value &container = f.pending.in[place], &key = f.pending.in[place + 1];
  PyObject* object = container.object;
  if (f.pending.child_raised) return guard_classes(r, f.pending.in);
  if (is_atom(object) && is_atom(key.object)) {
    r.pin(container);
    return r.pin(key);
  }
  if (!is_atom(key.object)) return opaque(r, f);
  r.pin(key);
  if (is_sequence(object)) return r.know_length(container);
  const bool lacks = PyDict_CheckExact(object) && !PySlice_Check(key.object) && !item_in(object, key.object);
  if (!lacks) return opaque(r, f);
  r.dict_item(container, key.object);
}
void item_read(Recording& r, ShadowFrame& f) { item(r, f, 0); }
void item_store(Recording& r, ShadowFrame& f) {
  if (PyDict_CheckExact(f.pending.in[1].object)) return opaque(r, f);
  item(r, f, 1);
}

void contains(Recording& r, ShadowFrame& f) {
  if (!pin_atoms(r, f.pending.in)) opaque(r, f);
}

void unpacking(Recording& r, ShadowFrame& f) {
  Value& value = f.pending.in[0];
  if (f.pending.child_raised) return guard_classes(r, f.pending.in);
  if (is_atom(value.object)) return r.pin(value);
  bool measured = r.iterator_of(value.object) || is_sequence(value.object) || PyDict_CheckExact(value.object);
  if (!measured) opaque(r, f);
}

void truth(Recording& r, ShadowFrame& f) { f.pending.child_raised ? guard_classes(r, f.pending.in) : opaque(r, f); }

void call(Recording& r, ShadowFrame& f) {
  CallSite& site = f.pending.call;
  switch (site.kind) {
    case CallSite::Function: return;  // its frame, or the binding of arguments, which is as constant as its code
    case CallSite::Instance:
    case CallSite::NewInstance: return below(r, f);
    case CallSite::Model:
      if (site.model->raised ? site.model->raised(r, f) : (site.model->traits & kPure) && raised_by_numbers(r, f))
        return;
      break;
    default: break;
  }
  r.stop(Reason::OpaqueRaise, callable_name(site.callee ? site.callee : f.pending.in[1].object));
}

/// An empty slot is a fact.
void local_name(Recording& r, ShadowFrame& f) { r.local(f, f.pending.arg); }

constexpr RaiseRule rules[] = {
    {TERRA_RAISE_VARARGS, always},
    {TERRA_RERAISE, always},
    {TERRA_YIELD_VALUE, always},
    {TERRA_LOAD_FAST, local_name},
    {TERRA_DELETE_FAST, local_name},
    {TERRA_LOAD_DEREF, cell},
    {TERRA_LOAD_GLOBAL, global_name},
    {TERRA_LOAD_ATTR, attribute},
    {TERRA_LOAD_METHOD, attribute},
    {TERRA_STORE_ATTR, attribute_store},
    {TERRA_BINARY_SUBSCR, item_read},
    {TERRA_STORE_SUBSCR, item_store},
    {TERRA_DELETE_SUBSCR, item_read},
    {TERRA_BINARY_OP, operation},
    {TERRA_COMPARE_OP, operation},
    {TERRA_UNARY_NEGATIVE, operation},
    {TERRA_UNARY_POSITIVE, operation},
    {TERRA_UNARY_INVERT, operation},
    {TERRA_UNARY_NOT, truth},
    {TERRA_CONTAINS_OP, contains},
    {TERRA_FORMAT_VALUE, operation},
    {TERRA_GET_ITER, operation},
    {TERRA_FOR_ITER, below},
    {TERRA_SEND, below},
    {TERRA_UNPACK_SEQUENCE, unpacking},
    {TERRA_UNPACK_EX, unpacking},
    {TERRA_BEFORE_WITH, below},
    {TERRA_WITH_EXCEPT_START, below},
    {TERRA_CALL, call},
    {TERRA_CALL_FUNCTION_EX, call},
    {TERRA_POP_JUMP_IF_TRUE, truth},
    {TERRA_POP_JUMP_IF_FALSE, truth},
    {TERRA_JUMP_IF_TRUE_OR_POP, truth},
    {TERRA_JUMP_IF_FALSE_OR_POP, truth},
};

}  // namespace

RaiseRuleList raise_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
