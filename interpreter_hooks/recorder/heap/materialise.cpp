// Objects that the frame made and that leave it: built in the effect program, once, from their final contents, so that
// what was one object stays one. Where objects refer to each other in a circle, one is made empty and filled
// afterwards.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <cstring>

namespace terra::capture {

namespace {

/// Calls visit(value) for everything that the object holds.
template <class F>
void each_part(Recording& r, Shadow& shadow, F visit) {
  for (const Value& item : shadow.items) visit(item);
  for (auto& entry : shadow.entries) visit(entry.where_from()), visit(entry.value);
  for (PyObject* name : shadow.order) visit(shadow.attributes[name]);
  visit(shadow.content);
  visit(shadow.function);
  visit(shadow.receiver);
  if (!PyFunction_Check(shadow.self.object)) return;
  for (const Value& value : r.parts_of_function(shadow)) visit(value);
}

/// Whether the object can be reached from itself through objects that are still to be made.
bool in_a_circle(Recording& r, Shadow& start) {
  std::set<PyObject*> seen;
  std::vector<PyObject*> left = {start.self.object};
  while (!left.empty()) {
    PyObject* object = left.back();
    left.pop_back();
    Shadow* shadow = r.find(object);
    if (!shadow || !shadow->fresh() || shadow->self.has_register()) continue;
    bool found = false;
    each_part(r, *shadow, [&](const Value& part) {
      if (!part.known() || part.is_fact() || is_atom(part.object)) return;
      found = found || part.object == start.self.object;
      if (seen.insert(part.object).second) left.push_back(part.object);
    });
    if (found) return true;
  }
  return false;
}

/// Emits the effects that make one object.
class Maker {
 public:
  Maker(Recording& r, EffectProgram& effects, PyObject* object)
      : r_(r), effects_(effects), object_(object), name_("new " + std::string(Py_TYPE(object)->tp_name)) {}

  Shadow& shadow() { return *r_.find(object_); }
  Register part(const Value& value) { return r_.reg_of(value); }
  Register constant(PyObject* object) { return r_.reg_of(Value::fact(object)); }
  Word keep(PyObject* object) { return word_of(r_.file().keep(object)); }

  Register emit(Effect effect, const std::vector<Register>& parts, std::vector<Word> words = {},
                Register a = no_register, Register b = no_register) {
    if (parts.size() > 900) r_.stop(Reason::TooLong, "a container that leaves the frame");
    if (!r_.alive()) return -1;
    for (Word word : pack(parts)) words.push_back(word);
    Register reg = r_.new_register(name_, true, true);
    effects_.emit(effect, reg, a, b, words);
    return reg;
  }
  /// `keywords`: names of the last parts.
  Register call(PyObject* callee, const std::vector<Register>& parts, PyObject* keywords = nullptr) {
    return emit(Effect::MakeCall, parts, {keep(callee), keep(keywords)});
  }
  /// From here on the object exists: what is filled in later may refer to it.
  void exists(Register reg) {
    if (r_.alive()) shadow().self = Value::dynamic(reg, object_);
  }

  std::vector<Register> items() {
    std::vector<Register> parts;
    for (const Value& item : std::vector<Value>(shadow().items)) parts.push_back(part(item));
    return parts;
  }
  std::vector<Register> entries(bool keys_only) {
    std::vector<Register> parts;
    for (auto& entry : std::vector<Shadow::Entry>(shadow().entries)) {
      parts.push_back(part(entry.where_from()));
      if (!keys_only) parts.push_back(part(entry.value));
    }
    return parts;
  }
  std::vector<Register> attributes() {
    std::vector<Register> parts;
    for (PyObject* name : std::vector<PyObject*>(shadow().order)) {
      Value value = shadow().attributes[name];
      if (!value.known()) continue;
      parts.push_back(constant(name));
      parts.push_back(part(value));
    }
    return parts;
  }

  // ---- filling what exists already ----
  void fill_attributes(Register reg) {
    for (PyObject* name : std::vector<PyObject*>(shadow().order)) {
      Value value = shadow().attributes[name];
      if (!value.known() || !r_.alive()) continue;
      Register filled = part(value);
      if (r_.alive()) effects_.emit(Effect::SetPlainAttribute, no_register, reg, filled, {keep(name)});
    }
  }
  void fill_entries(Register reg) {
    for (auto& entry : std::vector<Shadow::Entry>(shadow().entries)) {
      Register key = part(entry.where_from()), value = part(entry.value);
      if (r_.alive())
        effects_.emit(Effect::SetItem, no_register, reg, value, {static_cast<Word>(static_cast<uint16_t>(key))});
    }
  }
  void fill_items(Register reg) {
    for (const Value& item : std::vector<Value>(shadow().items)) {
      Register value = part(item);
      if (r_.alive()) effects_.emit(Effect::Append, no_register, reg, value);
    }
  }

