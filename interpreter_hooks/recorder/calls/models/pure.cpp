// C callables without effects: numbers, strings, iterators, and the builtins that walk over containers.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>

namespace terra::capture {

bool raised_by_numbers(Recording& r, ShadowFrame& f) {
  std::vector<Value> all = everything(f);
  if (!all_atoms(all)) return false;
  for (Value& value : all) r.pin(value);
  return true;
}

Value made_in_each_run(Recording& r, const std::vector<Value>& items, PyObject* real) {
  std::vector<Register> registers;
  for (const Value& value : items) registers.push_back(r.reg_of(value));
  return r.host(Op::Tuple, no_register, no_register, pack(registers), real, items);
}

bool is_harmless(PyObject* callee) { return is_op_function(callee) || (traits_of(callee) & kPure) != 0; }

namespace {

// ---- pure functions of numbers and strings ----

/// The method descriptor behind a bound method of a number or string, borrowed; null for all others.
PyObject* method_of(PyObject* callee) {
  PyObject* self = PyCFunction_Check(callee) ? PyCFunction_GET_SELF(callee) : nullptr;
  if (!self || !is_atom(self)) return nullptr;
  PyObject* name = PyUnicode_InternFromString(reinterpret_cast<PyCFunctionObject*>(callee)->m_ml->ml_name);
  PyObject* found = name ? _PyType_Lookup(Py_TYPE(self), name) : nullptr;
  Py_XDECREF(name);
  return found && Py_TYPE(found) == &PyMethodDescr_Type ? found : nullptr;
}
/// What a callable gives for the operands of each run, those of the open call or others in their place.
Value called_in_each_run(Recording& r, const CallSite& call, PyObject* callee, const std::vector<Value>& operands,
                         PyObject* result) {
  std::vector<Register> given;
  const bool named = !call.keywords.empty();
  if (named) given = {r.reg_of(Value::fact(callee)), r.reg_of(Value::fact(names_of(r, call)))};
  for (const Value& operand : operands) given.push_back(r.reg_of(operand));
  std::vector<Word> words = call_operands(r.file(), named ? caller_with_names() : callee, given);
  const Value value = r.host(Op::Call, no_register, no_register, std::move(words), result, operands);
  // max(n, 0.5) is sometimes an int.
  if (!PyType_Check(callee)) r.guard(Op::Type, value.reg, {word_of(Py_TYPE(result))});
  return value;
}
PyObject* new_tuple_of(const std::vector<Value>& items) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(items.size()));
  for (size_t i = 0; i < items.size(); i++)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(items[i].object));
  return tuple;
}
/// str() or repr() of a function or class.
bool is_text_of_one(ShadowFrame& f, const std::vector<Value>& all) {
  if (!makes_text(f.pending.call) || all.size() != 1 || (!all[0].is_fact() && !all[0].has_register())) return false;
  return (PyFunction_Check(all[0].object) || PyType_Check(all[0].object)) && has_text_of_its_own(all[0].object);
}
Value end_pure(Recording& r, ShadowFrame& f, PyObject* result) {
  std::vector<Value> all = everything(f);
  if (f.pending.extra.known() && f.pending.extra.object == result) {  // float(tensor)
    f.pending.used_returns = true;
    return f.pending.extra;
  }
  if (f.pending.reported && is_tensor(result)) return r.by_identity(result);
  const bool numbers = f.pending.returns.empty() && std::all_of(all.begin(), all.end(), [](const Value& v) {
                         return v.known() && (is_atom(v.object) || number_conversion(v.object));
                       });
  if (numbers && is_atom(result)) {
    if (all_facts(all)) return Value::fact(r.hold(result));
    if (f.pending.call.keywords.empty()) {
      Value size = r.trace().sizes().computed(Op::Call, 0, f.pending.call.callee, all, result);
      if (size.known()) return size;
    }
    if (all.size() < 60) {
      // A bound C function (m.sqrt) is called as it is; methods of str are called through their descriptor.
      PyObject* callee = f.pending.call.callee;
      if (PyObject* unbound = method_of(callee)) callee = unbound;
      bool bound =
          PyCFunction_Check(callee) && PyCFunction_GET_SELF(callee) && !PyModule_Check(PyCFunction_GET_SELF(callee));
      if (!bound) return called_in_each_run(r, f.pending.call, callee, all, result);
    }
    for (Value& value : all) r.pin(value);
    return Value::fact(r.hold(result));
  }
  if (f.pending.returns.empty() && PyUnicode_Check(result) && !f.pending.reported) {
    if (is_text_of_one(f, all)) {  // asked for in each run
      std::vector<Word> words = call_operands(r.file(), f.pending.call.callee, {r.reg_of(all[0])});
      return r.host(Op::Call, no_register, no_register, std::move(words), result, all);
    }
    for (const Value& value : all) {
      if (value.known() && has_text_of_its_own(value.object))
        r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of an object");
    }
  }
  if (f.pending.returns.empty()) {
    for (Value& value : all) {
      if (!r.read_deep(value)) r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of an object");
    }
  } else {  // __len__, __float__, __bool__ in Python
    for (Value& value : all) {
      if (is_atom(value.object)) continue;
      if (!(Py_TYPE(value.object)->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of an object");
        break;
      }
    }
    f.pending.used_returns = true;
    if (f.pending.returns.back().object == result) return f.pending.returns.back();  // str(x), repr(x)
    for (Value& value : f.pending.returns) r.pin(value);
  }
  if (is_tensor(result)) return r.by_identity(result);
  if (!is_atom(result)) {
    if ((PyList_CheckExact(result) || PyTuple_CheckExact(result)) && r.alive()) {  // str.split, divmod
      std::vector<Value> items;
      for (Py_ssize_t i = 0; i < Py_SIZE(result); i++) {
        PyObject* item = PyList_CheckExact(result) ? PyList_GET_ITEM(result, i) : PyTuple_GET_ITEM(result, i);
        if (!is_atom(item)) r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
        items.push_back(Value::fact(r.hold(item)));
      }
      return r.make_sequence(result, std::move(items));
    }
    r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  }
  return Value::fact(r.hold(result));
}

/// Of an object it would be where the object lies.
void begin_hash(Recording& r, ShadowFrame& f) {
  if (!all_atoms(everything(f))) r.stop(Reason::UnmodelledCall, "builtins.hash of an object");
}

Value end_divmod(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  if (in.size() != 2 || !is_number(in[0].object) || !is_number(in[1].object) || all_facts(in))
    return end_pure(r, f, result);
  Value quotient = scalar_result(r, in, Op::Binary, TERRA_FLOOR_DIVIDE, PyTuple_GET_ITEM(result, 0));
  Value rest = scalar_result(r, in, Op::Binary, TERRA_REMAINDER, PyTuple_GET_ITEM(result, 1));
  return r.make_sequence(result, {quotient, rest});
}

/// Operators as functions: of numbers and tensors.
void begin_operator(Recording& r, ShadowFrame& f) {
  for (Value& value : arguments(f)) {
    if (is_atom(value.object) || is_tensor(value.object)) continue;
    r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee) + " of a " + Py_TYPE(value.object)->tp_name);
  }
}
Value end_operator(Recording& r, ShadowFrame& f, PyObject* result) {
  if (is_tensor(result)) return r.by_identity(result);
  if (f.pending.reported && !(f.pending.extra.known() && f.pending.extra.object == result)) {
    r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  }
  return end_pure(r, f, result);
}
void begin_getitem(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() != 2) return;
  if (is_sequence(in[0].object) && PyIndex_Check(in[1].object)) {
    if (r.read_index(in[1])) f.pending.extra = r.item(in[0], PyNumber_AsSsize_t(in[1].object, nullptr));
  } else if (PyDict_CheckExact(in[0].object) && r.prepare_key(in[1])) {
    f.pending.extra = r.dict_item(in[0], in[1]);
  } else {
    r.stop(Reason::UnmodelledCall, "operator.getitem of this");
  }
}
Value end_getitem(Recording&, ShadowFrame& f, PyObject*) { return f.pending.extra; }

