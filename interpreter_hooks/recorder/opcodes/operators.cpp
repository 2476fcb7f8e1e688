// The result of an operator: a fact, host arithmetic, what a Python method returned, or a tensor that reported itself.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// `a += items` on a list is list.extend.
Value extended(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = f.pending.in;
  if (in[0].object == in[1].object) {
    r.stop(Reason::UnmodelledContainer, "+= of a list");
    return {};
  }
  std::vector<Value> added;
  if (is_sequence(in[1].object)) {
    added = r.items(in[1]);
  } else {  // its length was read before
    Py_ssize_t before = static_cast<Py_ssize_t>(r.shadow(in[0]).items.size());
    PyObject* produced = PyList_GetSlice(result, before, PyList_GET_SIZE(result));
    added = r.drain(f, in[1], produced);
    Py_DECREF(produced);
  }
  Shadow& list = r.shadow(in[0]);
  for (const Value& value : added) {
    (list.length_known ? list.items : list.appended).push_back(value);
    if (list.fresh()) continue;
    list.written = true;
    r.write({Effect::Append, list.self, nullptr, value, {}, ""});
  }
  return r.by_identity(result).known() ? r.by_identity(result) : in[0];
}

/// The items `count` times over, as C code has done it: they fitted into memory, and none are none any number of times.
std::vector<Value> repeated(Recording& r, const std::vector<Value>& items, PyObject* count) {
  constexpr size_t most = 1 << 20;
  std::vector<Value> all;
  const Py_ssize_t times = items.empty() ? 0 : PyLong_AsSsize_t(count);
  if (times > 0 && items.size() > most / static_cast<size_t>(times)) r.stop(Reason::TooLong, "a repeated sequence");
  for (Py_ssize_t i = 0; i < times && r.alive(); i++) all.insert(all.end(), items.begin(), items.end());
  return all;
}

/// `a *= n` on a list.
Value multiplied(Recording& r, std::vector<Value>& in) {
  r.pin(in[1]);
  std::vector<Value> once = r.items(in[0]);
  Shadow& list = r.shadow(in[0]);
  if (list.outside || !PyLong_CheckExact(in[1].object)) {
    r.stop(Reason::UnmodelledContainer, "*= of a list");
    return {};
  }
  list.items = repeated(r, once, in[1].object);
  return in[0];
}

Value sequence_result(Recording& r, std::vector<Value>& in, Word code, PyObject* result) {
  std::vector<Value> items = r.items(in[0]);
  if (code == TERRA_ADD && is_sequence(in[1].object)) {
    std::vector<Value> more = r.items(in[1]);
    items.insert(items.end(), more.begin(), more.end());
  } else if (code == TERRA_MULTIPLY && PyLong_CheckExact(in[1].object)) {
    r.pin(in[1]);
    items = repeated(r, items, in[1].object);
  } else {
    r.stop(Reason::UnmodelledOperator, "an operator on containers");
  }
  return r.make_sequence(result, std::move(items));
}

/// == and != of two shapes, or of a shape and a tuple: decided size by size, as far as is needed. False: not that.
bool compare_sizes(Recording& r, std::vector<Value>& in, Word code) {
  if (code != Py_EQ && code != Py_NE) return false;
  for (Value& value : in) {
    if (!is_size(value.object) && !PyTuple_CheckExact(value.object)) return false;
  }
  std::vector<Value> a = r.items(in[0]), b = r.items(in[1]);
  if (!all_atoms(a) || !all_atoms(b)) return false;
  for (size_t i = 0; i < a.size() && a.size() == b.size(); i++) {
    const bool same = same_value(a[i].object, b[i].object);
    PyObject* truth = same ? Py_True : Py_False;
    std::vector<Value> pair = {a[i], b[i]};
    Value equal =
        all_facts(pair) ? Value::fact(truth) : r.trace().sizes().computed(Op::Compare, Py_EQ, nullptr, pair, truth);
    if (equal.known()) {
      r.truth(equal);
    } else {
      for (Value& value : pair) r.pin(value);
    }
    if (!same) break;
  }
  return true;
}

