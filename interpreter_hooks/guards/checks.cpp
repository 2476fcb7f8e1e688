// Guards on Python objects.
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/tables.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/text.h"

#include <algorithm>

namespace terra::capture {

std::string listed(std::string text, const Word* at, const RegisterFile& file) {
  each_packed(at, 0, [&](Register r) { text += " " + file.name(r); });
  return text;
}

bool is_holds(Word* at, Run& run) { return a_of(at, run) == object_word(at[1]); }
std::string is_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " is " + short_text(object_word(at[1]));
}

bool c_method_holds(Word* at, Run& run) {
  PyObject* method = a_of(at, run);
  return PyCFunction_Check(method) && reinterpret_cast<PyCFunctionObject*>(method)->m_ml ==
                                          reinterpret_cast<PyMethodDescrObject*>(object_word(at[1]))->d_method;
}
std::string c_method_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " is bound from " + short_text(object_word(at[1]));
}

/// A NaN is equal to itself alone where containers look for it.
bool equal_holds(Word* at, Run& run) {
  PyObject *a = a_of(at, run), *value = object_word(at[1]);
  return a == value || (same_value(a, value) && !holds_nan(value));
}
std::string equal_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " == " + short_text(object_word(at[1]));
}

bool pinned_holds(Word* at, Run& run) { return equal_holds(at, run); }
std::string pinned_text(const Word* at, const RegisterFile& file) {
  return equal_text(at, file) + ", which is used as a constant";
}

bool type_holds(Word* at, Run& run) { return Py_TYPE(a_of(at, run)) == pointer<PyTypeObject>(at[1]); }
std::string type_text(const Word* at, const RegisterFile& file) {
  return "type of " + name_a(at, file) + " is " + pointer<PyTypeObject>(at[1])->tp_name;
}

bool type_of_holds(Word* at, Run&) { return Py_TYPE(object_word(at[1])) == pointer<PyTypeObject>(at[2]); }
std::string type_of_text(const Word* at, const RegisterFile&) {
  return "type of " + short_text(object_word(at[1])) + " is " + pointer<PyTypeObject>(at[2])->tp_name;
}

bool class_facts_holds(Word* at, Run&) { return pointer<ClassFacts>(at[1])->hold(); }
std::string class_facts_text(const Word* at, const RegisterFile&) {
  return std::string("class ") + pointer<ClassFacts>(at[1])->type->tp_name + " is unchanged";
}

bool length_holds(Word* at, Run& run) { return Py_SIZE(a_of(at, run)) == static_cast<Py_ssize_t>(at[1]); }
std::string length_text(const Word* at, const RegisterFile& file) {
  return "len(" + name_a(at, file) + ") == " + std::to_string(at[1]);
}

bool max_length_holds(Word* at, Run& run) { return static_cast<Word>(max_length_of(a_of(at, run))) == at[1]; }
std::string max_length_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + ".maxlen is unchanged";
}

bool keys_holds(Word* at, Run& run) {
  PyObject *container = a_of(at, run), *keys = object_word(at[1]);
  if (key_count(container) != PyTuple_GET_SIZE(keys)) return false;
  if (is_set(container) && terra_set_layout(container) != at[2]) return false;
  PyObject** next = reinterpret_cast<PyTupleObject*>(keys)->ob_item;
  return each_key(
      container, [](PyObject* key, void* context) { return same_value(key, *(*static_cast<PyObject***>(context))++); },
      &next);
}
std::string keys_text(const Word* at, const RegisterFile& file) {
  std::string text = "keys of " + name_a(at, file) + " are";
  PyObject* keys = object_word(at[1]);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); i++) text += " " + short_text(PyTuple_GET_ITEM(keys, i));
  return text;
}

bool size_holds(Word* at, Run& run) { return key_count(a_of(at, run)) == static_cast<Py_ssize_t>(at[1]); }
std::string size_text(const Word* at, const RegisterFile& file) { return length_text(at, file); }

bool contains_holds(Word* at, Run& run) {
  return presence_of(a_of(at, run), b_of(at, run)) == (at[1] ? Presence::Present : Presence::Absent);
}
std::string contains_text(const Word* at, const RegisterFile& file) {
  return name_b(at, file) + (at[1] ? " in " : " not in ") + name_a(at, file);
}

bool no_key_holds(Word* at, Run& run) { return presence_of(a_of(at, run), object_word(at[1])) == Presence::Absent; }
std::string no_key_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " has no key " + short_text(object_word(at[1]));
}

bool no_attribute_holds(Word* at, Run& run) { return !terra_instance_attribute(a_of(at, run), object_word(at[1])); }
std::string no_attribute_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " itself has no attribute " + utf8_of(object_word(at[1]));
}

bool code_holds(Word* at, Run& run) {
  if (!PyFunction_Check(a_of(at, run))) return false;
  auto* function = reinterpret_cast<PyFunctionObject*>(a_of(at, run));
  return function->func_code == object_word(at[1]) && function->func_globals == object_word(at[2]) &&
         function->func_defaults == object_word(at[3]) && function->func_kwdefaults == object_word(at[4]);
}
std::string code_text(const Word* at, const RegisterFile& file) {
  auto* code = reinterpret_cast<PyCodeObject*>(object_word(at[1]));
  return name_a(at, file) + " runs " + utf8_of(code->co_qualname) + " with the same defaults";
}

bool globals_holds(Word* at, Run& run) { return PyFunction_GET_GLOBALS(a_of(at, run)) == object_word(at[1]); }
std::string globals_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " belongs to the same module";
}

bool same_holds(Word* at, Run& run) { return a_of(at, run) == b_of(at, run); }
std::string same_text(const Word* at, const RegisterFile& file) { return name_a(at, file) + " is " + name_b(at, file); }

bool distinct_holds(Word* at, Run& run) { return a_of(at, run) != b_of(at, run); }
std::string distinct_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " is not " + name_b(at, file);
}

bool all_distinct_holds(Word* at, Run& run) {
  PyObject* objects[most_packed];
  int count = 0;
  each_packed(at, 0, [&](Register r) { objects[count++] = run.registers[r]; });
  if (count == 2) return objects[0] != objects[1];
  std::sort(objects, objects + count);
  return std::adjacent_find(objects, objects + count) == objects + count;
}
std::string all_distinct_text(const Word* at, const RegisterFile& file) {
  return listed("different objects:", at, file);
}

bool no_hooks_holds(Word* at, Run& run) { return !module_has_hooks(a_of(at, run)); }
std::string no_hooks_text(const Word* at, const RegisterFile& file) { return name_a(at, file) + " has no hooks"; }

bool truth_holds(Word* at, Run& run) {
  return PyObject_IsTrue(a_of(at, run)) == static_cast<int>(at[1]);  // numbers and strings only: no Python code
}
std::string truth_text(const Word* at, const RegisterFile& file) {
  return std::string("bool(") + name_a(at, file) + ") is " + (at[1] ? "True" : "False");
}

}  // namespace terra::capture
