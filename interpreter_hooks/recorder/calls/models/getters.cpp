// Objects of the operator module that read or call something of their argument. They never change: which one it is
// is a fact, and what it was made of with it.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

namespace terra::capture {

namespace {

/// What it was made of: the arguments that __reduce__ names. Held by the recording; null where they are not plain.
PyObject* parts_of(Recording& r, PyObject* getter) {
  PyObject* reduced = PyObject_CallMethod(getter, "__reduce__", nullptr);
  PyObject* parts = nullptr;
  if (reduced && PyTuple_Check(reduced) && PyTuple_GET_SIZE(reduced) == 2 &&
      PyTuple_GET_ITEM(reduced, 0) == reinterpret_cast<PyObject*>(Py_TYPE(getter))) {
    parts = r.hold(PyTuple_GET_ITEM(reduced, 1));
  }
  PyErr_Clear();
  Py_XDECREF(reduced);
  return parts && PyTuple_CheckExact(parts) ? parts : nullptr;
}

void refuse(Recording& r, ShadowFrame& f) { r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee)); }

/// The items are read while the container is as the call will find it; pending.in has them until the end.
void begin_items(Recording& r, ShadowFrame& f, PyObject* keys) {
  Value& container = arguments(f)[0];
  std::vector<Value> found;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys) && r.alive(); i++) {
    Value key = Value::fact(PyTuple_GET_ITEM(keys, i));
    if (is_sequence(container.object) && PyLong_CheckExact(key.object)) {
      found.push_back(r.item(container, PyNumber_AsSsize_t(key.object, nullptr)));
    } else if (PyDict_CheckExact(container.object) && r.prepare_key(key)) {
      found.push_back(r.dict_item(container, key));
    } else {
      return refuse(r, f);
    }
    if (!found.back().known()) return refuse(r, f);
  }
  f.pending.in = std::move(found);
}
Value end_items(Recording& r, ShadowFrame& f, PyObject* result) {
  return f.pending.in.size() == 1 ? f.pending.in[0] : r.make_sequence(result, f.pending.in);
}

void begin_attribute(Recording& r, ShadowFrame& f, PyObject* names) {
  PyObject* name = PyTuple_GET_SIZE(names) == 1 ? PyTuple_GET_ITEM(names, 0) : nullptr;
  const bool plain =
      name && PyUnicode_CheckExact(name) && PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1) < 0;
  if (!plain) return refuse(r, f);
  name = r.interned_name(name);
  f.pending.access = r.access_of(arguments(f)[0], name, &f.pending.found);
  f.pending.extra = Value::fact(name);
}
Value end_attribute(Recording& r, ShadowFrame& f, PyObject* result) {
  return r.attribute(f, arguments(f)[0], f.pending.extra.object, result);
}

/// The call becomes that of the method.
void open_method(Recording& r, ShadowFrame& f, PyObject* parts) {
  std::vector<Value> all = {arguments(f)[0]};
  PyObject* receiver = all[0].object;
  PyObject* name = r.interned_name(PyTuple_GET_ITEM(parts, 0));
  PyObject* method = _PyType_Lookup(Py_TYPE(receiver), name);
  if (!method || !PyFunction_Check(method) || is_tensor(receiver)) return refuse(r, f);
  Value owner = all[0];
  if (r.access_of(owner, name, &f.pending.found) != Access::Class) return refuse(r, f);
  r.guard_type(receiver);
  r.look_up(Py_TYPE(receiver), name);
  r.no_attribute(owner, name);
  for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(parts); i++) {
    if (!is_atom(PyTuple_GET_ITEM(parts, i))) return refuse(r, f);
    all.push_back(Value::fact(PyTuple_GET_ITEM(parts, i)));
  }
  r.open_call(f, method, Value::fact(method), std::move(all), {}, {});
}

constexpr CallModel item_model = {"operator", "itemgetter", nullptr, end_items};
constexpr CallModel attribute_model = {"operator", "attrgetter", nullptr, end_attribute};

}  // namespace

bool is_item_getter(PyObject* object) { return terra_class_is(Py_TYPE(object), "operator.itemgetter"); }

bool open_getter(Recording& r, ShadowFrame& f) {
  CallSite& site = f.pending.call;
  const PyTypeObject* kind = Py_TYPE(site.callee);
  const bool items = is_item_getter(site.callee), attribute = terra_class_is(kind, "operator.attrgetter");
  if (!items && !attribute && !terra_class_is(kind, "operator.methodcaller")) return false;
  PyObject* parts = parts_of(r, site.callee);
  if (!parts || PyTuple_GET_SIZE(parts) == 0 || site.positional.size() != 1 || !site.keywords.empty()) {
    refuse(r, f);
    return true;
  }
  if (site.callee_value.has_register()) r.guard(Op::Is, site.callee_value.reg, {word_of(r.file().keep(site.callee))});
  if (!items && !attribute) {
    open_method(r, f, parts);
    return true;
  }
  site.kind = CallSite::Model;
  site.model = items ? &item_model : &attribute_model;
  items ? begin_items(r, f, parts) : begin_attribute(r, f, parts);
  return true;
}

}  // namespace terra::capture