/// An itemgetter of facts is one itself: nothing can change it.
Value end_itemgetter(Recording& r, ShadowFrame& f, PyObject* result) {
  for (Value& value : arguments(f)) {
    r.pin(value);
    if (!is_atom(value.object)) r.stop(Reason::UnmodelledCall, "operator.itemgetter of objects");
  }
  return Value::fact(r.hold(result));
}

void begin_len(Recording& r, ShadowFrame& f) {
  Value& value = arguments(f)[0];
  PyObject* object = value.object;
  if (is_sequence(object) || is_dict(object) || is_set(object)) {
    f.pending.extra = r.length(value);
    if (f.pending.extra.known()) return;
    is_sequence(object) ? r.know_length(value) : r.know_keys(value);
  }
  if (!is_dict_view(object)) return;
  const Iterator* view = r.iterator_of(object);
  Value base = view && view->base ? r.shadow(Value::fact(view->base)).self : Value();
  if (!base.known() || !is_dict(base.object)) return r.stop(Reason::UnmodelledCall, "builtins.len of a view");
  r.know_keys(base);
}
Value end_len(Recording& r, ShadowFrame& f, PyObject* result) {
  PyObject* object = arguments(f)[0].object;
  const bool counted = is_sequence(object) || is_dict(object) || is_set(object);
  if ((is_tensor(object) || counted) && f.pending.extra.known()) return f.pending.extra;
  const bool walked = counted || is_dict_view(object);
  if (walked || is_tensor(object)) return Value::fact(r.hold(result));
  return end_pure(r, f, result);
}

