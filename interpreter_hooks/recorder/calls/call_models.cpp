#include "interpreter_hooks/recorder/calls/call_models.h"

#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/text.h"

#include <cstring>
#include <unordered_map>

namespace terra::capture {

const void* key_of(PyObject* callee) {
  if (PyCFunction_Check(callee)) return reinterpret_cast<PyCFunctionObject*>(callee)->m_ml;
  if (Py_TYPE(callee) == &PyMethodDescr_Type || Py_TYPE(callee) == &PyClassMethodDescr_Type) {
    return reinterpret_cast<PyMethodDescrObject*>(callee)->d_method;
  }
  return callee;
}

namespace {

/// The engine's types, which are there before the package can be imported; null as long as they aren't.
PyObject* engine_types() {
  if (!size_type()) return nullptr;
  static PyObject* const types = [] {
    PyObject* module = PyModule_New("terra");
    if (module) PyModule_AddObjectRef(module, "Size", size_type());
    if (module) PyModule_AddObjectRef(module, "ModuleBase", reinterpret_cast<PyObject*>(module_base()));
    return module;
  }();
  return Py_XNewRef(types);
}

bool is_of_engine(const CallModel& model) {
  const std::string_view where = model.where;
  return where.substr(0, where.find('.')) == "terra";
}

PyObject* module_named(const std::string& name) {
  return name == "terra" ? engine_types() : PyImport_ImportModule(name.c_str());
}

/// "list", "math" or "_collections.deque". Only modules that are part of the interpreter: a program must find in
/// sys.modules what it imported itself.
PyObject* holder_of(const char* where) {
  if (!std::strcmp(where, "generator")) return Py_NewRef(reinterpret_cast<PyObject*>(&PyGen_Type));
  if (const char* dot = std::strchr(where, '.')) {
    PyObject* module = module_named(std::string(where, dot));
    PyObject* type = module ? PyObject_GetAttrString(module, dot + 1) : nullptr;
    Py_XDECREF(module);
    if (!type) PyErr_Clear();
    return type;
  }
  PyObject* builtins = PyEval_GetBuiltins();
  PyObject* found = PyDict_GetItemString(builtins, where);
  if (found) return Py_NewRef(found);
  PyObject* module = module_named(where);
  if (!module) PyErr_Clear();
  return module;
}

PyObject* call_with_names(PyObject*, PyObject* const* given, Py_ssize_t count) {
  const Py_ssize_t named = PyTuple_GET_SIZE(given[1]);
  return PyObject_Vectorcall(given[0], given + 2, static_cast<size_t>(count - 2 - named), given[1]);
}

using Table = std::unordered_map<const void*, const CallModel*>;

void enter(Table& table, PyObject* holder, PyObject* name, const CallModel* model) {
  PyObject* callee = nullptr;
  if (PyType_Check(holder)) {  // as the type has it, not bound
    callee = Py_XNewRef(PyDict_GetItemWithError(terra_class_dict(reinterpret_cast<PyTypeObject*>(holder)), name));
  } else {
    callee = PyObject_GetAttr(holder, name);
    PyErr_Clear();
  }
  if (callee && !PyFunction_Check(callee)) table.try_emplace(key_of(callee), model);
  Py_XDECREF(callee);
}

void enter_models(Table& table, bool of_engine) {
  each_model([&](const CallModel& model) {
    PyObject* holder = is_of_engine(model) == of_engine ? holder_of(model.where) : nullptr;
    if (!holder) return;
    if (model.name) {
      PyObject* name = PyUnicode_FromString(model.name);
      enter(table, holder, name, &model);
      Py_DECREF(name);
    } else {
      PyObject* dict =
          PyType_Check(holder) ? terra_class_dict(reinterpret_cast<PyTypeObject*>(holder)) : PyModule_GetDict(holder);
      PyObject *name, *value;
      Py_ssize_t position = 0;
      while (PyDict_Next(dict, &position, &name, &value)) {
        if (PyCFunction_Check(value) || Py_TYPE(value) == &PyMethodDescr_Type) enter(table, holder, name, &model);
      }
    }
    Py_DECREF(holder);
  });
  PyErr_Clear();
}

const Table& models_by_callee() {
  static Table table;
  static bool others = (enter_models(table, false), true), engine = false;
  if (others && !engine && size_type()) engine = true, enter_models(table, true);
  return table;
}

/// Callables that end a recording for a reason of their own.
constexpr struct {
  const char *where, *name;
  Reason reason;
} refused[] = {{"sys", "settrace", Reason::Observed},
               {"sys", "setprofile", Reason::Observed},
               {"_thread", "start_new_thread", Reason::OtherThread}};

std::unordered_map<const void*, Reason> make_refusals() {
  std::unordered_map<const void*, Reason> reasons;
  for (const auto& row : refused) {
    PyObject* module = PyImport_ImportModule(row.where);
    PyObject* callee = module ? PyObject_GetAttrString(module, row.name) : nullptr;
    if (callee) reasons[key_of(callee)] = row.reason;
    Py_XDECREF(callee);
    Py_XDECREF(module);
  }
  PyErr_Clear();
  return reasons;
}

}  // namespace

const CallModel* model_of(PyObject* callee) {
  const Table& table = models_by_callee();
  auto found = table.find(key_of(callee));
  return found == table.end() ? nullptr : found->second;
}

uint32_t traits_of(PyObject* callee) {
  const CallModel* model = model_of(callee);
  return model ? model->traits : uint32_t{kNothing};
}

Reason refusal_of(PyObject* callee) {
  static const auto reasons = make_refusals();
  const auto found = reasons.find(key_of(callee));
  return found == reasons.end() ? Reason::UnmodelledCall : found->second;
}

bool makes_text(const CallSite& site) {
  static PyObject* const repr = PyDict_GetItemString(PyEval_GetBuiltins(), "repr");
  return site.callee == reinterpret_cast<PyObject*>(&PyUnicode_Type) || site.callee == repr;
}

Value end_fact(Recording& r, ShadowFrame&, PyObject* result) { return Value::fact(r.hold(result)); }

std::vector<Value> everything(ShadowFrame& f) {
  std::vector<Value> all = arguments(f);
  auto& named = f.pending.call.keyword_values;
  all.insert(all.end(), named.begin(), named.end());
  return all;
}

PyObject* caller_with_names() { return c_function<call_with_names>("call_with_names"); }

PyObject* names_of(Recording& r, const CallSite& site) {
  PyObject* names = PyTuple_New(static_cast<Py_ssize_t>(site.keywords.size()));
  for (size_t i = 0; i < site.keywords.size(); i++)
    PyTuple_SET_ITEM(names, static_cast<Py_ssize_t>(i), Py_NewRef(site.keywords[i]));
  return r.hold_new(names);
}

void prepare_recorder() {
  static bool done = (model_of(Py_None), is_partial(Py_None), true);
  (void)done;
}

std::string callable_name(PyObject* callee) {
  if (PyCFunction_Check(callee)) {
    auto* function = reinterpret_cast<PyCFunctionObject*>(callee);
    std::string name = function->m_ml->ml_name;
    PyObject* self = function->m_self;
    if (self && !PyModule_Check(self)) return std::string(Py_TYPE(self)->tp_name) + "." + name;
    PyObject* module = function->m_module;
    return module && PyUnicode_Check(module) ? utf8_of(module) + "." + name : name;
  }
  PyTypeObject* kind = Py_TYPE(callee);
  if (kind == &PyMethodDescr_Type || kind == &PyWrapperDescr_Type || kind == &PyClassMethodDescr_Type) {
    auto* descriptor = reinterpret_cast<PyDescrObject*>(callee);
    return std::string(descriptor->d_type->tp_name) + "." + utf8_of(descriptor->d_name);
  }
  return short_text(callee);
}

}  // namespace terra::capture
