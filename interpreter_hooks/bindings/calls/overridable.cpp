#include "interpreter_hooks/bindings/calls/overridable.h"

#include <structmember.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/errors/errors.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/objects/types.h"

namespace terra::hooks {
namespace {

/// Offers a call, and runs it where nobody takes it over: results are then of the class of the first `typed` arguments
/// where one of them is a subclass of Tensor.
template <class Run>
Object offered(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords, Told told, size_t typed,
               Run run) {
  if (Object result = overridden(function, values, count, keywords, told)) return result;
  PyTypeObject* subclass = result_subclass(values, typed);
  if (!subclass) return owned(run());
  const WithoutOverrides scope;
  return as_subclass(owned(run()), subclass);
}

// ---- functions ----

/// Calls hand their arguments on to the function; attributes are those of the function.
struct Overridable {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* weakrefs;
};

PyTypeObject* overridable_type = nullptr;

Borrowed function_of(Borrowed self) { return reinterpret_cast<Overridable*>(self)->function; }

/// A call of the function has raised: an error in its arguments is that of the call (terra/_declared.py).
PyObject* failed(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords) noexcept {
  if (!PyErr_ExceptionMatches(PyExc_Exception) || !PyFunction_Check(function)) return nullptr;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  try {
    const Object module = owned(PyImport_ImportModule("terra._declared"));
    const Object complain = owned(PyObject_GetAttrString(module.get(), "complain"));
    const Object args = owned(PyTuple_New(static_cast<Py_ssize_t>(count))), named = owned(PyDict_New());
    for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(args.get(), i, Py_NewRef(values[i]));
    for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); ++i)
      succeeded(PyDict_SetItem(named.get(), PyTuple_GET_ITEM(keywords, i), values[count + static_cast<size_t>(i)]));
    owned(PyObject_CallFunctionObjArgs(complain.get(), function, args.get(), named.get(), nullptr));
  } catch (...) {
    translate_exception();
    for (PyObject* gone : {type, value, traceback}) Py_XDECREF(gone);
    return nullptr;
  }
  PyErr_Restore(type, value, traceback);
  return nullptr;
}

PyObject* call(PyObject* self, PyObject* const* values, size_t nargsf, PyObject* keywords) noexcept {
  const auto count = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
  const size_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  if (!may_be_overridden(values, all)) [[likely]] {
    PyObject* const result = PyObject_Vectorcall(function_of(self), values, nargsf, keywords);
    return result ? result : failed(function_of(self), values, count, keywords);
  }
  try {
    const auto run = [&] { return PyObject_Vectorcall(function_of(self), values, count, keywords); };
    return offered(self, values, count, keywords, Told::Overriding, all, run).release();
  } catch (...) {
    translate_exception();
    return nullptr;
  }
}

Object bound(PyObject* self, PyObject* object, PyObject*) {
  return !object || object == Py_None ? Object::share(self) : owned(PyMethod_New(self, object));
}

/// How it is called and kept is its own affair; everything else is the function's, the class that programs ask for
/// too.
Object attribute(PyObject* self, PyObject* name) {
  for (const char* own : {"__wrapped__", "__call__", "__get__", "__reduce__", "__reduce_ex__"})
    if (PyUnicode_CompareWithASCIIString(name, own) == 0) return owned(PyObject_GenericGetAttr(self, name));
  return owned(PyObject_GetAttr(function_of(self), name));
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return succeeded(value ? PyObject_SetAttr(function_of(self), name, value)
                         : PyObject_DelAttr(function_of(self), name));
}

Object text(PyObject* self) { return owned(PyObject_Repr(function_of(self))); }

/// Pickled by name.
Object reduce(PyObject* self, PyObject*) { return owned(PyObject_GetAttrString(function_of(self), "__qualname__")); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(function_of(self));
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<Overridable*>(self)->function);
  return 0;
}
void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<Overridable*>(self)->weakrefs) PyObject_ClearWeakRefs(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"__reduce__", method<reduce>(), METH_NOARGS, nullptr}, {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Overridable, vectorcall), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(Overridable, weakrefs), READONLY, nullptr},
                         {"__wrapped__", T_OBJECT, offsetof(Overridable, function), READONLY, nullptr},
                         {}};

Object make(PyObject*, PyObject* function) {
  if (!PyCallable_Check(function))
    raise(PyExc_TypeError, "_overridable() takes a callable, not %s", Py_TYPE(function)->tp_name);
  Object self = owned(overridable_type->tp_alloc(overridable_type, 0));
  auto* made = reinterpret_cast<Overridable*>(self.get());
  made->vectorcall = call;
  made->function = Py_NewRef(function);
  return self;
}

