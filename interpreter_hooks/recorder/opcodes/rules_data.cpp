// Attributes, items, operators and the building of containers.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

namespace {

// ---- attributes ----

void begin_load_attribute(Recording& r, ShadowFrame& f) {
  f.pending.access = r.access_of(f.pending.in[0], f.name(f.pending.arg), &f.pending.found);
}
void load_attribute(Recording& r, ShadowFrame& f) {
  f.push(r.attribute(f, f.pending.in[0], f.name(f.pending.arg), f.real(1)));
}

/// [method, self] for a function found on the class, else [NULL, attribute].
void load_method(Recording& r, ShadowFrame& f) {
  PyObject* method = f.real(2);
  if (!method) {
    f.push(Value::null());
    return load_attribute(r, f);
  }
  Value& owner = f.pending.in[0];
  Value function = r.attribute(f, owner, f.name(f.pending.arg), method);
  Shadow* made = function.object == method ? r.find(method) : nullptr;
  f.push(made ? made->self : Value::fact(r.hold(method)));
  f.push(owner);
}

void begin_store_attribute(Recording& r, ShadowFrame& f) {
  PyObject *owner = f.pending.in[1].object, *name = f.name(f.pending.arg);
  if (r.keeps_exception_field(f.pending.in[1], name)) {
    f.pending.access = Access::Exception;
    return;
  }
  if (r.can_store_attribute(owner, name)) {
    r.about_to_store(f.pending.in[1], name);
    f.pending.access = Access::Instance;
    return;
  }
  static PyObject* const setattr = PyUnicode_InternFromString("__setattr__");
  f.pending.access = Access::Property;  // a Python setter runs, or the engine reports the write
  f.pending.found = _PyType_Lookup(Py_TYPE(owner), name);
  if (is_plain_tensor(owner)) return;
  r.guard_type(owner);
  r.look_up(Py_TYPE(owner), setattr);
  r.descriptor_facts(r.look_up(Py_TYPE(owner), name));
}
void store_attribute(Recording& r, ShadowFrame& f) {
  Pending& pending = f.pending;
  Value& owner = pending.in[1];
  PyObject* name = f.name(pending.arg);
  if (pending.access == Access::Exception) return;  // read from the exception itself when it is asked for
  if (pending.access == Access::Instance) return r.store_attribute(owner, name, pending.in[0]);
  if (pending.reported) return;
  if (pending.returns.empty()) {
    return r.stop(Reason::UnmodelledAttribute,
                  std::string("store to ") + Py_TYPE(owner.object)->tp_name + "." + utf8_of(name));
  }
  pending.used_returns = true;
}

void begin_delete_attribute(Recording& r, ShadowFrame& f) {
  Pending& pending = f.pending;
  Value& owner = pending.in[0];
  PyObject* name = f.name(pending.arg);
  pending.access = r.access_of(owner, name, &pending.found);
  bool plain = pending.access == Access::Instance && r.can_store_attribute(owner.object, name);
  if (!plain) return r.stop(Reason::UnmodelledAttribute, std::string("del ") + utf8_of(name));
  r.attribute(f, owner, name, terra_instance_attribute(owner.object, name));  // that it is there is a fact
}
void delete_attribute(Recording& r, ShadowFrame& f) { r.delete_attribute(f.pending.in[0], f.name(f.pending.arg)); }

// ---- items ----

constexpr Py_ssize_t most_of_a_tail = 256;

Value slice_of(Recording& r, Value& sequence, PyObject* slice, PyObject* result) {
  Py_ssize_t start, stop, step;
  auto* bounds = reinterpret_cast<PySliceObject*>(slice);
  const bool tail = PyLong_CheckExact(bounds->start) && bounds->stop == Py_None && bounds->step == Py_None;
  const Py_ssize_t first = tail ? PyLong_AsSsize_t(bounds->start) : 0;
  PyErr_Clear();  // a number too large
  if (std::vector<Value> last; first < -1 && first > -most_of_a_tail && r.tail_of_grown(sequence, -first, last))
    return r.make_sequence(result, std::move(last));
  std::vector<Value> all = r.items(sequence);
  if (PySlice_Unpack(slice, &start, &stop, &step) < 0) PyErr_Clear();
  Py_ssize_t count = PySlice_AdjustIndices(static_cast<Py_ssize_t>(all.size()), &start, &stop, step);
  std::vector<Value> chosen;
  for (Py_ssize_t i = 0; i < count; i++) chosen.push_back(all[start + i * step]);
  return r.make_sequence(result, chosen);
}

Value subscript(Recording& r, ShadowFrame& f, PyObject* result) {
  Pending& pending = f.pending;
  Value &container = pending.in[0], &key = pending.in[1];
  PyObject* object = container.object;
  if (is_tensor(object)) return r.by_identity(result);
  if (is_sequence(object) && PyIndex_Check(key.object) && is_atom(key.object)) {
    if (!is_size(object)) {
      Value moving = r.item_of(container, key);
      if (moving.known() || !r.alive()) return moving;
    }
    r.pin(key);
    const Py_ssize_t index = PyNumber_AsSsize_t(key.object, nullptr);
    Value of_grown = r.item_of_grown(container, index);
    return of_grown.known() || !r.alive() ? of_grown : r.item(container, index);
  }
  if (PySlice_Check(key.object)) r.pin(key);
  if (is_sequence(object) && PySlice_Check(key.object)) return slice_of(r, container, key.object, result);
  if (is_dict(object)) {
    if (pending.extra.known()) return pending.extra;
    if (!pending.returns.empty() && !is_default_dict(object)) {  // __missing__ in Python
      pending.used_returns = true;
      return pending.returns.back().object == result ? pending.returns.back() : Value();
    }
    if (!is_default_dict(object)) return {};
    Value made = r.call_result(f, result);
    if (r.alive()) r.dict_store(container, key, made, false);
    return made;
  }
  if (!pending.returns.empty() && pending.returns.back().object == result && !pending.called_by_c) {
    pending.used_returns = true;
    return pending.returns.back();
  }
  if (is_atom(object) && is_atom(key.object)) {
    r.pin(container);
    r.pin(key);
    return Value::fact(r.hold(result));
  }
  if (PyType_Check(object) && container.is_fact() && key.is_fact()) return Value::fact(r.hold(result));  // list[int]
  r.stop(Reason::UnmodelledContainer, std::string("subscript of a ") + Py_TYPE(object)->tp_name);
  return {};
}

/// C code takes an index of a tensor apart: all of its parts are read.
void know_parts(Recording& r, Value& index) {
  if (!index.known() || !is_sequence(index.object)) return;
  for (Value& part : r.items(index)) know_parts(r, part);
}

/// What was stored last, under the same key that varies; Unknown for all others.
Value stored_last(Recording& r, const Value& dict, const Value& key) {
  const Shadow& known = r.shadow(dict);
  const bool same = known.blurred && key.has_register() && known.entries.back().key_value.reg == key.reg;
  return same ? known.entries.back().value : Value();
}

/// What a dict lacks, a defaultdict makes: the call of its factory is this instruction's.
void begin_subscript(Recording& r, ShadowFrame& f) {
  Value &container = f.pending.in[0], &key = f.pending.in[1];
  if (is_tensor(container.object)) return know_parts(r, key);
  if (!is_dict(container.object)) return;
  f.pending.extra = stored_last(r, container, key);
  if (f.pending.extra.known() || !r.prepare_key(key)) return;
  f.pending.extra = r.dict_item(container, key);
  if (f.pending.extra.known() || !is_default_dict(container.object)) return;
  Value factory = r.default_factory(container);
  if (r.alive() && factory.object != Py_None) r.open_call(f, factory.object, factory, {}, {}, {});
}

void binary_subscript(Recording& r, ShadowFrame& f) {
  PyObject* result = f.real(1);
  Value value = subscript(r, f, result);
  if (!value.known()) r.stop(Reason::UnknownOrigin, "an item");
  f.push(value);
}

void begin_store_subscript(Recording& r, ShadowFrame& f) {
  Value &container = f.pending.in[1], &key = f.pending.in[2];
  if (is_tensor(container.object)) return know_parts(r, key);
  if (PyList_CheckExact(container.object) || is_deque(container.object)) {
    if (!PySlice_Check(key.object)) {
      if (r.read_index(key)) r.know_length(container);
      return;
    }
    r.items(container);  // positions are about to change
    if (!is_sequence(f.pending.in[0].object)) return r.stop(Reason::UnmodelledContainer, "a slice from an iterator");
    f.pending.in[0] = r.snapshot(f.pending.in[0]);
    return;
  }
  if (!is_dict(container.object) || r.takes_varying_key(container, key) || !r.prepare_key(key)) return;
  f.pending.extra.kind = item_in(container.object, key.object) ? Value::Fact : Value::Unknown;
}

/// Replaces items of a list, as the slice says; the value is a tuple of its own.
void store_slice(Recording& r, Value& list, PyObject* slice, Value& value) {
  std::vector<Value> added = r.items(value);
  Shadow& known = r.shadow(list);
  auto& items = known.items;
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(slice, &start, &stop, &step) < 0) PyErr_Clear();
  Py_ssize_t count = PySlice_AdjustIndices(static_cast<Py_ssize_t>(items.size()), &start, &stop, step);
  if (step == 1) {
    items.erase(items.begin() + start, items.begin() + start + count);
    items.insert(items.begin() + start, added.begin(), added.end());
  } else {
    for (Py_ssize_t i = 0; i < count; i++) items[start + i * step] = added[i];
  }
  if (known.fresh()) return;
  known.written = true;
  r.write({Effect::SetItem, known.self, r.hold(slice), value, {}, "", {}});
}

