#include "interpreter_hooks/recorder/trace/builder.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/recorder/calls/recursion.h"
#include "interpreter_hooks/recorder/core/lines.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/region/phis.h"
#include "interpreter_hooks/recorder/region/program_state.h"

#include "engine/eager/value_dependent.h"
#include "engine/errors/errors.h"
#include "engine/ops/index.h"
#include "interpreter_hooks/bindings/autograd/saved_tensors.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/guards/departures.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/trace/ids.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace terra::capture {

using graph::kNoValue;
using graph::TraceArg;
using graph::TraceId;

namespace {

/// Asserts of one trace beyond which places aren't compared any more: rounds of a loop, most likely.
constexpr uint32_t most_marks = 64;

PyObject* object_behind(const Tensor& tensor) { return static_cast<PyObject*>(tensor->owner); }

}  // namespace

TraceBuilder::TraceBuilder(Recording& recording)
    : r_(recording), reports_(recording, *this), sizes_(recording, *this), tensor_scalars_(recording, *this) {}
TraceBuilder::~TraceBuilder() { detach(); }

void TraceBuilder::begin() {
  mode_ = engine_mode();
  first_node_ = autograd::reserve_sequence();
  trace_.modes = gradient_modes();
  trace_.name = utf8_of(r_.root().code->co_qualname);
  before_ = hooks::op_observer();
  element_sizes_ = eager::value_dependent_calls();
  hooks::op_observer() = &reports_;
  attached_ = true;
  if (mode_ & device_mode) r_.stop(Reason::TensorOpaque, "the default device isn't the CPU");
  if (hooks::saved_tensors_are_packed()) r_.stop(Reason::GradientState, "hooks of saved tensors are in force");
}

void TraceBuilder::detach() {
  if (!attached_) return;
  attached_ = false;
  if (hooks::op_observer() == &reports_) hooks::op_observer() = before_;
}

bool TraceBuilder::listening() { return attached_ && r_.alive(); }

bool TraceBuilder::take_report() {
  if (!listening()) return false;
  pending()->reported = true;
  return true;
}

Pending* TraceBuilder::pending() { return r_.top() ? &r_.top()->pending : nullptr; }

void TraceBuilder::record(decltype(graph::TraceRecord::what) what) {
  if (std::holds_alternative<graph::CallRecord>(what)) worth_++;
  if (std::holds_alternative<graph::BackwardRecord>(what)) worth_ += least_calls_before_cut;
  auto& records = open_runs_.empty() ? trace_.records : open_runs_.back()->records;
  records.push_back(at_this_line({std::move(what), {}, 0}));
}

graph::TraceRecord TraceBuilder::at_this_line(graph::TraceRecord record) const {
  ShadowFrame& f = *r_.top();
  record.file = utf8_of(f.code->co_filename);
  record.line = line_of(f);
  return record;
}

std::string TraceBuilder::place(const terra::Op& op, const std::string& file, int line) {
  return std::string(op.name) + " at " + file + ":" + std::to_string(line);
}

/// Earlier the graph refused numbers as inputs of this call.
bool TraceBuilder::is_constant_here(const terra::Op& op) {
  if (!r_.speculation().insists()) return false;
  const graph::TraceRecord here = at_this_line({});
  return r_.speculation().insisted(place(op, here.file, here.line));
}

// ---- values ----

void TraceBuilder::met(PyObject* tensor) {
  Tensor gradient = gradient_of(*tensor_of(tensor));
  auto* object = gradient.defined() ? static_cast<PyObject*>(gradient->owner) : nullptr;
  if (object && !goes_quietly(object)) return r_.stop(Reason::Finalizer, "of a gradient");
  first_gradients_.try_emplace(tensor, std::move(gradient));
  first_storages_.try_emplace(tensor, tensor_of(tensor)->storage);
  if (const Storage* storage = tensor_of(tensor)->storage.get())
    storages_.try_emplace(storage, Met{tensor, storage->version()});
}

