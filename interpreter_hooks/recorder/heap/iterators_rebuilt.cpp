// Iterators that leave the frame: another one like it, at the same place. The recorded run's own one says where that
// is.
#include "interpreter_hooks/recorder/core/recording.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool reaches(PyObject* object, PyObject* other) {
  struct Search {
    PyObject* wanted;
    bool met;
  } search{other, false};
  auto visit = [](PyObject* met, void* data) {
    auto* s = static_cast<Search*>(data);
    s->met = s->met || met == s->wanted;
    return 0;
  };
  traverseproc traverse = Py_TYPE(object)->tp_traverse;
  if (traverse) traverse(object, visit, &search);
  return search.met;
}

/// Whether another iterator can be made that is where one of this kind is.
bool has_a_place(Iterator::Kind kind) {
  switch (kind) {
    case Iterator::Sequence:
    case Iterator::Reversed:
    case Iterator::Range:
    case Iterator::Keys:
    case Iterator::Values:
    case Iterator::Items:
    case Iterator::Enumerate:
    case Iterator::Zip:
    case Iterator::Counted: return true;
    case Iterator::Generator:
    case Iterator::Mapped:
    case Iterator::Filtered:
    case Iterator::Combined:
    case Iterator::Popped:
    case Iterator::Facts: return false;
  }
  return false;
}

/// Iterators over these can be set to a place (dict: by walking there); those over a deque or a set cannot.
bool has_places(PyObject* base) {
  return PyList_CheckExact(base) || PyTuple_Check(base) || PyRange_Check(base) || PyDict_CheckExact(base) ||
         PyUnicode_CheckExact(base) || is_dict_view(base);
}

/// An iterator that has run dry lets go of what it walked over and stays dry, whatever happens to that. The same goes
/// for the shadow's count of what it yielded.
bool is_at(PyObject* iterator, PyObject* base, Py_ssize_t index) {
  if (!has_places(base) || (!PyRange_Check(base) && !reaches(iterator, base))) return false;
  Py_ssize_t length = PyObject_Size(base), left = PyObject_LengthHint(iterator, -1);
  PyErr_Clear();
  return left >= 0 && left == length - index;
}

Walk walk_of(Iterator::Kind kind) {
  switch (kind) {
    case Iterator::Values: return walk_values;
    case Iterator::Items: return walk_items;
    case Iterator::Reversed: return walk_reversed;
    default: return walk_plain;
  }
}

/// What pickle would make of it: (type, arguments...). Held by the recording; null when it has no such form.
PyObject* reduced(Recording& r, PyObject* iterator) {
  PyObject* parts = PyObject_CallMethod(iterator, "__reduce__", nullptr);
  PyErr_Clear();
  if (!parts) return nullptr;
  r.hold_new(parts);
  PyObject* arguments = PyTuple_Check(parts) && PyTuple_GET_SIZE(parts) == 2 ? PyTuple_GET_ITEM(parts, 1) : nullptr;
  return arguments && PyTuple_Check(arguments) ? arguments : nullptr;
}

}  // namespace

/// Counting cannot tell where it is: the entries before its place are others than those that it has yielded.
bool Recording::lost_its_place(const Iterator& iterator) {
  const Shadow* walked = iterator.base ? peek(iterator.base) : nullptr;
  return walked && iterator.rekeyed >= 0 && walked->rekeyed != iterator.rekeyed;
}

/// The effect program has still to bring the object to what it is now.
bool Recording::changes_later(PyObject* object) {
  const Shadow* known = peek(object);
  const auto to_come = writes_.begin() + static_cast<std::ptrdiff_t>(std::min(next_write_, writes_.size()));
  return (known && known->being_made) ||
         std::any_of(to_come, writes_.end(), [&](const Write& write) { return write.target.object == object; });
}

bool Recording::can_rebuild_iterator(const Shadow& shadow) {
  const Iterator& iterator = *shadow.iterator;
  if (!has_a_place(iterator.kind)) return false;
  for (const Value& child : iterator.children) {
    Shadow* known = find(child.object);
    if (!known || !known->iterator || !can_rebuild_iterator(*known)) return false;
  }
  if (!iterator.base) return true;
  if (!has_places(iterator.base) || lost_its_place(iterator)) return false;
  Value base = by_identity(iterator.base);
  return !base.known() || can_leave(base, 4);
}

Register Recording::materialise_iterator(const Iterator& iterator, PyObject* real) {
  auto refuse = [&] {
    stop(Reason::FreshEscapes, Py_TYPE(real)->tp_name);
    return Register(-1);
  };
  auto make = [&](Effect effect, Register a, std::vector<Word> operands) {
    Register reg = new_register(std::string("new ") + Py_TYPE(real)->tp_name, true, true);
    if (alive_) entry_->effects.emit(effect, reg, a, no_register, operands);
    return reg;
  };
  if (!has_a_place(iterator.kind)) return refuse();
  switch (iterator.kind) {
    case Iterator::Counted: {
      Value range = by_identity(iterator.base);
      pin(range);
      shadow(range).self = range;
      break;
    }
    case Iterator::Enumerate:
    case Iterator::Zip: {
      bool numbered = iterator.kind == Iterator::Enumerate;
      PyObject* parts = reduced(*this, real);
      size_t expected = numbered ? 2 : iterator.children.size();
      if (!parts || static_cast<size_t>(PyTuple_GET_SIZE(parts)) != expected) return refuse();
      std::vector<Register> registers;
      for (size_t i = 0; i < iterator.children.size(); i++) {
        Shadow* child = find(iterator.children[i].object);
        if (!child || !child->iterator || !alive_) return refuse();
        if (!child->self.has_register()) {
          Register made = materialise_iterator(*child->iterator, PyTuple_GET_ITEM(parts, i));
          find(iterator.children[i].object)->self = Value::dynamic(made, iterator.children[i].object);
        }
        registers.push_back(find(iterator.children[i].object)->self.reg);
      }
      if (numbered) registers.push_back(reg_of(Value::fact(hold(PyTuple_GET_ITEM(parts, 1)))));
      auto* type = reinterpret_cast<PyObject*>(Py_TYPE(real));
      return make(Effect::MakeCall, no_register, called_with(file(), type, registers));
    }
    default: break;
  }
  Value base = by_identity(iterator.base);
  if (!base.known()) base = Value::fact(iterator.base);
  if (is_dict_view(real)) {
    PyObject* descriptor =
        PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyDict_Type), PyDictKeys_Check(real)     ? "keys"
                                                                          : PyDictValues_Check(real) ? "values"
                                                                                                     : "items");
    std::vector<Word> words = called_with(file(), descriptor, {reg_of(base)});
    Py_DECREF(descriptor);
    return make(Effect::MakeCall, no_register, std::move(words));
  }
  if (lost_its_place(iterator) || changes_later(iterator.base)) return refuse();
  if (!is_at(real, iterator.base, iterator.index)) return refuse();
  Register a = reg_of(base);
  return make(Effect::MakeIterator, a, {walk_of(iterator.kind), static_cast<Word>(iterator.index)});
}

}  // namespace terra::capture
