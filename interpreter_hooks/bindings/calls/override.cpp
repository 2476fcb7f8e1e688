#include "interpreter_hooks/bindings/calls/override.h"

#include <string>
#include <vector>

#include "interpreter_hooks/bindings/calls/dispatch.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/op_function.h"

namespace terra::hooks {
namespace {

thread_local int disabled = 0;
/// The next call that would be asked about runs as it is (torch.overrides.redispatch_function).
thread_local bool skips_one = false;
/// _disabled_torch_function_impl, once the module is there.
PyObject* disabled_implementation = nullptr;

PyObject* hook_name() {
  static PyObject* name = PyUnicode_InternFromString("__torch_function__");
  return name;
}

/// The attribute as found in the type: the function or descriptor itself. Borrowed, may be null.
PyObject* hook_in(PyTypeObject* type) { return _PyType_Lookup(type, hook_name()); }

bool is_default(PyObject* hook) { return hook == hook_in(tensor_type); }
/// None and the implementation that does nothing stand for "no override".
bool takes_over(PyObject* hook) { return hook && hook != Py_None && hook != disabled_implementation; }

bool overrides(PyTypeObject* type) {
  if (is_plain_tensor_type(type) || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
  return takes_over(hook_in(type));
}

/// The objects that are asked, one per type, subclasses before their bases.
class Asked {
 public:
  /// Of all of these.
  Asked(Told told, PyObject* const* values, size_t count) : told_(told) {
    if (told == Told::Self && count > 0) insert(values[0]);
    for (size_t i = 0; i < count; ++i) add(values[i]);
  }

  void add(Borrowed value) {
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
        Borrowed item = PySequence_Fast_GET_ITEM(value, i);
        if (overrides(Py_TYPE(item))) insert(item);
      }
    } else if (overrides(Py_TYPE(value)) || (told_ == Told::Tensors && Py_TYPE(value) == tensor_type)) {
      insert(value);
    }
  }

  /// Whether any of them takes calls over: who was inserted just to be told of need not.
  bool any_takes_over() const {
    for (const Borrowed object : objects)
      if (takes_over(hook_in(Py_TYPE(object)))) return true;
    return false;
  }

  /// Whether their default makes the same of a call as the engine: it runs, and its results get the first type.
  bool are_all_default() const {
    for (const Borrowed object : objects)
      if (!is_default(hook_in(Py_TYPE(object))) || !PyType_IsSubtype(Py_TYPE(objects[0]), Py_TYPE(object)))
        return false;
    return true;
  }

  Object types() const {
    Object types = owned(PyTuple_New(static_cast<Py_ssize_t>(objects.size())));
    for (size_t i = 0; i < objects.size(); ++i) PyTuple_SET_ITEM(types.get(), i, Py_NewRef(Py_TYPE(objects[i])));
    return types;
  }

  std::vector<Borrowed> objects;

 private:
  void insert(Borrowed value) {
    PyTypeObject* type = Py_TYPE(value);
    size_t at = objects.size();
    for (size_t i = objects.size(); i-- > 0;) {
      if (Py_TYPE(objects[i]) == type) return;
      if (PyType_IsSubtype(type, Py_TYPE(objects[i]))) at = i;
    }
    objects.insert(objects.begin() + static_cast<std::ptrdiff_t>(at), value);
  }

  Told told_;
};

/// A call as __torch_function__ gets it. Without keywords there is none of the last argument, as with PyTorch's parser.
struct Offer {
  Borrowed function;
  Object form;  ///< null for functions that hand them on as they come
  Object types, args, kwargs;