/// == and != of the keys of two dicts: which keys there are is a fact then. False: not that, or keys that are compared
/// by identity.
bool compare_keys(Recording& r, std::vector<Value>& in, Word code) {
  if (code != Py_EQ && code != Py_NE) return false;
  for (Value& value : in) {
    const Iterator* view = PyDictKeys_Check(value.object) ? r.iterator_of(value.object) : nullptr;
    if (!view || !view->base) return false;
    Value dict = r.shadow(Value::fact(view->base)).self;
    r.know_keys(dict);
    for (const Value& key : r.elements(dict)) {
      if (!is_value_key(key.object) || is_hashed_in_python(key.object)) return false;
    }
  }
  return r.alive();
}

/// | of dicts, | & - ^ of sets, and their in-place forms.
Value mapping_result(Recording& r, std::vector<Value>& in, Word code, PyObject* result) {
  PyObject* other = in[1].object;
  bool in_place = code >= TERRA_IN_PLACE;
  if (is_dict(in[0].object) && is_dict(other) && code % TERRA_IN_PLACE == TERRA_OR && result != other) {
    if (!in_place && !PyDict_CheckExact(result)) {
      r.stop(Reason::UnmodelledContainer, "| of a subclass of dict");
      return {};
    }
    Value target = in_place ? in[0] : r.fresh(result).self;
    if (!in_place) copy_entries(r, in[0], target);
    copy_entries(r, in[1], target);
    return target;
  }
  if (is_set(in[0].object) && is_set(other)) return set_operation(r, in[0], in[1], code, result);
  r.stop(Reason::UnmodelledOperator, "an operator on containers");
  return {};
}

/// "%s and %d" % (a, b), with a tuple made inside of numbers and strings that are not all facts.
bool fits_format(Recording& r, std::vector<Value>& in) {
  if (!PyUnicode_CheckExact(in[0].object) || !PyTuple_CheckExact(in[1].object) || in[1].is_fact()) return false;
  if (!r.find(in[1].object) || !r.find(in[1].object)->fresh()) return false;
  const std::vector<Value> items = r.items(in[1]);
  return all_atoms(items) && !all_facts(items) && items.size() < 64;
}

/// == and the like where at least one operand is not a number or string.
Value comparison(Recording& r, std::vector<Value>& in, Word code, PyObject* result) {
  if (compare_sizes(r, in, code) || compare_keys(r, in, code)) return Value::fact(r.hold(result));
  if (!PyBool_Check(result)) {
    r.stop(Reason::UnmodelledOperator, std::string("comparison of a ") + Py_TYPE(in[0].object)->tp_name);
    return {};
  }
  r.read_to_compare(in[0], in[1], code != Py_EQ && code != Py_NE);
  return Value::fact(r.hold(result));
}

}  // namespace

bool all_atoms(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.known() && is_atom(v.object); });
}
bool all_facts(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_fact(); });
}

/// Of two numbers: one that takes no longer to compute in any other run.
static bool is_short_power(const std::vector<Value>& in, PyObject* result) {
  constexpr long most = 8;
  if (!is_number(result)) return false;
  if (PyFloat_CheckExact(in[0].object) || PyFloat_CheckExact(in[1].object)) return PyFloat_CheckExact(result);
  int overflow = 0;
  const bool fixed = in[1].is_fact() && PyLong_CheckExact(in[1].object);
  return fixed && PyLong_AsLongAndOverflow(in[1].object, &overflow) <= most && !overflow;
}

Value scalar_result(Recording& r, std::vector<Value>& in, Op op, Word code, PyObject* result) {
  if (all_facts(in)) return Value::fact(r.hold(result));
  if (Value size = r.trace().sizes().computed(op, code, nullptr, in, result); size.known()) return size;
  if (op == Op::Compare) {
    if (Value truth = r.trace().tensor_scalars().compared(code, in, result); truth.known()) return truth;
  }
  // Host arithmetic must give what it gave here, type included, and never run away: powers of ints and shifts are
  // computed from facts only. A power that is a float is one, or complex for some negative bases, where base or
  // exponent is a float; a small power of an int is an int.
  const Word sign = op == Op::Binary ? code % TERRA_IN_PLACE : Word{TERRA_ADD};
  const bool power = sign == TERRA_POWER;
  const bool grows = sign == TERRA_LEFT_SHIFT || (power && !is_short_power(in, result));
  if (grows || !is_atom(result)) {
    for (Value& value : in) r.pin(value);
    return Value::fact(r.hold(result));
  }
  Value value = r.host(op, r.reg_of(in[0]), in.size() > 1 ? r.reg_of(in[1]) : no_register, {code}, result, in);
  if (power) r.guard(Op::Type, value.reg, {word_of(Py_TYPE(result))});
  return value;
}