// ---- methods and attributes of Tensor ----

/// A row of a table, and the descriptor that __torch_function__ gets as func.
struct Method {
  const PyMethodDef* row = nullptr;
  PyObject* descriptor = nullptr;
};

constexpr size_t most_methods = 160;
std::array<Method, most_methods> asked_methods;
size_t methods_used = 0;

using OfOne = PyObject* (*)(PyObject*, PyObject*);
using OfMany = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
using OfNamed = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
using OfTuple = PyObject* (*)(PyObject*, PyObject*, PyObject*);

template <class F>
F function_in(const PyMethodDef& row) {
  return reinterpret_cast<F>(reinterpret_cast<void (*)()>(row.ml_meth));
}

/// Sparse tensors are instances of classes of the package, and tell what they are as plain tensors do.
bool may_be_asked(Borrowed self) {
  return modes_see_calls || (may_override(Py_TYPE(self)) && !is_sparse(*impl_of(self)));
}

/// Offers the call of a method if anybody may be asked about it, or runs it.
template <class Run>
PyObject* call_method(const Method& method, PyObject* self, PyObject* const* given, size_t count, PyObject* names,
                      Told told, Run run) noexcept {
  if (!may_be_asked(self)) [[likely]]
    return run();
  try {
    std::vector<PyObject*> values = {self};
    values.insert(values.end(), given, given + count + (names ? PyTuple_GET_SIZE(names) : 0));
    return offered(method.descriptor, values.data(), count + 1, names, told, 1, run).release();
  } catch (...) {
    translate_exception();
    return nullptr;
  }
}

template <size_t I>
PyObject* call_alone(PyObject* self, PyObject*) noexcept {
  const Method& method = asked_methods[I];
  return call_method(method, self, nullptr, 0, nullptr, Told::Self,
                     [&] { return function_in<OfOne>(*method.row)(self, nullptr); });
}
template <size_t I>
PyObject* call_with_one(PyObject* self, PyObject* value) noexcept {
  const Method& method = asked_methods[I];
  return call_method(method, self, &value, 1, nullptr, Told::Overriding,
                     [&] { return function_in<OfOne>(*method.row)(self, value); });
}
template <size_t I>
PyObject* call_with_many(PyObject* self, PyObject* const* values, Py_ssize_t count) noexcept {
  const Method& method = asked_methods[I];
  return call_method(method, self, values, static_cast<size_t>(count), nullptr, Told::Overriding,
                     [&] { return function_in<OfMany>(*method.row)(self, values, count); });
}
template <size_t I>
PyObject* call_with_names(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) noexcept {
  const Method& method = asked_methods[I];
  return call_method(method, self, values, static_cast<size_t>(count), names, Told::Overriding,
                     [&] { return function_in<OfNamed>(*method.row)(self, values, count, names); });
}

/// METH_VARARGS, with or without METH_KEYWORDS.
template <size_t I>
PyObject* call_with_tuple(PyObject* self, PyObject* tuple, PyObject* dict) noexcept {
  const Method& method = asked_methods[I];
  const auto run = [&] {
    return method.row->ml_flags & METH_KEYWORDS ? function_in<OfTuple>(*method.row)(self, tuple, dict)
                                                : function_in<OfOne>(*method.row)(self, tuple);
  };
  if (!may_be_asked(self)) [[likely]]
    return run();
  std::vector<PyObject*> values(PySequence_Fast_ITEMS(tuple), PySequence_Fast_ITEMS(tuple) + PyTuple_GET_SIZE(tuple));
  Object names;
  if (dict && PyDict_GET_SIZE(dict) > 0) {
    names = Object::steal(PyTuple_New(PyDict_GET_SIZE(dict)));
    if (!names) return nullptr;
    PyObject *name, *value;
    for (Py_ssize_t at = 0, i = 0; PyDict_Next(dict, &at, &name, &value); ++i) {
      PyTuple_SET_ITEM(names.get(), i, Py_NewRef(name));
      values.push_back(value);
    }
  }
  return call_method(method, self, values.data(), static_cast<size_t>(PyTuple_GET_SIZE(tuple)), names.get(),
                     Told::Overriding, run);
}
template <size_t I>
PyObject* call_with_plain_tuple(PyObject* self, PyObject* tuple) noexcept {
  return call_with_tuple<I>(self, tuple, nullptr);
}

