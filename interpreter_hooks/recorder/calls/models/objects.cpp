// C callables that look at objects: types, attributes, super.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <structmember.h>

#include <cstring>

namespace terra::capture {

bool is_union(PyObject* object) { return terra_class_is(Py_TYPE(object), "types.UnionType"); }

namespace {

bool constant_name(Recording& r, ShadowFrame& f, PyObject** name) {
  auto& in = arguments(f);
  if (in.size() < 2 || !PyUnicode_CheckExact(in[1].object)) {
    r.stop(Reason::UnmodelledAttribute, "a name that is not a string");
    return false;
  }
  r.pin(in[1]);
  *name = Py_NewRef(in[1].object);
  PyUnicode_InternInPlace(name);
  r.hold(*name);
  Py_DECREF(*name);
  return true;
}

// ---- isinstance, issubclass, callable, type ----

void look_at_type(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.empty()) return;
  Value& object = in[0];
  if (r.find(object.object)) r.guard_type(object.object);
  PyTypeObject* type = Py_TYPE(object.object);
  static PyObject* const call = PyUnicode_InternFromString("__call__");
  if (is_changeable(type)) r.look_up(type, call);
  if (in.size() > 1 && is_union(in[1].object)) {  // never changes
    if (in[1].has_register()) r.guard(Op::Is, in[1].reg, {word_of(r.file().keep(in[1].object))});
    return;
  }
  if (in.size() > 1 && !r.read_deep(in[1])) r.stop(Reason::UnmodelledCall, "isinstance with unusual classes");
}

/// That a metaclass has methods that decide, or none, is a fact; if it has, they have been followed.
Value end_isinstance(Recording& r, ShadowFrame& f, PyObject* result) {
  static PyObject* names[] = {PyUnicode_InternFromString("__instancecheck__"),
                              PyUnicode_InternFromString("__subclasscheck__")};
  const bool decided = !f.pending.returns.empty();
  f.pending.used_returns = decided;
  const auto guard_metaclass = [&](PyObject* type) {
    for (PyObject* name : names) r.look_up(Py_TYPE(type), name);
  };
  PyObject* classes = arguments(f)[1].object;
  if (is_union(classes) && decided) r.stop(Reason::UnmodelledCall, "isinstance with a union of abstract classes");
  if (!PyTuple_Check(classes)) guard_metaclass(classes);
  for (Py_ssize_t i = 0; PyTuple_Check(classes) && i < PyTuple_GET_SIZE(classes); i++) {
    guard_metaclass(PyTuple_GET_ITEM(classes, i));
  }
  return Value::fact(r.hold(result));
}

PyTypeObject* type_asked_for(const Value& value) {
  return PyType_Check(value.object) ? reinterpret_cast<PyTypeObject*>(value.object) : Py_TYPE(value.object);
}

/// (class, instance or class): true for good, false until somebody registers a class.
void begin_abc_check(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() != 2) return r.stop(Reason::UnmodelledCall, "_abc._abc_instancecheck");
  r.pin(in[0]);
  if (r.find(in[1].object)) r.guard_type(in[1].object);
  if (is_changeable(type_asked_for(in[1]))) r.class_facts(type_asked_for(in[1])).strict = true;
}
Value end_abc_check(Recording& r, ShadowFrame& f, PyObject* result) {
  f.pending.used_returns = true;
  if (result != Py_True && is_changeable(type_asked_for(arguments(f)[1]))) {
    static PyObject* get_token = PyObject_GetAttrString(PyImport_AddModule("_abc"), "get_cache_token");
    PyObject* token = PyObject_CallNoArgs(get_token);
    Value value = r.host(Op::Call, no_register, no_register, {word_of(r.file().keep(get_token))}, token, {});
    Py_DECREF(token);
    r.pin(value);
  }
  return Value::fact(result);
}

void begin_type(Recording& r, ShadowFrame& f) {
  if (arguments(f).size() != 1) return r.stop(Reason::UnmodelledCall, "type() with three arguments");
  look_at_type(r, f);
}

// ---- getattr, hasattr, setattr ----

/// The attribute is there but the builtin hides what it found: read it through the same access.
void begin_getattr(Recording& r, ShadowFrame& f) {
  PyObject* name = nullptr;
  if (!constant_name(r, f, &name)) return;
  f.pending.access = r.access_of(arguments(f)[0], name, &f.pending.found);
  f.pending.extra = Value::fact(name);
}