TraceId TraceBuilder::make_input(Shadow& shadow) {
  PyObject* object = shadow.self.object;
  const TensorImpl& tensor = *tensor_of(object);
  if (!is_plain_tensor(object)) {
    r_.stop(Reason::TensorOpaque, std::string("a subclass of Tensor: ") + Py_TYPE(object)->tp_name);
    return kNoValue;
  }
  if (!tensor.storage || tensor.device.is_meta()) {
    r_.stop(Reason::TensorOpaque, "a tensor without memory");
    return kNoValue;
  }
  if (tensor.requires_grad() && !tensor.wants_grad) {
    r_.stop(Reason::GradientState, "a view of what requires grad that no gradient reaches");
    return kNoValue;
  }
  if (shadow.self.is_fact()) {  // reached through a constant: its metadata can change all the same
    r_.guard_tensor(r_.reg_of(shadow.self), object, shadow.path);
    met(object);
  }
  graph::TraceInput input;
  input.kind = graph::TraceInput::Kind::Tensor;
  input.name = shadow.path;
  input.meta = {tensor.dtype, tensor.sizes, tensor.wrapped_number, tensor.device};
  input.strides = tensor.strides;
  input.offset = tensor.offset;
  input.requires_grad = tensor.requires_grad();
  input.is_leaf = is_leaf(tensor);
  input.is_inference = tensor.is_inference();
  input.free_sizes = r_.speculation().free_sizes(shadow.path, tensor.sizes.size()) != 0;
  shadow.trace_id = first_input + static_cast<TraceId>(inputs_.size());
  if (input.free_sizes) varying_.insert(shadow.trace_id);
  inputs_.push_back({object, r_.reg_of(shadow.self), std::move(input)});
  return shadow.trace_id;
}

TraceId TraceBuilder::id_of(PyObject* tensor) {
  if (!tensor || tensor == Py_None) return kNoValue;
  Shadow* shadow = r_.find(tensor);
  if (!shadow) {
    r_.stop(Reason::UnknownOrigin, "a tensor");
    return kNoValue;
  }
  if (const auto closed = closed_.find(shadow->trace_id); closed != closed_.end()) {
    r_.stop(Reason::GradientState, closed->second);
    return kNoValue;
  }
  return shadow->trace_id != kNoValue ? shadow->trace_id : make_input(*shadow);
}

TraceId TraceBuilder::id_of(const Tensor& tensor) {
  if (!tensor.defined()) return kNoValue;
  if (!tensor->owner) {
    r_.stop(Reason::UnknownOrigin, "a tensor that Python has never seen");
    return kNoValue;
  }
  return id_of(object_behind(tensor));
}

TraceId TraceBuilder::scalar_input(const Value& value) {
  if (auto known = scalar_ids_.find(value.reg); known != scalar_ids_.end()) return known->second;
  if (r_.late(value.reg)) {
    r_.stop(Reason::ScalarFromTensor);
    return kNoValue;
  }
  r_.reg_of(value);
  graph::TraceInput input;
  input.kind = graph::TraceInput::Kind::Scalar;
  input.name = r_.file().name(value.reg);
  input.scalar_kind = PyFloat_CheckExact(value.object) ? terra::Scalar::Kind::Float : terra::Scalar::Kind::Int;
  input.value = PyFloat_CheckExact(value.object) ? terra::Scalar(PyFloat_AS_DOUBLE(value.object))
                                                 : terra::Scalar(static_cast<int64_t>(PyLong_AsLongLong(value.object)));
  if (PyErr_Occurred()) {
    PyErr_Clear();
    r_.stop(Reason::TensorOpaque, "an int of more than 64 bits");
  }
  TraceId id = first_scalar + static_cast<TraceId>(scalars_.size());
  scalars_.push_back({value.reg, std::move(input)});
  return scalar_ids_[value.reg] = id;
}

/// Slices from outside are known as a whole: their bounds are constants.
static bool is_bound_of(PyObject* number, PyObject* object) {
  if (!PySlice_Check(object)) return false;
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  return slice->start == number || slice->stop == number || slice->step == number;
}

/// Items of containers count as operands: the parts of an index, of a slice.
void TraceBuilder::find_number(std::vector<Value>& values, PyObject* object, std::vector<Value*>& found, int depth) {
  for (Value& value : values) {
    if (!value.known()) continue;
    if (value.object == object) found.push_back(&value);
    Shadow* known = depth < 3 && !is_tensor(value.object) ? r_.find(value.object) : nullptr;
    if (known && (known->fresh() || is_sequence(value.object))) {
      find_number(known->items, object, found, depth + 1);
    } else if (is_bound_of(object, value.object)) {
      bound_ = Value::fact(object);
      found.push_back(&bound_);
    }
  }
}

