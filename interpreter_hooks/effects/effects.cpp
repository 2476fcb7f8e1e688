#include "interpreter_hooks/effects/effects.h"

#include "engine/ops/call.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/guard_dependencies.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"

#include <algorithm>

namespace terra::capture {

namespace {

std::vector<PyObject*> objects(const Word* at, int skip, const Run& run) {
  std::vector<PyObject*> result;
  each_packed(at, skip, [&](Register r) { result.push_back(run.registers[r]); });
  return result;
}

/// New reference to an iterator that goes on behind the first `index` items.
PyObject* iterator_at(PyObject* base, Walk walk, Word index) {
  // Interned: the interpreter's cache of look-ups would keep a new string alive each time.
  static PyObject* const values = PyUnicode_InternFromString("values");
  static PyObject* const items = PyUnicode_InternFromString("items");
  static PyObject* const set_state = PyUnicode_InternFromString("__setstate__");
  PyObject* iterable = walk == walk_values  ? PyObject_CallMethodNoArgs(base, values)
                       : walk == walk_items ? PyObject_CallMethodNoArgs(base, items)
                                            : Py_NewRef(base);
  PyObject* iterator = nullptr;
  if (iterable && walk == walk_reversed) {
    iterator = PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyReversed_Type), iterable);
  } else if (iterable) {
    iterator = PyObject_GetIter(iterable);
  }
  Py_XDECREF(iterable);
  bool by_state = !PyDict_CheckExact(base);
  if (iterator && by_state && index > 0) {
    Py_ssize_t state = static_cast<Py_ssize_t>(index);
    if (walk == walk_reversed) state = PySequence_Size(base) - 1 - state;
    PyObject* number = PyLong_FromSsize_t(state);
    PyObject* done = number ? PyObject_CallMethodOneArg(iterator, set_state, number) : nullptr;
    if (!done) Py_CLEAR(iterator);
    Py_XDECREF(done);
    Py_XDECREF(number);
  }
  for (Word i = 0; iterator && !by_state && i < index; i++) {
    PyObject* passed = PyIter_Next(iterator);
    if (!passed) Py_CLEAR(iterator);
    Py_XDECREF(passed);
  }
  return iterator;
}

/// A tuple or list just made, with these items.
PyObject* filled(PyObject* sequence, const std::vector<PyObject*>& items) {
  for (size_t i = 0; sequence && i < items.size(); i++) PySequence_Fast_ITEMS(sequence)[i] = Py_NewRef(items[i]);
  return sequence;
}

bool make_tuple(Word* at, Run& run) {
  auto items = objects(at, 0, run);
  return store(at, run, filled(PyTuple_New(items.size()), items));
}

bool make_tuple_of(Word* at, Run& run) {
  auto* type = pointer<PyTypeObject>(at[1]);
  auto items = objects(at, 1, run);
  return store(at, run, filled(type->tp_alloc(type, static_cast<Py_ssize_t>(items.size())), items));
}

bool make_list(Word* at, Run& run) {
  auto items = objects(at, 0, run);
  return store(at, run, filled(PyList_New(items.size()), items));
}

bool make_size(Word* at, Run& run) {
  auto items = objects(at, 0, run);
  return store(at, run, filled(new_size(items.size()), items));
}

bool make_dict(Word* at, Run& run) {
  auto items = objects(at, 0, run);
  PyObject* dict = PyDict_New();
  for (size_t i = 0; dict && i < items.size(); i += 2) {
    if (PyDict_SetItem(dict, items[i], items[i + 1]) < 0) Py_CLEAR(dict);
  }
  return store(at, run, dict);
}

bool make_object(Word* at, Run& run) {
  auto* type = pointer<PyTypeObject>(at[1]);
  auto items = objects(at, 1, run);
  PyObject* object = type->tp_alloc(type, 0);
  for (size_t i = 0; object && i < items.size(); i += 2) {
    if (PyObject_GenericSetAttr(object, items[i], items[i + 1]) < 0) Py_CLEAR(object);
  }
  return store(at, run, object);
}

bool make_method(Word* at, Run& run) { return store(at, run, PyMethod_New(a_of(at, run), b_of(at, run))); }

bool make_cell(Word* at, Run& run) {
  return store(at, run, PyCell_New(head(at).a == no_register ? nullptr : a_of(at, run)));
}

