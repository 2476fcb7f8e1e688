// Building containers, slices, strings and functions.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/region/loops.h"

#include <algorithm>

namespace terra::capture {

namespace {

void build_sequence(Recording& r, ShadowFrame& f) { f.push(r.make_sequence(f.real(1), f.pending.in)); }

void build_set(Recording& r, ShadowFrame& f) { f.push(r.make_set(f.real(1), f.pending.in)); }

void put_entry(Recording& r, Value dict, Value key, Value value) {
  if (r.takes_varying_key(dict, key)) return r.store_varying(dict, key, value);
  if (r.prepare_key(key)) r.dict_store(dict, key, value, false);
}

void build_map(Recording& r, ShadowFrame& f) {
  Value dict = r.fresh(f.real(1)).self;
  auto& in = f.pending.in;
  for (size_t i = 0; i < in.size(); i += 2) put_entry(r, dict, in[i], in[i + 1]);
  f.push(dict);
}

void build_const_key_map(Recording& r, ShadowFrame& f) {
  Value dict = r.fresh(f.real(1)).self;
  auto& in = f.pending.in;
  PyObject* keys = in.back().object;
  for (int i = 0; i < f.pending.arg; i++) put_entry(r, dict, Value::fact(PyTuple_GET_ITEM(keys, i)), in[i]);
  f.push(dict);
}

void build_slice(Recording& r, ShadowFrame& f) {
  if (!all_atoms(f.pending.in)) return r.stop(Reason::UnmodelledContainer, "a slice of objects");
  PyObject* slice = f.real(1);
  if (all_facts(f.pending.in)) return f.push(Value::fact(r.hold(slice)));
  Shadow& made = r.fresh(slice);  // its bounds stay what they are: an index of a tensor may follow them
  made.items = f.pending.in;
  f.push(made.self);
}

void format_value(Recording& r, ShadowFrame& f) {
  auto& in = f.pending.in;
  PyObject* result = f.real(1);
  const bool converted = f.pending.arg & 3;
  if (is_tensor(in[0].object) && f.pending.extra.has_register() && !converted) in[0] = f.pending.extra;  // its number
  const bool formatted_again = converted && in.size() > 1;  // what __str__ or __repr__ returned, perhaps with blanks
  if (!f.pending.returns.empty() && f.pending.returns.back().object == result && !is_atom(in[0].object) &&
      !formatted_again) {
    f.pending.used_returns = true;  // what __str__, __repr__ or __format__ of the program returned
    return f.push(f.pending.returns.back());
  }
  if (!all_atoms(in)) {  // f"{x.shape}": all that it holds are facts
    const bool plain = f.pending.returns.empty() && !f.pending.reported && !has_text_of_its_own(in[0].object);
    if (plain && std::all_of(in.begin(), in.end(), [&](Value& value) { return r.read_deep(value); }))
      return f.push(Value::fact(r.hold(result)));
    return r.stop(Reason::UnmodelledOperator, std::string("text of a ") + Py_TYPE(in[0].object)->tp_name);
  }
  if (all_facts(in)) return f.push(Value::fact(r.hold(result)));
  Register spec = in.size() > 1 ? r.reg_of(in[1]) : no_register;
  f.push(r.host(Op::Format, r.reg_of(in[0]), spec, {static_cast<Word>(f.pending.arg & 3)}, result, in));
}

void build_string(Recording& r, ShadowFrame& f) {
  auto& in = f.pending.in;
  PyObject* result = f.real(1);
  if (all_facts(in)) return f.push(Value::fact(r.hold(result)));
  Value text = in[0];
  for (size_t i = 1; i < in.size(); i++) {
    PyObject* joined = i + 1 == in.size() ? Py_NewRef(result) : PyUnicode_Concat(text.object, in[i].object);
    text = r.host(Op::Binary, r.reg_of(text), r.reg_of(in[i]), {TERRA_ADD}, joined, {text, in[i]});
    Py_DECREF(joined);
  }
  f.push(text);
}

// ---- growing the container of a comprehension or a call: it lies `arg` places below the operands ----

Value& container(ShadowFrame& f) { return f.top(f.pending.arg); }

/// In the rest of a frame it may have been made before.
void only_if_fresh(Recording& r, ShadowFrame& f) {
  if (!r.shadow(container(f)).fresh()) r.stop(Reason::UnmodelledContainer, "one that was begun before");
}

void list_append(Recording& r, ShadowFrame& f) { append_item(r, container(f), f.pending.in[0]); }

void begin_map_add(Recording& r, ShadowFrame& f) {
  Value &dict = container(f), &key = f.pending.in[0];
  if (r.takes_varying_key(dict, key) || !r.prepare_key(key)) return;
  f.pending.extra.kind = item_in(dict.object, key.object) ? Value::Fact : Value::Unknown;
}
void map_add(Recording& r, ShadowFrame& f) {
  Value &dict = container(f), &key = f.pending.in[0], &value = f.pending.in[1];
  if (r.takes_varying_key(dict, key)) return r.store_varying(dict, key, value);
  r.dict_store(dict, key, value, f.pending.extra.known());
}

void put_element(Recording& r, Value set, Value key) {
  if (!r.prepare_key(key) || r.set_has(set, key)) return;
  r.shadow(set).entries.push_back({r.hold(key.object), Value(), is_value_key(key.object) ? Value() : key});
}
void set_add(Recording& r, ShadowFrame& f) { put_element(r, container(f), f.pending.in[0]); }
void set_update(Recording& r, ShadowFrame& f) {
  Value source = f.pending.in[0];
  if (!is_set(source.object) && !is_sequence(source.object)) {
    return r.stop(Reason::UnmodelledContainer, std::string("elements from a ") + Py_TYPE(source.object)->tp_name);
  }
  for (const Value& key : is_set(source.object) ? r.elements(source) : r.items(source))
    put_element(r, container(f), key);
}

void begin_extend(Recording& r, ShadowFrame& f) {
  PyObject* object = f.pending.in[0].object;
  if (is_sequence(object)) r.know_length(f.pending.in[0]);
  r.know_length(container(f));
}
void list_extend(Recording& r, ShadowFrame& f) {
  Value target = container(f);
  size_t before = r.shadow(target).items.size();
  PyObject* added = PyList_GetSlice(target.object, static_cast<Py_ssize_t>(before), PyList_GET_SIZE(target.object));
  std::vector<Value> items = r.drain(f, f.pending.in[0], added);
  Py_DECREF(added);
  for (const Value& item : items) append_item(r, target, item);
}

void list_to_tuple(Recording& r, ShadowFrame& f) { f.push(r.make_sequence(f.real(1), r.items(f.pending.in[0]))); }

void dict_update(Recording& r, ShadowFrame& f) {
  Value target = container(f), source = f.pending.in[0];
  if (!is_dict(source.object)) return r.stop(Reason::UnmodelledContainer, "dict update");
  copy_entries(r, source, target);
}

// ---- functions ----

void make_function(Recording& r, ShadowFrame& f) {
  auto& in = f.pending.in;
  size_t at = 0;
  Value defaults = f.pending.arg & 1 ? in[at++] : Value();
  Value keyword_defaults = f.pending.arg & 2 ? in[at++] : Value();
  std::vector<Value> values;
  if (defaults.known()) values = r.items(defaults);
  Shadow& made = r.fresh(f.real(1));
  made.defaults = std::move(values);
  Value self = made.self;
  if (keyword_defaults.known()) {
    for (auto& entry : r.shadow(keyword_defaults).entries) {
      r.find(self.object)->keyword_defaults.push_back({entry.key, entry.value});
    }
  }
  f.push(self);
}

constexpr Rule rules[] = {
    {TERRA_BUILD_TUPLE, nullptr, build_sequence},
    {TERRA_BUILD_LIST, nullptr, build_sequence},
    {TERRA_BUILD_SET, nullptr, build_set},
    {TERRA_BUILD_MAP, nullptr, build_map},
    {TERRA_BUILD_CONST_KEY_MAP, nullptr, build_const_key_map},
    {TERRA_BUILD_SLICE, nullptr, build_slice},
    {TERRA_BUILD_STRING, nullptr, build_string},
    {TERRA_FORMAT_VALUE, nullptr, format_value},
    {TERRA_LIST_APPEND, nullptr, list_append},
    {TERRA_MAP_ADD, begin_map_add, map_add},
    {TERRA_SET_ADD, only_if_fresh, set_add},
    {TERRA_SET_UPDATE, only_if_fresh, set_update},
    {TERRA_LIST_EXTEND, begin_extend, list_extend},
    {TERRA_LIST_TO_TUPLE, nullptr, list_to_tuple},
    {TERRA_DICT_UPDATE, only_if_fresh, dict_update},
    {TERRA_DICT_MERGE, only_if_fresh, dict_update},
    {TERRA_MAKE_FUNCTION, nullptr, make_function},
};

}  // namespace

RuleList build_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