/// The number among the operands of the open instruction that `object` is, or the list of them. Two operands that are
/// the same object by chance but of different origin make both facts.
const Value* TraceBuilder::scalar_source(PyObject* object) {
  std::vector<Value*> found;
  Pending& open = *pending();
  for (auto* list : {&open.in, &open.call.positional, &open.call.keyword_values}) find_number(*list, object, found, 0);
  if (found.empty()) return nullptr;
  bool same = std::all_of(found.begin(), found.end(),
                          [&](Value* v) { return v->kind == found[0]->kind && v->reg == found[0]->reg; });
  if (!same) {
    for (Value* value : found) r_.pin(*value);
  }
  return found[0];
}

TraceArg TraceBuilder::argument(const hooks::CallReport& report, size_t index, bool constant, std::vector<Used>& used) {
  const Arg& arg = report.args[index];
  TraceArg out;
  switch (arg.kind()) {
    case Arg::Kind::Tensor:
      out.kind = TraceArg::Kind::Value;
      out.value = id_of(arg.tensor());
      return out;
    case Arg::Kind::TensorList:
      out.kind = TraceArg::Kind::ValueList;
      for (const Tensor& tensor : arg.tensors()) out.list.push_back(id_of(tensor));
      if (Shadow* list = index < report.sources.size() ? r_.peek(report.sources[index]) : nullptr;
          list && list->items.size() == out.list.size()) {
        out.grown = list->grown;
        r_.loops().taken(list->self.object);
      }
      return out;
    case Arg::Kind::Generator: r_.stop(Reason::TensorOpaque, "a generator argument"); return out;
    case Arg::Kind::Scalar:
      if (number_argument(report, index, constant, used, out)) return out;
      break;
    case Arg::Kind::IntList:
      if (list_argument(report, index, used, out)) return out;
      break;
    default: break;
  }
  out.constant = OwnedArgs(std::span<const Arg>(&arg, 1));
  return out;
}

bool TraceBuilder::is_index(const Pending& open) {
  return (open.kind == TERRA_BINARY_SUBSCR || open.kind == TERRA_STORE_SUBSCR) && open.returns.empty();
}

/// Numbers that the call used otherwise than its record says are facts.
void TraceBuilder::pin_operands(const std::vector<Used>& used) {
  Pending& open = *pending();
  for (auto* list : {&open.in, &open.call.positional, &open.call.keyword_values}) {
    for (Value& value : *list) pin_unused(value, used, 0);
  }
}

/// True and False of numpy are one of a kind.
static bool is_numpy_bool(PyObject* object) {
  return std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.bool");
}

void TraceBuilder::pin_unused(Value& value, const std::vector<Used>& used, int depth) {
  const bool taken = std::any_of(used.begin(), used.end(), [&](const Used& u) {
    return u.object == value.object && (u.reg == no_register || u.reg == value.reg);
  });
  if (taken || !value.known() || is_tensor(value.object)) return;
  // A subclass in Python that looks its items up itself: the engine reads them past it.
  if ((PyList_Check(value.object) || PyTuple_Check(value.object)) && !is_sequence(value.object))
    return r_.stop(Reason::UnmodelledCall,
                   std::string("a call of the engine with a ") + Py_TYPE(value.object)->tp_name);
  if (value.has_register() && !is_atom(value.object)) {
    if (Value number = r_.number_behind(value); number.known()) return r_.pin(number);
    if (PyUnicode_Check(value.object) || is_numpy_bool(value.object))
      return r_.guard(Op::Is, value.reg, {word_of(r_.file().keep(value.object))});
  }
  const bool in_a_run = value.is_fact() || value.has_register();
  Shadow* known = !in_a_run || is_sequence(value.object) ? r_.find(value.object) : nullptr;
  if (known && known->outside && pending()->call.kind == CallSite::Engine) r_.items(value);  // it is taken apart
  if (!known || known->items.empty() || depth > 3) return r_.pin_deep(value);
  for (Value& item : known->items) pin_unused(item, used, depth + 1);
}

Register TraceBuilder::output(Shadow& tensor) {
  if (tensor.trace_id == kNoValue) {
    r_.stop(Reason::UnknownOrigin, "a tensor that leaves the frame");
    return -1;
  }
  if (without_history_.count(tensor.trace_id)) {
    r_.stop(Reason::GradientState, "a saved result of an autograd.Function that leaves the frame");
    return -1;
  }
  Register reg = r_.new_register("", true, true);
  outputs_.push_back({tensor.trace_id, reg});
  return reg;
}