/// Whether a tensor has the attribute or lacks it as every other one of its type does.
bool is_left_to_type(PyObject* tensor, PyObject* name) {
  static PyObject* const getattr = PyUnicode_InternFromString("__getattr__");
  return !terra_instance_attribute(tensor, name) && !_PyType_Lookup(Py_TYPE(tensor), getattr);
}

bool is_absent(const Pending& pending, Value& owner, PyObject* name) {
  if (pending.access == Access::None) return true;
  if (is_tensor(owner.object))
    return !_PyType_Lookup(Py_TYPE(owner.object), name) && is_left_to_type(owner.object, name);
  if (PyType_Check(owner.object)) {
    return !_PyType_Lookup(reinterpret_cast<PyTypeObject*>(owner.object), name) &&
           !_PyType_Lookup(Py_TYPE(owner.object), name);
  }
  if (PyModule_CheckExact(owner.object)) return !PyDict_GetItemWithError(PyModule_GetDict(owner.object), name);
  return false;
}

/// The attribute comes from code of the program, which has been followed.
bool asks_python(const Pending& pending) { return runs_python(pending.access); }
void guard_way_to_python(Recording& r, ShadowFrame& f, Value& owner) {
  r.guard_type(owner.object);
  f.pending.used_returns = true;
}

Value end_getattr(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  PyObject* name = f.pending.extra.object;
  const bool returned = !f.pending.returns.empty() && f.pending.returns.back().object == result;
  if (asks_python(f.pending) && f.pending.child_raised && !returned) {
    if (in.size() < 3 || result != in[2].object) r.stop(Reason::UnmodelledAttribute, utf8_of(name));
    guard_way_to_python(r, f, in[0]);
    return in.size() < 3 ? Value() : in[2];
  }
  if (!is_absent(f.pending, in[0], name)) return r.attribute(f, in[0], name, result);
  if (in.size() < 3 || result != in[2].object) {
    r.stop(Reason::UnmodelledAttribute, utf8_of(name));
    return {};
  }
  r.absent(in[0], name);
  return in[2];
}

/// getattr() without a default of a name that nothing has, or whose way leads to code of the program that raised.
bool raised_getattr(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() != 2 || !f.pending.extra.known()) return false;
  PyObject* name = f.pending.extra.object;
  if (asks_python(f.pending)) {
    guard_way_to_python(r, f, in[0]);
    return f.pending.child_raised;
  }
  if (!is_absent(f.pending, in[0], name)) return false;
  r.absent(in[0], name);
  return r.alive();
}

/// Reading the attribute once more runs no code of the program.
bool is_read_in_c(const Pending& pending, PyObject* owner, PyObject* name) {
  const auto plain = [](PyObject* found) {
    return !found || !Py_TYPE(found)->tp_descr_get || !is_changeable(Py_TYPE(found));
  };
  switch (pending.access) {
    case Access::Instance:
    case Access::Class:
    case Access::Parameter:
    case Access::Slot: return true;
    case Access::Module: return PyDict_GetItemWithError(PyModule_GetDict(owner), name) != nullptr;
    case Access::Type: {
      PyObject* on_class = _PyType_Lookup(Py_TYPE(owner), name);
      const bool getter = on_class && Py_TYPE(on_class) == &PyProperty_Type;
      return !getter && plain(on_class) && plain(_PyType_Lookup(reinterpret_cast<PyTypeObject*>(owner), name)) &&
             Py_TYPE(owner)->tp_getattro == PyType_Type.tp_getattro;
    }
    default: return false;
  }
}

Value end_hasattr(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  PyObject* name = f.pending.extra.object;
  if (asks_python(f.pending)) {
    guard_way_to_python(r, f, in[0]);
    return Value::fact(result);
  }
  if (result == Py_False) {
    if (!is_absent(f.pending, in[0], name)) r.stop(Reason::UnmodelledAttribute, "hasattr through Python code");
    r.absent(in[0], name);
    return Value::fact(result);
  }
  if (is_tensor(in[0].object) ? is_left_to_type(in[0].object, name) : is_atom(in[0].object)) {
    r.guard_type(in[0].object);
    return Value::fact(result);
  }
  PyObject* value = is_read_in_c(f.pending, in[0].object, name) ? PyObject_GetAttr(in[0].object, name) : nullptr;
  if (value) {
    r.attribute(f, in[0], name, value);
  } else {
    PyErr_Clear();
    r.stop(Reason::UnmodelledAttribute, "hasattr");
  }
  Py_XDECREF(value);
  return Value::fact(result);
}