  Object to(Borrowed hook) const {
    return owned(PyObject_CallFunctionObjArgs(hook, function, types.get(), args.get(), kwargs.get(), nullptr));
  }
};

/// What _override_forms.py knows by this name. Nobody is asked about what its import calls.
Object of_forms(const char* name) {
  static PyObject* module = nullptr;
  if (!module) {
    const WithoutOverrides scope;
    const bool before = modes_are_enabled();
    enable_modes(false);
    module = PyImport_ImportModule("terra._override_forms");
    enable_modes(before);
  }
  return owned(PyObject_GetAttrString(lent(module), name));
}

/// How the function hands its arguments on, if PyTorch has it in Python; null for the others. Kept per function.
Object form_of(Borrowed function) {
  static PyObject* const forms = of_forms("FORMS").release();
  if (Borrowed known = PyDict_GetItemWithError(forms, function))
    return known == Py_None ? Object() : Object::share(known);
  if (PyErr_Occurred()) throw PythonError{};
  Object form = owned(PyObject_CallOneArg(of_forms("form_of").get(), function));
  succeeded(PyDict_SetItem(forms, function, form.get()));
  return form.get() == Py_None ? Object() : form;
}

/// False: the arguments are none that the function takes, and the call itself will say so.
bool arrange(Offer& offer) {
  if (!offer.kwargs) offer.kwargs = owned(PyDict_New());
  const Object arranged = owned(PyObject_CallFunctionObjArgs(of_forms("arranged").get(), offer.form.get(),
                                                             offer.args.get(), offer.kwargs.get(), nullptr));
  if (arranged.get() == Py_None) return false;
  offer.args = Object::share(lent(PyTuple_GetItem(arranged.get(), 0)));
  offer.kwargs = Object::share(lent(PyTuple_GetItem(arranged.get(), 1)));
  return true;
}

std::string text_attribute(Borrowed object, const char* attribute) {
  const Object value = Object::steal(PyObject_GetAttrString(object, attribute));
  const char* utf8 = value && PyUnicode_Check(value.get()) ? PyUnicode_AsUTF8(value.get()) : nullptr;
  PyErr_Clear();
  return utf8 ? utf8 : "";
}

/// "torch.add", "torch.Tensor.add", "torch.nn.functional.relu"
std::string public_name(Borrowed function, Borrowed form) {
  const bool of_tensor = Py_TYPE(function) == &PyMethodDescr_Type || Py_TYPE(function) == &PyWrapperDescr_Type ||
                         Py_TYPE(function) == &_PyMethodWrapper_Type || is_op_method(function);
  const std::string place = form ? text_attribute(form, "place") : of_tensor ? "torch.Tensor" : "torch";
  return place + "." + text_attribute(function, "__name__");
}

[[noreturn]] void nobody_did(const Offer& offer, const std::vector<Borrowed>& asked) {
  const std::string name = public_name(offer.function, offer.form.get());
  const Borrowed mode = function_modes_see_calls() ? innermost_mode() : nullptr;
  if (offer.form) {
    const Object list = owned(PySequence_List(offer.types.get()));
    if (mode)
      raise(PyExc_TypeError,
            "no implementation found for '%s' on types that implement __torch_function__: %R nor in mode %S",
            name.c_str(), list.get(), mode);
    raise(PyExc_TypeError, "no implementation found for '%s' on types that implement __torch_function__: %R",
          name.c_str(), list.get());
  }
  std::string who;
  const auto add = [&](const char* what, Borrowed object) {
    const Object text = owned(PyObject_Repr(object));
    who += "\n  - " + std::string(what) + " " + PyUnicode_AsUTF8(text.get());
  };
  if (mode) add("mode object", mode);
  for (const Borrowed object : asked) add("tensor subclass", reinterpret_cast<PyObject*>(Py_TYPE(object)));
  raise(PyExc_TypeError,
        "Multiple dispatch failed for '%s'; all __torch_function__ handlers returned NotImplemented:\n%s\n\nFor more "
        "information, try re-running with TORCH_LOGS=not_implemented",
        name.c_str(), who.c_str());
}

/// A new tensor itself becomes one of that type; of others there may be somebody who knows them as they are.
Object retyped(Object tensor, PyTypeObject* type) {
  PyObject* object = tensor.get();
  if (Py_TYPE(object) != tensor_type) return tensor;
  report_opaque("an instance of a subclass of Tensor", object);
  if (Py_REFCNT(object) > 1) return owned(PyObject_CallMethod(object, "as_subclass", "O", type));
  if (type->tp_basicsize != tensor_type->tp_basicsize) return moved_to(type, object);  // it has slots
  Object name = owned(PyUnicode_InternFromString("__class__"));
  succeeded(PyObject_SetAttr(object, name.get(), reinterpret_cast<PyObject*>(type)));
  return tensor;
}

struct HookArguments {
  explicit HookArguments(PyObject* given) {
    if (!PyArg_ParseTuple(given, "OO|OO", &function, &types, &values, &keywords)) throw PythonError{};
  }
  Object call() const {
    const Object empty = values ? Object::share(values) : owned(PyTuple_New(0));
    return owned(PyObject_Call(function, empty.get(), keywords == Py_None ? nullptr : keywords));
  }
  PyObject *function, *types, *values = nullptr, *keywords = nullptr;
};

/// A method-wrapper that reads an attribute which isn't of the tensor's own kind.
bool reads_another_kind(Borrowed function) {
  if (Py_TYPE(function) != &_PyMethodWrapper_Type) return false;
  const Object descriptor = Object::steal(PyObject_GetAttrString(function, "__self__"));
  if (!descriptor) PyErr_Clear();
  return descriptor && keeps_its_type(text_attribute(descriptor.get(), "__name__"));
}

/// The default: run the function as if nobody overrode it, and give its results this class. Not for arguments of other
/// classes than this one and its bases.
Object default_hook(PyObject* cls, PyObject* args) {
  const HookArguments given(args);
  const Object types = owned(PySequence_Fast(given.types, "__torch_function__ takes a sequence of types"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(types.get()); ++i)
    if (!succeeded(PyObject_IsSubclass(cls, PySequence_Fast_GET_ITEM(types.get(), i))))
      return Object::share(Py_NotImplemented);
  Object result;
  {
    WithoutOverrides scope;
    result = given.call();
  }
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  return is_plain_tensor_type(type) || reads_another_kind(given.function) ? std::move(result)
                                                                          : as_subclass(std::move(result), type);
}

Object disabled_hook(PyObject*, PyObject* args) {
  const HookArguments given(args);
  WithoutOverrides scope;
  return given.call();
}

Object skip_one_hop(PyObject*, PyObject* args) {
  const HookArguments given(args);
  skips_one = true;
  try {
    Object result = given.call();
    skips_one = false;
    return result;
  } catch (...) {
    skips_one = false;
    throw;
  }
}

/// (how often arguments, whether modes) as they were.
Object set_disabled(PyObject*, PyObject* args) {
  int subclasses = 0, modes = 0;
  if (!PyArg_ParseTuple(args, "ip", &subclasses, &modes)) throw PythonError{};
  Object before = owned(Py_BuildValue("iO", disabled, modes_are_enabled() ? Py_False : Py_True));
  report_opaque("__torch_function__ switched on or off");
  disabled = subclasses;
  enable_modes(!modes);
  return before;
}

Object is_enabled(PyObject*, PyObject*) { return owned(PyBool_FromLong(!disabled)); }

Object has_overrides(PyObject* const* values, size_t count) {
  if (std::exchange(skips_one, false)) return Object::share(Py_False);
  bool found = function_modes_see_calls();
  for (size_t i = 0; i < count && !found && !disabled; ++i) found = overrides(Py_TYPE(values[i]));
  return owned(PyBool_FromLong(found));
}
Object has_torch_function(PyObject*, PyObject* values) {
  const Object items = owned(PySequence_Fast(values, "expected a sequence"));
  return has_overrides(PySequence_Fast_ITEMS(items.get()), static_cast<size_t>(PySequence_Fast_GET_SIZE(items.get())));
}
Object has_torch_function_unary(PyObject*, PyObject* value) { return has_overrides(&value, 1); }
Object has_torch_function_variadic(PyObject*, PyObject* const* values, Py_ssize_t count) {
  return has_overrides(values, static_cast<size_t>(count));
}

/// The part of __torch_function__.
Object taken_over(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords, Told told) {
  if ((disabled && !function_modes_see_calls()) || std::exchange(skips_one, false)) return {};
  const size_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  Object form = form_of(function);
  const Asked asked(form ? Told::Tensors : told, values, disabled ? 0 : all);
  if (!function_modes_see_calls() && (!asked.any_takes_over() || asked.are_all_default())) return {};
  Offer offer{function, std::move(form), asked.types(), owned(PyTuple_New(static_cast<Py_ssize_t>(count))), {}};
  for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(offer.args.get(), i, Py_NewRef(values[i]));
  if (count < all) offer.kwargs = owned(PyDict_New());
  for (size_t i = count; i < all; ++i)
    succeeded(PyDict_SetItem(offer.kwargs.get(), PyTuple_GET_ITEM(keywords, i - count), values[i]));
  if (offer.form && !arrange(offer)) return {};
  if (function_modes_see_calls()) {
    const ModeAside aside;
    report_opaque("a mode of __torch_function__", function);
    const Object hook = owned(PyObject_GetAttr(aside.mode(), hook_name()));
    Object result = offer.to(hook.get());
    if (result.get() != Py_NotImplemented) return result;
  }
  for (const Borrowed object : asked.objects) {
    if (!takes_over(hook_in(Py_TYPE(object)))) continue;
    const Object hook = owned(PyObject_GetAttr(object, hook_name()));
    Object result = offer.to(hook.get());
    if (result.get() != Py_NotImplemented) return result;
  }
  nobody_did(offer, asked.objects);
}

}  // namespace

PyMethodDef override_methods[] = {
    {"__torch_function__", method<default_hook>(), METH_VARARGS | METH_CLASS,
     "Called instead of an op that got an instance of a subclass: func, types, args, kwargs."},
    {}};
PyMethodDef override_functions[] = {
    {"_disabled_torch_function_impl", method<disabled_hook>(), METH_VARARGS, "A __torch_function__ that does nothing."},
    {"_skip_one_hop_torch_function", method<skip_one_hop>(), METH_VARARGS,
     "Calls func without asking anybody about that very call."},
    {"_set_overrides_disabled", method<set_disabled>(), METH_VARARGS,
     "Switches __torch_function__ of arguments and of modes off; returns what they were."},
    {"_is_torch_function_enabled", method<is_enabled>(), METH_NOARGS, "Whether arguments may take over calls."},
    {"_has_torch_function", method<has_torch_function>(), METH_O, "Whether one of a sequence may take over a call."},
    {"_has_torch_function_unary", method<has_torch_function_unary>(), METH_O, "The same of one argument."},
    {"_has_torch_function_variadic", method<has_torch_function_variadic>(), METH_FASTCALL,
     "The same of all arguments."},
    {}};

void add_disabled_override(PyObject* module) {
  disabled_implementation = owned(PyObject_GetAttrString(module, "_disabled_torch_function_impl")).release();
  succeeded(PyDict_SetItem(parameter_type->tp_dict, hook_name(), disabled_implementation));
  PyType_Modified(parameter_type);
}

WithoutOverrides::WithoutOverrides() { ++disabled; }
WithoutOverrides::~WithoutOverrides() { --disabled; }

bool overrides_are_usual() { return !disabled && !modes_see_calls && modes_are_enabled(); }

bool may_override(PyTypeObject* type) {
  return !is_plain_tensor_type(type) && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
         ((!disabled && takes_over(hook_in(type))) || dispatches(type));
}

bool may_be_overridden(PyObject* const* values, size_t all) {
  if (modes_see_calls) return true;
  for (size_t i = 0; i < all; ++i) {
    PyTypeObject* type = Py_TYPE(values[i]);
    if (type == tensor_type ||
        !(type->tp_flags & (Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS)))
      continue;
    if (PyTuple_Check(values[i]) || PyList_Check(values[i])) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(values[i]); ++k)
        if (may_override(Py_TYPE(PySequence_Fast_GET_ITEM(values[i], k)))) return true;
    } else if (may_override(type)) {
      return true;
    }
  }
  return false;
}