void TraceBuilder::settle(ShadowFrame& frame) {
  r_.loops().settle();
  if (index_open_) {
    index_open_ = false;
    pin_operands(used_);
    used_.clear();
  }
  if (items_.empty()) return;
  auto items = std::move(items_);
  items_.clear();
  const bool formats = frame.pending.kind == TERRA_FORMAT_VALUE;  // f"{loss:.3f}" takes it as it is
  for (auto& [object, value] : items) {
    bool result = !frame.stack.empty() && frame.top().has_register() && frame.top().reg == value.reg;
    if (!result && !(formats && frame.pending.extra.reg == value.reg)) r_.pin(value);
  }
}

// ---- reports ----

/// Whether the call wrote to something that gradients are asked of.
static bool changes_history(const hooks::CallReport& report) {
  const auto asks = [](const Tensor& t) { return t.defined() && t.requires_grad(); };
  if (report.in_place) return std::any_of(report.results.begin(), report.results.end(), asks);
  for (size_t i = 0; i < report.args.size(); i++) {
    if (!(report.op->writes >> i & 1)) continue;
    const Arg& arg = report.args[i];
    if (arg.kind() == Arg::Kind::Tensor && asks(arg.tensor())) return true;
    if (arg.kind() == Arg::Kind::TensorList && std::any_of(arg.tensors().begin(), arg.tensors().end(), asks))
      return true;
  }
  return false;
}

