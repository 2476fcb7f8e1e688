// Attribute reads: one classification, and for each class of access the guards that it needs.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <structmember.h>

#include <cstring>

namespace terra::capture {

namespace {

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

bool is_data_descriptor(PyObject* found) { return found && Py_TYPE(found)->tp_descr_set; }

/// A field of an object that was defined in C.
bool is_c_descriptor(PyObject* found) {
  bool field = Py_TYPE(found) == &PyMemberDescr_Type || Py_TYPE(found) == &PyGetSetDescr_Type;
  return field && !(reinterpret_cast<PyDescrObject*>(found)->d_type->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/// The C getters whose result follows from guarded facts; the names of functions and classes can be assigned.
bool is_fixed(PyObject* name) {
  static const std::set<std::string> names = {"__class__", "__name__", "__qualname__", "__module__", "__doc__"};
  return names.count(utf8_of(name)) != 0;
}

/// What tells the size of an array of numpy: numbers, and a tuple of them.
bool is_array_size(PyObject* object, PyObject* name) {
  static const std::set<std::string> names = {"shape", "ndim", "size", "itemsize", "nbytes"};
  return terra_class_is(Py_TYPE(object), "numpy.ndarray") && names.count(utf8_of(name)) != 0;
}

/// The getter is called in each run.
Value read_by_getter(Recording& r, Value& owner, PyObject* name, PyObject* getter, PyObject* result) {
  r.guard_type(owner.object);
  PyObject* get = PyObject_GetAttrString(getter, "__get__");
  const Shadow& known = r.shadow(owner);
  Value value = r.asked_again(get, known.self, r.hold(result), known.path + "." + utf8_of(name));
  Py_DECREF(get);
  return value;
}

/// A value that the frame itself wrote to a class, visible through instances. That a class below it has no such
/// attribute, nothing says.
Value* written_on_class(Recording& r, PyTypeObject* type, PyObject* name) {
  for (Py_ssize_t i = 0; type->tp_mro && i < PyTuple_GET_SIZE(type->tp_mro); i++) {
    PyObject* base = PyTuple_GET_ITEM(type->tp_mro, i);
    if (Shadow* known = r.find(base)) {
      auto found = known->attributes.find(name);
      if (found != known->attributes.end() && found->second.known()) {
        if (i > 0) r.stop(Reason::UnmodelledAttribute, "an attribute of a class that was stored to, read below it");
        return &found->second;
      }
    }
    PyObject* own = terra_class_dict(reinterpret_cast<PyTypeObject*>(base));
    if (own && PyDict_GetItemWithError(own, name)) return nullptr;
  }
  return nullptr;
}

/// What a plain class attribute gives: numbers and tensors are read anew in each run, everything else is part of the
/// class facts.
Value class_value(Recording& r, PyTypeObject* type, PyObject* name, PyObject* found) {
  if (Value* own = written_on_class(r, type, name)) return *own;
  if (is_atom(found) || is_tensor(found)) {
    return r.read(Op::ClassAttribute, no_register, {word_of(r.file().watch(type)), word_of(r.file().keep(name))}, found,
                  std::string(type->tp_name) + "." + utf8_of(name));
  }
  r.look_up(type, name);
  r.descriptor_facts(found);
  return r.constant(found);
}

/// object's own look-up, as object or a C base class has it.
bool is_generic_getattribute(PyObject* hook) {
  return hook && Py_TYPE(hook) == &PyWrapperDescr_Type &&
         reinterpret_cast<PyWrapperDescrObject*>(hook)->d_wrapped == reinterpret_cast<void*>(PyObject_GenericGetAttr);
}

/// __dict__ of an instance whose class left it alone.
bool is_dict_getter(PyObject* object, PyObject* name, PyObject* found) {
  PyTypeObject* kind = Py_TYPE(found);
  return (kind == &PyGetSetDescr_Type || kind == &PyMemberDescr_Type) && !is_tensor(object) &&
         utf8_of(name) == "__dict__" && terra_instance_dict(object);
}

/// Position of the item that a field of a named tuple stands for: of one made by collections.namedtuple or by an op;
/// -1.
Py_ssize_t field_of(PyObject* descriptor) {
  if (Py_TYPE(descriptor) == &PyMemberDescr_Type) {
    PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member;
    return (member->offset - static_cast<Py_ssize_t>(offsetof(PyTupleObject, ob_item))) /
           static_cast<Py_ssize_t>(sizeof(PyObject*));
  }
  const PyTypeObject* type = Py_TYPE(descriptor);
  if (!terra_class_is(type, "_collections._tuplegetter") && !terra_class_is(type, "collections._tuplegetter"))
    return -1;
  // __reduce__ gives (type, (index, doc)).
  PyObject* made_of = PyObject_CallMethod(descriptor, "__reduce__", nullptr);
  PyObject* arguments = made_of ? PyTuple_GetItem(made_of, 1) : nullptr;
  PyObject* index = arguments && PyTuple_Check(arguments) ? PyTuple_GetItem(arguments, 0) : nullptr;
  Py_ssize_t field = index ? PyLong_AsSsize_t(index) : -1;
  PyErr_Clear();
  Py_XDECREF(made_of);
  return field;
}

Value bound_method(Recording& r, PyObject* method, Value function, Value receiver) {
  Shadow& made = r.fresh(method);
  made.function = function;
  made.receiver = receiver;
  return made.self;
}

/// How the generic look-up ends when neither a data descriptor nor the instance has the name.
Access class_access(PyObject* found) {
  PyTypeObject* kind = Py_TYPE(found);
  if (kind == &PyStaticMethod_Type || kind == &PyClassMethod_Type) return Access::ClassMethod;
  if (PyFunction_Check(found) || !kind->tp_descr_get || PyType_HasFeature(kind, Py_TPFLAGS_METHOD_DESCRIPTOR) ||
      kind == &PyMethodDescr_Type || kind == &PyWrapperDescr_Type || kind == &PyClassMethodDescr_Type) {
    return Access::Class;
  }
  return Access::Property;  // a descriptor written in Python
}

Access module_object_access(PyObject* module, PyObject* name) {
  for (uint64_t part = module_parameters; part < module_dict_count; part++) {
    PyObject* dict = module_part(module, part);
    if (dict && PyDict_GetItemWithError(dict, name)) return Access::Parameter;
  }
  return Access::None;
}

/// As Objects/typeobject.c has them.
struct Super {
  PyObject_HEAD;
  PyTypeObject* type;
  PyObject* object;
};

}  // namespace

PyTypeObject* class_of_super(PyObject* super) { return reinterpret_cast<Super*>(super)->type; }
PyObject* object_of_super(PyObject* super) { return reinterpret_cast<Super*>(super)->object; }

Value part_of_module(Recording& r, Value& module, uint64_t part, PyObject* dict) {
  const Shadow* met = r.find(dict);
  if (r.shadow(module).fresh()) {
    if (!met) r.stop(Reason::UnknownOrigin, module_dict_name(part));
    return met ? met->self : r.fresh(dict).self;
  }
  const std::string path = r.shadow(module).path;
  const Register owner = r.reg_of(r.shadow(module).self);
  if (!met) return r.read(Op::ModulePart, owner, {part}, dict, path);
  const Value self = met->self;
  if (met->path == path || !r.alive()) return self;
  const Register again = r.new_register(path + "." + module_dict_name(part), false, false);
  r.entry_being_made().entry.emit(Op::ModulePart, again, owner, no_register, {part});
  r.guard(Op::Same, again, {}, r.reg_of(self));
  return self;
}

void initialised_module(Recording& r, const Value& module) {
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(module_part(module.object, module_own), &at, &name, &value);) {
    Shadow& known = r.shadow(module);
    if (const auto seen = known.attributes.find(name); seen != known.attributes.end()) {
      if (seen->second.object == value) continue;
    } else {
      known.order.push_back(name);
    }
    known.attributes[name] = is_atom(value) ? Value::fact(r.hold(value)) : r.fresh(value).self;
  }
}

Access Recording::access_of(Value& owner, PyObject* name, PyObject** found) {
  class_reads(owner.object);
  const Access access = way_to(owner, name, found);
  if (access != Access::Property && access != Access::GetAttr) return access;
  // Code of the program runs: it may change what led to it.
  guard_type(owner.object);
  descriptor_facts(look_up(Py_TYPE(owner.object), name));
  if (!is_data_descriptor(*found)) no_attribute(owner, name);
  return access;
}

Access Recording::way_to(Value& owner, PyObject* name, PyObject** found) {
  static PyObject* getattribute = interned("__getattribute__");
  static PyObject* getattr = interned("__getattr__");
  PyObject* object = owner.object;
  PyTypeObject* type = Py_TYPE(object);
  *found = nullptr;
  if (PyModule_CheckExact(object)) return Access::Module;
  if (PyType_Check(object)) {
    *found = _PyType_Lookup(reinterpret_cast<PyTypeObject*>(object), name);
    return Access::Type;
  }
  if (type == &PySuper_Type) return Access::Super;
  *found = _PyType_Lookup(type, name);
  if (is_tensor(object)) {
    if (!is_data_descriptor(*found) && terra_instance_attribute(object, name)) return Access::Instance;
    if (*found && PyFunction_Check(*found)) return Access::Class;
    return utf8_of(name) == "__class__" ? Access::Fixed : Access::Tensor;
  }
  bool terra_module = is_module(object) && module_reads_plainly(object);
  if (type->tp_getattro != PyObject_GenericGetAttr && !terra_module) {
    PyObject* hook = look_up(type, getattribute);
    if (hook && PyFunction_Check(hook)) return Access::GetAttribute;
    if (!is_generic_getattribute(hook)) return Access::Opaque;
  }
  if (is_data_descriptor(*found)) {
    if (PyExceptionInstance_Check(object) && is_c_descriptor(*found)) return Access::Exception;
    if (PyFunction_Check(object) && is_fixed(name)) {
      const bool stays = utf8_of(name) == "__class__" || (find(object) && find(object)->fresh());
      return stays ? Access::Fixed : Access::Getter;
    }
    if (is_tuple(object) && field_of(*found) >= 0) return Access::TupleField;
    if (is_dict_getter(object, name, *found)) return Access::InstanceDict;
    if (Py_TYPE(*found) == &PyMemberDescr_Type) return is_named(*found, name) ? Access::Slot : Access::Opaque;
    if (Py_TYPE(*found) == &PyGetSetDescr_Type) {
      if (is_array_size(object, name)) return Access::Getter;
      return is_fixed(name) || is_engine_constant(object) ? Access::Fixed : Access::Opaque;
    }
    return Access::Property;
  }
  if (terra_instance_attribute(object, name)) return Access::Instance;
  if (*found) return class_access(*found);
  if (terra_module) {
    Access part = module_object_access(object, name);
    if (part != Access::None) return part;
  }
  PyObject* fallback = look_up(type, getattr);
  return fallback && PyFunction_Check(fallback) ? Access::GetAttr : Access::None;
}

void Recording::no_attribute(Value& owner, PyObject* name) {
  PyTypeObject* type = Py_TYPE(owner.object);
  if (!type->tp_dictoffset && !(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) return;
  Shadow& known = shadow(owner);
  if (known.fresh() || !known.attributes.try_emplace(name, Value::null()).second) return;
  guard(Op::NoAttribute, reg_of(known.self), {word_of(file().keep(name))});
}

void Recording::absent(Value& owner, PyObject* name) {
  static PyObject* getattr = interned("__getattr__");
  PyObject* object = owner.object;
  if (PyModule_CheckExact(object)) {
    guard_type(object);
    Value dict = dict_of_module(*this, object);
    dict_item(dict, name);
    dict_item(dict, getattr);  // which the module asks for what it lacks
    return;
  }
  if (PyType_Check(object)) {  // a class is not looked into like an instance: its bases are, and its metaclass
    auto* type = reinterpret_cast<PyTypeObject*>(object);
    if (look_up(type, name) || look_up(Py_TYPE(object), name) || look_up(Py_TYPE(object), getattr))
      stop(Reason::UnmodelledAttribute, "a class without the attribute asked for");
    return;
  }
  if (Py_TYPE(object) == &PySuper_Type) {
    return stop(Reason::UnmodelledAttribute, "a class without the attribute asked for");
  }
  guard_type(object);
  look_up(Py_TYPE(object), name);
  look_up(Py_TYPE(object), getattr);
  no_attribute(owner, name);
  if (!is_module(object)) return;
  for (uint64_t part = module_parameters; part < module_dict_count; part++) {
    PyObject* dict = module_part(object, part);
    if (!dict) continue;
    Value holder = part_of_module(*this, owner, part, dict);
    dict_item(holder, name);
  }
}

Value Recording::instance_attribute(Value& owner, PyObject* name, PyObject* value) {
  Shadow& known = shadow(owner);
  auto seen = known.attributes.find(name);
  if (seen != known.attributes.end() && seen->second.known()) return seen->second;
  if (known.fresh()) {
    stop(Reason::UnknownOrigin, "attribute " + utf8_of(name) + " of a new " + Py_TYPE(owner.object)->tp_name);
    return {};
  }
  Value result =
      read(Op::Attribute, reg_of(known.self), {word_of(file().keep(name))}, value, known.path + "." + utf8_of(name));
  return shadow(owner).attributes[name] = result;
}

namespace {

Value slot_value(Recording& r, Value& owner, PyObject* name, PyObject* found, PyObject* value) {
  Shadow& known = r.shadow(owner);
  auto seen = known.attributes.find(name);
  if (seen != known.attributes.end() && seen->second.known()) return seen->second;
  PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(found)->d_member;
  if (known.fresh() || member->type != T_OBJECT_EX) {
    r.stop(Reason::UnmodelledAttribute, utf8_of(name));
    return {};
  }
  Value result = r.read(Op::Slot, r.reg_of(known.self), {static_cast<Word>(member->offset)}, value,
                        known.path + "." + utf8_of(name));
  return r.shadow(owner).attributes[name] = result;
}

Value parameter_value(Recording& r, Value& owner, PyObject* name) {
  const std::string path = r.shadow(owner).path;
  r.no_attribute(owner, name);
  for (uint64_t part = module_parameters; part < module_dict_count; part++) {
    PyObject* dict = module_part(owner.object, part);
    if (!dict) continue;
    const bool is_new = !r.find(dict);
    Value holder = part_of_module(r, owner, part, dict);
    if (is_new) r.shadow(holder).named = true;
    Value value = r.dict_item(holder, name);
    if (value.known()) return value;
    // Its absence is guarded.
  }
  r.stop(Reason::UnmodelledAttribute, path + "." + utf8_of(name));
  return {};
}

Value type_value(Recording& r, Pending& pending, Value& owner, PyObject* name, PyObject* result) {
  PyObject* object = owner.object;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  PyObject* meta = r.look_up(Py_TYPE(object), name);
  if (is_data_descriptor(meta)) {
    if (!is_fixed(name)) {
      r.stop(Reason::UnmodelledAttribute, std::string(type->tp_name) + "." + utf8_of(name));
      return {};
    }
    const bool stays = !is_changeable(type) || utf8_of(name) == "__class__";
    return stays ? Value::fact(r.hold(result)) : read_by_getter(r, owner, name, meta, result);
  }
  r.descriptor_facts(meta);
  PyObject* found = _PyType_Lookup(type, name);
  if (!found) {
    r.stop(Reason::UnmodelledAttribute, std::string(type->tp_name) + "." + utf8_of(name));
    return {};
  }
  if (class_access(found) == Access::Property && !pending.returns.empty()) {  // what its __get__(None, type) gives
    r.look_up(type, name);
    r.descriptor_facts(found);
    pending.used_returns = true;
    if (pending.returns.back().object == result) return pending.returns.back();
  }
  if (result == found) return class_value(r, type, name, found);
  r.look_up(type, name);
  if (Py_TYPE(found) == &PyClassMethod_Type && PyMethod_Check(result)) {
    return bound_method(r, result, Value::fact(r.hold(PyMethod_GET_FUNCTION(result))), Value::fact(object));
  }
  if (PyFunction_Check(result) || PyCFunction_Check(result)) return Value::fact(r.hold(result));
  r.stop(Reason::UnmodelledAttribute, std::string(type->tp_name) + "." + utf8_of(name));
  return {};
}

Value found_on_class(Recording& r, Value& owner, PyObject* name, PyObject* found, PyObject* result) {
  PyTypeObject* type = Py_TYPE(owner.object);
  r.guard_type(owner.object);
  r.no_attribute(owner, name);
  if (result == found) return class_value(r, type, name, found);
  r.look_up(type, name);
  r.descriptor_facts(found);
  if (PyMethod_Check(result) && PyMethod_GET_SELF(result) == owner.object) {
    return bound_method(r, result, Value::fact(r.hold(PyMethod_GET_FUNCTION(result))), owner);
  }
  if (PyCFunction_Check(result)) {
    Shadow& made = r.fresh(result);
    made.receiver = owner;
    return made.self;
  }
  r.stop(Reason::UnmodelledAttribute, utf8_of(name));
  return {};
}

/// What super() finds: that of the classes behind its own, as the order of `type` has them, none before has the name.
void super_facts(Recording& r, PyObject* super, PyTypeObject* type, PyObject* name) {
  if (is_changeable(type)) r.class_facts(type);  // the order
  bool behind = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); i++) {
    auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, i));
    if (behind) r.look_up(base, name);
    if (behind && PyDict_GetItemWithError(terra_class_dict(base), name)) return;
    behind = behind || base == class_of_super(super);
  }
}