// ---- builtins that walk over their arguments, perhaps calling back ----

Value end_walk(Recording& r, ShadowFrame& f, PyObject* result) {
  f.pending.used_returns = true;
  if (f.pending.extra.known() && f.pending.extra.object == result) return f.pending.extra;
  check_operands(r, f);
  if (Value met = r.by_identity(result); met.known()) return met;  // a tensor, or one of the items
  if (is_atom(result)) return Value::fact(r.hold(result));
  if (PyList_CheckExact(result)) {  // sorted
    std::vector<Value> items;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(result); i++) {
      PyObject* item = PyList_GET_ITEM(result, i);
      Value value = value_of_real(r, item);
      if (!value.known()) r.stop(Reason::UnknownOrigin, "an item");
      items.push_back(value);
    }
    return r.make_sequence(result, std::move(items));
  }
  r.stop(Reason::UnmodelledCall, callable_name(f.pending.call.callee));
  return {};
}

/// What sum(), min(), max(), any(), all(), math.prod() or math.fsum() walks over, where it is numbers that are not all
/// facts: in a list or tuple, or out of a generator (`start` and `default` are numbers too). Otherwise nothing.
std::vector<Value> numbers_given(Recording& r, ShadowFrame& f) {
  const auto is_plain = [](const Value& v) { return v.known() && is_number(v.object); };
  std::vector<Value> in = everything(f);
  if (arguments(f).empty() || in.size() > 2 || !std::all_of(in.begin() + 1, in.end(), is_plain)) return {};
  std::vector<Value> items;
  if (is_sequence(in[0].object)) items = r.items(in[0]);
  if (PyGen_CheckExact(in[0].object)) items = f.pending.returns;
  const bool fit =
      r.alive() && items.size() < 256 && !all_facts(items) && std::all_of(items.begin(), items.end(), is_plain);
  return fit ? items : std::vector<Value>();
}

void begin_reduction(Recording& r, ShadowFrame& f) {
  if (numbers_given(r, f).empty()) expose_all(r, f);
}

/// What the callable gives for these numbers, as the recording has them, is the result.
bool reduces_to(Recording& r, ShadowFrame& f, PyObject* numbers, PyObject* result) {
  std::vector<PyObject*> given = {numbers};
  const std::vector<Value> in = everything(f);
  for (size_t i = 1; i < in.size(); i++) given.push_back(in[i].object);
  PyObject* names = f.pending.call.keywords.empty() ? nullptr : names_of(r, f.pending.call);
  PyObject* again = PyObject_Vectorcall(f.pending.call.callee, given.data(), arguments(f).size(), names);
  PyErr_Clear();
  const bool same = again && same_value(again, result);
  Py_XDECREF(again);
  return same;
}

