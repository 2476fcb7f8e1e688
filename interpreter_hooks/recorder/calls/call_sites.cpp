// A call as the callee will see it, and what came of it.
#include "interpreter_hooks/bindings/module.h"
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

namespace {

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

/// Functions and methods that the engine defines in C: they report what they do.
bool is_engine_callable(PyObject* callee) {
  if (is_op_function(callee) || makes_engine_constants(callee)) return true;
  if (PyCFunction_Check(callee)) {
    auto* function = reinterpret_cast<PyCFunctionObject*>(callee);
    PyObject* self = function->m_self;
    if (self && !PyModule_Check(self)) {
      PyTypeObject* type = PyType_Check(self) ? reinterpret_cast<PyTypeObject*>(self) : Py_TYPE(self);
      return is_tensor_type(type) || is_engine_type(type);
    }
    const char* module =
        function->m_module && PyUnicode_Check(function->m_module) ? PyUnicode_AsUTF8(function->m_module) : nullptr;
    return module && !std::strcmp(module, "_terra_C") && !hooks::is_added_method(function->m_ml);
  }
  if (Py_TYPE(callee) == &PyMethodDescr_Type || Py_TYPE(callee) == &PyWrapperDescr_Type) {
    PyTypeObject* type = reinterpret_cast<PyDescrObject*>(callee)->d_type;
    return (is_tensor_type(type) || is_engine_type(type)) && !terra_class_is(type, "terra.nn.ModuleBase");
  }
  return false;
}

/// That nobody takes over a call of an overridable callable, now and in the runs to come: sequences are looked into.
bool stays_with_function(Recording& r, CallSite& site) {
  for (auto* list : {&site.positional, &site.keyword_values}) {
    for (Value& value : *list) {
      std::vector<Value> looked_at = {value};
      if (is_sequence(value.object)) {
        if (!r.may_know_length(value)) return false;
        for (const Value& item : r.items(value)) looked_at.push_back(item);
      }
      for (const Value& each : looked_at) {
        if (may_take_over(each.object)) return false;
        if (!is_tensor(each.object) && (Py_TYPE(each.object)->tp_flags & Py_TPFLAGS_HEAPTYPE))
          r.guard_type(each.object);
      }
    }
  }
  return r.alive();
}

/// A Python class whose instances are made by object.__new__ and type.__call__.
bool makes_plain_instances(PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && Py_TYPE(type)->tp_call == PyType_Type.tp_call &&
         type->tp_new == PyBaseObject_Type.tp_new;
}

/// A Python class below dict whose instances are made by dict.__new__ and type.__call__.
bool makes_plain_dicts(PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && Py_TYPE(type) == &PyType_Type &&
         PyType_IsSubtype(type, &PyDict_Type) && type->tp_new == PyDict_Type.tp_new;
}

/// A Python class with a __new__ of its own, above object or tuple.
bool has_own_new(PyTypeObject* type) {
  static PyObject* name = interned("__new__");
  PyObject* found = _PyType_Lookup(type, name);
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && Py_TYPE(type) == &PyType_Type && found &&
         Py_TYPE(found) == &PyStaticMethod_Type;
}

bool is_new(PyObject* callee) {
  return PyCFunction_Check(callee) &&
         !std::strcmp(reinterpret_cast<PyCFunctionObject*>(callee)->m_ml->ml_name, "__new__");
}

/// What it does depends on the object that it is bound to, and there is a new one for each look.
bool is_bound_c_function(PyObject* object) {
  return Py_TYPE(object) == &_PyMethodWrapper_Type || descriptor_of(object);
}

/// The slot wrapper behind a method-wrapper (what super().__init__ gives for C bases).
PyObject* wrapped_slot(PyObject* wrapper) {
  PyObject* owner = PyObject_GetAttrString(wrapper, "__objclass__");
  PyObject* name = PyObject_GetAttrString(wrapper, "__name__");
  PyObject* slot =
      owner && name ? PyDict_GetItemWithError(terra_class_dict(reinterpret_cast<PyTypeObject*>(owner)), name) : nullptr;
  PyErr_Clear();
  Py_XDECREF(owner);
  Py_XDECREF(name);
  return slot;
}

/// super().__call__ of a module whose class overrides it.
bool is_module_call(PyObject* callee) {
  if (Py_TYPE(callee) != &PyWrapperDescr_Type) return false;
  auto* descriptor = reinterpret_cast<PyDescrObject*>(callee);
  return terra_class_is(descriptor->d_type, "terra.nn.ModuleBase") &&
         !PyUnicode_CompareWithASCIIString(descriptor->d_name, "__call__");
}

/// What calls a class, as super().__call__ of a metaclass finds it.
bool is_type_call(PyObject* callee) {
  return Py_TYPE(callee) == &PyWrapperDescr_Type && reinterpret_cast<PyDescrObject*>(callee)->d_type == &PyType_Type &&
         !PyUnicode_CompareWithASCIIString(reinterpret_cast<PyDescrObject*>(callee)->d_name, "__call__");
}

/// A module made inside has none of its own.
void no_hooks_of_all_modules(Recording& r) {
  Value kinds = dict_of_program(r, hooks_of_all_modules(), "hooks of all modules");
  for (const Value& kind : r.elements(kinds)) {
    Value hooks = r.dict_item(kinds, kind);
    if (r.alive()) r.know_keys(hooks);
  }
}

/// `mode.__exit__(*error)`: which gradient mode comes back is known to the object that was entered, which has to let go
/// of it as well. Where the frame has entered it itself, both are known; not of an instance of a subclass, which no
/// frame makes.
bool leaves_mode_from_outside(Recording& r, const CallSite& site) {
  static PyObject* leave = interned("__exit__");
  const bool bound = PyCFunction_Check(site.callee), open = Py_TYPE(site.callee) == &PyMethodDescr_Type;
  PyObject* const receiver = bound                              ? PyCFunction_GET_SELF(site.callee)
                             : open && !site.positional.empty() ? site.positional[0].object
                                                                : nullptr;
  const PyTypeObject* kind = receiver ? Py_TYPE(receiver) : nullptr;
  while (kind && !is_grad_mode_type(reinterpret_cast<PyObject*>(const_cast<PyTypeObject*>(kind)))) kind = kind->tp_base;
  if (!kind) return false;
  if (kind != Py_TYPE(receiver)) return true;  // a class of the program
  Shadow* const mode = r.find(receiver);
  if (!mode || mode->fresh()) return !mode;
  if (!mode->entered_before) mode->entered_before = times_entered(receiver);
  PyObject* const exit = _PyType_Lookup(Py_TYPE(receiver), leave);
  if (!exit || Py_TYPE(exit) != &PyMethodDescr_Type) return true;
  return key_of(site.callee) == key_of(exit) && times_entered(receiver) <= *mode->entered_before;
}

}  // namespace

