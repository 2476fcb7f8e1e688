#include "interpreter_hooks/bindings/tensor/tensor_object.h"

#include <structmember.h>

#include <array>

#include "interpreter_hooks/bindings/interpreter_lock.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"
#include "interpreter_hooks/cpython/collector.h"

namespace terra::hooks {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* parameter_type = nullptr;
bool attributes_may_hide_methods = false;

namespace {

/// Dead objects of type Tensor, kept to be used again; their collector heads are untracked.
struct FreeList {
  static constexpr size_t kMost = 128;
  std::array<TensorObject*, kMost> objects;
  size_t count = 0;
};
FreeList free_list;

/// A new object that takes over one reference to `impl`. Plain tensors are not tracked by the collector until they get
/// attributes or hooks: without those they refer to nothing that could refer back.
PyObject* allocate(PyTypeObject* type, Ref<TensorImpl> impl) {
  TensorObject* t;
  if (type == tensor_type && free_list.count > 0) {
    t = free_list.objects[--free_list.count];
    PyObject_Init(reinterpret_cast<PyObject*>(t), type);
    t->dict = t->weakrefs = t->hooks = nullptr;
  } else if (is_plain_tensor_type(type)) {
    t = PyObject_GC_New(TensorObject, type);
    if (!t) throw PythonError{};
    t->dict = t->weakrefs = t->hooks = nullptr;
  } else {
    t = tensor_object(lent(type->tp_alloc(type, 0)));
  }
  t->impl = impl.release();
  t->impl->owner = t;
  return reinterpret_cast<PyObject*>(t);
}

/// True when letting the object die would lose something that Python could notice later.
bool has_state(const TensorObject* t) {
  return t->weakrefs || t->hooks || (t->dict && PyDict_GET_SIZE(t->dict) > 0) || Py_TYPE(t) != tensor_type;
}

/// Turns the ownership around where C++ still holds the tensor of a dying object with state. True: the object lives on,
/// and the caller's last reference to it now belongs to the impl.
bool handed_to_impl(TensorObject* t) {
  if (!t->impl || t->impl->keeps_owner || t->impl->use_count() <= 1 || !has_state(t)) return false;
  t->impl->keeps_owner = true;
  t->impl->drop();  // never the last: somebody else holds it
  return true;
}

void tensor_finalize(PyObject* self) {
  if (handed_to_impl(tensor_object(self))) Py_INCREF(self);
}

void tensor_dealloc(PyObject* self) {
  TensorObject* t = tensor_object(self);
  PyTypeObject* type = Py_TYPE(self);
  // A subclass written in Python has had its tp_finalize called and its slots cleared already.
  if (type->tp_dealloc == tensor_dealloc && handed_to_impl(t)) {
    Py_SET_REFCNT(self, 1);
    return;
  }
  PyObject_GC_UnTrack(self);
  if (t->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(t->dict);
  Py_CLEAR(t->hooks);
  if (TensorImpl* impl = std::exchange(t->impl, nullptr)) {
    impl->owner = nullptr;
    Ref<TensorImpl>::adopt(impl);
  }
  if (type == tensor_type && free_list.count < FreeList::kMost)
    free_list.objects[free_list.count++] = t;
  else
    type->tp_free(self);
  Py_DECREF(type);
}

/// Only references that this object holds are visited. What C++ holds of an object (keeps_owner, a tape) counts as a
/// reference from outside, so nothing that C++ can still hand out is ever taken for garbage. A leaf's hooks are held
/// twice, by the object and by the impl's tape record: both are ours when nobody else holds the impl.
int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  TensorObject* t = tensor_object(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(t->dict);
  Py_VISIT(t->hooks);
  if (t->hooks && t->impl && !t->impl->keeps_owner && t->impl->use_count() == 1 && holds_hooks(*t->impl))
    Py_VISIT(t->hooks);
  return 0;
}

int tensor_clear(PyObject* self) {
  TensorObject* t = tensor_object(self);
  if (t->hooks && t->impl && !t->impl->keeps_owner && t->impl->use_count() == 1) drop_hooks(*t->impl);
  Py_CLEAR(t->dict);
  Py_CLEAR(t->hooks);
  return 0;
}

void track(PyObject* self) {
  if (!PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
}

int tensor_setattro(PyObject* self, PyObject* name, PyObject* value) {
  const int result = PyObject_GenericSetAttr(self, name, value);
  if (!tensor_object(self)->dict) return result;
  track(self);
  if (PyObject* of_class = _PyType_Lookup(Py_TYPE(self), name); of_class && !Py_TYPE(of_class)->tp_descr_set)
    attributes_may_hide_methods = true;
  return result;
}

PyObject* get_dict(PyObject* self, void*) {
  attributes_may_hide_methods = true;
  return attributes_of(self).release();
}
int set_dict(PyObject* self, PyObject* value, void*) {
  attributes_may_hide_methods = true;
  const int result = PyObject_GenericSetDict(self, value, nullptr);
  if (tensor_object(self)->dict) track(self);
  return result;
}

PyObject* get_hooks(PyObject* self, void*) {
  PyObject* hooks = tensor_object(self)->hooks;
  return Py_NewRef(hooks ? hooks : Py_None);
}

/// Turns the ownership around again; the object takes over a reference to the impl.
void take_back(PyObject* owner) {
  impl_of(owner)->keeps_owner = false;
  if (!is_plain_tensor_type(Py_TYPE(owner))) terra_rearm_finalizer(owner);
}

/// The engine's last reference to a tensor that keeps its object went, on whatever thread: nobody but the object has
/// the tensor, and it dies unless Python has found it again by a weak reference or the collector.
void release_owner(void* owner) {
  const InterpreterLock lock;
  if (!lock) return;
  auto* object = static_cast<PyObject*>(owner);
  TensorImpl* impl = impl_of(object);
  if (impl->use_count() == 0) impl->retain();  // dropped to nothing, or the last one as it was: now the object's
  if (Py_REFCNT(object) > 1 || impl->use_count() > 1)
    take_back(object);
  else
    impl->keeps_owner = false;  // its finalizer has run already
  Py_DECREF(object);
}

PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
                         {}};
PyGetSetDef own_attributes[] = {
    {"__dict__", get_dict, set_dict, nullptr, nullptr}, {"_backward_hooks", get_hooks, nullptr, nullptr, nullptr}, {}};

PyTypeObject* create_type(const char* name, const char* short_name, PyTypeObject* base,
                          std::vector<PyType_Slot> slots) {
  slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)});
  slots.push_back({Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)});
  slots.push_back({Py_tp_clear, reinterpret_cast<void*>(tensor_clear)});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                      slots.data()};
  Object bases = base ? owned(PyTuple_Pack(1, base)) : Object();
  auto* type = reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpecWithBases(&spec, bases.get())).release());
  type->tp_name = short_name;  // as messages name it
  return type;
}

}  // namespace