void store_subscript(Recording& r, ShadowFrame& f) {
  Pending& pending = f.pending;
  Value &value = pending.in[0], &container = pending.in[1], &key = pending.in[2];
  PyObject* object = container.object;
  if (is_dict(object) && r.takes_varying_key(container, key)) return r.store_varying(container, key, value);
  if (is_dict(object)) return r.dict_store(container, key, value, pending.extra.known());
  if (PyList_CheckExact(object) && PySlice_Check(key.object)) return store_slice(r, container, key.object, value);
  if ((PyList_CheckExact(object) || is_deque(object)) && PyLong_Check(key.object)) {
    Shadow& known = r.shadow(container);
    Py_ssize_t index = PyLong_AsSsize_t(key.object);
    if (index < 0) index += static_cast<Py_ssize_t>(known.items.size());
    known.items[index] = value;
    if (known.fresh()) return;
    known.written = true;
    PyObject* place = r.hold_new(PyLong_FromSsize_t(index));
    return r.write({Effect::SetItem, known.self, place, value, {}, known.path + "[" + std::to_string(index) + "]", {}});
  }
  if (is_tensor(object) && pending.reported) return;
  if (!pending.returns.empty() && !pending.called_by_c) {
    pending.used_returns = true;
    return;
  }
  r.stop(Reason::UnmodelledContainer, std::string("item store on a ") + Py_TYPE(object)->tp_name);
}

