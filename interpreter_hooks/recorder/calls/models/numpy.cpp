// Numbers drawn by numpy: when the entry program runs, and taken back when the run is not committed.
#include "interpreter_hooks/guards/random.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/region/phis.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace terra::capture {

namespace {

/// Methods of RandomState and Generator that give one int or float where they are given numbers. Others, and arrays of
/// draws, end the recording.
constexpr std::string_view drawing[] = {"rand",  "random",          "random_sample", "uniform", "normal",
                                        "randn", "standard_normal", "randint",       "beta",    "exponential",
                                        "gamma", "poisson",         "binomial",      "laplace", "lognormal",
                                        "ranf",  "sample",          "triangular"};

/// The name of the method that is called; empty where it is none of a generator of numpy.
std::string_view method_name(const CallSite& site) {
  if (site.positional.empty() || !site.positional[0].known() || !is_numpy_generator(site.positional[0].object))
    return {};
  if (PyCFunction_Check(site.callee)) return reinterpret_cast<PyCFunctionObject*>(site.callee)->m_ml->ml_name;
  if (Py_TYPE(site.callee) != &PyMethodDescr_Type) return {};
  return reinterpret_cast<PyMethodDescrObject*>(site.callee)->d_method->ml_name;
}

Value end_draw(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (!is_number(result)) {
    r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of this");
    return {};
  }
  const std::string name(method_name(f.pending.call));
  PyObject* method = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(in[0].object)), name.c_str());
  PyObject* given = PyTuple_New(static_cast<Py_ssize_t>(in.size()) - 1);
  std::vector<Value> values(in.begin() + 1, in.end());
  std::vector<Register> registers;
  for (size_t i = 0; i < values.size(); i++) {
    PyTuple_SET_ITEM(given, static_cast<Py_ssize_t>(i), Py_NewRef(values[i].object));
    registers.push_back(r.reg_of(values[i]));
  }
  const Register tuple = values.empty()
                             ? r.reg_of(Value::fact(r.hold(given)))
                             : r.host(Op::Tuple, no_register, no_register, pack(registers), given, values).reg;
  Value drawn = r.host(Op::Draw, r.reg_of(in[0]), tuple, {word_of(r.file().keep(method))}, result, {});
  r.guard(Op::Type, drawn.reg, {word_of(Py_TYPE(result))});
  Py_DECREF(method);
  Py_DECREF(given);
  return drawn;
}

constexpr CallModel model = {"numpy.random", nullptr, nullptr, end_draw};

}  // namespace

bool open_numpy_draw(Recording& r, ShadowFrame& f) {
  CallSite& site = f.pending.call;
  const std::string_view name = method_name(site);
  const bool draws = !name.empty() && std::find(std::begin(drawing), std::end(drawing), name) != std::end(drawing);
  const bool takes = site.keywords.empty() && site.positional.size() <= most_draw_arguments &&
                     std::all_of(site.positional.begin() + (site.positional.empty() ? 0 : 1), site.positional.end(),
                                 [](const Value& v) { return v.known() && is_number(v.object); });
  if (!draws || !takes) return false;
  for (Value& value : site.positional) {  // what a graph computes is known after the draws
    if (value.has_register() && (r.late(value.reg) || r.phis().is_chosen(value))) r.pin(value);
  }
  site.kind = CallSite::Model;
  site.model = &model;
  return true;
}

}  // namespace terra::capture