PyObject* wrap(Tensor&& tensor) {
  TensorImpl* impl = tensor.get();
  if (!impl) return Py_NewRef(Py_None);
  if (!impl->owner) return allocate(tensor_type, std::move(tensor));
  auto* owner = static_cast<PyObject*>(impl->owner);
  if (!impl->keeps_owner) return Py_NewRef(owner);
  take_back(owner);
  impl->retain();
  return owner;  // the reference that the impl held
}

PyObject* wrap(const Tensor& tensor) { return wrap(Tensor(tensor)); }

Object attributes_of(Borrowed tensor) {
  Object dict = owned(PyObject_GenericGetDict(tensor, nullptr));
  track(tensor);
  return dict;
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) { return allocate(type, std::move(tensor)); }

Object moved_to(PyTypeObject* type, PyObject* object) {
  Ref<TensorImpl> nothing = Tensor::empty(Dims{0}, DType::F32);
  nothing->owner = tensor_object(object);
  auto tensor = Ref<TensorImpl>::adopt(std::exchange(tensor_object(object)->impl, nothing.release()));
  return Object::steal(allocate(type, std::move(tensor)));
}

void create_tensor_types(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char*>("A strided array of numbers of one dtype that can remember how it was computed.")},
      {Py_tp_members, members},
      {Py_tp_getset, own_attributes},
      {Py_tp_setattro, reinterpret_cast<void*>(tensor_setattro)},
      {Py_tp_finalize, reinterpret_cast<void*>(tensor_finalize)},
  };
  append_tensor_slots(slots);
  tensor_type = create_type("terra.Tensor", "Tensor", nullptr, std::move(slots));
  std::vector<PyType_Slot> parameter_slots;
  append_parameter_slots(parameter_slots);
  parameter_type = create_type("terra.nn.parameter.Parameter", "Parameter", tensor_type, std::move(parameter_slots));
  add_tensor_attributes(tensor_type);
  add_tensor_attributes_of_parameter(parameter_type);
  add_object(module, "Tensor", tensor_type);
  add_object(module, "Parameter", parameter_type);
  owner_hooks().release_owner = release_owner;
}

}  // namespace terra::hooks