bool make_function(Word* at, Run& run) {
  auto named = objects(at, 3, run);
  PyObject* function = PyFunction_NewWithQualName(object_word(at[1]), object_word(at[2]), object_word(at[3]));
  bool whole = function != nullptr;
  if (whole && head(at).a != no_register) whole = PyFunction_SetClosure(function, a_of(at, run)) == 0;
  if (whole && head(at).b != no_register) whole = PyFunction_SetDefaults(function, b_of(at, run)) == 0;
  if (whole && !named.empty()) {
    PyObject* defaults = PyDict_New();
    for (size_t i = 0; defaults && whole && i < named.size(); i += 2) {
      whole = PyDict_SetItem(defaults, named[i], named[i + 1]) == 0;
    }
    whole = whole && defaults && PyFunction_SetKwDefaults(function, defaults) == 0;
    Py_XDECREF(defaults);
  }
  if (!whole) Py_CLEAR(function);
  return store(at, run, function);
}

PyObject* called(const Word* at, Run& run) {
  auto arguments = objects(at, 2, run);
  PyObject* names = object_word(at[2]);
  size_t positional = arguments.size() - (names ? static_cast<size_t>(PyTuple_GET_SIZE(names)) : 0);
  return PyObject_Vectorcall(object_word(at[1]), arguments.data(), positional, names);
}

bool make_call(Word* at, Run& run) { return store(at, run, called(at, run)); }

bool make_bound(Word* at, Run& run) {
  PyObject *descriptor = a_of(at, run), *object = b_of(at, run);
  auto type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return store(at, run, Py_TYPE(descriptor)->tp_descr_get(descriptor, object, type));
}

bool make_iterator(Word* at, Run& run) { return store(at, run, iterator_at(a_of(at, run), Walk(at[1]), at[2])); }

bool set_plain_attribute(Word* at, Run& run) {
  return PyObject_GenericSetAttr(a_of(at, run), object_word(at[1]), b_of(at, run)) == 0;
}
bool set_attribute(Word* at, Run& run) {
  return PyObject_SetAttr(a_of(at, run), object_word(at[1]), b_of(at, run)) == 0;
}
bool delete_attribute(Word* at, Run& run) { return PyObject_SetAttr(a_of(at, run), object_word(at[1]), nullptr) == 0; }
bool set_item(Word* at, Run& run) {
  return PyObject_SetItem(a_of(at, run), run.registers[static_cast<Register>(at[1])], b_of(at, run)) == 0;
}
bool delete_item(Word* at, Run& run) {
  return PyObject_DelItem(a_of(at, run), run.registers[static_cast<Register>(at[1])]) == 0;
}
bool append(Word* at, Run& run) { return PyList_Append(a_of(at, run), b_of(at, run)) == 0; }
bool set_cell(Word* at, Run& run) { return PyCell_Set(a_of(at, run), b_of(at, run)) == 0; }

bool modes(Word* at, Run&) {
  set_modes_of_blocks(at[1]);
  return true;
}

bool call_method(Word* at, Run& run) {
  PyObject* result = called(at, run);
  Py_XDECREF(result);
  return result != nullptr;
}

// ---- texts ----

std::string names(const Word* at, int skip, const RegisterFile& file) {
  std::string text;
  each_packed(at, skip, [&](Register r) { text += (text.empty() ? "" : ", ") + file.name(r); });
  return text;
}
std::string dst(const Word* at, const RegisterFile& file) { return name_dst(at, file) + " = "; }
std::string key(const Word* at, const RegisterFile& file) { return file.name(static_cast<Register>(at[1])); }

