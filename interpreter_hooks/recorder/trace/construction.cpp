// Tensors made of Python numbers: terra.tensor([...]) and its kin.
#include "engine/ops/call.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/trace/builder.h"
#include "interpreter_hooks/recorder/trace/ids.h"

namespace terra::capture {

using graph::TraceArg;
using graph::TraceId;

namespace {

/// With more numbers that change than this the tensor is better made of facts.
constexpr int most_inputs = 64;

TraceArg value_argument(TraceId id) {
  TraceArg arg;
  arg.kind = TraceArg::Kind::Value;
  arg.value = id;
  return arg;
}

TraceArg constant_argument(const Arg& value) {
  TraceArg arg;
  arg.constant = OwnedArgs(std::span<const Arg>(&value, 1));
  return arg;
}

template <class... A>
std::vector<TraceArg> arguments(A&&... each) {
  std::vector<TraceArg> list;
  (list.push_back(std::forward<A>(each)), ...);
  return list;
}

}  // namespace

/// Numbers in nested sequences that change between calls; those that no graph can be given become facts.
int TraceBuilder::count_inputs(Value value) {
  if (is_sequence(value.object)) {
    int count = 0;
    for (Value& item : r_.items(value)) count += count_inputs(item);
    return count;
  }
  const bool given = !value.has_register() || scalar_ids_.count(value.reg) || !r_.late(value.reg);
  if (!is_number(value.object) || !given) r_.pin(value);
  return value.has_register();
}

TraceId TraceBuilder::call(const char* op, std::vector<TraceArg> args) {
  graph::CallRecord record_of;
  record_of.op = find_op(op);
  record_of.args = std::move(args);
  record_of.constructs = true;
  const TraceId result = new_value();
  record_of.results = {result};
  record(std::move(record_of));
  return result;
}

TraceId TraceBuilder::constant(Tensor tensor) {
  const TraceId id = first_constant + static_cast<TraceId>(trace_.constants.size());
  trace_.constants.emplace_back(id, std::move(tensor));
  return id;
}

/// The number of a tensor with the elements of `data`; `made` is what came of it in the recorded run.
TraceId TraceBuilder::construct(const Value& data, const Tensor& made) {
  Value value = data;
  if (count_inputs(value) == 0) {
    static const terra::Op* clone = find_op("clone");
    return call("clone", arguments(value_argument(constant((*clone)(made)))));
  }
  if (!is_sequence(value.object)) {  // one of the number's own kind times the number, which is exact
    const DType kind = PyFloat_CheckExact(value.object) ? DType::F64 : DType::I64;
    static const terra::Op* full = find_op("full");
    const TraceId one = constant((*full)(Dims(), 1, kind));
    const TraceId number = call("mul", arguments(value_argument(one), value_argument(scalar_input(value))));
    if (made.dtype() == kind) return number;
    return call("to_dtype", arguments(value_argument(number), constant_argument(Arg(made.dtype()))));
  }
  static const terra::Op* select = find_op("select");
  TraceArg rows;
  rows.kind = TraceArg::Kind::ValueList;
  const std::vector<Value> items = r_.items(value);
  for (size_t i = 0; i < items.size() && r_.alive(); i++) {
    rows.list.push_back(construct(items[i], (*select)(made, 0, static_cast<int64_t>(i))));
  }
  return call("stack", arguments(std::move(rows), constant_argument(Arg(0))));
}

void TraceBuilder::on_construct(PyObject* data, PyObject* tensor) {
  if (!take_report()) return;
  Pending& open = *pending();
  const Value* found = scalar_source(data);
  if (!found) return r_.stop(Reason::TensorOpaque, "a tensor of numbers");
  Value source = *found;
  const int inputs = count_inputs(source);
  if (inputs > most_inputs) r_.read_deep(source);
  if (is_index(open)) {
    index_open_ = true;
    if (inputs > 0) used_.push_back({data, is_sequence(data) ? no_register : source.reg});
  }
  const GradMode off(false);
  const TraceId made = construct(source, Tensor(Ref<TensorImpl>(tensor_of(tensor))));
  if (r_.alive()) r_.put(tensor, Value::fresh(tensor), false, "").trace_id = made;
}

}  // namespace terra::capture