void begin_delete_subscript(Recording& r, ShadowFrame& f) {
  Value &container = f.pending.in[0], &key = f.pending.in[1];
  static PyObject* const method = PyUnicode_InternFromString("__delitem__");
  if (PyList_CheckExact(container.object) && is_atom(key.object)) {
    r.pin(key);
    r.items(container);
  } else if (PyObject* own = _PyType_Lookup(Py_TYPE(container.object), method); own && PyFunction_Check(own)) {
    f.pending.access = Access::Class;
  } else if (!is_dict(container.object)) {
    r.stop(Reason::UnmodelledContainer, std::string("del of an item of a ") + Py_TYPE(container.object)->tp_name);
  } else if (r.prepare_key(key)) {
    r.dict_item(container, key);
  }
}
void delete_subscript(Recording& r, ShadowFrame& f) {
  Value &container = f.pending.in[0], &key = f.pending.in[1];
  if (f.pending.access == Access::Class) {  // __delitem__ of the program
    f.pending.used_returns = true;
    return;
  }
  if (is_dict(container.object)) return r.dict_delete(container, key);
  Shadow& known = r.shadow(container);
  auto& items = known.items;
  Py_ssize_t length = static_cast<Py_ssize_t>(items.size()), start, stop, step, count = 1;
  if (PySlice_Check(key.object)) {
    if (PySlice_Unpack(key.object, &start, &stop, &step) < 0) PyErr_Clear();
    count = PySlice_AdjustIndices(length, &start, &stop, step);
    if (step < 0) start += (count - 1) * step, step = -step;
  } else {
    start = PyNumber_AsSsize_t(key.object, nullptr), step = 1;
    if (start < 0) start += length;
  }
  for (Py_ssize_t i = count - 1; i >= 0; i--) items.erase(items.begin() + start + i * step);
  if (known.fresh()) return;
  known.written = true;
  r.write({Effect::DeleteItem, known.self, r.hold(key.object), {}, {}, "", {}});
}

