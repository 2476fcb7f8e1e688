// Lists, tuples, deques and cells: what was read, what the frame changed, and the guards that make it a fact.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/recorder/region/phis.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// What a subclass written in Python would have to override to be accessed differently.
void guard_class(Recording& r, PyObject* sequence) {
  static PyObject* names[] = {PyUnicode_InternFromString("__getitem__"), PyUnicode_InternFromString("__iter__"),
                              PyUnicode_InternFromString("__len__"), PyUnicode_InternFromString("__contains__")};
  if (!is_changeable(Py_TYPE(sequence))) return;
  r.guard_type(sequence);
  for (PyObject* name : names) r.look_up(Py_TYPE(sequence), name);
}

}  // namespace

/// The length before the frame began is a fact from here on. The real list may hold what the frame appended already.
void Recording::know_length(Value& sequence) {
  Shadow& known = shadow(sequence);
  if (known.length_known) return;
  known.length_known = true;
  guard_class(*this, sequence.object);
  Py_ssize_t length = Py_SIZE(sequence.object) - static_cast<Py_ssize_t>(known.appended.size());
  bool constant = known.self.is_fact() && PyTuple_Check(sequence.object);
  if (!constant) guard(Op::Length, reg_of(known.self), {static_cast<Word>(length)});
  known.items.assign(length, Value());
  known.items.insert(known.items.end(), known.appended.begin(), known.appended.end());
}

bool Recording::may_know_length(Value& sequence) {
  const Shadow& known = shadow(sequence);
  if (!known.outside || known.length_known || known.self.is_fact()) return true;
  return speculation_.may_fix_length(known.path, static_cast<size_t>(Py_SIZE(sequence.object)));
}

Value Recording::length(Value& container) {
  Shadow& known = shadow(container);
  PyObject* object = container.object;
  if (!known.outside || known.self.is_fact() || known.length_known || known.keys_known) return {};
  // All that the frame may have done to a list so far is to append.
  const bool untouched = !known.written && !known.rekeyed && known.appended.empty() && !known.attributes_of;
  const bool counts = PyTuple_CheckExact(object) || PyDict_CheckExact(object) || PyAnySet_CheckExact(object) ||
                      (is_deque(object) && !is_changeable(Py_TYPE(object)));
  if (!PyList_CheckExact(object) && !(counts && untouched)) return {};
  static PyObject* const len = PyDict_GetItemString(PyEval_GetBuiltins(), "len");
  const auto added = static_cast<Py_ssize_t>(known.appended.size());
  PyObject* before = hold_new(PyLong_FromSsize_t(PyObject_Size(object) - added));
  const std::string path = "len(" + known.path + ")";
  const bool differs = speculation_.met(path, before) || speculation_.relaxed(path);
  if (!differs) return {};
  std::vector<Word> words = call_operands(file(), len, {reg_of(known.self)});
  Value length = host(Op::Call, no_register, no_register, std::move(words), before, {});
  if (!added) return length;
  PyObject *more = PyLong_FromSsize_t(added), *now = PyNumber_Add(before, more);
  const Value by = Value::fact(hold(more));
  Value sum = host(Op::Binary, length.reg, reg_of(by), {TERRA_ADD}, now, {length, by});
  Py_DECREF(more);
  Py_DECREF(now);
  return sum;
}

Value Recording::item_of_grown(Value& sequence, Py_ssize_t index) {
  if (!length(sequence).known()) return {};
  Shadow& known = shadow(sequence);
  const auto added = static_cast<Py_ssize_t>(known.appended.size()), all = Py_SIZE(sequence.object),
             before = all - added;
  if (index >= before || index < -all) return {};
  if (index < 0 && -index <= added) return known.appended[static_cast<size_t>(added + index)];
  // By where it was when the frame began: the name says which one it is.
  const std::string path = known.path + "[" + std::to_string(index < 0 ? index + added : index) + "]";
  PyObject* object = real_item(sequence.object, index < 0 ? index + all : index);
  if (index >= 0) return read(Op::Item, reg_of(known.self), {static_cast<Word>(index)}, object, path);
  if (is_number(object)) speculation_.relax(path);  // what was appended last is seldom what it was before
  PyObject* from_end = hold_new(PyLong_FromSsize_t(index + added));
  const Register base = reg_of(known.self), at = reg_of(Value::fact(from_end));
  return read(Op::ItemOf, base, {}, object, path, at);
}

