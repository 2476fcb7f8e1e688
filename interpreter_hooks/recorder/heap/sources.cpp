// Reads of the outside world: each is emitted once, classified as fact or input, and guarded accordingly.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/departures.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/region/phis.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace terra::capture {

namespace {

/// A path of this length or less is kept as it is. Those of a long list's nodes (head.next.next. ...) would take the
/// square of its length; of a longer one the ends are kept, and between them what tells it from all others.
constexpr size_t longest_path = 240, kept_end = 80;

std::string bounded(std::string path) {
  if (path.size() <= longest_path) return path;
  const auto inside_character = [&](size_t at) { return (static_cast<unsigned char>(path[at]) & 0xc0) == 0x80; };
  size_t head = kept_end, tail = path.size() - kept_end;
  while (inside_character(head)) --head;
  while (inside_character(tail)) ++tail;
  return fmt::format("{}~{:x}~{}", path.substr(0, head), std::hash<std::string>{}(path), path.substr(tail));
}

/// Only objects whose class was made at run time can, and modules.
bool can_get_another_class(PyObject* object) { return is_changeable(Py_TYPE(object)) || PyModule_Check(object); }

bool has_finalizer(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const bool of_c_code = !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE);
  return !of_c_code && (type->tp_del || (type->tp_finalize && !is_tensor(object)));
}

}  // namespace

PyObject* descriptor_of(PyObject* method) {
  PyObject* self = PyCFunction_Check(method) ? PyCFunction_GET_SELF(method) : nullptr;
  if (!self || PyModule_Check(self) || PyType_Check(self)) return nullptr;
  const PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(method)->m_ml;
  PyObject* name = PyUnicode_InternFromString(definition->ml_name);
  PyObject* found = name ? _PyType_Lookup(Py_TYPE(self), name) : nullptr;
  Py_XDECREF(name);
  bool same = found && Py_TYPE(found) == &PyMethodDescr_Type &&
              reinterpret_cast<PyMethodDescrObject*>(found)->d_method == definition;
  return same ? found : nullptr;
}

bool is_unchanging(PyObject* object) {
  return PyType_Check(object) || PyModule_Check(object) || (PyCFunction_Check(object) && !descriptor_of(object)) ||
         Py_TYPE(object) == &PyMethodDescr_Type || Py_TYPE(object) == &PyWrapperDescr_Type ||
         is_engine_constant(object) || is_enum_member(object);
}

PyObject* Recording::hold(PyObject* object) {
  held_.hold(object);
  return object;
}

PyObject* Recording::hold_new(PyObject* object) {
  held_.hold(object);
  Py_DECREF(object);
  return object;
}

Iterator* Recording::iterator_of(PyObject* object) {
  Shadow* known = find(object);
  return known ? known->iterator.get() : nullptr;
}

bool Recording::holds_alone(PyObject* object) const { return held_.times(object) == Py_REFCNT(object); }

void Recording::unhold(PyObject* object) {
  if (Py_REFCNT(object) >= 2) held_.let_go(object);
}

/// True: without the recording one of them would be gone by now.
bool Recording::delays_a_callback() const {
  return std::any_of(called_back_.begin(), called_back_.end(), [&](PyObject* o) { return holds_alone(o); });
}

Py_ssize_t Recording::times_held(PyObject* object) const { return held_.times(object); }

Shadow* Recording::peek(PyObject* object) {
  auto found = shadows_.find(object);
  return found == shadows_.end() ? nullptr : &found->second;
}

Shadow* Recording::find(PyObject* object) {
  Shadow* known = peek(object);
  if (known && known->grown != graph::kNoValue) loops_->asked(*known);
  return known;
}

Shadow& Recording::put(PyObject* object, Value self, bool outside, std::string path) {
  Shadow& shadow = shadows_[hold(object)];
  if (has_callbacks(object)) called_back_.push_back(object);
  shadow.self = self;
  shadow.self.object = object;
  shadow.outside = outside;
  shadow.path = bounded(std::move(path));
  return shadow;
}

