// What a frame is told about tensors, and numbers that decide sizes: where sizes may differ between runs, these are no
// facts.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/region/loops.h"
#include "interpreter_hooks/recorder/region/phis.h"
#include "interpreter_hooks/recorder/trace/builder.h"
#include "interpreter_hooks/recorder/trace/ids.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

using graph::kNoValue;
using graph::TraceArg;
using graph::TraceId;

namespace {

/// Ops whose Number parameters decide the size of the result.
bool numbers_decide_sizes(const terra::Op& op) { return op.name == "arange" || op.name == "range"; }

}  // namespace

// ---- arguments ----

TraceId TraceBuilder::structural_input(const Value& value) {
  r_.phis().refuse(value.reg);
  const TraceId id = scalar_input(value);
  if (!r_.alive() || id < first_scalar) return kNoValue;
  scalars_[id - first_scalar].second.structural = true;
  return id;
}

/// True if the argument follows a number of the program; otherwise it is a constant.
/// `constant`: the op has to know it when the graph is built.
bool TraceBuilder::number_argument(const hooks::CallReport& report, size_t index, bool constant,
                                   std::vector<Used>& used, TraceArg& out) {
  const ParamType type = report.op->sig().params[index].type;
  PyObject* source = index < report.sources.size() ? report.sources[index] : nullptr;
  const bool number = type == ParamType::Number || type == ParamType::TensorOrNumber || type == ParamType::Float;
  if ((!number && type != ParamType::Int) || !source) return false;
  const Value* given = is_number(source) || number_conversion(source) ? scalar_source(source) : nullptr;
  if (!given || !given->has_register()) return false;
  const Value behind = is_number(source) ? *given : r_.number_behind(*given);
  const Value* value = &behind;
  if (!value->has_register()) return false;
  const bool structural = constant || type == ParamType::Int || numbers_decide_sizes(*report.op);
  const bool follows = sizes_.follow(*value);
  if (r_.late(value->reg) && !follows && (structural || sizes_.is_derived(*value))) return false;  // becomes a fact
  used.push_back({source, given->reg});
  out.kind = TraceArg::Kind::Value;
  // A number made of sizes alone is a constant of the instance; with others in it only where it can't be read in a run.
  if (!structural && !(follows && (sizes_.pure(*value) || r_.late(value->reg)))) {
    out.value = scalar_input(*value);
    return true;
  }
  const graph::TraceNumber known = sizes_.number(*value);
  out.value = known.id;
  varying_.insert(known.id);
  return known.id != kNoValue;
}

/// The values behind a list of ints, in its order; none where they aren't known one by one.
std::vector<Value> TraceBuilder::list_sources(const hooks::CallReport& report, size_t index, std::vector<Used>& used) {
  const size_t count = report.args[index].ints().size();
  PyObject* source = index < report.sources.size() ? report.sources[index] : nullptr;
  if (source && is_number(source)) {  // one int stands for all
    const Value* value = scalar_source(source);
    if (!value) return {};
    used.push_back({source, value->reg});
    return std::vector<Value>(count, *value);
  }
  if (source) {
    Shadow* known = r_.find(source);
    if (!known || known->items.size() != count) return {};
    used.push_back({source, no_register});
    return known->items;
  }
  if (!report.op->sig().params[index].varargs || report.positional.size() < count) return {};
  std::span<PyObject* const> given = report.positional.last(count);
  const std::vector<Value>& bound = pending()->call.positional;
  const bool by_position = bound.size() == report.positional.size() &&
                           std::equal(bound.begin(), bound.end(), report.positional.begin(),
                                      [](const Value& value, PyObject* object) { return value.object == object; });
  std::vector<Value> values;
  for (size_t i = 0; i < count; i++) {
    const Value* value = by_position ? &bound[bound.size() - count + i] : scalar_source(given[i]);
    if (!value) return {};
    values.push_back(*value);
    used.push_back({value->object, value->reg});
  }
  return values;
}

bool TraceBuilder::list_argument(const hooks::CallReport& report, size_t index, std::vector<Used>& used,
                                 TraceArg& out) {
  const size_t before = used.size();
  std::vector<Value> values = list_sources(report, index, used);
  const auto dynamic = [&](const Value& value) {
    return value.has_register() && is_number(value.object) && (!r_.late(value.reg) || sizes_.follow(value));
  };
  const bool countable = std::all_of(values.begin(), values.end(), [](const Value& value) {
    return value.known() && PyLong_CheckExact(value.object);
  });
  if (!countable || std::none_of(values.begin(), values.end(), dynamic)) {
    used.resize(before);
    return false;
  }
  out.kind = TraceArg::Kind::Integers;
  for (Value& value : values) {
    if (!dynamic(value)) r_.pin(value);
    out.integers.push_back(sizes_.number(value));
  }
  return true;
}

/// What no recorded call has made (gradients, what Python functions on the tape are given) has sizes of unknown origin.
bool TraceBuilder::varies(TraceId id) const {
  if (id == kNoValue || varying_.empty()) return false;
  return varying_.count(id) || (id < first_input && !steady_.count(id));
}