/// object.__setattr__ puts it into the instance, whatever the class does with assignments.
bool can_store_plainly(PyObject* owner, PyObject* name) {
  if (is_tensor(owner) || is_module(owner) || PyType_Check(owner) || PyModule_CheckExact(owner)) return false;
  PyObject* found = _PyType_Lookup(Py_TYPE(owner), name);
  if (!found || !Py_TYPE(found)->tp_descr_set) return true;
  return Py_TYPE(found) == &PyMemberDescr_Type &&
         reinterpret_cast<PyMemberDescrObject*>(found)->d_member->type == T_OBJECT_EX;
}

void begin_setattr(Recording& r, ShadowFrame& f) {
  PyObject* name = nullptr;
  if (arguments(f).size() != 3 || !constant_name(r, f, &name)) return;
  f.pending.extra = Value::fact(name);
  PyObject* owner = arguments(f)[0].object;
  bool written_in_c =
      f.pending.call.callee == PyDict_GetItemString(terra_class_dict(&PyBaseObject_Type), "__setattr__");
  bool plain = r.can_store_attribute(owner, name) || (written_in_c && can_store_plainly(owner, name));
  r.about_to_store(arguments(f)[0], name);
  if (!plain) r.stop(Reason::UnmodelledAttribute, std::string("setattr of ") + utf8_of(name));
}
Value end_setattr(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  bool past_class = Py_TYPE(in[0].object)->tp_setattro != PyObject_GenericSetAttr &&
                    !PyModule_CheckExact(in[0].object) && !PyType_Check(in[0].object) && !is_module(in[0].object);
  r.store_attribute(in[0], f.pending.extra.object, in[2],
                    past_class ? Effect::SetPlainAttribute : Effect::SetAttribute);
  return Value::fact(result);
}

void begin_delattr(Recording& r, ShadowFrame& f) {
  PyObject* name = nullptr;
  if (arguments(f).size() != 2 || !constant_name(r, f, &name)) return r.stop(Reason::UnmodelledCall, "delattr");
  Value& owner = arguments(f)[0];
  f.pending.access = r.access_of(owner, name, &f.pending.found);
  f.pending.extra = Value::fact(name);
  bool plain = f.pending.access == Access::Instance && r.can_store_attribute(owner.object, name);
  if (!plain) return r.stop(Reason::UnmodelledAttribute, std::string("delattr of ") + utf8_of(name));
  r.attribute(f, owner, name, terra_instance_attribute(owner.object, name));  // that it is there is a fact
}
Value end_delattr(Recording& r, ShadowFrame& f, PyObject* result) {
  r.delete_attribute(arguments(f)[0], f.pending.extra.object);
  return Value::fact(result);
}

void begin_vars(Recording& r, ShadowFrame& f) {
  static PyObject* dict = PyUnicode_InternFromString("__dict__");
  if (arguments(f).size() != 1) return r.stop(Reason::UnmodelledCall, "vars() of the frame");
  f.pending.access = r.access_of(arguments(f)[0], dict, &f.pending.found);
  if (f.pending.access != Access::InstanceDict) r.stop(Reason::UnmodelledCall, "vars of this object");
}
Value end_vars(Recording& r, ShadowFrame& f, PyObject* result) {
  r.guard_type(arguments(f)[0].object);
  return r.instance_dict(arguments(f)[0], result);
}

Value end_namespace(Recording& r, ShadowFrame& f, PyObject* result) {
  Value made = r.fresh(result).self;
  for (size_t i = 0; i < f.pending.call.keywords.size(); i++) {
    r.store_attribute(made, r.interned_name(f.pending.call.keywords[i]), f.pending.call.keyword_values[i]);
  }
  return made;
}

// ---- super, object ----

