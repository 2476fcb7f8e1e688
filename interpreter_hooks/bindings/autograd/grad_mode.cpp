#include "interpreter_hooks/bindings/autograd/grad_mode.h"

#include <structmember.h>

#include <cstring>

#include <vector>

#include "engine/ops/call.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/objects/types.h"

namespace terra::hooks {
namespace {

/// What a context does: inference_mode says whether gradients are recorded as well, its kin say nothing of inference.
struct Change {
  bool enabled;
  bool sets_inference;

  GradientModes from(GradientModes now) const { return {enabled, sets_inference ? !enabled : now.inference}; }
  GradientModes back_to(GradientModes before) const {
    return {before.enabled, sets_inference ? before.inference : gradient_modes().inference};
  }
};

/// A context manager. `before` is a stack, because one object may be entered again inside itself.
struct GradModeObject {
  PyObject_HEAD Change change;
  std::vector<GradientModes>* before;  // owned
};

/// A function that runs in a mode: what the decorator form makes.
struct DecoratedObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;  // strong
  PyObject* dict;      // strong
  Change change;
};

PyTypeObject *no_grad_type, *enable_grad_type, *inference_mode_type, *set_grad_enabled_type, *decorated_type;

GradModeObject* mode(Borrowed self) { return reinterpret_cast<GradModeObject*>(self); }
DecoratedObject* decorated(Borrowed self) { return reinterpret_cast<DecoratedObject*>(self); }

PyObject* set_function = nullptr;  // _set_grad_enabled

/// Modes of __torch_function__ see that the gradient mode is about to change; inference_mode is no switch of it to
/// them.
void switch_to(GradientModes modes, Change change) {
  PyObject* const value = modes.enabled ? Py_True : Py_False;
  if (modes_see_calls && !change.sets_inference && overridden(set_function, &value, 1, nullptr)) [[unlikely]]
    return;
  change_gradient_modes(modes);
}

class ModeScope {
 public:
  explicit ModeScope(Change change) : change_(change), before_(gradient_modes()) {
    change_gradient_modes(change.from(before_));
  }
  ~ModeScope() { change_gradient_modes(change_.back_to(before_)); }
  ModeScope(const ModeScope&) = delete;

 private:
  const Change change_;
  const GradientModes before_;
};

// ---- the decorated function ----

PyObject* decorated_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
  const ModeScope scope(decorated(self)->change);
  return PyObject_Vectorcall(decorated(self)->function, args, nargsf & ~PY_VECTORCALL_ARGUMENTS_OFFSET, names);
}
Object decorated_get(PyObject* self, PyObject* object, PyObject*) {
  return !object || object == Py_None ? Object::share(self) : owned(PyMethod_New(self, object));
}
Object decorated_repr(PyObject* self) {
  const Change change = decorated(self)->change;
  return owned(PyUnicode_FromFormat("<%R in %s mode %s>", decorated(self)->function,
                                    change.sets_inference ? "inference" : "gradient",
                                    change.enabled != change.sets_inference ? "on" : "off"));
}
/// Names, documentation and everything else are the function's own.
Object decorated_getattro(PyObject* self, PyObject* name) {
  Object found = Object::steal(_PyObject_GenericGetAttrWithDict(self, name, nullptr, 1));
  if (found) return found;
  if (PyErr_Occurred()) throw PythonError{};
  return owned(PyObject_GetAttr(decorated(self)->function, name));
}
int decorated_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(decorated(self)->function);
  Py_VISIT(decorated(self)->dict);
  return 0;
}
int decorated_clear(PyObject* self) {
  Py_CLEAR(decorated(self)->function);
  Py_CLEAR(decorated(self)->dict);
  return 0;
}
void decorated_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  decorated_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}
PyMemberDef decorated_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(DecoratedObject, function), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(DecoratedObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(DecoratedObject, dict), READONLY, nullptr},
    {}};

bool is_generator_function(Borrowed function) {
  PyObject* const plain = PyMethod_Check(function) ? PyMethod_GET_FUNCTION(function) : static_cast<PyObject*>(function);
  if (!PyFunction_Check(plain)) return false;
  return (reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(plain))->co_flags & CO_GENERATOR) != 0;
}