Shadow& Recording::shadow(const Value& value) {
  if (Shadow* known = find(value.object)) return *known;
  Value self = value.known() ? value : Value::fact(value.object);
  return put(value.object, self, true, short_text(value.object));
}

Shadow& Recording::fresh(PyObject* object) {
  if (has_finalizer(object)) stop(Reason::Finalizer, Py_TYPE(object)->tp_name);
  special_methods(Py_TYPE(object));
  Shadow& shadow = put(object, Value::fresh(object), false, "");
  shadow.length_known = shadow.keys_known = shadow.typed = true;
  return shadow;
}

Value Recording::by_identity(PyObject* object) {
  Shadow* known = find(object);
  return known ? known->self : Value();
}

Value Recording::constant(PyObject* object) {
  if (is_atom(object) || is_unchanging(object)) return Value::fact(hold(object));
  if (Shadow* known = find(object)) {
    const Value self = known->self;
    if (self.has_register()) guard(Op::Is, self.reg, {word_of(file().watch(object))});
    return self;
  }
  return put(object, Value::fact(object), true, short_text(object)).self;
}

Register Recording::new_register(std::string name, bool owned, bool late) {
  if (file().full()) stop(Reason::TooLong, "registers");
  late_.push_back(late);
  return file().add(std::move(name), owned);
}

void Recording::guard(Op op, Register a, std::vector<Word> operands, Register b) {
  if (!alive_ || phis_->refuse(a) || phis_->refuse(b)) return;
  bool is_late = (a != no_register && late(a)) || (b != no_register && late(b));
  if (is_late) entry_->branches.push_back({.late = true, .at = static_cast<uint32_t>(entry_->late.end())});
  (is_late ? entry_->late : entry_->entry).emit(op, no_register, a, b, operands);
}

void Recording::guard_tensor(Register reg, PyObject* tensor, const std::string& path) {
  const TensorImpl& impl = *tensor_of(tensor);
  const FreeSizes free = speculation_.free_sizes(path, impl.sizes.size());
  auto* facts = file().keep(std::make_unique<TensorFacts>(impl, path, free));
  guard(Op::Tensor, reg, {word_of(facts), word_of(file().watch(Py_TYPE(tensor)))});
}

Value& Recording::local(ShadowFrame& f, int index) {
  Value& place = f.locals[static_cast<size_t>(index)];
  const bool unread = &f == frames_.front() && place.kind == Value::Unknown;
  if (unread && alive_ && in_the_middle_ && !place.object && !cuts_.arguments[static_cast<size_t>(index)].object)
    guard(Op::NoArgument, no_register, {static_cast<Word>(index)});
  if (!unread || !place.object || !alive_) return place;
  const std::string name = utf8_of(terra_code_slot_name(f.code, index));
  place = read(Op::Argument, no_register, {static_cast<Word>(index)}, place.object, name);
  if (!cuts_.arguments.empty()) cuts_.arguments[static_cast<size_t>(index)] = place;
  return place;
}

Register Recording::emit_read(Op op, Register a, Register b, const std::vector<Word>& operands, std::string name,
                              bool owned) {
  const Register reg = new_register(std::move(name), owned, false);
  if (alive_) entry_->entry.emit(op, reg, a, b, operands);
  return reg;
}

Value Recording::read(Op op, Register base, std::vector<Word> operands, PyObject* found, const std::string& path,
                      Register second) {
  return classify(emit_read(op, base, second, operands, path, false), found, path);
}

Register Recording::version_register(Register tensor) {
  return emit_read(Op::Version, tensor, no_register, {}, file().name(tensor) + "._version", true);
}

Register Recording::gradient_register(Register tensor, const std::string& name, bool unhooked) {
  return emit_read(Op::Gradient, tensor, no_register, {Word{unhooked}}, name + ".grad", true);
}

