// What == and < and `in` look at inside C: numbers and strings become facts, for objects that are compared by identity
// it becomes a fact which of them are the same. Tensors report the comparison and its truth themselves.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <cmath>

namespace terra::capture {

namespace {

constexpr int most_levels = 6;

/// Equality is identity, whatever the hash is (members of an Enum).
bool is_looked_up_by_address(PyObject* object) {
  return is_tensor(object) || Py_TYPE(object)->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

/// Which class something has is known: from its value, its guard or because the frame made it.
void know_type(Recording& r, Value& value) {
  if (!is_atom(value.object) && r.find(value.object)) r.guard_type(value.object);
  r.pin(value);
  if (is_changeable(Py_TYPE(value.object))) {
    static PyObject* const names[] = {PyUnicode_InternFromString("__eq__"), PyUnicode_InternFromString("__ne__")};
    for (PyObject* name : names) r.look_up(Py_TYPE(value.object), name);
  }
}

bool same_kind(PyObject* a, PyObject* b) {
  return (PyList_CheckExact(a) && PyList_CheckExact(b)) || (is_tuple(a) && is_tuple(b)) || (is_deque(a) && is_deque(b));
}

/// Neither NaN nor the same object as one: the containers of C look at identity before they compare.
bool is_ordinary(const Value& value) {
  return PyLong_CheckExact(value.object) || (value.is_fact() && !std::isnan(PyFloat_AS_DOUBLE(value.object)));
}

/// Of numbers that differ between runs it is a fact whether they are equal, and not what they are. False: no such.
bool tell_numbers_apart(Recording& r, Value& a, Value& b) {
  if (!is_number(a.object) || !is_number(b.object) || (a.is_fact() && b.is_fact())) return false;
  const bool decided = is_ordinary(a) && is_ordinary(b);
  const bool by_one = (a.is_fact() && is_ordinary(a)) || (b.is_fact() && is_ordinary(b));
  if (!decided && !by_one) return false;
  const int equal = PyObject_RichCompareBool(a.object, b.object, Py_EQ);
  std::vector<Value> in = {a, b};
  Value truth = scalar_result(r, in, Op::Compare, Py_EQ, equal ? Py_True : Py_False);
  r.truth(truth);
  return true;
}

}  // namespace

void tell_apart(Recording& r, Value& a, Value& b) {
  auto outside = [&](Value& value) {
    Shadow* known = r.find(value.object);
    return value.is_fact() || (known && known->outside);
  };
  if (!outside(a) || !outside(b) || (a.is_fact() && b.is_fact())) return;
  Register x = r.reg_of(a), y = r.reg_of(b);
  if (x != y) r.guard(a.object == b.object ? Op::Same : Op::Distinct, x, {}, y);
}

bool Recording::read_to_compare(Value& a, Value& b, bool ordered, int depth) {
  if (!a.known() || !b.known() || depth > most_levels) {
    stop(Reason::UnmodelledOperator, "comparison of deeply nested containers");
    return false;
  }
  if (!ordered && tell_numbers_apart(*this, a, b)) return alive_;
  know_type(*this, a);
  know_type(*this, b);
  PyObject *x = a.object, *y = b.object;
  if (is_atom(x) && is_atom(y)) return alive_;
  if (same_kind(x, y)) {
    std::vector<Value> left = items(a), right = items(b);
    for (size_t i = 0; i < left.size() && i < right.size() && alive_; i++) {
      if (!read_to_compare(left[i], right[i], ordered, depth + 1)) return false;
    }
    return alive_;
  }
  if (is_dict(x) && is_dict(y)) {
    know_keys(a);
    know_keys(b);
    for (const Value& key : elements(a)) {
      Value left = dict_item(a, key), right = dict_item(b, key);
      if (left.known() && right.known() && !read_to_compare(left, right, ordered, depth + 1)) return false;
    }
    return alive_;
  }
  if (is_set(x) && is_set(y)) {
    know_keys(a);
    know_keys(b);
    for (auto& entry : std::vector<Shadow::Entry>(shadow(a).entries)) set_has(b, entry.where_from());
    return alive_;
  }
  auto builtin = [](PyObject* object) {
    return is_atom(object) || is_sequence(object) || is_dict(object) || is_set(object);
  };
  if (is_looked_up_by_address(x) && is_looked_up_by_address(y)) {
    tell_apart(*this, a, b);
    return alive_;
  }
  auto harmless = [&](PyObject* object) { return builtin(object) || is_looked_up_by_address(object); };
  if (harmless(x) && harmless(y)) return alive_;  // of different kinds: the types decide
  stop(Reason::UnmodelledOperator, std::string("comparison of a ") + Py_TYPE(harmless(x) ? y : x)->tp_name);
  return false;
}

bool is_found(PyObject* item, PyObject* key) {
  return item == key || (is_atom(item) && is_atom(key) && same_key(item, key));
}

bool Recording::read_to_search(Value& container, Value& key) {
  for (Value& item : items(container)) {
    if (!read_to_compare(item, key)) return false;
    if (is_found(item.object, key.object)) break;
  }
  return alive_;
}

bool lacks_number(Recording& r, Value& container, Value& key) {
  if (!key.has_register() || !PyLong_CheckExact(key.object)) return false;
  Shadow& known = r.shadow(container);
  if (!known.outside || known.written || known.attributes_of) return false;
  const bool there = is_set(container.object) ? PySet_Contains(container.object, key.object) != 0
                                              : PyDict_Contains(container.object, key.object) != 0;
  PyErr_Clear();
  if (there) return false;
  if (is_changeable(Py_TYPE(container.object))) {  // a Counter
    static PyObject* const contains = PyUnicode_InternFromString("__contains__");
    r.guard_type(container.object);
    r.look_up(Py_TYPE(container.object), contains);
  }
  r.guard(Op::Contains, r.reg_of(known.self), {0}, r.reg_of(key));
  return true;
}

}  // namespace terra::capture
