#include "interpreter_hooks/recorder/trace_builder.h"
#include "interpreter_hooks/recorder/own_time.h"

#include "engine/errors/errors.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/trace_ids.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

using graph::kNoValue;
using graph::TraceArg;
using graph::TraceId;

namespace {

PyObject* object_behind(const Tensor& tensor) { return static_cast<PyObject*>(tensor->owner); }

}  // namespace

TraceBuilder::TraceBuilder(Recording& recording) : r_(recording) {}
TraceBuilder::~TraceBuilder() { detach(); }

void TraceBuilder::begin() {
  trace_.grad_enabled = engine_mode() & 1;
  trace_.name = PyUnicode_AsUTF8(r_.root().code->co_qualname);
  before_ = hooks::op_observer();
  hooks::op_observer() = this;
  attached_ = true;
}

void TraceBuilder::detach() {
  if (!attached_) return;
  attached_ = false;
  if (hooks::op_observer() == this) hooks::op_observer() = before_;
}

bool TraceBuilder::listening() { return attached_ && r_.alive(); }

Pending* TraceBuilder::pending() { return r_.top() ? &r_.top()->pending : nullptr; }

void TraceBuilder::record(decltype(graph::TraceRecord::what) what) {
  auto& records = open_runs_.empty() ? trace_.records : open_runs_.back()->records;
  records.push_back(at_this_line({std::move(what), {}, 0}));
}

graph::TraceRecord TraceBuilder::at_this_line(graph::TraceRecord record) const {
  ShadowFrame& f = *r_.top();
  record.file = utf8_of(f.code->co_filename);
  record.line = PyCode_Addr2Line(f.code, f.pending.offset * static_cast<int>(sizeof(_Py_CODEUNIT)));
  return record;
}

std::string TraceBuilder::place(const graph::TraceRecord& record) {
  return std::string(std::get<graph::CallRecord>(record.what).op->name) + " at " + record.file + ":" +
         std::to_string(record.line);
}

/// Earlier the graph refused numbers as inputs of this call.
bool TraceBuilder::is_constant_here(const terra::Op& op) {
  if (!r_.relaxation().insists()) return false;
  graph::CallRecord call;
  call.op = &op;
  return r_.relaxation().insisted(place(at_this_line({std::move(call), {}, 0})));
}

// ---- values ----

void TraceBuilder::met(PyObject* tensor) {
  first_gradients_.try_emplace(tensor, gradient_of(*tensor_of(tensor)));
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
  if (!tensor.storage) {
    r_.stop(Reason::TensorOpaque, "a tensor without memory");
    return kNoValue;
  }
  if (shadow.self.is_fact()) {  // reached through a constant: its metadata can change all the same
    auto* facts = r_.file().keep(std::make_unique<TensorFacts>(tensor));
    r_.guard(Op::Tensor, r_.reg_of(shadow.self), {word_of(facts), word_of(r_.file().keep(Py_TYPE(object)))});
    met(object);
  }
  graph::TraceInput input;
  input.kind = graph::TraceInput::Kind::Tensor;
  input.name = shadow.path;
  input.meta = {tensor.dtype, tensor.sizes, tensor.wrapped_number};
  input.strides = tensor.strides;
  input.offset = tensor.offset;
  input.requires_grad = tensor.requires_grad;
  input.is_leaf = is_leaf(tensor);
  shadow.trace_id = first_input + static_cast<TraceId>(inputs_.size());
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
  graph::TraceInput input;
  input.kind = graph::TraceInput::Kind::Scalar;
  input.name = r_.file().name(value.reg);
  input.scalar_kind = PyFloat_CheckExact(value.object) ? terra::Scalar::Kind::Float : terra::Scalar::Kind::Int;
  TraceId id = first_scalar + static_cast<TraceId>(scalars_.size());
  scalars_.push_back({value.reg, std::move(input)});
  return scalar_ids_[value.reg] = id;
}

/// The number among the operands of the open instruction that `object` is. Two operands that are the same object by
/// chance but of different origin make both facts.
const Value* TraceBuilder::scalar_source(PyObject* object) {
  std::vector<Value*> found;
  Pending& open = *pending();
  for (auto* list : {&open.in, &open.call.positional, &open.call.keyword_values}) {
    for (Value& value : *list) {
      if (value.object == object && value.known()) found.push_back(&value);
    }
  }
  if (found.empty()) return nullptr;
  bool same = std::all_of(found.begin(), found.end(),
                          [&](Value* v) { return v->kind == found[0]->kind && v->reg == found[0]->reg; });
  if (!same) {
    for (Value* value : found) r_.pin(*value);
  }
  return found[0];
}