/// The functions of one row, by its calling convention.
struct Stand {
  PyCFunction alone, with_one, with_many, with_names, with_tuple, with_plain_tuple;
};
template <class F>
PyCFunction any(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
template <size_t... I>
std::array<Stand, sizeof...(I)> stands(std::index_sequence<I...>) {
  return {{{any(call_alone<I>), any(call_with_one<I>), any(call_with_many<I>), any(call_with_names<I>),
            any(call_with_tuple<I>), any(call_with_plain_tuple<I>)}...}};
}

/// Helpers of the package, and what tells what a tensor is.
bool is_never_asked(std::string_view name) {
  const bool is_private = name.starts_with('_') && !name.starts_with("__");
  return is_private || name == "as_subclass" || name == "__reduce_ex__" || name == "new" || name == "new_tensor";
}

PyCFunction stand_for(size_t place, int flags) {
  static const auto all = stands(std::make_index_sequence<most_methods>());
  const Stand& stand = all[place];
  switch (flags) {
    case METH_NOARGS: return stand.alone;
    case METH_O: return stand.with_one;
    case METH_FASTCALL: return stand.with_many;
    case METH_FASTCALL | METH_KEYWORDS: return stand.with_names;
    case METH_VARARGS | METH_KEYWORDS: return stand.with_tuple;
    case METH_VARARGS: return stand.with_plain_tuple;
    default: return nullptr;
  }
}

/// An attribute and the method-wrappers that read and write it.
struct Attribute {
  const PyGetSetDef* row = nullptr;
  PyObject* descriptor = nullptr;
};

Object accessor(const Attribute& attribute, const char* name) {
  return owned(PyObject_GetAttrString(attribute.descriptor, name));
}

PyObject* get_attribute(PyObject* self, void* closure) noexcept {
  const Attribute& attribute = *static_cast<Attribute*>(closure);
  const auto read = [&] { return attribute.row->get(self, attribute.row->closure); };
  if (!may_be_asked(self)) [[likely]]
    return read();
  try {
    const size_t typed = keeps_its_type(attribute.row->name) ? 0 : 1;
    return offered(accessor(attribute, "__get__").get(), &self, 1, nullptr, Told::Self, typed, read).release();
  } catch (...) {
    translate_exception();
    return nullptr;
  }
}

int write_attribute(PyObject* self, PyObject* value, void* closure) noexcept {
  const Attribute& attribute = *static_cast<Attribute*>(closure);
  const auto write = [&] { return attribute.row->set(self, value, attribute.row->closure); };
  if (!value || !may_be_asked(self)) [[likely]]
    return write();
  try {
    PyObject* const values[] = {self, value};
    if (overridden(accessor(attribute, "__set__").get(), values, 2, nullptr, Told::Self)) return 0;
    return write();
  } catch (...) {
    translate_exception();
    return -1;
  }
}

}  // namespace

Borrowed overridable_function(Borrowed callable) {
  return Py_TYPE(callable) == overridable_type ? function_of(callable) : nullptr;
}

void add_overridable_methods(PyTypeObject* type, const PyMethodDef* rows) {
  for (; rows->ml_name; ++rows) {
    auto* row = new PyMethodDef[2]{*rows, {}};  // lives as long as the type
    check(methods_used < most_methods, "Tensor has more methods than can be asked about");
    PyCFunction stand = is_never_asked(rows->ml_name) ? nullptr : stand_for(methods_used, rows->ml_flags);
    if (stand) row->ml_meth = stand;
    add_methods(type, row);
    if (stand) asked_methods[methods_used++] = {rows, PyDict_GetItemString(type->tp_dict, rows->ml_name)};
  }
}

void add_overridable_getters(PyTypeObject* type, const PyGetSetDef* rows) {
  for (; rows->name; ++rows) {
    auto* attribute = new Attribute{rows, nullptr};  // lives as long as the type
    auto* row = new PyGetSetDef[2]{*rows, {}};
    row->get = get_attribute;
    if (rows->set) row->set = write_attribute;
    row->closure = attribute;
    add_getters(type, row);
    attribute->descriptor = PyDict_GetItemString(type->tp_dict, rows->name);
  }
}

void create_overridable_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_repr, slot<text>()},
                         {Py_tp_getattro, slot<attribute>()},
                         {Py_tp_setattro, slot<set_attribute>()},
                         {Py_tp_descr_get, slot<bound>()},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec = {"terra.overridable", sizeof(Overridable), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC |
                          Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_METHOD_DESCRIPTOR,
                      slots};
  overridable_type = create_type(spec);
  overridable_type->tp_name = "function";
  add_object(module, "Overridable", overridable_type);
}

PyMethodDef overridable_functions[] = {
    {"_overridable", method<make>(), METH_O, "A callable that offers its calls to __torch_function__ first."}, {}};

}  // namespace terra::hooks