Value super_value(Recording& r, Value& owner, PyObject* name, PyObject* result) {
  Shadow& known = r.shadow(owner);
  Value receiver = known.receiver;
  if (!receiver.known()) {
    r.stop(Reason::UnmodelledAttribute, "super()." + utf8_of(name));
    return {};
  }
  PyTypeObject* type =
      PyType_Check(receiver.object) ? reinterpret_cast<PyTypeObject*>(receiver.object) : Py_TYPE(receiver.object);
  super_facts(r, owner.object, type, name);
  r.guard_type(receiver.object);
  if (PyMethod_Check(result)) {
    Value self =
        PyMethod_GET_SELF(result) == receiver.object ? receiver : Value::fact(r.hold(PyMethod_GET_SELF(result)));
    return bound_method(r, result, Value::fact(r.hold(PyMethod_GET_FUNCTION(result))), self);
  }
  if (PyCFunction_Check(result) || Py_TYPE(result) == &_PyMethodWrapper_Type) {
    Shadow& made = r.fresh(result);
    made.receiver = receiver;
    return made.self;
  }
  if (PyType_HasFeature(Py_TYPE(result), Py_TPFLAGS_METHOD_DESCRIPTOR)) return Value::fact(r.hold(result));
  r.stop(Reason::UnmodelledAttribute, "super()." + utf8_of(name));
  return {};
}

}  // namespace

