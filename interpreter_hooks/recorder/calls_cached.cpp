// Calls of what functools.lru_cache made, where it has the result already: a read, and a call that is repeated so that
// the cache counts it.
#include "interpreter_hooks/cpython/lru_cache.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/call_models.h"

#include <algorithm>

namespace terra::capture {

namespace {

Value end_cached(Recording& r, ShadowFrame& f, PyObject*) {
  static PyObject* const call = PyDict_GetItemString(Py_TYPE(f.pending.call.callee)->tp_dict, "__call__");
  std::vector<Value> all = {f.pending.call.callee_value};
  all.insert(all.end(), arguments(f).begin(), arguments(f).end());
  r.write({Effect::CallMethod, Value::fact(Py_None), r.hold(call), {}, std::move(all), "", {}});
  return f.pending.extra;
}

constexpr CallModel model = {"functools", "lru_cache", nullptr, end_cached};

}  // namespace

bool open_cached(Recording& r, ShadowFrame& f) {
  CallSite& site = f.pending.call;
  PyObject* cache = site.callee;
  if (!terra_is_lru_cache(cache) || !terra_reads_lru_caches()) return false;
  auto& in = site.positional;
  const bool plain =
      site.keywords.empty() && !terra_lru_cache_is_typed(cache) &&
      (site.callee_value.is_fact() || site.callee_value.has_register()) &&
      std::all_of(in.begin(), in.end(), [](const Value& v) { return is_atom(v.object) && !PySlice_Check(v.object); });
  if (!plain) return false;
  for (Value& value : in) r.pin(value);
  const bool alone = in.size() == 1 && (PyUnicode_CheckExact(in[0].object) || PyLong_CheckExact(in[0].object));
  PyObject* key = alone ? Py_NewRef(in[0].object) : PyTuple_New(static_cast<Py_ssize_t>(in.size()));
  for (size_t i = 0; !alone && i < in.size(); i++) PyTuple_SET_ITEM(key, i, Py_NewRef(in[i].object));
  r.hold(key);
  Py_DECREF(key);
  PyObject* result = terra_lru_cache_result(cache, key);
  if (!result) {
    r.stop(Reason::UnmodelledCall, "functools.lru_cache with arguments that it does not know yet");
    return true;
  }
  const std::string path = r.shadow(site.callee_value).path + "(" + short_text(key) + ")";
  f.pending.extra = r.read(Op::CachedResult, r.reg_of(site.callee_value), {word_of(r.file().keep(key))}, result, path);
  site.kind = CallSite::Model;
  site.model = &model;
  return true;
}

}  // namespace terra::capture