TraceArg TraceBuilder::argument(const Param& param, const Arg& arg, PyObject* source, std::vector<PyObject*>& used) {
  TraceArg out;
  switch (arg.kind()) {
    case Arg::Kind::Tensor:
      out.kind = TraceArg::Kind::Value;
      out.value = id_of(arg.tensor());
      return out;
    case Arg::Kind::TensorList:
      out.kind = TraceArg::Kind::ValueList;
      for (const Tensor& tensor : arg.tensors()) out.list.push_back(id_of(tensor));
      return out;
    case Arg::Kind::Generator: r_.stop(Reason::TensorOpaque, "a generator argument"); return out;
    case Arg::Kind::Scalar: {
      bool number =
          param.type == ParamType::Number || param.type == ParamType::TensorOrNumber || param.type == ParamType::Float;
      const Value* value = number && source && is_number(source) ? scalar_source(source) : nullptr;
      if (value && value->has_register()) {
        out.kind = TraceArg::Kind::Value;
        out.value = scalar_input(*value);
        used.push_back(source);
        return out;
      }
      break;
    }
    default: break;
  }
  out.constant = OwnedArgs(std::span<const Arg>(&arg, 1));
  return out;
}

/// Numbers that the call used otherwise than as Number arguments (sizes, dims, items of tuples) are facts.
void TraceBuilder::pin_operands(const std::vector<PyObject*>& used) {
  Pending& open = *pending();
  for (auto* list : {&open.in, &open.call.positional, &open.call.keyword_values}) {
    for (Value& value : *list) {
      bool taken = std::find(used.begin(), used.end(), value.object) != used.end();
      if (!taken && value.known() && !is_tensor(value.object)) r_.pin_deep(value);
    }
  }
}

Register TraceBuilder::output(Shadow& tensor) {
  if (tensor.trace_id == kNoValue) {
    r_.stop(Reason::UnknownOrigin, "a tensor that leaves the frame");
    return -1;
  }
  Register reg = r_.new_register("", true, true);
  outputs_.push_back({tensor.trace_id, reg});
  return reg;
}

void TraceBuilder::settle(ShadowFrame& frame) {
  if (items_.empty()) return;
  auto items = std::move(items_);
  items_.clear();
  for (auto& [object, value] : items) {
    bool result = !frame.stack.empty() && frame.top().has_register() && frame.top().reg == value.reg;
    if (!result) r_.pin(value);
  }
}

// ---- reports ----

void TraceBuilder::on_call(const hooks::CallReport& report) {
  if (!listening()) return;
  const OwnTime time(r_.own_ms());
  Pending& open = *pending();
  open.reported = true;
  const auto& params = report.op->sig().params;
  graph::CallRecord call;
  call.op = report.op;
  call.in_place = report.in_place;
  std::vector<PyObject*> used;
  const bool constant = is_constant_here(*report.op);
  for (size_t i = 0; i < params.size() && i < report.args.size() && r_.alive(); i++) {
    PyObject* source = i < report.sources.size() && !constant ? report.sources[i] : nullptr;
    call.args.push_back(argument(params[i], report.args[i], source, used));
  }
  if (!r_.alive()) return;
  pin_operands(used);
  writes_ = writes_ || report.in_place || report.op->writes;
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
  record(std::move(call));
}

void TraceBuilder::on_item(PyObject* tensor, PyObject* value) {
  if (!listening()) return;
  pending()->reported = true;
  graph::ItemRecord item;
  item.tensor = id_of(tensor);
  item.result = new_value();
  item.kind = PyBool_Check(value)         ? terra::Scalar::Kind::Bool
              : PyFloat_CheckExact(value) ? terra::Scalar::Kind::Float
                                          : terra::Scalar::Kind::Int;
  if (!r_.alive()) return;
  Register reg = r_.new_register("", true, true);
  scalar_ids_[reg] = item.result;
  outputs_.push_back({item.result, reg});
  Value result = Value::dynamic(reg, r_.hold(value));
  pending()->extra = result;
  items_.push_back({value, result});
  record(item);
}

void TraceBuilder::on_truth(PyObject* tensor, bool value) {
  if (!listening()) return;
  pending()->reported = true;
  pending()->extra = Value::fact(value ? Py_True : Py_False);
  graph::AssertRecord truth{id_of(tensor), value};
  if (!r_.alive()) return;
  r_.entry_being_made().branches.push_back({false, value, asserts_++});
  record(truth);
}

void TraceBuilder::on_metadata(PyObject* tensor, const char* attribute, PyObject* value) {
  if (!listening()) return;
  pending()->reported = true;
  Shadow* known = r_.find(tensor);
  if (!known) return r_.stop(Reason::UnknownOrigin, "a tensor");
  if (known->self.is_fact()) id_of(tensor);  // guards its metadata
  if (!std::strcmp(attribute, "_version")) {
    pending()->extra = version_of(tensor, value);
    return;
  }
  bool follows = is_atom(value) || is_engine_value(value) || PyTuple_CheckExact(value);
  if (!follows) return r_.stop(Reason::TensorOpaque, attribute);
  pending()->extra = Value::fact(r_.hold(value));
}

void TraceBuilder::on_opaque(const char* what, PyObject*) {
  if (listening()) r_.stop(Reason::TensorOpaque, what);
}

}  // namespace terra::capture
