// Calls of what functools.lru_cache made, where it has the result already: a read, and a call that is repeated so that
// the cache counts it.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/cpython/lru_cache.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

#include <algorithm>

namespace terra::capture {

namespace {

Value end_cached(Recording& r, ShadowFrame& f, PyObject*) {
  static PyObject* const call = PyDict_GetItemString(terra_class_dict(Py_TYPE(f.pending.call.callee)), "__call__");
  const bool named = !f.pending.call.keywords.empty();
  std::vector<Value> all = {f.pending.call.callee_value};
  if (named) all.push_back(Value::fact(names_of(r, f.pending.call)));
  for (const Value& value : everything(f)) all.push_back(value);
  PyObject* calls = named ? caller_with_names() : r.hold(call);
  r.write({Effect::CallMethod, Value::fact(Py_None), calls, {}, std::move(all), "", {}});
  return f.pending.extra;
}

/// Two of them are equal only if they are one.
bool is_known_by_identity(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  return type->tp_hash == PyBaseObject_Type.tp_hash && type->tp_richcompare == PyBaseObject_Type.tp_richcompare;
}

/// Makes a fact of part of a key; false where its hash or its equality may be anything.
bool know_part(Recording& r, Value& part) {
  if (!part.known() || !r.alive()) return false;
  if (is_atom(part.object) && !PySlice_Check(part.object)) {
    r.pin(part);
    return r.alive();
  }
  if (PyTuple_CheckExact(part.object) || is_size(part.object)) {
    std::vector<Value> items = r.items(part);
    return r.alive() && std::all_of(items.begin(), items.end(), [&](Value& item) { return know_part(r, item); });
  }
  if (!is_known_by_identity(part.object)) return false;
  if (part.has_register()) r.guard(Op::Is, part.reg, {word_of(r.file().keep(part.object))});
  return r.alive();
}

constexpr CallModel model = {"functools", "lru_cache", nullptr, end_cached};

}  // namespace

bool open_cached(Recording& r, ShadowFrame& f) {
  CallSite& site = f.pending.call;
  PyObject* cache = site.callee;
  if (!terra_is_lru_cache(cache) || !terra_reads_lru_caches()) return false;
  if (terra_lru_cache_is_typed(cache) || !(site.callee_value.is_fact() || site.callee_value.has_register()))
    return false;
  std::vector<PyObject*> given;
  for (Value& value : everything(f)) {
    if (!know_part(r, value)) return false;
    given.push_back(value.object);
  }
  PyObject* names = site.keywords.empty() ? nullptr : names_of(r, site);
  PyObject* key = terra_lru_cache_key(cache, given.data(), static_cast<Py_ssize_t>(given.size()), names);
  if (key) r.hold_new(key);
  PyObject* result = key ? terra_lru_cache_result(cache, key) : nullptr;
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