Object overridden(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords, Told told) {
  Object result = taken_over(function, values, count, keywords, told);
  return result ? std::move(result) : dispatched(function, values, count, keywords);
}

Object overridden_method(const char* name, PyObject* const* values, size_t count, Told told) {
  const Object method = owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
  return overridden(method.get(), values, count, nullptr, told);
}

bool keeps_its_type(std::string_view attribute) {
  return attribute == "_base" || attribute == "grad" || attribute == "_grad";
}

PyTypeObject* result_subclass(PyObject* const* values, size_t count) {
  if (disabled) return nullptr;
  const Asked asked(Told::Overriding, values, count);
  for (const Borrowed object : asked.objects)
    if (is_tensor(object) && is_default(hook_in(Py_TYPE(object)))) return Py_TYPE(object);
  return nullptr;
}

Object as_subclass(Object result, PyTypeObject* type) {
  PyObject* object = result.get();
  if (is_tensor(object)) return retyped(std::move(result), type);
  if (PyTuple_Check(object) || PyList_Check(object)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      PyObject*& item = PySequence_Fast_ITEMS(object)[i];
      if (!is_tensor(item)) continue;
      Object own = Object::steal(std::exchange(item, Py_NewRef(Py_None)));
      Py_SETREF(item, retyped(std::move(own), type).release());
    }
  }
  return result;
}

}  // namespace terra::hooks
