#include "graph/coexec/pending_trace.h"

namespace terra::coexec {
namespace {

using graph::Trace;
using graph::TraceArg;
using graph::TraceId;
using graph::TraceInput;

TraceInput tensor_input(const TensorImpl& tensor, uint32_t number) {
  TraceInput input;
  input.name = "input" + std::to_string(number);
  input.meta = {tensor.dtype, tensor.sizes, tensor.wrapped_number, tensor.device};
  input.strides = tensor.strides;
  input.offset = tensor.offset;
  input.storage_group = number;  // nothing is written: views of one memory are as good as tensors of their own
  return input;
}

TraceInput number_input(const Scalar& value, uint32_t number) {
  TraceInput input;
  input.kind = TraceInput::Kind::Scalar;
  input.name = "number" + std::to_string(number);
  input.scalar_kind = value.kind();
  input.value = value;
  return input;
}

class Maker {
 public:
  Maker(const Pending& pending, const std::vector<bool>& varies) : pending_(pending) {
    for (uint32_t i = 0; i < pending.inputs.size(); i++)
      trace_.inputs.push_back(tensor_input(*pending.inputs[i].tensor, i));
    for (uint32_t i = 0; i < pending.numbers.size(); i++) {
      numbers_.push_back(varies[i] ? static_cast<TraceId>(trace_.inputs.size()) : graph::kNoValue);
      if (varies[i]) trace_.inputs.push_back(number_input(pending.numbers[i], i));
    }
    first_result_ = static_cast<TraceId>(trace_.inputs.size());
  }

  Trace make(const std::vector<uint32_t>& wanted) {
    trace_.name = "segment";
    trace_.modes.enabled = false;  // the tape has what it needs
    for (const PendingCall& call : pending_.calls) add(call);
    for (uint32_t i : wanted) trace_.outputs.push_back(first_result_ + i);
    trace_.values = first_result_ + static_cast<TraceId>(pending_.results.size());
    return std::move(trace_);
  }

 private:
  TraceId id_of(PendingValue value) const {
    if (value.is_absent()) return graph::kNoValue;
    return value.is_input() ? value.index() : first_result_ + value.index();
  }

  TraceArg argument(const PendingCall& call, size_t index) const {
    const PendingArg& arg = pending_.args[call.first_arg + index];
    TraceArg made;
    switch (arg.kind) {
      case PendingArg::Kind::Constant: {
        const Arg constant = call.constant(index);
        made.constant = OwnedArgs(std::span(&constant, 1));
        break;
      }
      case PendingArg::Kind::Number:
        made.value = numbers_[arg.first];
        if (made.value != graph::kNoValue) {
          made.kind = TraceArg::Kind::Value;
        } else {
          const Arg constant(pending_.numbers[arg.first]);
          made.constant = OwnedArgs(std::span(&constant, 1));
        }
        break;
      case PendingArg::Kind::Tensor:
        made.kind = TraceArg::Kind::Value;
        made.value = id_of(pending_.operands[arg.first]);
        break;
      case PendingArg::Kind::TensorList:
        made.kind = TraceArg::Kind::ValueList;
        for (uint32_t n = 0; n < arg.count; n++) made.list.push_back(id_of(pending_.operands[arg.first + n]));
        break;
    }
    return made;
  }

  void add(const PendingCall& call) {
    graph::CallRecord record;
    record.op = call.op;
    for (size_t i = 0; i < call.args; i++) record.args.push_back(argument(call, i));
    for (uint32_t i = 0; i < call.results; i++) record.results.push_back(first_result_ + call.first_result + i);
    trace_.records.push_back({std::move(record), {}, 0});
  }

  const Pending& pending_;
  Trace trace_;
  std::vector<TraceId> numbers_;
  TraceId first_result_ = 0;
};

}  // namespace

Trace trace_of(const Pending& pending, const std::vector<uint32_t>& wanted, const std::vector<bool>& varies) {
  return Maker(pending, varies).make(wanted);
}

}  // namespace terra::coexec