PartialParts Recording::partial_parts(const Value& partial) {
  PartialParts parts;
  if (shadow(partial).fresh()) {
    Shadow& made = shadow(partial);
    parts.function = made.function;
    parts.positional = made.items;
    for (auto& entry : made.entries) {
      parts.keywords.push_back(entry.key);
      parts.keyword_values.push_back(entry.value);
    }
    return parts;
  }
  Register reg = reg_of(shadow(partial).self);
  std::string path = shadow(partial).path;
  parts.function = read(Op::PartialPart, reg, {0}, partial_part(partial.object, 0), path + ".func");
  Value fixed = read(Op::PartialPart, reg, {1}, partial_part(partial.object, 1), path + ".args");
  Value named = read(Op::PartialPart, reg, {2}, partial_part(partial.object, 2), path + ".keywords");
  parts.positional = items(fixed);
  for (const Value& key : elements(named)) {
    parts.keywords.push_back(key.object);
    parts.keyword_values.push_back(dict_item(named, key));
  }
  return parts;
}

void Recording::open_call(ShadowFrame& f, PyObject* callee, Value callee_value, std::vector<Value> positional,
                          std::vector<PyObject*> keywords, std::vector<Value> keyword_values) {
  static PyObject* call = interned("__call__");
  static PyObject* init = interned("__init__");
  static PyObject* forward = interned("forward");
  Shadow* known = find(callee);

  if (PyMethod_Check(callee)) {
    Value function, receiver;
    if (known && known->function.known()) {
      function = known->function;
      receiver = known->receiver;
    } else if (callee_value.is_fact()) {
      function = Value::fact(PyMethod_GET_FUNCTION(callee));
      receiver = constant(PyMethod_GET_SELF(callee));
    } else {
      std::string path = shadow(callee_value).path;
      Register method = reg_of(callee_value);
      function = read(Op::MethodPart, method, {0}, PyMethod_GET_FUNCTION(callee), path);
      receiver = read(Op::MethodPart, method, {1}, PyMethod_GET_SELF(callee), path + ".__self__");
      find(callee)->function = function;
      find(callee)->receiver = receiver;
    }
    positional.insert(positional.begin(), receiver);
    return open_call(f, function.object, function, std::move(positional), std::move(keywords),
                     std::move(keyword_values));
  }

  CallSite& site = f.pending.call;
  site.callee = callee;
  site.callee_value = callee_value;
  site.positional = std::move(positional);
  site.keywords = std::move(keywords);
  site.keyword_values = std::move(keyword_values);
  auto insert_receiver = [&](Value receiver) { site.positional.insert(site.positional.begin(), receiver); };

  if (PyFunction_Check(callee)) {
    site.kind = CallSite::Function;
    guard_function(callee_value);
    open_logging(*this, f);
    return;
  }
  if (leaves_mode_from_outside(*this, site))
    return stop(Reason::UnmodelledCall, "the end of a gradient mode that began outside");
  if (Py_TYPE(callee) == &_PyMethodWrapper_Type && known && known->receiver.known()) {
    insert_receiver(known->receiver);
    if (PyObject* slot = wrapped_slot(callee)) site.callee = callee = slot;
  } else if (PyCFunction_Check(callee)) {
    PyObject* self = PyCFunction_GET_SELF(callee);
    if (is_new(callee)) {
      insert_receiver(Value::fact(self));
    } else if (known && known->receiver.known()) {
      insert_receiver(known->receiver);
    } else if (self && !PyModule_Check(self)) {
      insert_receiver(constant(self));
    }
  }
  /// What calling a module is when its class leaves that to the engine: its forward, or the frame that runs its hooks.
  auto call_forward = [&](Value module, std::vector<Value> others) {
    static PyObject* call_with_hooks = interned("_call_with_hooks");
    PyTypeObject* type = Py_TYPE(module.object);
    site.kind = CallSite::Instance;
    site.packed = module_has_hooks(module.object);
    if (site.packed) {  // hooks and forward are read by the frame that runs them
      look_up(type, call_with_hooks);
      return;
    }
    if (!shadow(module).plain_call) {
      shadow(module).plain_call = true;
      shadow(module).outside ? guard(Op::NoHooks, reg_of(shadow(module).self)) : no_hooks_of_all_modules(*this);
    }
    look_up(type, forward);
    if (PyObject* own = terra_instance_attribute(module.object, forward)) {
      Value value = instance_attribute(module, forward, own);
      open_call(f, own, value, std::move(others), std::move(site.keywords), std::move(site.keyword_values));
    } else {
      no_attribute(module, forward);
    }
  };
  if (is_module_call(callee) && !site.positional.empty() && is_module(site.positional[0].object)) {
    guard_type(site.positional[0].object);
    return call_forward(site.positional[0], {site.positional.begin() + 1, site.positional.end()});
  }
  if (is_grad_mode_function(callee)) {  // @no_grad() def f: the mode changes are reported, the frame is f's
    site.kind = CallSite::Instance;
    return;
  }
  if (is_engine_callable(callee)) {
    site.kind = CallSite::Engine;
    for (auto* list : {&site.positional, &site.keyword_values}) {
      for (Value& value : *list) {
        if (value.has_register() && is_bound_c_function(value.object))
          return stop(Reason::UnmodelledCall, callable_name(callee) + " with a function that comes from outside");
        if (!is_sequence(value.object)) continue;
        if (!may_know_length(value))
          return stop(Reason::UnmodelledContainer, "the length of a list that has had many: " + shadow(value).path);
        items(value);  // C code is going to look at them
      }
    }
    return;
  }
  if (PyObject* function = overridable_function(callee)) {
    pin(callee_value);
    if (!stays_with_function(*this, site)) return stop(Reason::UnmodelledCall, "a function that may be taken over");
    return open_call(f, function, Value::fact(function), std::move(site.positional), std::move(site.keywords),
                     std::move(site.keyword_values));
  }
  if ((site.model = model_of(callee))) {
    site.kind = CallSite::Model;
    for (Value& value : site.positional) adopt(value);
    // Models look at their first argument; a call without any is going to raise.
    const bool bare = site.positional.empty() && !PyType_Check(callee);
    if (site.model->before && bare) return stop(Reason::UnmodelledCall, callable_name(callee) + " without arguments");
    if (site.model->before) site.model->before(*this, f);
    return;
  }
  if (is_partial(callee)) {
    PartialParts parts = partial_parts(callee_value);
    if (!alive_) return;
    parts.positional.insert(parts.positional.end(), site.positional.begin(), site.positional.end());
    std::vector<PyObject*> names;
    std::vector<Value> values;
    for (size_t i = 0; i < parts.keywords.size(); i++) {
      bool overridden = std::any_of(site.keywords.begin(), site.keywords.end(),
                                    [&](PyObject* name) { return same_key(name, parts.keywords[i]); });
      if (overridden) continue;
      names.push_back(parts.keywords[i]);
      values.push_back(parts.keyword_values[i]);
    }
    names.insert(names.end(), site.keywords.begin(), site.keywords.end());
    values.insert(values.end(), site.keyword_values.begin(), site.keyword_values.end());
    return open_call(f, parts.function.object, parts.function, std::move(parts.positional), std::move(names),
                     std::move(values));
  }
  if (is_type_call(callee) && !site.positional.empty() && PyType_Check(site.positional[0].object)) {
    auto* type = reinterpret_cast<PyTypeObject*>(site.positional[0].object);  // super().__call__(...) of a metaclass
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || type->tp_new != PyBaseObject_Type.tp_new) return;
    site.kind = CallSite::NewInstance;
    site.callee_value = site.positional[0];
    site.callee = site.callee_value.object;
    site.positional.erase(site.positional.begin());
    pin(site.callee_value);
    look_up(type, init);
    class_facts(type);
    return;
  }
  if (PyType_Check(callee)) {
    auto* type = reinterpret_cast<PyTypeObject*>(callee);
    PyObject* own_call = Py_TYPE(type)->tp_call == PyType_Type.tp_call ? nullptr : look_up(Py_TYPE(type), call);
    if (own_call && PyFunction_Check(own_call)) {  // __call__ of a metaclass
      guard_function(Value::fact(own_call));
      site.kind = CallSite::Instance;
      insert_receiver(callee_value);
      return;
    }
    if (PyExceptionClass_Check(callee)) {
      site.kind = CallSite::NewInstance;
      for (Value& value : site.positional) pin(value);
    } else if (is_grad_mode_type(callee)) {
      site.kind = CallSite::NewInstance;
      for (Value& value : site.positional) pin(value);
      for (Value& value : site.keyword_values) pin(value);
    } else if (type == &PyBaseObject_Type && site.positional.empty()) {  // a sentinel
      site.kind = CallSite::NewInstance;
    } else if (makes_plain_instances(type) || makes_plain_modules(type)) {
      site.kind = CallSite::NewInstance;
      look_up(type, init);
      class_facts(type);
      if (Py_TYPE(type) != &PyType_Type) look_up(Py_TYPE(type), call);  // ABCMeta
    } else if (makes_plain_dicts(type)) {
      PyObject* own_init = look_up(type, init);
      class_facts(type);
      if (own_init && PyFunction_Check(own_init)) {
        site.kind = CallSite::NewInstance;
      } else if (type->tp_init == PyDict_Type.tp_init) {
        site.kind = CallSite::Model;
        site.model = model_of(reinterpret_cast<PyObject*>(&PyDict_Type));
        for (Value& value : site.positional) adopt(value);
        site.model->before(*this, f);
      }
    } else if (has_own_new(type)) {
      site.kind = CallSite::NewInstance;
      look_up(type, init);
      look_up(type, interned("__new__"));
    }
    return;
  }
  if (PyWeakref_CheckRefExact(callee) && site.positional.empty() && site.keywords.empty()) {
    site.kind = CallSite::Referent;
    if (!writes_.empty()) return stop(Reason::UnmodelledCall, "a weak reference after a write");
    if (holds_alone(PyWeakref_GET_OBJECT(callee))) stop(Reason::Finalizer, "of what a weak reference leads to");
    return;
  }
  if (open_getter(*this, f) || open_cached(*this, f) || open_numpy_draw(*this, f)) return;
  PyTypeObject* type = Py_TYPE(callee);
  if (is_module(callee)) {
    guard_type(callee);
    PyObject* own_call = look_up(type, call);
    const std::vector<Value> others = site.positional;
    insert_receiver(callee_value);
    site.kind = CallSite::Instance;
    if (own_call && PyFunction_Check(own_call)) return guard_function(Value::fact(own_call));
    return call_forward(callee_value, others);
  }
  if (PyObject* found = _PyType_Lookup(type, call); found && PyFunction_Check(found)) {
    guard_type(callee);
    look_up(type, call);
    guard_function(Value::fact(found));
    site.kind = CallSite::Instance;
    insert_receiver(callee_value);
  }
}