/// The callable itself is given the numbers of each run. Which of them min and max return may be of another type there.
Value end_reduction(Recording& r, ShadowFrame& f, PyObject* result) {
  const bool generated = !arguments(f).empty() && PyGen_CheckExact(arguments(f)[0].object);
  std::vector<Value> items = is_atom(result) ? numbers_given(r, f) : std::vector<Value>();
  if (generated && PyBool_Check(result)) items.clear();  // any and all: the others decided nothing
  PyObject* real = new_tuple_of(items);
  if (items.empty() || (generated && !reduces_to(r, f, real, result))) {
    Py_DECREF(real);
    for (Value& value : f.pending.returns) r.pin_deep(value);
    return end_walk(r, f, result);
  }
  f.pending.used_returns = generated;
  std::vector<Value> operands = everything(f);
  operands[0] = made_in_each_run(r, items, real);
  Py_DECREF(real);
  return called_in_each_run(r, f.pending.call, f.pending.call.callee, operands, result);
}

/// ", ".join of strings that are not all facts, from a list or tuple or from a generator of the program.
void begin_join(Recording& r, ShadowFrame& f) {
  auto& in = arguments(f);
  if (in.size() != 2) return;
  if (is_sequence(in[1].object)) {
    const std::vector<Value> items = r.items(in[1]);
    if (std::all_of(items.begin(), items.end(), [](const Value& v) { return PyUnicode_CheckExact(v.object); })) return;
  }
  expose_all(r, f);
}
Value end_join(Recording& r, ShadowFrame& f, PyObject* result) {
  auto& in = arguments(f);
  const bool generated = !f.pending.returns.empty();
  std::vector<Value> items = generated                   ? f.pending.returns
                             : is_sequence(in[1].object) ? r.items(in[1])
                                                         : std::vector<Value>();
  PyObject* real = new_tuple_of(items);
  PyObject* again = items.empty() || !PyUnicode_CheckExact(in[0].object) ? nullptr : PyUnicode_Join(in[0].object, real);
  PyErr_Clear();
  const bool understood = again && PyUnicode_Compare(again, result) == 0 && items.size() < 256 && all_atoms(items);
  Py_XDECREF(again);
  Value text;
  if (understood && !(in[0].is_fact() && all_facts(items))) {
    f.pending.used_returns = generated;
    const Value tuple = made_in_each_run(r, items, real);
    std::vector<Word> words = call_operands(r.file(), f.pending.call.callee, {r.reg_of(in[0]), tuple.reg});
    text = r.host(Op::Call, no_register, no_register, std::move(words), result, {in[0], tuple});
  }
  Py_DECREF(real);
  if (text.known()) return text;
  for (Value& value : f.pending.returns) r.pin(value);
  return end_walk(r, f, result);
}

void begin_sorted(Recording& r, ShadowFrame& f) {
  expose_all(r, f);
  if (f.pending.call.keywords.size() > 2) r.stop(Reason::UnmodelledCall, "sorted");
}

/// min and max: of numbers, or of what is in a container.
void begin_extremum(Recording& r, ShadowFrame& f) {
  if (!all_atoms(everything(f))) begin_reduction(r, f);
}
Value end_extremum(Recording& r, ShadowFrame& f, PyObject* result) {
  return all_atoms(everything(f)) ? end_pure(r, f, result) : end_reduction(r, f, result);
}

bool raised_below_walk(Recording& r, ShadowFrame& f) {
  if (!f.pending.child_raised) return raised_by_numbers(r, f);
  return knows_operands(r, f);
}

bool raised_below_reduction(Recording& r, ShadowFrame& f) {
  for (Value& value : f.pending.returns) r.pin_deep(value);
  return raised_below_walk(r, f);
}

