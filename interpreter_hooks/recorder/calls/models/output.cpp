// Callables that the world outside can see: print, deferred until the run has been committed, in program order; and
// random.random, which draws when the entry program runs and is taken back when the run is not committed.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/core/lines.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/region/phis.h"

#include <cstring>

namespace terra::capture {

namespace {

bool is_of(PyObject* object, const char* type) { return object && terra_class_is(Py_TYPE(object), type); }

/// What a layer of io keeps under a name; null where it has none or says no. Not for layers of the program's.
PyObject* layer(PyObject* object, const char* name) {
  PyObject* found = PyObject_GetAttrString(object, name);
  if (!found) PyErr_Clear();
  Py_XDECREF(found);  // stays with the object
  return found;
}

bool is_in_memory(PyObject* stream) { return is_of(stream, "_io.StringIO"); }

}  // namespace

bool is_plain_stream(PyObject* stream) {
  if (is_in_memory(stream)) return true;
  if (!is_of(stream, "_io.TextIOWrapper")) return false;
  PyObject* buffer = layer(stream, "buffer");
  if (is_of(buffer, "_io.BytesIO")) return true;
  if (!is_of(buffer, "_io.BufferedWriter") && !is_of(buffer, "_io.BufferedRandom")) return false;
  return is_of(layer(buffer, "raw"), "_io.FileIO");
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
  value = Value::fact(r.hold_new(text));
}

/// (stream): asked by the entry program.
PyObject* takes_text(PyObject*, PyObject* const* given, Py_ssize_t) {
  return PyBool_FromLong(is_plain_stream(given[0]) && layer(given[0], "closed") == Py_False);
}

/// Text in memory takes everything while it is open. A file may refuse at any time: its exception can leave the frames
/// behind all that they did before, but be caught in none of them.
void guard_stream(Recording& r, Value& stream) {
  if (!is_in_memory(stream.object) && is_caught_inside(r))
    return r.stop(Reason::UnmodelledCall, "print to a file inside of try or with");
  if (layer(stream.object, "closed") != Py_False) return r.stop(Reason::UnmodelledCall, "print to a closed stream");
  std::vector<Word> asks = call_operands(r.file(), c_function<takes_text>("takes_text"), {r.reg_of(stream)});
  Value takes = r.host(Op::Call, no_register, no_register, std::move(asks), Py_True, {stream});
  r.pin(takes);
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
  guard_stream(r, stream);
  for (Value& value : site.positional) prepare_text(r, value);
}
/// A tuple (function, file, line) for each of the frames that are recorded, innermost first: what a traceback says.
PyObject* places(Recording& r) {
  PyObject* all = PyTuple_New(0);
  for (auto frame = r.frames().rbegin(); frame != r.frames().rend(); ++frame) {
    PyCodeObject* code = (*frame)->code;
    PyObject* place = Py_BuildValue("((OOi))", code->co_name, code->co_filename, line_of(**frame));
    PyObject* longer = PySequence_Concat(all, place);
    Py_DECREF(place);
    Py_DECREF(all);
    all = longer;
  }
  return r.hold_new(all);
}

/// (places, print, names, ...): what print raises has come through the frames that the entry stands for.
PyObject* print_from(PyObject*, PyObject* const* given, Py_ssize_t count) {
  const Py_ssize_t named = PyTuple_GET_SIZE(given[2]);
  PyObject* done = PyObject_Vectorcall(given[1], given + 3, static_cast<size_t>(count - 3 - named), given[2]);
  for (Py_ssize_t i = 0; !done && i < PyTuple_GET_SIZE(given[0]); i++) {
    PyObject* place = PyTuple_GET_ITEM(given[0], i);
    const auto text = [&](Py_ssize_t part) { return PyUnicode_AsUTF8(PyTuple_GET_ITEM(place, part)); };
    _PyTraceback_Add(text(0), text(1), static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(place, 2))));
  }
  return done;
}

Value end_print(Recording& r, ShadowFrame& f, PyObject* result) {
  CallSite& site = f.pending.call;
  std::vector<Value> all = {Value::fact(places(r)), Value::fact(r.hold(site.callee)), Value::fact(names_of(r, site))};
  const std::vector<Value> given = everything(f);
  all.insert(all.end(), given.begin(), given.end());
  r.write({Effect::CallMethod, Value::fact(Py_None), c_function<print_from>("print"), {}, std::move(all), "", {}});
  return Value::fact(result);
}

void begin_random(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (!plain_arguments(r, f, 1, 2)) return;
  if (!random_state_is_known()) r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  if (in.size() > 1 && in[1].has_register() && (r.late(in[1].reg) || r.phis().is_chosen(in[1]))) r.pin(in[1]);
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