Value Recording::asked_again(PyObject* callee, const Value& object, PyObject* result, const std::string& path) {
  std::vector<Word> words = call_operands(file(), callee, {reg_of(object)});
  Register reg = new_register(path, true, false);
  if (alive_) entry_->entry.emit(Op::Call, reg, no_register, no_register, words);
  return alive_ ? classify(reg, result, path) : Value();
}

Value Recording::referent(const Value& reference, PyObject* result) {
  static PyObject* const call = PyDict_GetItemString(terra_class_dict(&_PyWeakref_RefType), "__call__");
  return asked_again(call, reference, result, shadow(reference).path + "()");
}

Value Recording::call_result(ShadowFrame& f, PyObject* result) {
  Pending& pending = f.pending;
  CallSite& site = pending.call;
  switch (site.kind) {
    case CallSite::Function:
    case CallSite::Instance:
      pending.used_returns = true;
      if (!pending.returns.empty() && pending.returns.back().object == result) return pending.returns.back();
      if (iterator_of(result)) return find(result)->self;  // a new generator
      break;
    case CallSite::NewInstance: {
      pending.used_returns = true;
      if (Shadow* known = find(result)) return known->self;
      if (reinterpret_cast<PyObject*>(Py_TYPE(result)) != site.callee) break;
      Shadow& made = fresh(result);
      made.plain_instance = Py_TYPE(result)->tp_new == PyBaseObject_Type.tp_new;
      if (is_module(result)) {
        initialised_module(*this, made.self);
      } else if (!made.plain_instance) {
        made.items = site.positional;
      }
      return made.self;
    }
    case CallSite::Model: return site.model->after(*this, f, result);
    case CallSite::Referent: return referent(site.callee_value, result);
    case CallSite::Engine: {
      pending.used_returns = true;
      if (!pending.reported) {  // a switch that was so already, a property of types: nothing has said what it looked at
        for (Value& value : site.positional) pin_deep(value);
        for (Value& value : site.keyword_values) pin_deep(value);
      }
      if (pending.extra.known() && pending.extra.object == result) return pending.extra;
      if (Value value = by_identity(result); value.known()) return value;
      if (result == Py_None) return Value::fact(result);
      if (is_generator(result) && !find(result)) return fresh(result).self;  // a copy of a state, of use inside only
      if (!pending.reported && (is_atom(result) || is_engine_constant(result))) return Value::fact(hold(result));
      if (PyList_CheckExact(result) || is_tuple(result)) {
        std::vector<Value> all;
        for (Py_ssize_t i = 0; i < Py_SIZE(result); i++) {
          PyObject* item = real_item(result, i);
          all.push_back(item == Py_None ? Value::fact(item) : by_identity(item));
          if (!all.back().known()) stop(Reason::UnmodelledCall, callable_name(site.callee));
        }
        return make_sequence(result, std::move(all));
      }
      break;
    }
    default: break;
  }
  if (alive_) stop(Reason::UnmodelledCall, callable_name(site.callee ? site.callee : result));
  return {};
}

}  // namespace terra::capture