Object decorate(Change change, Borrowed function) {
  if (!PyCallable_Check(function)) raise(PyExc_TypeError, "'%s' object is not callable", Py_TYPE(function)->tp_name);
  if (PyType_Check(function) &&
      PyErr_WarnEx(PyExc_FutureWarning,
                   "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                   "functions or methods. To preserve the current behavior of class decoration, you can directly "
                   "decorate the `__init__` method and nothing else.",
                   1) < 0)
    throw PythonError{};
  if (is_generator_function(function)) {  // the call only makes the generator
    const Object module = owned(PyImport_ImportModule("terra.autograd.grad_mode"));
    PyTypeObject* const context = change.sets_inference ? inference_mode_type : set_grad_enabled_type;
    return owned(PyObject_CallMethod(module.get(), "_generator_in", "OOO", context,
                                     change.enabled != change.sets_inference ? Py_True : Py_False,
                                     static_cast<PyObject*>(function)));
  }
  Object self = owned(decorated_type->tp_alloc(decorated_type, 0));
  DecoratedObject* d = decorated(self.get());
  d->vectorcall = decorated_vectorcall;
  d->function = Py_NewRef(function);
  d->change = change;
  // What inspection looks for in the object's own type would be ours otherwise.
  for (const char* name : {"__doc__", "__module__", "__name__", "__qualname__"}) {
    Object value = Object::steal(PyObject_GetAttrString(function, name));
    if (!value)
      PyErr_Clear();
    else
      succeeded(PyObject_SetAttrString(self.get(), name, value.get()));
  }
  return self;
}

// ---- the context managers ----

Object make(PyTypeObject* type, Change change) {
  Object self = owned(type->tp_alloc(type, 0));
  mode(self.get())->change = change;
  mode(self.get())->before = new std::vector<GradientModes>;
  return self;
}

/// no_grad() makes a context manager; no_grad(function), the decorator without brackets, decorates.
template <bool Enabled>
Object simple_new(PyTypeObject* type, PyObject* args, PyObject*) {
  if (PyTuple_GET_SIZE(args) == 1 && PyCallable_Check(PyTuple_GET_ITEM(args, 0)))
    return decorate({Enabled, false}, PyTuple_GET_ITEM(args, 0));
  return make(type, {Enabled, false});
}

/// inference_mode(mode=True); with False, everything is recorded inside.
Object inference_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"mode", nullptr};
  PyObject* on = Py_True;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:inference_mode", const_cast<char**>(names), &on))
    throw PythonError{};
  if (!PyBool_Check(on) && PyCallable_Check(on)) return decorate({false, true}, on);
  return make(type, {!succeeded(PyObject_IsTrue(on)), true});
}

void enter_mode(Borrowed self) {
  mode(self)->before->push_back(gradient_modes());
  switch_to(mode(self)->change.from(gradient_modes()), mode(self)->change);
}
void leave_mode(Borrowed self) {
  const GradientModes before = mode(self)->before->back();
  mode(self)->before->pop_back();
  switch_to(mode(self)->change.back_to(before), mode(self)->change);
}

/// set_grad_enabled(mode) acts at once; leaving it as a context manager restores what was before.
Object set_grad_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"mode", nullptr};
  PyObject* on;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:set_grad_enabled", const_cast<char**>(names), &on))
    throw PythonError{};
  Object self = make(type, {static_cast<bool>(succeeded(PyObject_IsTrue(on))), false});
  enter_mode(self.get());
  return self;
}

int no_init(PyObject*, PyObject*, PyObject*) { return 0; }

Object enter(PyObject* self, PyObject*) {
  enter_mode(self);
  return Object::share(Py_None);
}
Object enter_set(PyObject* self, PyObject*) {
  if (mode(self)->before->empty()) return enter(self, nullptr);
  if (modes_see_calls) switch_to(mode(self)->change.from(gradient_modes()), mode(self)->change);
  return Object::share(Py_None);
}
Object leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (mode(self)->before->empty()) raise(PyExc_RuntimeError, "a gradient mode was left that had not been entered");
  leave_mode(self);
  return Object::share(Py_None);
}

