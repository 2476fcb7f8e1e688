// C callables that look at objects: types, attributes, super.
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/call_models.h"

namespace terra::capture {

namespace {

Value fact_result(Recording& r, ShadowFrame&, PyObject* result) { return Value::fact(r.hold(result)); }

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
  if (object.kind == Value::Dynamic && r.find(object.object)) r.guard_type(object.object);
  PyTypeObject* type = Py_TYPE(object.object);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) && !(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)) r.class_facts(type);
  if (in.size() > 1 && !r.read_deep(in[1])) r.stop(Reason::UnmodelledCall, "isinstance with unusual classes");
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

bool is_absent(const Pending& pending, Value& owner, PyObject* name) {
  if (pending.access == Access::None) return true;
  if (PyModule_CheckExact(owner.object)) return !PyDict_GetItemWithError(PyModule_GetDict(owner.object), name);
  return false;
}

Value end_getattr(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  PyObject* name = f.pending.extra.object;
  if (!is_absent(f.pending, in[0], name)) return r.attribute(f, in[0], name, result);
  if (in.size() < 3 || result != in[2].object) {
    r.stop(Reason::UnmodelledAttribute, PyUnicode_AsUTF8(name));
    return {};
  }
  r.absent(in[0], name);
  return in[2];
}

Value end_hasattr(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  PyObject* name = f.pending.extra.object;
  if (result == Py_False) {
    if (!is_absent(f.pending, in[0], name)) r.stop(Reason::UnmodelledAttribute, "hasattr through Python code");
    r.absent(in[0], name);
    return Value::fact(result);
  }
  PyObject* value = PyObject_GetAttr(in[0].object, name);
  bool simple = f.pending.access == Access::Instance || f.pending.access == Access::Class ||
                f.pending.access == Access::Module || f.pending.access == Access::Parameter ||
                f.pending.access == Access::Slot;
  if (!value || !simple) {
    PyErr_Clear();
    r.stop(Reason::UnmodelledAttribute, "hasattr");
  } else {
    r.attribute(f, in[0], name, value);
  }
  Py_XDECREF(value);
  return Value::fact(result);
}

void begin_setattr(Recording& r, ShadowFrame& f) {
  PyObject* name = nullptr;
  if (arguments(f).size() != 3 || !constant_name(r, f, &name)) return;
  f.pending.extra = Value::fact(name);
  PyObject* owner = arguments(f)[0].object;
  bool written_in_c = f.pending.call.callee == PyDict_GetItemString(PyBaseObject_Type.tp_dict, "__setattr__");
  bool plain = r.can_store_attribute(owner, name) ||
               (written_in_c && !(_PyType_Lookup(Py_TYPE(owner), name)) && !is_tensor(owner));
  if (!plain) r.stop(Reason::UnmodelledAttribute, std::string("setattr of ") + PyUnicode_AsUTF8(name));
  // An object with __setattr__ of its own is stored to by the effect program through object.__setattr__ as well.
  if (written_in_c && Py_TYPE(owner)->tp_setattro != PyObject_GenericSetAttr) {
    r.stop(Reason::UnmodelledAttribute, "object.__setattr__ past a __setattr__ of the class");
  }
}
Value end_setattr(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  r.store_attribute(in[0], f.pending.extra.object, in[2]);
  return Value::fact(result);
}

// ---- super, object ----

Value end_super(Recording& r, ShadowFrame& f, PyObject* result) {
  // super objects: {PyObject_HEAD; type; obj; obj_type}
  struct Super {
    PyObject_HEAD;
    PyTypeObject* type;
    PyObject* object;
  };
  PyObject* object = reinterpret_cast<Super*>(result)->object;
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

Value end_nothing(Recording&, ShadowFrame&, PyObject* result) { return Value::fact(result); }

constexpr CallModel models[] = {
    {"builtins", "isinstance", look_at_type, fact_result},
    {"builtins", "issubclass", look_at_type, fact_result},
    {"builtins", "callable", look_at_type, fact_result},
    {"builtins", "type", begin_type, fact_result},
    {"builtins", "getattr", begin_getattr, end_getattr},
    {"builtins", "hasattr", begin_getattr, end_hasattr},
    {"builtins", "setattr", begin_setattr, end_setattr},
    {"object", "__setattr__", begin_setattr, end_setattr},
    {"object", "__init__", nullptr, end_nothing},
    {"builtins", "super", nullptr, end_super},
};

}  // namespace

ModelList object_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
