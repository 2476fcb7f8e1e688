#include "interpreter_hooks/recorder/region/program_state.h"

#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/region/phis.h"
#include "interpreter_hooks/recorder/region/value_numbers.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace terra::capture {

namespace {

/// What a word says about those that follow.
enum Tag : uint64_t {
  unknown = 1,
  null,
  fact,
  in_register,
  value_number,
  arithmetic,
  outside_tensor,
  new_object,
  known_object,
  known_sum,
  outside_object,
  growing_list,
  other,
  chosen_value,
  dead,
  unread,  ///< an argument that nobody has asked for
};

constexpr int deepest_atom = 4;

}  // namespace

ProgramState ProgramStateReader::read_to_last() {
  lasts_ = forgets_ = open_ = true;
  if (!r_.adopted_.empty()) unreadable();
  return read();
}

ProgramState ProgramStateReader::read_alive(bool open, int as) {
  forgets_ = true;
  open_ = open;
  as_ = as;
  return read();
}

/// Classes, functions, modules and code live as long as the program mostly; to hold any other object would be noticed.
void ProgramStateReader::address(PyObject* object) {
  word(object);
  if (!lasts_) return;
  const bool lives = object == Py_None || PyBool_Check(object) || PyType_Check(object) || PyFunction_Check(object) ||
                     PyCFunction_Check(object) || PyModule_Check(object) || PyCode_Check(object) ||
                     Py_TYPE(object) == &PyMethodDescr_Type;
  if (lives)
    r_.file().keep(object);
  else
    unreadable();
}

void ProgramStateReader::came_from(const Value& value) {
  const uint64_t origin = value.has_register() ? r_.value_numbers().of(value.reg) : 0;
  origin ? word(origin) : unreadable();
}

void ProgramStateReader::from_outside(const Shadow& shadow) {
  if (!lasts_) return word(shadow.self.object);
  if (shadow.path.empty() || shadow.attributes_of || (shadow.written && !changed_.count(shadow.self.object)))
    unreadable();
  if (shadow.self.is_fact()) return address(shadow.self.object);
  came_from(shadow.self);
}

ProgramState ProgramStateReader::read() {
  if (lasts_) writes();
  for (size_t i = 0; i < r_.frames_.size(); i++) frame(*r_.frames_[i], i);
  std::vector<PyObject*> written;
  for (auto& [object, shadow] : r_.shadows_) {
    const bool changed = shadow.written || (shadow.content.known() && !lasts_);
    if (shadow.outside && changed && !changed_.count(object)) written.push_back(object);
  }
  std::sort(written.begin(), written.end());
  if (lasts_ && !written.empty()) unreadable();
  for (PyObject* object : written) {
    word(object);
    contents(*r_.peek(object));
  }
  word(engine_mode());
  return std::move(state_);
}

void ProgramStateReader::frame(const ShadowFrame& f, size_t index) {
  const bool top = index + 1 == r_.frames_.size();
  address(reinterpret_cast<PyObject*>(f.code));
  if (!lasts_ || &f != r_.frames_.front())
    value(f.function);  // the entry's own has no path, and nobody asks which it is
  variables(f, index);
  if (top && !open_) return;
  const Pending& open = f.pending;
  word(static_cast<uint64_t>(top && as_ >= 0 ? as_ : open.offset));
  values(open.in);
  values(open.returns);
  values(open.call.positional);
  values(open.call.keyword_values);
  value(open.call.callee_value);
  if (!top) value(open.extra);  // the truth that is being asked for, perhaps
  value(open.ended);
  word(open.taken);
}

void ProgramStateReader::values(const std::vector<Value>& all) {
  word(all.size());
  for (const Value& each : all) value(each);
}

void ProgramStateReader::variables(const ShadowFrame& f, size_t index) {
  for (bool on_stack : {false, true}) {
    const std::vector<Value>& all = on_stack ? f.stack : f.locals;
    word(all.size());
    for (size_t k = 0; k < all.size(); k++) {
      const bool forgotten = forgets_ && !on_stack && !r_.phis().is_alive(f, k);
      state_.forgets |= forgotten && all[k].known();
      forgotten ? word(dead) : variable(all[k], Phis::slot(index, k, on_stack));
    }
  }
}