/// Whether the number at `path` is an input: known to differ between calls, or about to be replaced by the very code
/// that reads it, as counters are.
bool Recording::number_differs(const std::string& path, PyObject* number) {
  if (speculation_.relaxed(path) || speculation_.met(path, number)) return true;
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos || frames_.empty()) return false;
  const ShadowFrame& f = *frames_.back();
  auto [names, is_new] = stored_names_.try_emplace(f.code);
  for (int at = 0; is_new && at < terra_code_units(f.code); at = f.instructions[at].next) {
    const TerraInstruction& i = f.instructions[at];
    if (i.kind == TERRA_STORE_ATTR) names->second.insert(utf8_of(f.name(i.arg)));
  }
  return names->second.count(path.substr(dot + 1)) && speculation_.relax(path);
}

Value Recording::classify(Register reg, PyObject* object, const std::string& path) {
  if (!object) {
    stop(Reason::UnknownOrigin, path);
    return {};
  }
  PyTypeObject* type = Py_TYPE(object);
  auto guard_object = [&](Op op) { guard(op, reg, {word_of(file().keep(object))}); };
  if (is_atom(object)) {
    hold(object);
    if (is_number(object) && number_differs(path, object)) {
      guard(Op::Type, reg, {word_of(type)});
      return Value::dynamic(reg, object);
    }
    facts_[path] = object;
    bool by_address = object == Py_None || PyBool_Check(object) || object == Py_Ellipsis;
    guard_object(by_address ? Op::Is : Op::Equal);
    return Value::fact(object);
  }
  if (is_unchanging(object)) {
    guard(Op::Is, reg, {word_of(file().watch(object))});
    return Value::fact(hold(object));
  }
  if (Shadow* known = find(object)) {
    if (known->fresh()) {
      stop(Reason::UnknownOrigin,
           path + (is_tensor(object) ? " holds a tensor made inside" : " holds an object made inside"));
      return known->self;
    }
    guard(Op::Same, reg, {}, reg_of(known->self));
    return known->self;
  }
  if (has_finalizer(object)) {
    stop(Reason::Finalizer, type->tp_name);
    return Value::dynamic(reg, object);
  }
  Shadow& shadow = put(object, Value::dynamic(reg, object), true, path);
  shadow.typed = true;
  if (is_tensor(object)) {
    trace_->met(object);
    guard_tensor(reg, object, shadow.path);
  } else if (PyFunction_Check(object)) {
    guard_function(shadow.self);
  } else if (PyObject* descriptor = descriptor_of(object)) {
    guard(Op::CMethod, reg, {word_of(file().keep(descriptor))});
    Value receiver = read(Op::MethodPart, reg, {1}, PyCFunction_GET_SELF(object), path + ".__self__");
    Shadow& method = *find(object);
    method.receiver = receiver;
    return method.self;
  } else {
    guard(Op::Type, reg, {word_of(file().watch(type))});
  }
  return shadow.self;
}

PyObject* Recording::keep_globals(PyFunctionObject* function, const ShadowFrame* entering) {
  auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  Py_ssize_t known = 1 + static_cast<Py_ssize_t>(codes_.count(code));  // the function's, and that of the recording
  for (const ShadowFrame* frame : frames_) known += frame->code == code && frame != entering;
  known += entering && entering->code == code;
  return file().keep_globals(function, Py_REFCNT(code) == known);
}

void Recording::guard_function(const Value& value, const ShadowFrame* entering) {
  auto* function = reinterpret_cast<PyFunctionObject*>(value.object);
  Shadow* known = find(value.object);
  if (known && known->fresh()) return;  // made by MAKE_FUNCTION of code that is a fact
  if (!guarded_functions_.insert({value.object, function->func_code}).second) return;
  PyObject* globals = keep_globals(function, entering);
  guard(Op::Code, reg_of(value),
        {word_of(file().keep(function->func_code)), word_of(globals), word_of(file().keep(function->func_defaults)),
         word_of(file().keep(function->func_kwdefaults))});
}

