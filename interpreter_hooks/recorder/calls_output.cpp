// Callables that the world outside can see: print, deferred until the run has been committed, in program order; and
// random.random, which draws when the entry program runs and is taken back when the run is not committed.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/call_models.h"
#include "interpreter_hooks/recorder/choices.h"
#include "interpreter_hooks/recorder/rules.h"

#include <cstring>

namespace terra::capture {

bool is_plain_stream(PyObject* stream) {
  const char* name = Py_TYPE(stream)->tp_name;
  return !std::strcmp(name, "_io.TextIOWrapper") || !std::strcmp(name, "_io.StringIO");
}

namespace {

/// Numbers and strings are printed as they are in a run; a builtin container as the text that it has now, of facts.
void prepare_text(Recording& r, Value& value) {
  if (is_atom(value.object)) return;
  bool readable =
      PyList_CheckExact(value.object) || PyTuple_CheckExact(value.object) || PyDict_CheckExact(value.object);
  if (!readable || !r.read_deep(value) || !holds_atoms_only(value.object)) {
    return r.stop(Reason::UnmodelledCall, std::string("print of a ") + Py_TYPE(value.object)->tp_name);
  }
  PyObject* text = PyObject_Str(value.object);
  if (!text) {
    PyErr_Clear();
    return r.stop(Reason::UnmodelledCall, "print");
  }
  value = Value::fact(r.hold(text));
  Py_DECREF(text);
}

void begin_print(Recording& r, ShadowFrame& f) {
  CallSite& site = f.pending.call;
  Value stream;
  for (size_t i = 0; i < site.keywords.size(); i++) {
    if (!PyUnicode_CompareWithASCIIString(site.keywords[i], "file")) {
      stream = site.keyword_values[i];
    } else if (is_atom(site.keyword_values[i].object)) {
      r.pin(site.keyword_values[i]);
    } else {
      return r.stop(Reason::UnmodelledCall, "print with an object for an option");
    }
  }
  if (!stream.known() || stream.object == Py_None) {
    Value system = Value::fact(PyImport_AddModule("sys"));
    Value dict = dict_of_module(r, system.object);
    static PyObject* name = PyUnicode_InternFromString("stdout");
    stream = r.dict_item(dict, name);
  }
  if (!stream.known() || !is_plain_stream(stream.object)) return r.stop(Reason::UnmodelledCall, "print to this stream");
  for (Value& value : site.positional) prepare_text(r, value);
}
Value end_print(Recording& r, ShadowFrame& f, PyObject* result) {
  CallSite& site = f.pending.call;
  std::vector<Value> all = site.positional;
  all.insert(all.end(), site.keyword_values.begin(), site.keyword_values.end());
  PyObject* names = nullptr;
  if (!site.keywords.empty()) {
    names = PyTuple_New(static_cast<Py_ssize_t>(site.keywords.size()));
    for (size_t i = 0; i < site.keywords.size(); i++) PyTuple_SET_ITEM(names, i, Py_NewRef(site.keywords[i]));
    r.hold(names);
    Py_DECREF(names);
  }
  r.write({Effect::CallMethod, Value::fact(Py_None), r.hold(site.callee), {}, std::move(all), "", {}, names});
  return Value::fact(result);
}

void begin_random(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (!plain_arguments(r, f, 1, 2)) return;
  if (!random_state_is_known()) r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  if (in.size() > 1 && in[1].has_register() && (r.late(in[1].reg) || r.choices().is_chosen(in[1]))) r.pin(in[1]);
}
template <int method_number>
Value end_random(Recording& r, ShadowFrame& f, PyObject* result) {
  static PyObject* type = PyObject_GetAttrString(PyImport_AddModule("_random"), "Random");
  static PyObject* method = PyObject_GetAttrString(type, method_number == 0 ? "random" : "getrandbits");
  auto& in = arguments(f);
  Register generator = r.reg_of(in[0]);
  Register bits = in.size() > 1 ? r.reg_of(in[1]) : no_register;
  return r.host(Op::Draw, generator, bits, {word_of(r.file().keep(method))}, result, {});
}

constexpr CallModel models[] = {
    {"builtins", "print", begin_print, end_print},
    {"_random.Random", "random", begin_random, end_random<0>},
    {"_random.Random", "getrandbits", begin_random, end_random<1>},
};

}  // namespace

ModelList output_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