/// What the frame has done to objects from outside so far. Their state follows from it, and from what they were. The
/// order of stores to attributes that were there before says nothing, and another path may have left one alone.
void ProgramStateReader::writes() {
  std::map<uint32_t, const Write*> stores;
  const std::vector<Write> all = coalesced(r_.writes_);
  for (const Write& write : all) {
    changed_.insert(write.target.object);
    if (r_.phis().is_plain_store(write)) {
      const bool alone = stores.emplace(Phis::slot(write.path), &write).second;
      if (!alone) unreadable();
      continue;
    }
    word(static_cast<uint64_t>(write.effect));
    value(write.target);
    atom(write.name, 0);
    value(write.value);
    values(write.arguments);
    value(write.key);
    atom(write.keywords, 0);
  }
  word(dead);
  for (const auto& [slot, write] : stores) {
    in_variable_ = true;
    value(write->target);
    atom(write->name, 0);
    in_variable_ = false;
    variable(write->value, slot, write->path, false);
  }
}

/// Other paths may leave another value there: of that kind, should the form of their states be this one's. `always`:
/// all paths have such a variable.
void ProgramStateReader::variable(const Value& held, uint32_t slot, const std::string& path, bool always) {
  if (!lasts_ || !r_.phis().may_differ(held)) return value(held);
  if (always) {
    form(fact);
    form(reinterpret_cast<uintptr_t>(Py_TYPE(held.object)));
  }
  const bool readable = std::exchange(state_.readable, true);
  const size_t from = state_.words.size();
  in_variable_ = true;
  value(held);
  in_variable_ = false;
  if (!r_.phis().is_chosen(held)) {
    uint64_t hash = 1;
    for (size_t i = from; i < state_.words.size(); i++) hash = hash * 0x9E3779B97F4A7C15 + state_.words[i] + 1;
    state_.held.push_back({slot, state_.readable ? hash | 1 : 0, path});
  }
  state_.readable &= readable;
}

/// Nothing is known of it but its type; which one it is where several are held.
void ProgramStateReader::chosen(const Value& value) {
  word(chosen_value);
  word(Py_TYPE(value.object));
  const auto [found, is_new] = chosen_.try_emplace(value.reg, state_.chosen.size());
  if (is_new) state_.chosen.push_back(value.reg);
  word(found->second);
}

void ProgramStateReader::value(const Value& value) {
  if (lasts_ && r_.phis().is_chosen(value)) return chosen(value);
  switch (value.kind) {
    case Value::Unknown: return word(value.object ? unread : unknown);
    case Value::Null: return word(null);
    case Value::Fact: word(fact); return atom(value.object, 0);
    case Value::Dynamic: break;
  }
  const bool is_object = r_.peek(value.object) && !is_number(value.object);
  if (!value.has_register() || is_object) return object(value.object);
  number(value);
}

/// Facts are alike when they are the same object, or equal and of a kind that nobody tells apart.
void ProgramStateReader::atom(PyObject* object, int depth) {
  if (!object) return word(null);
  word(Py_TYPE(object));
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow ? address(object) : word(static_cast<uint64_t>(number));
  }
  if (PyFloat_CheckExact(object)) return word(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object)));
  if (PyUnicode_CheckExact(object) || PyBytes_CheckExact(object)) {
    word(static_cast<uint64_t>(PyObject_Hash(object)));
    return word(static_cast<uint64_t>(PyObject_Size(object)));
  }
  if (PyTuple_CheckExact(object) && depth < deepest_atom) {
    word(static_cast<uint64_t>(PyTuple_GET_SIZE(object)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++) atom(PyTuple_GET_ITEM(object, i), depth + 1);
    return;
  }
  address(object);
}

void ProgramStateReader::numbered(graph::TraceId id) {
  word(value_number);
  const auto [found, is_new] = numbers_.try_emplace(id, state_.values.size());
  if (is_new) state_.values.push_back(id);
  word(found->second);
}

/// Numbers that follow from sizes, from counting, from tensors: by their number in the trace, or as what they are
/// computed from.
void ProgramStateReader::number(const Value& value) {
  if (const TensorScalars& readings = r_.trace().tensor_scalars(); readings.follow(value)) {
    word(Py_TYPE(value.object));
    return numbered(readings.id(value));
  }
  if (lasts_) {
    const std::string name = r_.file().name(value.reg);
    const bool sum = name.front() == '%';  // it has no name, and a number that is another one in each recording
    if (sum || r_.late(value.reg)) return unreadable();
    word(in_register);
    return came_from(value);
  }
  const Sizes::Part part = r_.trace().sizes().part(value);
  if (part.id != graph::kNoValue) {
    word(Py_TYPE(value.object));
    return numbered(part.id);
  }
  if (!part.operands) {
    word(in_register);
    return word(static_cast<uint64_t>(value.reg));
  }
  // A sum of sums is met along every way that leads to it.
  const auto [found, is_new] = sums_.try_emplace(value.reg, sums_.size());
  word(is_new ? arithmetic : known_sum);
  if (!is_new) return word(found->second);
  word(part.code);
  word(part.callee);
  values(*part.operands);
}