/// A tuple whose contents are a fact, as those of keys are, is still an object of its own: the very one leaves.
const Value& Recording::leaving_as(const Value& value) {
  Shadow* known = materialising_ && value.is_fact() && is_value_tuple(value.object) ? peek(value.object) : nullptr;
  return known && known->self.known() ? known->self : value;
}

Register Recording::reg_of(const Value& meant) {
  const Value value = leaving_as(meant);
  if (value.has_register()) {
    trace_->sizes().need(value.reg);
    trace_->tensor_scalars().need(value.reg);
    return value.reg;
  }
  if (!value.known()) {
    stop(Reason::UnknownOrigin, "a value that leaves the frame");
    return -1;
  }
  if (value.is_fact()) {
    auto [place, is_new] = constants_.try_emplace(value.object, no_register);
    if (is_new) place->second = file().constant(value.object);
    return place->second;
  }
  Shadow* shadow = find(value.object);
  if (!shadow) {
    stop(Reason::UnknownOrigin, std::string("a fresh ") + Py_TYPE(value.object)->tp_name);
    return -1;
  }
  if (shadow->self.has_register()) return shadow->self.reg;
  if (shadow->self.is_fact()) return reg_of(shadow->self);
  return materialise(*shadow);
}

void Recording::pin(Value& value) {
  if (value.known() && !value.is_fact() && !value.has_register() &&
      (PySlice_Check(value.object) || PyRange_Check(value.object))) {
    for (Value& bound : shadow(value).items) pin(bound);  // made inside, of numbers
    value = Value::fact(value.object);
    return;
  }
  if (!value.has_register() || !is_atom(value.object) || phis_->refuse(value.reg)) return;
  if (restless_.count(value.reg)) return stop(Reason::UnmodelledCall, "a clock whose number is used as a constant");
  if (pinned_.insert(value.reg).second) {
    recorder_stats().pins++;
    if (!trace_->sizes().fix(value) && !trace_->tensor_scalars().fix(value))
      guard(Op::Pinned, reg_of(value), {word_of(file().keep(value.object))});
  }
  value = Value::fact(value.object);
}

void Recording::pin_deep(Value& value, int depth) {
  pin(value);
  if (depth > 4 || !value.known() || value.is_fact()) return;
  Shadow* shadow = find(value.object);
  if (!shadow || shadow->outside) return;
  for (Value& item : shadow->items) pin_deep(item, depth + 1);
  for (auto& entry : shadow->entries) pin_deep(entry.value, depth + 1);
  if (shadow->iterator) {
    for (Value& child : shadow->iterator->children) pin_deep(child, depth + 1);
  }
}

bool Recording::read_deep(Value& value, int depth) {
  pin(value);
  if (!value.known() || depth > 4) return false;
  PyObject* object = value.object;
  if (Shadow* made = PyExceptionInstance_Check(object) ? find(object) : nullptr; made && made->fresh()) {
    special_methods(Py_TYPE(object));
    for (Value& argument : exception_arguments(*made)) {
      if (!read_deep(argument, depth + 1)) return false;
    }
    return alive_;
  }
  if (is_atom(object) || is_tensor(object) || is_unchanging(object) || PyFunction_Check(object)) return true;
  if (is_sequence(object)) {
    for (Value& item : items(value)) {
      if (!read_deep(item, depth + 1)) return false;
      pin(item);
    }
    return alive_;
  }
  if (is_dict(object)) {
    know_keys(value);
    for (Value& key : elements(value)) {
      Value item = dict_item(value, key);
      if (!read_deep(item, depth + 1)) return false;
    }
    return alive_;
  }
  if (is_set(object)) {
    know_keys(value);
    return alive_;
  }
  return false;
}

void Recording::guard_type(PyObject* object) {
  Shadow& known = shadow(Value::fact(object));
  if (known.typed || known.fresh()) return;
  known.typed = true;
  const Word type = word_of(file().watch(Py_TYPE(object)));
  if (!known.self.is_fact()) return guard(Op::Type, reg_of(known.self), {type});
  if (can_get_another_class(object)) guard(Op::TypeOf, no_register, {word_of(file().watch(object)), type});
}

