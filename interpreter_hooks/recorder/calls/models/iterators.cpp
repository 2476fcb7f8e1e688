// Iterators that C code makes: CPython advances the real one, the shadow advances beside it. Those of itertools see
// facts and objects met before only.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/region/loops.h"

#include <algorithm>

namespace terra::capture {

Value value_of_real(Recording& r, PyObject* object) {
  if (is_atom(object)) return Value::fact(r.hold(object));
  if (Value met = r.by_identity(object); met.known()) return met;
  if (PyTuple_CheckExact(object)) {
    std::vector<Value> parts;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++) {
      parts.push_back(value_of_real(r, PyTuple_GET_ITEM(object, i)));
      if (!parts.back().known()) return {};
    }
    return r.make_sequence(object, std::move(parts));
  }
  return {};
}

namespace {

/// The iterator that an enumerate or zip has taken from an operand: __reduce__ gives (type, (iterators...)). Held by
/// the recording; null where there is none.
PyObject* taken(Recording& r, PyObject* wrapper, Py_ssize_t place) {
  PyObject* parts = PyObject_CallMethod(wrapper, "__reduce__", nullptr);
  PyObject* below = parts ? PyTuple_GetItem(parts, 1) : nullptr;
  PyObject* iterator = below && PyTuple_Check(below) ? PyTuple_GetItem(below, place) : nullptr;
  PyErr_Clear();
  if (iterator) r.hold(iterator);
  Py_XDECREF(parts);
  return iterator;
}

Value end_enumerate(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (in.empty()) {
    r.stop(Reason::UnmodelledCall, "enumerate() with a named iterable");
    return {};
  }
  r.pin(in[0]);
  if (in.size() > 1) r.read_index(in[1]);
  for (Value& start : f.pending.call.keyword_values) r.read_index(start);
  Value child = r.iterate_below(f, in[0], taken(r, result, 0));
  Value made = r.make_iterator(result, Iterator::Enumerate, nullptr);
  r.set_children(result, {child});
  return made;
}
/// Where a later one ends first, zip() has taken an item more from those before it than it gave away.
void zipped(Recording& r, Iterator& iterator) {
  iterator.zipped = true;
  for (const Value& child : iterator.children)
    if (Iterator* below = r.iterator_of(child.object)) zipped(r, *below);
}
bool is_zipped(Recording& r, const Value& value) {
  const Iterator* iterator = r.iterator_of(value.object);
  if (!iterator) return false;
  const auto& children = iterator->children;
  return iterator->zipped ||
         std::any_of(children.begin(), children.end(), [&](const Value& child) { return is_zipped(r, child); });
}
Value end_zip(Recording& r, ShadowFrame& f, PyObject* result) {
  bool strict = false;
  for (Value& operand : arguments(f)) {
    if (is_zipped(r, operand)) r.stop(Reason::UnmodelledIteration, "zip() of an iterator that is zipped already");
  }
  for (Value& value : f.pending.call.keyword_values) {
    if (!is_atom(value.object)) {
      r.stop(Reason::UnmodelledCall, "zip(strict=...) with an object");
      return {};
    }
    r.pin(value), strict = PyObject_IsTrue(value.object) == 1;
  }
  std::vector<Value> children;
  for (size_t i = 0; i < arguments(f).size() && r.alive(); i++) {
    Value& operand = arguments(f)[i];
    if (strict && !is_sequence(operand.object)) r.stop(Reason::UnmodelledCall, "zip(strict=True) of an iterator");
    if (strict && r.alive()) r.know_length(operand);
    children.push_back(r.iterate_below(f, operand, taken(r, result, static_cast<Py_ssize_t>(i))));
    Shadow* child = children.back().object == operand.object ? r.find(operand.object) : nullptr;
    if (child && child->iterator && i + 1 < arguments(f).size()) zipped(r, *child->iterator);
  }
  Value made = r.make_iterator(result, Iterator::Zip, nullptr);
  r.set_children(result, std::move(children));
  return made;
}
/// The range that goes the other way, held by the recording: what a range is walked backwards as.
PyObject* turned(Recording& r, PyObject* range) {
  PyObject* step = PyLong_FromLong(-1);
  PyObject* all = step ? PySlice_New(nullptr, nullptr, step) : nullptr;
  PyObject* turned = all ? PyObject_GetItem(range, all) : nullptr;
  if (turned) r.hold_new(turned);
  Py_XDECREF(all);
  Py_XDECREF(step);
  PyErr_Clear();
  return turned;
}
Value end_reversed(Recording& r, ShadowFrame& f, PyObject* result) {
  Value& value = arguments(f)[0];
  if (PyRange_Check(value.object)) {
    if (Shadow* range = r.find(value.object); range && range->fresh()) return r.loops().reversed(result, value.object);
    r.pin(value);
    return r.make_iterator(result, Iterator::Range, turned(r, value.object));
  }
  if (!PyList_CheckExact(value.object) && !is_tuple(value.object)) {
    r.stop(Reason::UnmodelledIteration, "reversed");
    return {};
  }
  r.know_length(value);
  return r.make_iterator(result, Iterator::Reversed, value.object);
}
Value end_range(Recording& r, ShadowFrame& f, PyObject* result) {
  for (Value& value : arguments(f)) {
    if (PyLong_Check(value.object) && !is_atom(value.object) && !is_value_member(value.object))
      r.stop(Reason::UnmodelledCall, std::string("a range that has a ") + Py_TYPE(value.object)->tp_name);
    if (const Value number = r.number_behind(value); number.known()) value = number;
  }
  if (r.loops().counts(f, arguments(f))) {
    Shadow& made = r.fresh(result);
    made.items = arguments(f);
    return made.self;
  }
  if (f.pending.returns.empty()) {
    for (Value& value : arguments(f)) r.read_index(value);
  }
  return Value::fact(r.hold(result));
}
Value end_iter(Recording& r, ShadowFrame& f, PyObject* result) {
  if (arguments(f).size() != 1) {
    r.stop(Reason::UnmodelledIteration, "iter with a sentinel");
    return {};
  }
  return iterator_from(r, f, arguments(f)[0], result);
}
/// Whether there was a next one follows from the iterator's shadow, which counts along.
Value end_next(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (in.size() == 1 || r.found_next(f, in[0], result, in[1].object)) return r.next(f, in[0], result);
  f.pending.used_returns = true;
  for (Value& value : f.pending.returns) {
    r.pin_deep(value);
    r.truth(value);
  }
  return in[1];
}
bool raised_by_next(Recording& r, ShadowFrame& f) {
  return r.iterator_of(arguments(f)[0].object) || f.pending.child_raised;
}

/// map(d.pop, names, defaults) on a dict made inside: how a named tuple replaces fields.
bool pops_from_fresh_dict(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() != 3 || !PyCFunction_Check(in[0].object) || !is_tuple(in[1].object) || !is_tuple(in[2].object))
    return false;
  static const CallModel* pop = model_of(PyDict_GetItemString(terra_class_dict(&PyDict_Type), "pop"));
  Shadow* bound = r.find(in[0].object);
  Shadow* dict = bound && bound->receiver.known() ? r.find(bound->receiver.object) : nullptr;
  return model_of(in[0].object) == pop && dict && dict->fresh() && PyDict_CheckExact(bound->receiver.object);
}