std::string make_tuple_text(const Word* at, const RegisterFile& f) { return dst(at, f) + "(" + names(at, 0, f) + ")"; }
std::string make_tuple_of_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + pointer<PyTypeObject>(at[1])->tp_name + "(" + names(at, 1, f) + ")";
}
std::string make_list_text(const Word* at, const RegisterFile& f) { return dst(at, f) + "[" + names(at, 0, f) + "]"; }
std::string make_size_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + "Size(" + names(at, 0, f) + ")";
}
std::string make_dict_text(const Word* at, const RegisterFile& f) { return dst(at, f) + "{" + names(at, 0, f) + "}"; }
std::string make_object_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + "new " + pointer<PyTypeObject>(at[1])->tp_name + "(" + names(at, 1, f) + ")";
}
std::string make_method_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + "method " + name_a(at, f) + " of " + name_b(at, f);
}
std::string make_bound_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + name_a(at, f) + " of " + name_b(at, f);
}
std::string make_iterator_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + "iterator over " + name_a(at, f) + " at " + std::to_string(at[2]);
}
std::string make_cell_text(const Word* at, const RegisterFile& f) { return dst(at, f) + "cell"; }
std::string make_function_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + "function " + utf8_of(object_word(at[3]));
}
std::string make_call_text(const Word* at, const RegisterFile& f) {
  return dst(at, f) + "a call of " + short_text(object_word(at[1])) + "(" + names(at, 2, f) + ")";
}
std::string set_plain_attribute_text(const Word* at, const RegisterFile& f) {
  return name_a(at, f) + "." + utf8_of(object_word(at[1])) + " = " + name_b(at, f);
}
std::string set_attribute_text(const Word* at, const RegisterFile& f) {
  return name_a(at, f) + "." + utf8_of(object_word(at[1])) + " = " + name_b(at, f);
}
std::string delete_attribute_text(const Word* at, const RegisterFile& f) {
  return "del " + name_a(at, f) + "." + utf8_of(object_word(at[1]));
}
std::string set_item_text(const Word* at, const RegisterFile& f) {
  return name_a(at, f) + "[" + key(at, f) + "] = " + name_b(at, f);
}
std::string delete_item_text(const Word* at, const RegisterFile& f) {
  return "del " + name_a(at, f) + "[" + key(at, f) + "]";
}
std::string append_text(const Word* at, const RegisterFile& f) {
  return name_a(at, f) + ".append(" + name_b(at, f) + ")";
}
std::string set_cell_text(const Word* at, const RegisterFile& f) {
  return "cell " + name_a(at, f) + " = " + name_b(at, f);
}
std::string modes_text(const Word* at, const RegisterFile&) {
  return std::string(at[1] & gradient_mode ? "gradient mode on" : "gradient mode off") +
         (at[1] & autocast_mode & uint64_t{1} << 41 ? ", autocast on" : "");
}
std::string call_method_text(const Word* at, const RegisterFile& f) {
  return std::string(Py_TYPE(object_word(at[1]))->tp_name) + "(" + names(at, 2, f) + ")";
}

}  // namespace

#define ROW(name) \
  { #name, false, name, name##_text }
// clang-format off
const Kind effect_kinds[static_cast<size_t>(Effect::Count_)] = {
    ROW(make_tuple),
    ROW(make_tuple_of),
    ROW(make_list),
    ROW(make_size),
    ROW(make_dict),
    ROW(make_object),
    ROW(make_method),
    ROW(make_cell),
    ROW(make_function),
    ROW(make_call),
    ROW(make_bound),
    ROW(make_iterator),
    ROW(set_attribute),
    ROW(set_plain_attribute),
    ROW(delete_attribute),
    ROW(set_item),
    ROW(delete_item),
    ROW(append),
    ROW(set_cell),
    ROW(modes),
    ROW(call_method),
};
// clang-format on
#undef ROW

std::vector<Word> called_with(RegisterFile& file, PyObject* callee, const std::vector<Register>& given,
                              PyObject* names) {
  std::vector<Word> words = pack(given);
  words.insert(words.begin(), {word_of(file.keep(callee)), word_of(file.keep(names))});
  return words;
}

void EffectProgram::finish(std::vector<Register> results, const Program& late, const RegisterFile& file) {
  results_ = std::move(results);
  auto use = [&](Register r) {
    if (r >= 0 && r != no_register && !file.owned(r) &&
        std::find(borrowed_.begin(), borrowed_.end(), r) == borrowed_.end()) {
      borrowed_.push_back(r);
    }
  };
  program_.each([&](const Word* at) {
    use(head(at).a);
    use(head(at).b);
    switch (static_cast<Effect>(head(at).kind)) {
      case Effect::MakeTuple:
      case Effect::MakeList:
      case Effect::MakeSize:
      case Effect::MakeDict: each_packed(at, 0, use); break;
      case Effect::MakeTupleOf:
      case Effect::MakeObject: each_packed(at, 1, use); break;
      case Effect::MakeCall:
      case Effect::CallMethod: each_packed(at, 2, use); break;
      case Effect::MakeFunction: each_packed(at, 3, use); break;
      case Effect::SetItem:
      case Effect::DeleteItem: use(static_cast<Register>(at[1])); break;
      default: break;
    }
  });
  for (Register result : results_) use(result);
  late.each([&](const Word* at) { each_operand(at, use); });
}

bool EffectProgram::run(Run& run, PyObject** results) {
  bool done = program_.run(run) < 0;
  for (size_t i = 0; done && i < results_.size(); i++) {
    results[i] = results_[i] == no_register ? nullptr : Py_NewRef(run.registers[results_[i]]);
  }
  return done;
}

}  // namespace terra::capture
