#include "interpreter_hooks/guards/guard_dependencies.h"

#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/versions.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include "engine/tensor/epoch.h"

#include <algorithm>
#include <iterator>

namespace terra::capture {

namespace {

bool stands(const GuardDependencies& s, Register r) { return s.dependence(r) != Dependence::Varies; }
PyObject* a_of(const Word* at, const GuardDependencies& s) { return s.object(head(at).a); }

void rest_on_dict(PyObject* dict, GuardDependencies& s) { s.rest_on(terra_dict_version(dict)); }

// ---- reads: what becomes of the register ----

Dependence closure(const Word* at, GuardDependencies& s) {
  auto* function = reinterpret_cast<PyFunctionObject*>(a_of(at, s));
  s.rest_on(&function->func_closure);
  s.look_further();
  s.rest_on(&reinterpret_cast<PyVarObject*>(function->func_closure)->ob_size);
  s.rest_on(&reinterpret_cast<PyTupleObject*>(function->func_closure)->ob_item[at[1]]);
  return Dependence::Found;
}

Dependence cell(const Word* at, GuardDependencies& s) {
  s.rest_on(&reinterpret_cast<PyCellObject*>(a_of(at, s))->ob_ref);
  return Dependence::Found;
}

Dependence item(const Word* at, GuardDependencies& s) {
  PyObject* sequence = a_of(at, s);
  s.rest_on(&reinterpret_cast<PyVarObject*>(sequence)->ob_size);
  if (PyList_CheckExact(sequence)) {
    auto* list = reinterpret_cast<PyListObject*>(sequence);
    s.rest_on(&list->ob_item);
    s.look_further();
    s.rest_on(&list->ob_item[at[1]]);
    return Dependence::Found;
  }
  if (!PyTuple_Check(sequence)) return Dependence::Varies;
  s.rest_on(&reinterpret_cast<PyTupleObject*>(sequence)->ob_item[at[1]]);
  return Dependence::Found;
}

Dependence key(const Word* at, GuardDependencies& s) {
  rest_on_dict(a_of(at, s), s);
  return Dependence::Held;
}

Dependence key_of(const Word* at, GuardDependencies& s) {
  if (!stands(s, head(at).b) || !compares_by_identity(s.object(head(at).b))) return Dependence::Varies;
  return key(at, s);
}

/// An OrderedDict changes its order without a new version.
bool version_tells_order(PyObject* container) { return PyDict_Check(container) && !PyODict_Check(container); }

Dependence key_at(const Word* at, GuardDependencies& s) {
  return version_tells_order(a_of(at, s)) ? key(at, s) : Dependence::Varies;
}

/// Which dict a terra.nn.Module has, as its own.
void rest_on_place(const Word* at, PyObject* const* place, GuardDependencies& s) {
  if (s.dependence(head(at).a) == Dependence::Held && *place)
    s.rest_on(&module_dict_epoch());
  else
    s.rest_on(place);
  s.look_further();
}

/// Of the instance itself: found, or found to be absent.
Dependence attribute(const Word* at, GuardDependencies& s) {
  if (is_module(a_of(at, s))) {
    PyObject* const* place = module_dict_place(a_of(at, s));
    rest_on_place(at, place, s);
    if (!*place) return Dependence::Found;
    rest_on_dict(*place, s);
    return Dependence::Held;
  }
  const uint64_t* words[TERRA_MOST_ATTRIBUTE_WORDS];
  int in_dict = 0;
  const int count = terra_instance_attribute_words(a_of(at, s), object_word(at[1]), words, &in_dict);
  for (int i = 0; i < count; i++) {
    s.rest_on(words[i]);
    s.look_further();
  }
  return in_dict ? Dependence::Held : Dependence::Found;
}

Dependence slot(const Word* at, GuardDependencies& s) {
  s.rest_on(reinterpret_cast<PyObject**>(reinterpret_cast<char*>(a_of(at, s)) + at[1]));
  return Dependence::Found;
}

/// What look-ups in a class find.
void rest_on_class(PyTypeObject* type, GuardDependencies& s) {
  const uint64_t* words[TERRA_CLASS_VERSION_WORDS];
  terra_class_version_words(type, words);
  for (const uint64_t* word : words) s.rest_on(word);
}

Dependence class_attribute(const Word* at, GuardDependencies& s) {
  auto* type = pointer<PyTypeObject>(at[1]);
  if (!version_of(type)) return Dependence::Varies;
  rest_on_class(type, s);
  return Dependence::Held;
}

Dependence instance_dict(const Word* at, GuardDependencies& s) {
  const uint64_t* words[TERRA_MOST_ATTRIBUTE_WORDS];
  const int count = terra_instance_dict_words(a_of(at, s), words);
  for (int i = 0; i < count; i++) s.rest_on(words[i]);
  return count ? Dependence::Found : Dependence::Varies;
}

Dependence method_part(const Word* at, GuardDependencies& s) {
  if (PyCFunction_Check(a_of(at, s))) return Dependence::Varies;
  auto* method = reinterpret_cast<PyMethodObject*>(a_of(at, s));
  s.rest_on(at[1] ? &method->im_self : &method->im_func);
  return Dependence::Found;
}

Dependence module_part(const Word* at, GuardDependencies& s) {
  PyObject* const* own = module_dict_place(a_of(at, s));
  rest_on_place(at, own, s);
  if (at[1] == module_own) return s.dependence(head(at).a);
  rest_on_dict(*own, s);
  return Dependence::Held;
}

// ---- guards: whether they stand ----

/// For guards that say nothing but which objects registers hold.
Dependence same_objects(const Word* at, GuardDependencies& s) {
  return head(at).b == no_register || stands(s, head(at).b) ? Dependence::Found : Dependence::Varies;
}

Dependence equal(const Word* at, GuardDependencies& s) {
  // The value in the guard is kept alive: nothing else can be at its address.
  return a_of(at, s) == object_word(at[1]) ? Dependence::Found : Dependence::Varies;
}

Dependence type(const Word* at, GuardDependencies& s) {
  PyObject* object = a_of(at, s);
  // Only classes made at run time, and those of modules, can be exchanged.
  const bool fixed = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_IMMUTABLETYPE) && !PyModule_Check(object);
  if (!fixed || s.dependence(head(at).a) != Dependence::Held) s.rest_on(&object->ob_type);
  return Dependence::Found;
}

Dependence type_of(const Word* at, GuardDependencies& s) {
  s.rest_on(&object_word(at[1])->ob_type);
  return Dependence::Found;
}

Dependence class_facts(const Word* at, GuardDependencies& s) {
  const ClassFacts& facts = *pointer<ClassFacts>(at[1]);
  if (!facts.version) return Dependence::Varies;
  rest_on_class(facts.type, s);
  return Dependence::Found;
}

Dependence length(const Word* at, GuardDependencies& s) {
  s.rest_on(&reinterpret_cast<PyVarObject*>(a_of(at, s))->ob_size);
  return Dependence::Found;
}

/// For guards on which keys a dict has.
Dependence some_keys(const Word* at, GuardDependencies& s) {
  if (!PyDict_Check(a_of(at, s))) return Dependence::Varies;
  rest_on_dict(a_of(at, s), s);
  return Dependence::Found;
}

Dependence keys(const Word* at, GuardDependencies& s) {
  return version_tells_order(a_of(at, s)) ? some_keys(at, s) : Dependence::Varies;
}

Dependence contains(const Word* at, GuardDependencies& s) {
  if (!stands(s, head(at).b) || !compares_by_identity(s.object(head(at).b))) return Dependence::Varies;
  return some_keys(at, s);
}

Dependence code(const Word* at, GuardDependencies& s) {
  auto* function = reinterpret_cast<PyFunctionObject*>(a_of(at, s));
  s.rest_on(&a_of(at, s)->ob_type);
  s.rest_on(&function->func_code);
  s.rest_on(&function->func_globals);
  s.rest_on(&function->func_defaults);
  s.rest_on(&function->func_kwdefaults);
  return Dependence::Found;
}

Dependence globals(const Word* at, GuardDependencies& s) {
  s.rest_on(&reinterpret_cast<PyFunctionObject*>(a_of(at, s))->func_globals);
  return Dependence::Found;
}

Dependence all_distinct(const Word* at, GuardDependencies& s) {
  bool all = true;
  each_packed(at, 0, [&](Register r) { all = all && stands(s, r); });
  return all ? Dependence::Found : Dependence::Varies;
}

/// Which dict an object has is told by what leads to it; those of a module are items of the first.
void rest_on_own_dict(PyObject* object, GuardDependencies& s) {
  const uint64_t* words[TERRA_MOST_ATTRIBUTE_WORDS];
  const int count = terra_instance_dict_words(object, words);
  for (int i = 0; i < count; i++) s.rest_on(words[i]);
  PyObject* dict = is_module(object) ? terra_dict_in_use(object) : nullptr;
  if (!dict) return;
  s.look_further();
  rest_on_dict(dict, s);
}

Dependence own_dicts(const Word* at, GuardDependencies& s) {
  if (all_distinct(at, s) == Dependence::Varies) return Dependence::Varies;
  each_packed(at, 0, [&](Register r) {
    if (!PyDict_Check(s.object(r))) rest_on_own_dict(s.object(r), s);
  });
  return Dependence::Found;
}

/// The tensor is the one of before, and so is everything that the epoch counts changes of.
bool is_settled(Register r, GuardDependencies& s) {
  if (s.dependence(r) != Dependence::Held || !is_plain_tensor(s.object(r)) || follows_a_base(*tensor_of(s.object(r))))
    return false;
  s.rest_on(&s.object(r)->ob_type);
  s.rest_on(&tensor_epoch);
  return true;
}

Dependence tensor(const Word* at, GuardDependencies& s) {
  return is_settled(head(at).a, s) ? Dependence::Found : Dependence::Varies;
}

Dependence two_tensors(const Word* at, GuardDependencies& s) {
  return is_settled(head(at).a, s) && is_settled(head(at).b, s) ? Dependence::Found : Dependence::Varies;
}

Dependence tensors(const Word* at, GuardDependencies& s) {
  bool all = true;
  each_packed(at, 0, [&](Register r) { all = all && is_settled(r, s); });
  return all ? Dependence::Found : Dependence::Varies;
}

Dependence no_hooks(const Word* at, GuardDependencies& s) {
  std::vector<const uint64_t*> words;
  rest_on_place(at, module_dict_place(a_of(at, s)), s);
  module_hook_words(a_of(at, s), words);
  for (const uint64_t* word : words) {
    s.rest_on(word);
    s.look_further();
  }
  return Dependence::Found;
}

/// Kinds without a row always run: they read tensors, numbers, or what no word tells of.
struct Row {
  Op op;
  Dependence (*rests)(const Word* at, GuardDependencies& s);
};
constexpr Row rows[] = {
    {Op::Closure, closure},
    {Op::Cell, cell},
    {Op::Item, item},
    {Op::Key, key},
    {Op::Attribute, attribute},
    {Op::Slot, slot},
    {Op::ClassAttribute, class_attribute},
    {Op::InstanceDict, instance_dict},
    {Op::MethodPart, method_part},
    {Op::ModulePart, module_part},
    {Op::KeyOf, key_of},
    {Op::KeyAt, key_at},
    {Op::Is, same_objects},
    {Op::Equal, equal},
    {Op::Pinned, equal},
    {Op::Type, type},
    {Op::TypeOf, type_of},
    {Op::Class, class_facts},
    {Op::Length, length},
    {Op::Keys, keys},
    {Op::Size, some_keys},
    {Op::Contains, contains},
    {Op::NoKey, some_keys},
    {Op::NoAttribute, attribute},
    {Op::Code, code},
    {Op::Globals, globals},
    {Op::Same, same_objects},
    {Op::Distinct, same_objects},
    {Op::AllDistinct, all_distinct},
    {Op::OwnDicts, own_dicts},
    {Op::Tensor, tensor},
    {Op::Offset, tensor},
    {Op::SameStorage, two_tensors},
    {Op::Apart, tensors},
    {Op::OwnHistory, tensor},
    {Op::NoHooks, no_hooks},
};

}  // namespace

Dependence rests_on(const Word* at, GuardDependencies& s) {
  const auto row =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return code(r.op) == head(at).kind; });
  if (row == std::end(rows)) return Dependence::Varies;
  if (head(at).a != no_register && !stands(s, head(at).a)) return Dependence::Varies;
  return row->rests(at, s);
}

bool is_borrowed_read(const Word* at) { return head(at).kind < code(Op::Gradient); }

void each_operand(const Word* at, const std::function<void(Register)>& visit) {
  for (Register r : {head(at).a, head(at).b}) {
    if (r != no_register) visit(r);
  }
  switch (static_cast<Op>(head(at).kind)) {
    case Op::AllDistinct:
    case Op::OwnDicts:
    case Op::Apart:
    case Op::Tuple: return each_packed(at, 0, visit);
    case Op::Call: return each_packed(at, 1, visit);
    default: return;
  }
}

}  // namespace terra::capture