Object call(PyObject* self, PyObject* args, PyObject*) {
  if (PyTuple_GET_SIZE(args) != 1) raise(PyExc_TypeError, "a gradient mode decorates one function");
  if (Py_TYPE(self) == set_grad_enabled_type && !mode(self)->before->empty())
    leave_mode(self);  // the decorator form doesn't act at once
  return decorate(mode(self)->change, PyTuple_GET_ITEM(args, 0));
}

Object clone(PyObject* self, PyObject*) { return make(Py_TYPE(self), mode(self)->change); }

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete mode(self)->before;
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"__enter__", method<enter>(), METH_NOARGS, nullptr},
                         {"__exit__", method<leave>(), METH_FASTCALL, nullptr},
                         {"clone", method<clone>(), METH_NOARGS, nullptr},
                         {}};
PyMethodDef set_methods[] = {{"__enter__", method<enter_set>(), METH_NOARGS, nullptr},
                             {"__exit__", method<leave>(), METH_FASTCALL, nullptr},
                             {}};

PyTypeObject* create(PyObject* module, const char* name, const char* doc, void* make_new, PyMethodDef* rows) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc)},
                         {Py_tp_new, make_new},
                         {Py_tp_init, slot<no_init>()},
                         {Py_tp_call, slot<call>()},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, rows},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(GradModeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyTypeObject* type = create_type(spec);
  add_object(module, std::strrchr(name, '.') + 1, type);
  return type;
}

Object is_grad_enabled(PyObject*, PyObject*) {
  if (OpObserver* observer = op_observer()) observer->on_mode_read();
  return owned(PyBool_FromLong(gradient_modes().enabled));
}
Object is_inference_mode_enabled(PyObject*, PyObject*) {
  if (OpObserver* observer = op_observer()) observer->on_mode_read();
  return owned(PyBool_FromLong(inference_mode()));
}
Object set_enabled(PyObject*, PyObject* enabled) {
  change_gradient_modes({static_cast<bool>(succeeded(PyObject_IsTrue(enabled))), inference_mode()});
  return Object::share(Py_None);
}
PyMethodDef functions[] = {
    {"_set_grad_enabled", method<set_enabled>(), METH_O, "Switches the recording of gradients on or off."},
    {"is_grad_enabled", method<is_grad_enabled>(), METH_NOARGS, "True while gradients are recorded."},
    {"is_inference_mode_enabled", method<is_inference_mode_enabled>(), METH_NOARGS, "True in inference mode."},
    {}};

}  // namespace

void change_gradient_modes(GradientModes modes) {
  if (gradient_modes() == modes) return;
  set_gradient_modes(modes);
  if (OpObserver* observer = op_observer()) observer->on_grad_mode(modes);
}

size_t times_entered(PyObject* self) { return mode(self)->before->size(); }

void create_grad_mode_types(PyObject* module) {
  no_grad_type = create(module, "terra.no_grad", "Records no gradients, as a context manager or decorator.",
                        slot<simple_new<false>>(), methods);
  enable_grad_type = create(module, "terra.enable_grad", "Records gradients, as a context manager or decorator.",
                            slot<simple_new<true>>(), methods);
  inference_mode_type = create(module, "terra.inference_mode", "Makes inference tensors, and records no gradients.",
                               slot<inference_new>(), methods);
  set_grad_enabled_type = create(module, "terra.set_grad_enabled", "Switches the recording of gradients.",
                                 slot<set_grad_new>(), set_methods);
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_descr_get, slot<decorated_get>()},
                         {Py_tp_getattro, slot<decorated_getattro>()},
                         {Py_tp_repr, slot<decorated_repr>()},
                         {Py_tp_members, decorated_members},
                         {Py_tp_traverse, reinterpret_cast<void*>(decorated_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(decorated_clear)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(decorated_dealloc)},
                         {0, nullptr}};
  PyType_Spec spec = {"terra.grad_mode_function", sizeof(DecoratedObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_METHOD_DESCRIPTOR,
                      slots};
  decorated_type = create_type(spec);
  add_functions(module, functions);
  set_function = owned(PyObject_GetAttrString(module, "_set_grad_enabled")).release();
}

}  // namespace terra::hooks