// ---- operators ----

/// In-place operators change their first operand: what it holds is read before.
void begin_binary(Recording& r, ShadowFrame& f) {
  auto& in = f.pending.in;
  if (f.pending.arg < TERRA_IN_PLACE) return;
  for (Value& value : in) {
    if (is_dict(value.object) || is_set(value.object)) r.know_keys(value);
  }
  if (f.pending.arg == TERRA_IN_PLACE + TERRA_MULTIPLY && is_sequence(in[0].object)) r.items(in[0]);
  if (PyList_CheckExact(in[0].object) && !is_sequence(in[1].object)) r.know_length(in[0]);
}
void binary(Recording& r, ShadowFrame& f) {
  f.push(operator_result(r, f, Op::Binary, static_cast<Word>(f.pending.arg), f.real(1)));
}
void compare(Recording& r, ShadowFrame& f) {
  f.push(operator_result(r, f, Op::Compare, static_cast<Word>(f.pending.arg), f.real(1)));
}
template <UnaryCode which>
void unary(Recording& r, ShadowFrame& f) {
  f.push(operator_result(r, f, Op::Unary, which, f.real(1)));
}

void begin_not(Recording& r, ShadowFrame& f) {
  if (!is_atom(f.pending.in[0].object)) r.truth(f.pending.in[0]);
}
void unary_not_rule(Recording& r, ShadowFrame& f) {
  Value& value = f.pending.in[0];
  if (is_atom(value.object)) return unary<unary_not>(r, f);
  if (!f.pending.returns.empty()) f.pending.used_returns = true;
  f.push(Value::fact(f.real(1)));
}

/// Of a kind that the interpreter has one object for: equal ones are the same one.
bool is_one_of_a_kind(PyObject* atom) {
  if (PyLong_CheckExact(atom)) {
    int overflow = 0;
    const long number = PyLong_AsLongAndOverflow(atom, &overflow);
    return !overflow && number >= -5 && number <= 256;
  }
  if (PyUnicode_CheckExact(atom)) return PyUnicode_GET_LENGTH(atom) == 0;
  return atom == Py_None || PyBool_Check(atom) || atom == Py_Ellipsis || atom == Py_NotImplemented;
}

void is_op(Recording& r, ShadowFrame& f) {
  Value &a = f.pending.in[0], &b = f.pending.in[1];
  bool apart = Py_TYPE(a.object) != Py_TYPE(b.object);
  if (!apart && is_atom(a.object) && !is_one_of_a_kind(a.object) && same_value(a.object, b.object)) {
    const bool same_register = a.has_register() && b.has_register() && a.reg == b.reg;
    if (!same_register) return r.stop(Reason::UnmodelledOperator, "`is` of equal numbers or strings");
  }
  for (Value* value : {&a, &b}) {
    if (is_atom(value->object)) {
      if (!apart) r.pin(*value);  // else the guarded type is enough
    } else if (r.find(value->object)) {
      r.guard_type(value->object);
    }
  }
  bool objects = !is_atom(a.object) && !is_atom(b.object);
  if (objects && (a.has_register() || b.has_register())) {
    auto fixed = [&](Value& value) { return value.is_fact() || value.has_register(); };
    Register x = fixed(a) ? r.reg_of(a) : no_register, y = fixed(b) ? r.reg_of(b) : no_register;
    if (x != no_register && y != no_register && x != y) {
      r.guard(a.object == b.object ? Op::Same : Op::Distinct, x, {}, y);
    }
  }
  f.push(Value::fact(f.real(1)));
}