  Register function();
  Register partial();
  Register deque();
  Register set();

 private:
  Recording& r_;
  EffectProgram& effects_;
  PyObject* object_;
  std::string name_;
};

Register Maker::function() {
  auto* function = reinterpret_cast<PyFunctionObject*>(object_);
  if (function->func_annotations) r_.stop(Reason::FreshEscapes, "a function with annotations");
  auto tuple_of = [&](const std::vector<Value>& values) {
    std::vector<Register> parts;
    for (const Value& value : values) parts.push_back(part(value));
    return parts.empty() ? no_register : emit(Effect::MakeTuple, parts);
  };
  std::vector<Value> cells;
  std::vector<PyObject*> filled_later;  // a function that refers to itself: its cell is there first
  for (Py_ssize_t i = 0; function->func_closure && i < PyTuple_GET_SIZE(function->func_closure); i++) {
    PyObject* cell = PyTuple_GET_ITEM(function->func_closure, i);
    Shadow* known = r_.find(cell);
    if (known && known->fresh() && !known->self.has_register() && !known->being_made && in_a_circle(r_, *known)) {
      Register empty = emit(Effect::MakeCell, {});
      known->self = Value::dynamic(empty, cell);
      filled_later.push_back(cell);
    }
    cells.push_back(r_.by_identity(cell));
  }
  Register closure = tuple_of(cells), defaults = tuple_of(shadow().defaults);
  std::vector<Register> named;
  for (auto& [name, value] : std::vector<std::pair<PyObject*, Value>>(shadow().keyword_defaults)) {
    named.push_back(constant(name));
    named.push_back(part(value));
  }
  Register made =
      emit(Effect::MakeFunction, named,
           {keep(function->func_code), keep(function->func_globals), keep(function->func_qualname)}, closure, defaults);
  exists(made);
  fill_attributes(made);
  for (PyObject* cell : filled_later) {
    Register content = r_.alive() ? part(r_.find(cell)->content) : no_register;
    if (r_.alive()) effects_.emit(Effect::SetCell, no_register, r_.find(cell)->self.reg, content);
  }
  return made;
}

Register Maker::partial() {
  std::vector<Register> parts = {part(shadow().function)};
  for (Register item : items()) parts.push_back(item);
  auto named = std::vector<Shadow::Entry>(shadow().entries);
  PyObject* names = PyTuple_New(static_cast<Py_ssize_t>(named.size()));
  for (size_t i = 0; i < named.size(); i++) {
    PyTuple_SET_ITEM(names, i, Py_NewRef(named[i].key));
    parts.push_back(part(named[i].value));
  }
  Register made = call(reinterpret_cast<PyObject*>(Py_TYPE(object_)), parts, named.empty() ? nullptr : names);
  Py_DECREF(names);
  return made;
}

Register Maker::deque() {
  Py_ssize_t most = max_length_of(object_);
  PyObject* bound = most < 0 ? Py_NewRef(Py_None) : PyLong_FromSsize_t(most);
  Register contents = emit(Effect::MakeTuple, items());
  Register made = call(reinterpret_cast<PyObject*>(Py_TYPE(object_)), {contents, constant(bound)});
  Py_DECREF(bound);
  return made;
}

Register Maker::set() {
  Value self = shadow().self;
  const bool by_address = !shadow().entries.empty() && !is_value_key(shadow().entries[0].key);
  if (!by_address) r_.know_layout(self);
  Register contents = emit(Effect::MakeTuple, entries(true));
  return call(reinterpret_cast<PyObject*>(Py_TYPE(object_)), {contents});
}

bool is_namespace(PyObject* object) { return terra_class_is(Py_TYPE(object), "types.SimpleNamespace"); }

/// Instances whose state is their attributes, and nothing that their class keeps in C.
bool is_plain_instance(PyObject* object, const Shadow& shadow) {
  PyTypeObject* type = Py_TYPE(object);
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && shadow.items.empty() && type->tp_itemsize == 0 &&
         shadow.plain_instance;
}

}  // namespace

std::vector<Value> Recording::parts_of_function(const Shadow& shadow) {
  std::vector<Value> parts = shadow.defaults;
  for (const auto& [name, value] : shadow.keyword_defaults) parts.push_back(value);
  PyObject* closure = PyFunction_GET_CLOSURE(shadow.self.object);
  for (Py_ssize_t i = 0; closure && i < PyTuple_GET_SIZE(closure); i++) {
    parts.push_back(by_identity(PyTuple_GET_ITEM(closure, i)));
  }
  return parts;
}

Register Recording::materialise(Shadow& shadow) {
  PyObject* object = shadow.self.object;
  if (is_tensor(object)) {
    Register reg = trace_->output(shadow);
    shadow.self = Value::dynamic(reg, object);
    return reg;
  }
  auto refuse = [&] {
    stop(Reason::FreshEscapes, Py_TYPE(object)->tp_name);
    return static_cast<Register>(-1);
  };
  if (!materialising_ || shadow.being_made || shadow.attributes_of) return refuse();
  if (shadow.iterator) {
    Register reg = materialise_iterator(*shadow.iterator, object);
    find(object)->self = Value::dynamic(reg, object);
    return reg;
  }
  bool circle = in_a_circle(*this, shadow);
  shadow.being_made = true;
  Maker make(*this, entry_->effects, object);
  PyTypeObject* type = Py_TYPE(object);
  Word kept_type = word_of(file().keep(type));
  Register reg = -1;
  if (PyList_CheckExact(object)) {
    reg = make.emit(Effect::MakeList, circle ? std::vector<Register>() : make.items());
    make.exists(reg);
    if (circle) make.fill_items(reg);
  } else if (PyTuple_CheckExact(object)) {
    reg = make.emit(Effect::MakeTuple, make.items());
  } else if (is_size(object)) {
    reg = make.emit(Effect::MakeSize, make.items());
  } else if (is_tuple(object) && shadow.order.empty()) {
    reg = make.emit(Effect::MakeTupleOf, make.items(), {kept_type});
  } else if (PyDict_CheckExact(object)) {
    reg = make.emit(Effect::MakeDict, circle ? std::vector<Register>() : make.entries(false));
    make.exists(reg);
    if (circle) make.fill_entries(reg);
  } else if (is_ordered_dict(object)) {
    make.exists(reg = make.call(reinterpret_cast<PyObject*>(type), {}));
    make.fill_entries(reg);
  } else if (is_default_dict(object)) {
    make.exists(reg = make.call(reinterpret_cast<PyObject*>(type), {make.part(shadow.function)}));
    make.fill_entries(reg);
  } else if (is_dict(object)) {  // a subclass in Python: filled without its __init__
    static PyObject* const make_empty = PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyDict_Type), "__new__");
    class_facts(type);
    make.exists(reg = make.call(make_empty, {make.constant(reinterpret_cast<PyObject*>(type))}));
    make.fill_entries(reg);
    make.fill_attributes(reg);
  } else if (is_module(object)) {
    static PyObject* const make_empty = PyObject_GetAttrString(reinterpret_cast<PyObject*>(module_base()), "__new__");
    class_facts(type);
    make.exists(reg = make.call(make_empty, {make.constant(reinterpret_cast<PyObject*>(type))}));
    make.fill_attributes(reg);
  } else if (is_set(object)) {
    reg = make.set();
  } else if (is_deque(object)) {
    reg = make.deque();
  } else if (PyMethod_Check(object)) {
    Register function = reg_of(shadow.function), receiver = reg_of(find(object)->receiver);
    reg = make.emit(Effect::MakeMethod, {}, {}, function, receiver);
  } else if (PyCFunction_Check(object) && shadow.receiver.known() && descriptor_of(object)) {
    Register descriptor = make.constant(descriptor_of(object)), receiver = reg_of(find(object)->receiver);
    reg = make.emit(Effect::MakeBound, {}, {}, descriptor, receiver);
  } else if (PyCell_Check(object)) {
    Register content = shadow.content.known() && !circle ? reg_of(shadow.content) : no_register;
    reg = make.emit(Effect::MakeCell, {}, {}, content);
    make.exists(reg);
    if (circle) {
      Register filled = reg_of(find(object)->content);
      if (alive_) entry_->effects.emit(Effect::SetCell, no_register, reg, filled);
    }
  } else if (PyFunction_Check(object)) {
    reg = make.function();
  } else if (is_partial(object)) {
    reg = make.partial();
  } else if (is_namespace(object)) {
    make.exists(reg = make.call(reinterpret_cast<PyObject*>(type), {}));
    make.fill_attributes(reg);
  } else if (is_plain_instance(object, shadow)) {
    class_facts(type);
    reg = make.emit(Effect::MakeObject, circle ? std::vector<Register>() : make.attributes(), {kept_type});
    make.exists(reg);
    if (circle) make.fill_attributes(reg);
  } else {
    return refuse();
  }
  if (!alive_) return -1;
  find(object)->being_made = false;
  make.exists(reg);
  return reg;
}

}  // namespace terra::capture