bool TraceBuilder::results_vary(const graph::CallRecord& call) const {
  for (const TraceArg& arg : call.args) {
    if (arg.grown != kNoValue) return true;  // as many as a loop has rounds
    if (arg.kind == TraceArg::Kind::Integers || (arg.kind == TraceArg::Kind::Value && varies(arg.value))) return true;
    if (std::any_of(arg.list.begin(), arg.list.end(), [&](TraceId id) { return varies(id); })) return true;
  }
  return false;
}

// ---- what the frame is told ----

bool TraceBuilder::may_vary(const Shadow& tensor) const {
  if (tensor.trace_id != kNoValue) return varies(tensor.trace_id);
  const size_t rank = tensor_of(tensor.self.object)->sizes.size();
  return tensor.outside && r_.speculation().free_sizes(tensor.path, rank) != 0;
}

/// A size as a value: a fact where it is guarded.
Value TraceBuilder::told_size(Shadow& tensor, int32_t dim, PyObject* value) {
  if (!may_vary(tensor)) return Value::fact(r_.hold(value));
  const TraceId id = id_of(tensor.self.object);
  if (id < first_input || moved_.count(id)) return sizes_.size(id, dim, value, no_register, "");
  const bool all = dim == graph::SizeRecord::kElements;
  const auto& sizes = tensor_of(tensor.self.object)->sizes;
  const FreeSizes free = r_.speculation().free_sizes(tensor.path, sizes.size());
  const bool fixed = !all && (!(free >> dim & 1) || sizes[static_cast<size_t>(dim)] < 2);
  if (fixed) return Value::fact(r_.hold(value));
  const std::string name = tensor.path + (all ? ".numel()" : ".shape[" + std::to_string(dim) + "]");
  return sizes_.size(id, dim, value, r_.reg_of(tensor.self), name);
}

void TraceBuilder::fix_size(Shadow& tensor, size_t dim) {
  PyObject* number = r_.hold_new(PyLong_FromLongLong(tensor_of(tensor.self.object)->sizes[dim]));
  Value size = told_size(tensor, static_cast<int32_t>(dim), number);
  r_.pin(size);
}

/// Every size of the tensor is a fact from here on.
void TraceBuilder::fix_sizes(Shadow& tensor) {
  for (size_t d = 0; d < tensor_of(tensor.self.object)->sizes.size(); d++) fix_size(tensor, d);
}

void TraceBuilder::fix_length(PyObject* tensor) {
  Shadow* known = r_.find(tensor);
  if (known && !tensor_of(tensor)->sizes.empty()) fix_size(*known, 0);
}

Value TraceBuilder::told(Shadow& tensor, const std::string& attribute, PyObject* value, int64_t dim) {
  constexpr int32_t elements = graph::SizeRecord::kElements;
  if (attribute == "storage_offset" || attribute == "is_set_to") {
    exact_offsets_ = true;
    if (may_vary(tensor)) r_.stop(Reason::TensorOpaque, attribute + " of a tensor of varying sizes");
    return Value::fact(r_.hold(value));
  }
  if (!may_vary(tensor)) return Value::fact(r_.hold(value));
  if (attribute == "len") return told_size(tensor, 0, value);
  if (attribute == "numel") return told_size(tensor, elements, value);
  if ((attribute == "size" || attribute == "shape") && PyLong_CheckExact(value)) {
    return told_size(tensor, static_cast<int32_t>(dim), value);
  }
  if ((attribute == "size" || attribute == "shape") && is_size(value)) {
    std::vector<Value> items;
    for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(value); d++) {
      items.push_back(told_size(tensor, static_cast<int32_t>(d), PyTuple_GET_ITEM(value, d)));
    }
    return r_.make_sequence(value, std::move(items));
  }
  graph::FactRecord fact;
  fact.value = id_of(tensor.self.object);
  if (attribute == "is_contiguous") {
    fact.what = graph::FactRecord::What::Contiguous;
    fact.expected = {value == Py_True};
    record(fact);
  } else if (attribute == "stride") {
    fact.what = graph::FactRecord::What::Strides;
    const auto& strides = tensor_of(tensor.self.object)->strides;
    fact.expected.assign(strides.begin(), strides.end());
    record(fact);
  } else if (attribute == "nbytes" || attribute == "is_same_size" || attribute == "memory_format") {
    fix_sizes(tensor);
  }
  return Value::fact(r_.hold(value));
}

void TraceBuilder::on_metadata(PyObject* tensor, const char* attribute, PyObject* value, int64_t dim) {
  if (!take_report()) return;
  Shadow* known = r_.find(tensor);
  if (!known) return r_.stop(Reason::UnknownOrigin, "a tensor");
  const bool is_of_its_node = !std::strcmp(attribute, "output_nr") || !std::strcmp(attribute, "retains_grad");
  if (is_of_its_node && !made_inside(tensor, attribute)) return;
  if (known->self.is_fact()) id_of(tensor);  // guards its metadata
  pin_operands({});  // the dimension that size() was asked for, what requires_grad was to become
  if (!std::strcmp(attribute, "_version")) {
    r_.loops().spoil();
    pending()->extra = version_of(tensor, value);
    return;
  }
  bool follows = is_atom(value) || is_engine_value(value) || PyTuple_CheckExact(value);
  if (!follows) return r_.stop(Reason::TensorOpaque, attribute);
  const Value result = told(*known, attribute, value, dim);
  pending()->extra = result;
}

}  // namespace terra::capture