Value end_super(Recording& r, ShadowFrame& f, PyObject* result) {
  PyObject* object = object_of_super(result);
  Value receiver = object ? r.by_identity(object) : Value();
  if (object && !receiver.known() && PyType_Check(object)) receiver = Value::fact(object);
  if (!receiver.known()) {
    r.stop(Reason::UnmodelledCall, "super");
    return {};
  }
  (void)f;
  Shadow& made = r.fresh(result);
  made.receiver = receiver;
  return made.self;
}

void begin_module_init(Recording& r, ShadowFrame& f) {
  const bool made_inside = arguments(f).size() == 1 && r.shadow(arguments(f)[0]).fresh();
  if (!made_inside || !f.pending.call.keywords.empty()) r.stop(Reason::UnmodelledCall, "Module.__init__");
}
Value end_module_init(Recording& r, ShadowFrame& f, PyObject* result) {
  initialised_module(r, arguments(f)[0]);
  return Value::fact(result);
}

/// object.__new__(cls), tuple.__new__(cls, items): the first argument is the type whose __new__ it is.
void begin_new(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() < 2 || !PyType_Check(in[1].object)) return r.stop(Reason::UnmodelledCall, "__new__");
  r.pin(in[1]);
  if (in.size() > 2 && is_sequence(in[2].object)) r.items(in[2]);
}
Value end_new(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (reinterpret_cast<PyObject*>(Py_TYPE(result)) != in[1].object) r.stop(Reason::UnmodelledCall, "__new__");
  if (in[0].object == reinterpret_cast<PyObject*>(&PyBaseObject_Type)) {
    Shadow& made = r.fresh(result);
    made.plain_instance = true;
    return made.self;
  }
  if (in[0].object == reinterpret_cast<PyObject*>(&PyTuple_Type)) {
    if (in.size() < 3) return r.make_sequence(result, {});
    PyObject* produced = PySequence_Tuple(result);
    std::vector<Value> items = r.drain(f, in[2], produced);
    r.hold_new(produced);
    return r.make_sequence(result, std::move(items));
  }
  r.stop(Reason::UnmodelledCall, callable_name(in[0].object) + ".__new__");
  return {};
}

/// functools.partial; of another one it takes over the parts.
Value end_partial(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  PartialParts parts{in[0], {}, {}, {}};
  if (is_partial(in[0].object)) parts = r.partial_parts(in[0]);
  if (!r.alive()) return {};
  Value self = r.fresh(result).self;
  Shadow& made = *r.find(result);
  made.function = parts.function;
  made.items = parts.positional;
  made.items.insert(made.items.end(), in.begin() + 1, in.end());
  auto add = [&](PyObject* name, const Value& value) {
    if (Shadow::Entry* known = r.entry(made, name)) {
      known->value = value;
    } else {
      made.entries.push_back({r.hold(name), value, {}});
    }
  };
  for (size_t i = 0; i < parts.keywords.size(); i++) add(parts.keywords[i], parts.keyword_values[i]);
  for (size_t i = 0; i < f.pending.call.keywords.size(); i++) {
    add(f.pending.call.keywords[i], f.pending.call.keyword_values[i]);
  }
  return self;
}

constexpr CallModel models[] = {
    {"object", "__new__", begin_new, end_new},
    {"_functools", "partial", nullptr, end_partial},
    {"builtins", "isinstance", look_at_type, end_isinstance, kAsksTruth},
    {"_abc", "_abc_instancecheck", begin_abc_check, end_abc_check},
    {"_abc", "_abc_subclasscheck", begin_abc_check, end_abc_check},
    {"builtins", "issubclass", look_at_type, end_isinstance, kAsksTruth},
    {"builtins", "callable", look_at_type, end_fact},
    {"builtins", "type", begin_type, end_fact},
    {"builtins", "getattr", begin_getattr, end_getattr, kNothing, raised_getattr},
    {"builtins", "hasattr", begin_getattr, end_hasattr},
    {"builtins", "setattr", begin_setattr, end_setattr, kChanges},
    {"object", "__setattr__", begin_setattr, end_setattr, kChanges},
    {"builtins", "delattr", begin_delattr, end_delattr, kChanges},
    {"builtins", "vars", begin_vars, end_vars},
    {"sys.implementation", "__class__", nullptr, end_namespace},
    {"object", "__init__", nullptr, end_fact},
    {"terra.ModuleBase", "__init__", begin_module_init, end_module_init},
    {"builtins", "super", nullptr, end_super},
};

}  // namespace

ModelList object_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