ClassFacts& Recording::class_facts(PyTypeObject* type) {
  ClassFacts*& facts = classes_[type];
  if (!facts) {
    facts = file().keep(std::make_unique<ClassFacts>(type));
    if (!facts->version) stop(Reason::UnmodelledAttribute, std::string(type->tp_name) + " has no version tag");
    guard(Op::Class, no_register, {word_of(facts)});
  }
  return *facts;
}

PyObject* Recording::look_up(PyTypeObject* type, PyObject* name) {
  PyObject* found = _PyType_Lookup(type, name);
  if (is_changeable(type)) class_facts(type).note(name, found ? file().watch(found) : nullptr);
  return found;
}

Value Recording::host(Op op, Register a, Register b, std::vector<Word> operands, PyObject* result,
                      const std::vector<Value>& in) {
  bool is_late = false;
  for (const Value& value : in) is_late = is_late || (value.has_register() && late(value.reg));
  // The same sum again, as loops do it, is the number that is there already. What is drawn is another one each time.
  std::vector<Word> key = operands;
  key.insert(key.end(), {static_cast<Word>(static_cast<uint16_t>(a)), static_cast<Word>(static_cast<uint16_t>(b))});
  const bool is_chosen = std::any_of(in.begin(), in.end(), [&](const Value& v) { return phis_->is_chosen(v); });
  const bool repeatable = !is_late && !is_chosen && op != Op::Draw;
  if (auto known = computed_.find({op, key}); repeatable && known != computed_.end())
    return Value::dynamic(known->second, hold(result));
  Register dst = new_register("", true, is_late);
  if (!is_late && is_chosen) phis_->computed(dst, entry_->entry.end(), in);
  if (std::any_of(in.begin(), in.end(), [&](const Value& v) { return restless_.count(v.reg) != 0; }))
    restless_.insert(dst);
  if (alive_) (is_late ? entry_->late : entry_->entry).emit(op, dst, a, b, operands);
  if (is_late) trace_->sizes().derived(dst, in);
  if (repeatable) computed_.emplace(std::pair{op, std::move(key)}, dst);
  return Value::dynamic(dst, hold(result));
}

Value Recording::restless_number(PyObject* callee, PyObject* result) {
  const std::vector<Word> words = call_operands(file(), callee, {});
  const Register dst = emit_read(Op::Call, no_register, no_register, words, short_text(callee), true);
  restless_.insert(dst);
  return Value::dynamic(dst, hold(result));
}

void Recording::truth(Value& value) {
  PyObject* object = value.object;
  if (!value.known()) return;
  if (value.is_fact() && (is_atom(object) || is_unchanging(object))) return;
  if (is_atom(object)) {
    if (PySlice_Check(object)) return;
    if (trace_->tensor_scalars().decide(value)) return;
    Value number = trace_->sizes().truth(value);
    if (trace_->sizes().fix(number) || !decided_.insert(value.reg).second) return;
    guard(Op::Truth, reg_of(value), {static_cast<Word>(PyObject_IsTrue(object))});
    loops_->decided();
  } else if (is_sequence(object)) {
    Value number = length(value);
    number.known() ? truth(number) : know_length(value);
  } else if (is_dict(object) || is_set(object)) {
    know_keys(value);
  } else if (!is_tensor(object)) {  // a tensor reports its own truth
    static PyObject* names[] = {PyUnicode_InternFromString("__bool__"), PyUnicode_InternFromString("__len__")};
    guard_type(object);
    for (PyObject* name : names) {
      PyObject* found = look_up(Py_TYPE(object), name);
      if (found && !PyFunction_Check(found))
        stop(Reason::UnmodelledOperator, "bool of a " + std::string(Py_TYPE(object)->tp_name));
    }
  }
}

}  // namespace terra::capture