void begin_map(Recording& r, ShadowFrame& f) {
  if (!pops_from_fresh_dict(r, f)) expose_all(r, f);
}

constexpr int all_levels = 8;

/// The iterator will read what it was given, and what __iter__ of its operands has returned.
Value begin_walk(Recording& r, ShadowFrame& f, PyObject* result, Iterator::Kind kind, int levels) {
  Value made = r.make_iterator(result, kind, nullptr);
  r.set_children(result, arguments(f));
  r.find(result)->iterator->hands_on = kind == Iterator::Combined && levels <= 1;
  std::vector<Value> operands = everything(f);
  operands.insert(operands.end(), f.pending.returns.begin(), f.pending.returns.end());
  r.live_iterators().begin(r, result, operands, levels);
  return made;
}

/// map and filter: the function is the program's own, or does nothing but compute; what they walk over is known.
template <Iterator::Kind kind>
Value end_map(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  PyObject* function = in[0].object;
  if (kind == Iterator::Mapped && pops_from_fresh_dict(r, f)) {
    Value receiver = r.find(function)->receiver;
    r.items(in[1]), r.items(in[2]);
    Value made = r.make_iterator(result, Iterator::Popped, nullptr);
    r.set_children(result, {receiver, in[1], in[2]});
    return made;
  }
  if (!is_program_function(function) && function != Py_None && !is_harmless(function)) {
    r.stop(Reason::UnmodelledCall, callable_name(function) + " below " + callable_name(f.pending.call.callee));
  }
  const bool hands_on = is_program_function(function);
  for (size_t i = 1; i < in.size() && r.alive(); i++) {
    const bool readable = hands_on || !has_text_of_its_own(in[i].object);
    if (!readable || !transparent(r, in[i])) r.stop(Reason::UnmodelledIteration, Py_TYPE(in[i].object)->tp_name);
  }
  const int levels = kind == Iterator::Combined ? 2 : 1;  // starmap takes the items apart
  return begin_walk(r, f, result, kind, hands_on ? levels : all_levels);
}