Value operator_result(Recording& r, ShadowFrame& f, Op op, Word code, PyObject* result) {
  Pending& pending = f.pending;
  auto& in = pending.in;
  if (is_tensor(result)) {
    pending.used_returns = true;
    for (Value& returned : pending.returns) {  // the engine has asked an operand for its number
      if (returned.object != result) r.pin_deep(returned);
    }
    Value value = r.by_identity(result);
    if (!value.known()) r.stop(Reason::UnknownOrigin, "a tensor");
    return value;
  }
  if (pending.called_by_c) {  // for items of a list or the like: what C code made of the answers is unknown
    r.stop(Reason::UnmodelledOperator, std::string("methods of what is in a ") + Py_TYPE(in[0].object)->tp_name);
    return {};
  }
  if (!pending.returns.empty()) {
    pending.used_returns = true;
    if (pending.returns.back().object == result) return pending.returns.back();
    if (PyBool_Check(result)) {  // != by way of __eq__, or identity where nobody says anything
      if (pending.returns.back().object == Py_NotImplemented) tell_apart(r, in[0], in[1]);
      for (Value& value : pending.returns) r.pin(value), r.truth(value);
      return Value::fact(result);
    }
    r.stop(Reason::UnmodelledOperator, Py_TYPE(in[0].object)->tp_name);
    return {};
  }
  if (all_atoms(in)) return scalar_result(r, in, op, code, result);
  if (is_atom(result)) {  // members of an IntEnum are ints to C code
    std::vector<Value> numbers = in;
    for (Value& value : numbers) {
      if (PyLong_Check(value.object) || PyFloat_Check(value.object))
        if (Value number = r.number_behind(value); number.known()) value = number;
    }
    if (all_atoms(numbers)) return scalar_result(r, numbers, op, code, result);
  }
  if (pending.extra.known() && pending.extra.object == result) return pending.extra;
  PyObject* first = in[0].object;
  if (op == Op::Binary && is_sequence(first)) {
    if (code == TERRA_IN_PLACE + TERRA_ADD && PyList_CheckExact(first)) return extended(r, f, result);
    if (code == TERRA_IN_PLACE + TERRA_MULTIPLY && PyList_CheckExact(first)) return multiplied(r, in);
    if (code >= TERRA_IN_PLACE && is_deque(first)) {
      r.stop(Reason::UnmodelledContainer, "an in-place operator on a deque");
      return {};
    }
    if (is_sequence(result)) return sequence_result(r, in, code % TERRA_IN_PLACE, result);
  }
  const auto by_value = [](const Value& v) { return v.known() && (is_atom(v.object) || is_value_member(v.object)); };
  if (op == Op::Compare && std::all_of(in.begin(), in.end(), by_value)) {  // members of enums that are strings
    for (Value& value : in) r.prepare_key(value);
    return Value::fact(r.hold(result));
  }
  if (op == Op::Compare) return comparison(r, in, code, result);
  if (op == Op::Binary && code % TERRA_IN_PLACE == TERRA_REMAINDER && is_atom(result) && fits_format(r, in)) {
    const Value tuple = made_in_each_run(r, r.items(in[1]), in[1].object);
    return r.host(op, r.reg_of(in[0]), tuple.reg, {TERRA_REMAINDER}, result, {in[0], tuple});
  }
  if (op == Op::Binary && is_atom(first) && is_atom(result)) {  // "%s and %s" % (a, b)
    for (Value& value : in) {
      if (!r.read_deep(value) || !is_value_key(value.object) || is_hashed_in_python(value.object))
        r.stop(Reason::UnmodelledOperator, "text of objects");
      r.pin_deep(value);
    }
    return Value::fact(r.hold(result));
  }
  if (op == Op::Binary && (is_dict(first) || is_set(first))) {
    return mapping_result(r, in, code, result);
  }
  const auto is_kind = [](const Value& v) {  // int | None
    return v.is_fact() && (PyType_Check(v.object) || v.object == Py_None || is_union(v.object));
  };
  if (op == Op::Binary && std::all_of(in.begin(), in.end(), is_kind)) return Value::fact(r.hold(result));
  r.stop(Reason::UnmodelledOperator, std::string(Py_TYPE(first)->tp_name) +
                                         (in.size() > 1 ? std::string(" and ") + Py_TYPE(in[1].object)->tp_name : ""));
  return {};
}

}  // namespace terra::capture