void Recording::descriptor_facts(PyObject* found) {
  static PyObject* names[] = {interned("__get__"), interned("__set__"), interned("__delete__")};
  if (!found) return;
  if (is_changeable(Py_TYPE(found))) guard_type(found);
  for (PyObject* name : names) look_up(Py_TYPE(found), name);
}

/// The value that an attribute read gave; `result` is the real one and frame.pending says how it was found.
Value Recording::attribute(ShadowFrame& frame, Value& owner, PyObject* name, PyObject* result) {
  Pending& pending = frame.pending;
  PyTypeObject* type = Py_TYPE(owner.object);
  switch (pending.access) {
    case Access::Instance:
      guard_type(owner.object);
      descriptor_facts(look_up(type, name));
      return instance_attribute(owner, name, result);
    case Access::Slot:
      guard_type(owner.object);
      look_up(type, name);
      return slot_value(*this, owner, name, pending.found, result);
    case Access::InstanceDict:
      guard_type(owner.object);
      look_up(type, name);
      if (!PyDict_CheckExact(result)) break;
      return instance_dict(owner, result);
    case Access::TupleField: {
      guard_type(owner.object);
      look_up(type, name);
      Value value = item(owner, field_of(pending.found));
      if (value.known()) return value;
      break;
    }
    case Access::Class: return found_on_class(*this, owner, name, pending.found, result);
    case Access::ClassMethod:
      guard_type(owner.object);
      no_attribute(owner, name);
      look_up(type, name);
      if (PyMethod_Check(result)) {
        return bound_method(*this, result, Value::fact(hold(PyMethod_GET_FUNCTION(result))),
                            Value::fact(PyMethod_GET_SELF(result)));
      }
      return Value::fact(hold(result));
    case Access::Property:
    case Access::GetAttr:
    case Access::GetAttribute: {
      guard_type(owner.object);
      pending.used_returns = true;
      if (!pending.returns.empty() && pending.returns.back().object == result) return pending.returns.back();
      break;
    }
    case Access::Parameter:
      guard_type(owner.object);
      look_up(type, name);
      return parameter_value(*this, owner, name);
    case Access::Module: {
      guard_type(owner.object);
      Value dict = dict_of_module(*this, owner.object);
      Value value = dict_item(dict, name);
      if (value.known()) return value;
      break;
    }
    case Access::Type: return type_value(*this, pending, owner, name, result);
    case Access::Super: return super_value(*this, owner, name, result);
    case Access::Getter: return read_by_getter(*this, owner, name, pending.found, result);
    case Access::Fixed:
      guard_type(owner.object);
      look_up(type, name);
      return Value::fact(hold(result));
    case Access::Exception: return exception_attribute(owner, name, result);
    case Access::Tensor: {
      trace_->guard_mode();
      if (attributes_may_hide_methods() && !is_data_descriptor(pending.found)) no_attribute(owner, name);
      if (is_tensor(result)) {
        Value value = by_identity(result);
        if (!value.known()) stop(Reason::UnknownOrigin, "a tensor");
        return value;
      }
      if (pending.extra.object == result && pending.extra.known())
        return pending.extra;  // reported by the binding layer
      if (pending.found && is_op_function(result)) return Value::fact(result);
      if (pending.found && PyCFunction_Check(result)) {
        Shadow& made = fresh(result);
        made.receiver = owner;
        return made.self;
      }
      if (pending.found && result == pending.found) return Value::fact(result);
      if (PyMethod_Check(result)) return bound_method(*this, result, Value::fact(PyMethod_GET_FUNCTION(result)), owner);
      break;
    }
    case Access::None:
    case Access::Opaque: break;
  }
  stop(Reason::UnmodelledAttribute, std::string(type->tp_name) + "." + utf8_of(name));
  return {};
}

}  // namespace terra::capture