bool Recording::tail_of_grown(Value& sequence, Py_ssize_t count, std::vector<Value>& tail) {
  Value now = length(sequence);
  if (!now.known() || Py_SIZE(sequence.object) < count) return false;
  const Value bound = Value::fact(hold_new(PyLong_FromSsize_t(count)));
  Value enough = host(Op::Compare, now.reg, reg_of(bound), {Py_GE}, Py_True, {now, bound});
  truth(enough);
  for (Py_ssize_t i = -count; i < 0 && alive_; i++) {
    tail.push_back(item_of_grown(sequence, i));
    if (!tail.back().known()) stop(Reason::UnknownOrigin, "an item of " + shadow(sequence).path);
  }
  return true;
}

Value Recording::item(Value& sequence, Py_ssize_t index) {
  know_length(sequence);
  Shadow& known = shadow(sequence);
  Py_ssize_t length = static_cast<Py_ssize_t>(known.items.size());
  if (index < 0) index += length;
  if (index < 0 || index >= length) return {};
  if (known.items[index].known()) return known.items[index];
  if (known.fresh() || index >= Py_SIZE(sequence.object)) return {};
  PyObject* object = real_item(sequence.object, index);
  Value value;
  if (known.self.is_fact() && PyTuple_Check(sequence.object) && (is_atom(object) || PyTuple_CheckExact(object))) {
    value = Value::fact(hold(object));  // a constant tuple
  } else {
    value = read(Op::Item, reg_of(known.self), {static_cast<Word>(index)}, object,
                 known.path + "[" + std::to_string(index) + "]");
  }
  return shadow(sequence).items[index] = value;
}

Value Recording::item_of(Value& sequence, const Value& index) {
  Shadow& known = shadow(sequence);
  const bool as_it_was = known.outside && !known.written && known.appended.empty();
  if (!as_it_was || !index.has_register() || late(index.reg) || !PyLong_CheckExact(index.object)) return {};
  if (phis_->refuse(index.reg)) return {};
  Py_ssize_t place = PyLong_AsSsize_t(index.object);
  if (place < 0) place += Py_SIZE(sequence.object);
  PyObject* object = real_item(sequence.object, place);
  const std::string path = known.path + "[" + file().name(index.reg) + "]";
  Register base = reg_of(known.self), reg = new_register(path, false, false);
  if (alive_) entry_->entry.emit(Op::ItemOf, reg, base, index.reg);
  return classify(reg, object, path);
}

std::vector<Value> Recording::items(Value& sequence) {
  know_length(sequence);
  std::vector<Value> values;
  for (size_t i = 0; i < shadow(sequence).items.size(); i++) {
    values.push_back(item(sequence, static_cast<Py_ssize_t>(i)));
    if (!values.back().known()) stop(Reason::UnknownOrigin, "an item of " + shadow(sequence).path);
  }
  return values;
}

void Recording::read_items(Value& sequence) {
  if (shadow(sequence).all_read) return;
  items(sequence);
  shadow(sequence).all_read = true;
}

/// The empty tuple is one object in the whole process: a fact, not a fresh object.
Value Recording::make_sequence(PyObject* object, std::vector<Value> items) {
  if (PyTuple_CheckExact(object) && items.empty()) return Value::fact(object);
  if (Shadow* known = find(object)) return known->self;  // CPython handed an operand through (t[:], t + ())
  Shadow& made = fresh(object);
  made.items = std::move(items);
  return made.self;
}

Value Recording::snapshot(Value& sequence) {
  std::vector<Value> now = items(sequence);
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(now.size()));
  for (size_t i = 0; i < now.size(); i++) {
    PyTuple_SET_ITEM(tuple, i, Py_NewRef(now[i].object ? now[i].object : Py_None));
  }
  Value made = make_sequence(tuple, std::move(now));
  Py_DECREF(tuple);
  return made;
}

// ---- cells ----

Value Recording::cell(PyObject* object) {
  Shadow* known = find(object);
  if (!known) {
    stop(Reason::UnknownOrigin, "a cell");
    return {};
  }
  if (known->content.known() || known->fresh()) return known->content;
  Value value = read(Op::Cell, reg_of(known->self), {}, PyCell_GET(object), known->path);
  return find(object)->content = value;
}

}  // namespace terra::capture