void ProgramStateReader::object(PyObject* object) {
  const Shadow* shadow = r_.peek(object);
  if (!shadow) {
    word(other);
    return address(object);
  }
  if (is_tensor(object)) return tensor(*shadow);
  if (shadow->outside) {
    word(outside_object);
    return from_outside(*shadow);
  }
  const auto [found, is_new] = objects_.try_emplace(object, objects_.size());
  word(is_new ? new_object : known_object);
  word(found->second);
  if (is_new) contents(*shadow);
}

/// What C code and the program can ask a tensor without leaving a record.
void ProgramStateReader::tensor(const Shadow& shadow) {
  const TensorImpl& t = *tensor_of(shadow.self.object);
  // One from outside is the program's own: which of them is held makes a difference even where the trace only moves
  // them around.
  if (shadow.outside) {
    word(outside_tensor);
    from_outside(shadow);
  }
  if (shadow.trace_id == graph::kNoValue)
    shadow.outside || !lasts_ ? void() : unreadable();
  else if (!lasts_ || !shadow.outside)
    numbered(shadow.trace_id);
  word(static_cast<uint64_t>(shadow.outside) | static_cast<uint64_t>(t.requires_grad()) << 1 |
       static_cast<uint64_t>(is_leaf(t)) << 2 | static_cast<uint64_t>(t.wrapped_number) << 3);
  word(static_cast<uint64_t>(t.dtype));
  word(t.sizes.size());
  if (r_.trace().may_vary(shadow)) return;  // its sizes are asked on the record
  for (int64_t size : t.sizes) word(static_cast<uint64_t>(size));
  for (int64_t stride : t.strides) word(static_cast<uint64_t>(stride));
}

void ProgramStateReader::contents(const Shadow& s) {
  PyObject* object = s.self.object;
  const bool generator = s.iterator && (lasts_ || s.iterator->kind == Iterator::Generator);
  if (generator || PyExceptionInstance_Check(object)) unreadable();  // they hold more than a shadow says
  if (lasts_ && s.attributes_of) unreadable();
  if (!lasts_ && s.fresh() && s.grown != graph::kNoValue && s.asked < since_) {
    word(growing_list);
    state_.lists.push_back({s.grown, object, s.items.size()});
    return;
  }
  address(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  word(static_cast<uint64_t>(s.length_known) | static_cast<uint64_t>(s.keys_known) << 1 |
       static_cast<uint64_t>(s.order_lost) << 2 | static_cast<uint64_t>(s.plain_instance) << 3);
  values(s.items);
  values(s.appended);
  word(s.entries.size());
  for (const Shadow::Entry& entry : s.entries) {
    atom(entry.key, 0);
    value(entry.value);
    value(entry.key_value);
  }
  std::vector<PyObject*> names = s.order;
  for (auto& [name, known] : s.attributes) {
    if (std::find(s.order.begin(), s.order.end(), name) == s.order.end()) names.push_back(name);
  }
  std::sort(names.begin() + static_cast<std::ptrdiff_t>(s.order.size()), names.end());
  word(names.size());
  for (PyObject* name : names) {
    atom(name, 0);
    const auto found = s.attributes.find(name);
    value(found == s.attributes.end() ? Value() : found->second);
  }
  value(s.content);
  value(s.function);
  value(s.receiver);
  values(s.defaults);
  word(s.keyword_defaults.size());
  for (auto& [name, known] : s.keyword_defaults) {
    word(name);
    value(known);
  }
  word(s.attributes_of);
  if (PyFunction_Check(object)) {
    address(PyFunction_GET_CODE(object));
    PyObject* closure = PyFunction_GET_CLOSURE(object);
    for (Py_ssize_t i = 0; closure && i < PyTuple_GET_SIZE(closure); i++) this->object(PyTuple_GET_ITEM(closure, i));
  }
  if (!s.iterator) return;
  word(static_cast<uint64_t>(s.iterator->kind));
  word(s.iterator->base);
  word(r_.lost_its_place(*s.iterator));
  // How far a counter has come is a number among its children.
  word(s.iterator->kind == Iterator::Counted ? 0 : static_cast<uint64_t>(s.iterator->index));
  values(s.iterator->children);
}

}  // namespace terra::capture