void begin_contains(Recording& r, ShadowFrame& f) {
  Value &key = f.pending.in[0], &container = f.pending.in[1];
  PyObject* object = container.object;
  const Iterator* view = r.iterator_of(object);
  if (is_dict(object) || is_set(object)) {
    if (lacks_number(r, container, key)) return;
    if (r.prepare_key(key)) is_set(object) ? void(r.set_has(container, key)) : void(r.dict_item(container, key));
  } else if (is_sequence(object)) {
    r.read_to_search(container, key);
  } else if (view && view->base && PyDictKeys_Check(object)) {
    Value dict = r.shadow(Value::fact(view->base)).self;
    if (r.prepare_key(key)) r.dict_item(dict, key);
  } else if (PyUnicode_CheckExact(object) && !is_atom(key.object)) {
    r.stop(Reason::UnmodelledContainer, std::string("a ") + Py_TYPE(key.object)->tp_name + " looked for in a string");
  } else if (is_atom(object)) {
    r.pin(container);
    r.read_index(key);
  } else if (PyType_Check(object) || !is_changeable(Py_TYPE(object))) {
    r.stop(Reason::UnmodelledContainer, std::string("`in` of a ") + Py_TYPE(object)->tp_name);
  }
}
bool has_contains(PyObject* container) {
  static PyObject* const name = PyUnicode_InternFromString("__contains__");
  return _PyType_Lookup(Py_TYPE(container), name) != nullptr;
}
/// C code has compared the key with what __iter__ of the program gave, which is a fact already.
void search_returned(Recording& r, Pending& pending) {
  Value& key = pending.in[0];
  for (Value& value : pending.returns) {
    const Iterator* iterator = r.iterator_of(value.object);
    Value base = iterator && iterator->base ? r.by_identity(iterator->base) : Value();
    if (iterator && iterator->kind == Iterator::Sequence && base.known()) {
      r.read_to_search(base, key);
    } else if (iterator && !is_atom(key.object)) {
      r.stop(Reason::UnmodelledContainer, "`in` of an iterator");
    } else if (!iterator && value.object != pending.in[1].object) {
      r.read_to_compare(value, key);
    }
  }
  r.pin(key);
}
/// A Python __contains__ has run, or C code has looked at facts.
void contains(Recording& r, ShadowFrame& f) {
  Value& container = f.pending.in[1];
  bool own_class =
      is_changeable(Py_TYPE(container.object)) && !is_sequence(container.object) && !is_dict(container.object);
  if (own_class) {
    if (f.pending.returns.empty())
      return r.stop(Reason::UnmodelledContainer, std::string("`in` of a ") + Py_TYPE(container.object)->tp_name);
    f.pending.used_returns = true;
    if (has_contains(container.object)) {
      for (Value& value : f.pending.returns) r.pin(value), r.truth(value);
    } else {
      search_returned(r, f.pending);
    }
  }
  f.push(Value::fact(f.real(1)));
}

constexpr Rule rules[] = {
    {TERRA_LOAD_ATTR, begin_load_attribute, load_attribute},
    {TERRA_LOAD_METHOD, begin_load_attribute, load_method},
    {TERRA_STORE_ATTR, begin_store_attribute, store_attribute},
    {TERRA_DELETE_ATTR, begin_delete_attribute, delete_attribute},
    {TERRA_BINARY_SUBSCR, begin_subscript, binary_subscript},
    {TERRA_STORE_SUBSCR, begin_store_subscript, store_subscript},
    {TERRA_DELETE_SUBSCR, begin_delete_subscript, delete_subscript},
    {TERRA_BINARY_OP, begin_binary, binary},
    {TERRA_COMPARE_OP, nullptr, compare},
    {TERRA_UNARY_NEGATIVE, nullptr, unary<unary_negative>},
    {TERRA_UNARY_POSITIVE, nullptr, unary<unary_positive>},
    {TERRA_UNARY_INVERT, nullptr, unary<unary_invert>},
    {TERRA_UNARY_NOT, begin_not, unary_not_rule},
    {TERRA_IS_OP, nullptr, is_op},
    {TERRA_CONTAINS_OP, begin_contains, contains},
};

}  // namespace

RuleList data_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