/// Operands that itertools walk over: containers and iterators that are followed, functions of the program's own. Those
/// that read them all at once have no `levels`.
template <int levels = 1>
Value end_combined(Recording& r, ShadowFrame& f, PyObject* result) {
  for (Value& value : everything(f)) {
    if (PyType_Check(value.object)) continue;  // whose class method it is
    if (!is_atom(value.object) && !transparent(r, value))
      r.stop(Reason::UnmodelledIteration, Py_TYPE(value.object)->tp_name);
  }
  return begin_walk(r, f, result, Iterator::Combined, levels);
}
void begin_repeat(Recording& r, ShadowFrame& f) {
  if (arguments(f).empty()) return r.stop(Reason::UnmodelledCall, "itertools.repeat with a named object");
  if (arguments(f).size() > 1) r.read_index(arguments(f)[1]);
  for (Value& times : f.pending.call.keyword_values) r.read_index(times);
  if (is_atom(arguments(f)[0].object)) r.pin(arguments(f)[0]);
}
Value end_repeat(Recording& r, ShadowFrame& f, PyObject* result) {
  return begin_walk(r, f, result, Iterator::Combined, 0);
}

constexpr CallModel models[] = {
    {"builtins", "enumerate", nullptr, end_enumerate},
    {"builtins", "zip", nullptr, end_zip},
    {"builtins", "reversed", nullptr, end_reversed},
    {"builtins", "range", nullptr, end_range},
    {"builtins", "iter", nullptr, end_iter},
    {"builtins", "next", nullptr, end_next, kResumes, raised_by_next},
    {"builtins", "map", begin_map, end_map<Iterator::Mapped>, kHandsOn},
    {"builtins", "filter", expose_all, end_map<Iterator::Filtered>, kHandsOn},
    {"itertools", "chain", expose_all, end_combined<>, kHandsOn},
    {"itertools.chain", "from_iterable", expose_all, end_combined<2>, kLooksIn},
    {"itertools", "islice", expose_all, end_combined<>, kHandsOn},
    {"itertools", "count", expose_all, end_combined<>},
    {"itertools", "repeat", begin_repeat, end_repeat},
    {"itertools", "cycle", expose_all, end_combined<>, kHandsOn},
    {"itertools", "product", expose_all, end_combined<0>, kHandsOn},
    {"itertools", "permutations", expose_all, end_combined<0>, kHandsOn},
    {"itertools", "combinations", expose_all, end_combined<0>, kHandsOn},
    {"itertools", "zip_longest", expose_all, end_combined<>, kHandsOn},
    {"itertools", "pairwise", expose_all, end_combined<>, kHandsOn},
    {"itertools", "compress", expose_all, end_combined<2>, kLooksIn},
    {"itertools", "accumulate", expose_all, end_combined<all_levels>, kLooksIn},
    {"itertools", "starmap", expose_all, end_map<Iterator::Combined>, kLooksIn},
    {"itertools", "takewhile", expose_all, end_map<Iterator::Filtered>, kHandsOn},
    {"itertools", "dropwhile", expose_all, end_map<Iterator::Filtered>, kHandsOn},
};

}  // namespace

ModelList iterator_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