namespace {

/// From the first byte of a tensor's elements to behind the last one.
struct Extent {
  const char *begin, *end;
  bool written;
};

Extent extent_of(const TensorImpl& t, bool written) {
  int64_t last = 0;
  for (size_t d = 0; d < t.sizes.size(); d++) last += (t.sizes[d] - 1) * t.strides[d];
  const auto* begin = static_cast<const char*>(t.data());
  return {begin, begin + (last + 1) * static_cast<int64_t>(size_of(t.dtype)), written};
}

/// Whether an op that writes to lists of tensors got the same memory twice: it does one tensor after the other, and a
/// graph all at once.
bool writes_twice(const hooks::CallReport& report) {
  std::vector<Extent> all;
  bool lists = false;
  for (size_t i = 0; i < report.args.size(); i++) {
    const Arg& arg = report.args[i];
    const bool writes = report.op->writes >> i & 1, list = arg.kind() == Arg::Kind::TensorList;
    lists = lists || (list && writes);
    const auto add = [&](const Tensor& t) {
      if (t.defined() && t->storage.get() && t->numel) all.push_back(extent_of(*t, writes));
    };
    if (arg.kind() == Arg::Kind::Tensor) add(arg.tensor());
    if (list) std::for_each(arg.tensors().begin(), arg.tensors().end(), add);
  }
  if (!lists) return false;
  std::sort(all.begin(), all.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  const Extent *read = nullptr, *written = nullptr;  // that reach farthest
  for (const Extent& now : all) {
    if ((written && written->end > now.begin) || (now.written && read && read->end > now.begin)) return true;
    const Extent*& farthest = now.written ? written : read;
    if (!farthest || farthest->end < now.end) farthest = &now;
  }
  return false;
}

}  // namespace

void TraceBuilder::on_call(const hooks::CallReport& report) {
  if (!take_report()) return;
  shed_what_has_grown();
  Pending& open = *pending();
  const auto& params = report.op->sig().params;
  if (eager::value_dependent_calls() != element_sizes_) {
    return r_.stop(Reason::TensorOpaque, std::string(report.op->name) + "(): its sizes depend on element values");
  }
  const auto is_on_meta = [](const Tensor& t) { return t.defined() && t.device().is_meta(); };
  if (std::any_of(report.results.begin(), report.results.end(), is_on_meta))
    return r_.stop(Reason::TensorOpaque, "a tensor without memory");
  if (report.op->writes && writes_twice(report))
    return r_.stop(Reason::TensorOpaque, std::string(report.op->name) + "(): some of its tensors share memory");
  if (ops::is_sparse_look_up(*report.op, report.args) && (engine_mode() & 1)) {
    if (!is_recursive(r_.root().code)) return r_.stop(Reason::GradientState, "an embedding whose gradient is sparse");
    sparse_gradients_ = true;
  }
  graph::CallRecord call;
  call.op = report.op;
  call.in_place = report.in_place;
  const bool constant = is_constant_here(*report.op);
  // The parts of an index report themselves one by one, each number with its source.
  index_open_ = is_index(open);
  std::vector<Used> own;
  std::vector<Used>& used = index_open_ ? used_ : own;
  for (size_t i = 0; i < params.size() && i < report.args.size() && r_.alive(); i++) {
    call.args.push_back(argument(report, i, constant, used));
  }
  if (!r_.alive()) return;
  if (!index_open_) pin_operands(used);
  exact_offsets_ = exact_offsets_ || report.op->name == "as_strided";
  writes_ = writes_ || report.in_place || report.op->writes;
  if (report.in_place && (engine_mode() & 1)) written_.insert(report.results[0]->storage.get());
  if (links_ && changes_history(report)) return refuse_behind_functions();
  for (const Tensor& result : report.results) {
    PyObject* object = result.defined() ? object_behind(result) : nullptr;
    Shadow* known = object ? r_.find(object) : nullptr;
    if (report.in_place) {
      call.results.push_back(id_of(result));
    } else if (known) {
      call.results.push_back(kNoValue);  // an argument handed through, or written by the op
    } else {
      call.results.push_back(new_value());
      if (object) r_.put(object, Value::fresh(object), false, "").trace_id = call.results.back();
    }
  }
  const bool varying = results_vary(call);
  if (varying) {
    for (size_t i = 0; i < call.results.size(); i++) {
      const Tensor& result = report.results[i];
      if (call.results[i] != kNoValue) varying_.insert(call.results[i]);
      if (report.in_place) continue;
      graph::ResultFact& fact = call.facts.emplace_back();
      if (!result.defined()) continue;
      fact.rank = result.sizes().size();
      fact.dtype = result.dtype();
      if (call.results[i] == kNoValue) fact.same_as = id_of(result);
    }
  }
  if (!varying) {
    for (TraceId id : call.results) steady_.insert(id);
  }
  if (report.in_place && report.op->is(kView)) moved_.insert(call.results[0]);
  record(std::move(call));
}

void TraceBuilder::on_item(PyObject* tensor, PyObject* value) {
  if (!take_report()) return;
  if (PyComplex_Check(value)) return void(r_.stop(Reason::TensorOpaque, "a complex number"));
  if (hooks::impl_of(tensor)->dtype == DType::U64)
    return void(r_.stop(Reason::TensorOpaque, "an int of 64 bits without sign"));
  graph::ItemRecord item;
  item.tensor = id_of(tensor);
  item.result = new_value();
  item.kind = PyBool_Check(value)         ? terra::Scalar::Kind::Bool
              : PyFloat_CheckExact(value) ? terra::Scalar::Kind::Float
                                          : terra::Scalar::Kind::Int;
  if (!r_.alive()) return;
  const Value result = tensor_scalars_.item(item.result, value);
  scalar_ids_[result.reg] = item.result;
  pending()->extra = result;
  items_.push_back({value, result});
  record(item);
}

void TraceBuilder::on_truth(PyObject* tensor, bool value) {
  if (!take_report()) return;
  pending()->extra = Value::fact(value ? Py_True : Py_False);
  const TraceId id = id_of(tensor);
  if (r_.alive()) assert_truth(id, value);
}

void TraceBuilder::assert_truth(TraceId id, bool value) {
  r_.entry_being_made().branches.push_back({.expected = value, .at = asserts_++});
  graph::TraceMark& mark = trace_.marks.emplace_back();
  bool first = false;
  if (asserts_ <= most_marks && open_runs_.empty()) {
    first = r_.phis().at_branch();
    ProgramState state = ProgramStateReader(r_, 0).read_to_last();
    r_.phis().noted(&state);
    if (state.readable && first) mark = {std::move(state.words), std::move(state.values)};
  } else {
    first = !r_.phis().asked_before() && open_runs_.empty();
    r_.phis().noted(nullptr);
  }
  r_.loops().asks(value, first);
  record(graph::AssertRecord{id, value});
  r_.loops().decided_by_value();
}

void TraceBuilder::on_opaque(const char* what, PyObject*) {
  if (!listening()) return;
  static constexpr std::string_view shared[] = {"numpy()", "from_numpy()", "data_ptr", "storage"};
  const bool shares = std::find(std::begin(shared), std::end(shared), what) != std::end(shared);
  r_.stop(shares ? Reason::Exported : Reason::TensorOpaque, what);
}

}  // namespace terra::capture