constexpr CallModel models[] = {
    {"builtins", "len", begin_len, end_len},
    {"builtins", "hash", begin_hash, end_pure, kPure},
    {"builtins", "abs", nullptr, end_pure, kPure},
    {"builtins", "round", nullptr, end_pure, kPure},
    {"builtins", "pow", nullptr, end_pure, kPure},
    {"builtins", "divmod", nullptr, end_divmod, kPure},
    {"builtins", "ord", nullptr, end_pure, kPure},
    {"builtins", "chr", nullptr, end_pure, kPure},
    {"builtins", "int", nullptr, end_pure, kPure, nullptr, graph::NumberRecord::Op::ToInt},
    {"builtins", "float", nullptr, end_pure, kPure, nullptr, graph::NumberRecord::Op::ToFloat},
    {"builtins", "complex", nullptr, end_pure, kPure},
    {"builtins", "bool", nullptr, end_pure, kPure},
    {"builtins", "str", nullptr, end_pure, kPure},
    {"builtins", "repr", nullptr, end_pure, kPure},
    {"builtins", "format", nullptr, end_pure, kPure},
    {"builtins", "slice", nullptr, end_pure, kPure},
    {"_operator", "getitem", begin_getitem, end_getitem},
    {"dict", "__getitem__", begin_getitem, end_getitem, kReads},
    {"list", "__getitem__", begin_getitem, end_getitem, kReads},
    {"_operator", "itemgetter", nullptr, end_itemgetter},
    {"_operator", "abs", begin_operator, end_operator, kPure},
    {"_operator", "add", begin_operator, end_operator, kPure},
    {"_operator", "and_", begin_operator, end_operator, kPure},
    {"_operator", "eq", begin_operator, end_operator, kPure},
    {"_operator", "floordiv", begin_operator, end_operator, kPure},
    {"_operator", "ge", begin_operator, end_operator, kPure},
    {"_operator", "gt", begin_operator, end_operator, kPure},
    {"_operator", "index", begin_operator, end_operator, kPure},
    {"_operator", "inv", begin_operator, end_operator, kPure},
    {"_operator", "invert", begin_operator, end_operator, kPure},
    {"_operator", "le", begin_operator, end_operator, kPure},
    {"_operator", "lt", begin_operator, end_operator, kPure},
    {"_operator", "matmul", begin_operator, end_operator, kPure},
    {"_operator", "mod", begin_operator, end_operator, kPure},
    {"_operator", "mul", begin_operator, end_operator, kPure},
    {"_operator", "ne", begin_operator, end_operator, kPure},
    {"_operator", "neg", begin_operator, end_operator, kPure},
    {"_operator", "not_", begin_operator, end_operator, kPure},
    {"_operator", "or_", begin_operator, end_operator, kPure},
    {"_operator", "pos", begin_operator, end_operator, kPure},
    {"_operator", "sub", begin_operator, end_operator, kPure},
    {"_operator", "truediv", begin_operator, end_operator, kPure},
    {"_operator", "truth", begin_operator, end_operator, kPure},
    {"_operator", "xor", begin_operator, end_operator, kPure},
    {"builtins", "sum", begin_reduction, end_reduction, kFoldsNumbers, raised_below_reduction},
    {"builtins", "min", begin_extremum, end_extremum, kFoldsNumbers, raised_below_reduction,
     graph::NumberRecord::Op::Minimum},
    {"builtins", "max", begin_extremum, end_extremum, kFoldsNumbers, raised_below_reduction,
     graph::NumberRecord::Op::Maximum},
    {"builtins", "any", begin_reduction, end_reduction, kAsksTruth, raised_below_walk},
    {"builtins", "all", begin_reduction, end_reduction, kAsksTruth, raised_below_walk},
    {"builtins", "sorted", begin_sorted, end_walk, kLooksIn, raised_below_walk},
    {"_functools", "reduce", expose_all, end_walk, kLooksIn | kByFunction, raised_below_walk},
    {"math", "prod", begin_reduction, end_reduction, kFoldsNumbers, raised_below_reduction},
    {"math", "fsum", begin_reduction, end_reduction, kFoldsNumbers, raised_below_reduction},
    {"math", "sqrt", nullptr, end_pure, kPure, nullptr, graph::NumberRecord::Op::SquareRoot},
    {"math", nullptr, nullptr, end_pure, kPure},
    {"str", "join", begin_join, end_join, kFoldsNumbers, raised_below_walk},
    {"str", nullptr, nullptr, end_pure, kPure},
    {"bytes", nullptr, nullptr, end_pure, kPure},
    {"int", nullptr, nullptr, end_pure, kPure},
    {"float", nullptr, nullptr, end_pure, kPure},
    {"complex", nullptr, nullptr, end_pure, kPure},
    {"cmath", nullptr, nullptr, end_pure, kPure},
};

}  // namespace

ModelList pure_models() { return {models, std::size(models)}; }

}  // namespace terra::capture
