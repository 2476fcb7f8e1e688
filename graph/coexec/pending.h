// Primitive calls that have been put off, in order, with what they read and what they make.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "engine/ops/emitter.h"

namespace terra::coexec {

/// A tensor among the pending calls: input number n, or result number n.
struct PendingValue {
  static constexpr uint32_t kInput = 1u << 31, kAbsent = ~0u;
  uint32_t number = kAbsent;

  bool is_absent() const { return number == kAbsent; }
  bool is_input() const { return (number & kInput) != 0; }
  uint32_t index() const { return number & ~kInput; }
};

/// Which arguments of a call are tensors: `count` of Pending::operands from `first` on. The others are as in
/// PendingCall::constants, or a Number of Pending::numbers.
struct PendingArg {
  enum class Kind : uint8_t { Constant, Tensor, TensorList, Number };
  Kind kind = Kind::Constant;
  uint32_t first = 0, count = 0;
};

/// `args` of Pending::args from `first_arg` on, and so on.
struct PendingCall {
  const Op* op = nullptr;
  uint32_t first_arg = 0, args = 0;
  uint32_t first_result = 0, results = 0;
  OwnedArgs constants;  ///< by argument, None where there is another kind; empty if all are None

  Arg constant(size_t index) const { return constants.args().empty() ? Arg() : constants.args()[index]; }
};

/// Made before the first of the calls, as seen by some of them. Nobody writes to it before they have run.
struct PendingInput {
  Tensor tensor;                           ///< without history
  uint32_t other = PendingValue::kAbsent;  ///< another input that views the same storage in another way
};

struct PendingResult {
  Ref<Storage> storage;              ///< deferred; null for a view of another result
  ResultMeta meta;                   ///< strides filled in
  std::vector<uint32_t> views = {};  ///< results that are views of this one
};

struct Pending {
  std::vector<PendingCall> calls;
  std::vector<PendingArg> args;
  std::vector<PendingInput> inputs;
  std::vector<PendingResult> results;
  std::vector<PendingValue> operands;
  std::vector<uint32_t> targets;  ///< inputs: there is one call, which writes to them
  std::vector<ResultMeta> metas;  ///< of that call
  std::vector<Scalar> numbers;    ///< ints and floats that may be others the next time
  /// All of the above but the values of numbers and the addresses, as words: what two batches of calls with one graph
  /// share.
  std::vector<uint64_t> signature;
  size_t computing = 0;  ///< calls that are no views

  bool empty() const { return calls.empty() && inputs.empty(); }
  /// Empty again, with the memory that it has.
  void clear() {
    calls.clear(), args.clear(), inputs.clear(), results.clear(), operands.clear(), targets.clear(), metas.clear();
    numbers.clear(), signature.clear();
    computing = 0;
  }
  /// Results whose bytes somebody may still ask for.
  std::vector<uint32_t> wanted() const {
    std::vector<uint32_t> wanted;
    for (uint32_t i = 0; i < results.size(); i++)
      if (results[i].storage && results[i].storage->use_count() > 1) wanted.push_back(i);
    return wanted;
  }
};

/// Calls visit(index of the argument, argument) with the call's arguments as an op takes them; `tensor(value)` gives
/// the tensor that a value is by now.
template <class TensorOf>
class CallArguments {
 public:
  CallArguments(const Pending& pending, const PendingCall& call, const TensorOf& tensor) {
    lists_.reserve(call.args);
    held_.reserve(call.args);
    args_.reserve(call.args);
    for (size_t i = 0; i < call.args; i++) {
      const PendingArg& arg = pending.args[call.first_arg + i];
      const auto of = [&](uint32_t n) { return tensor(pending.operands[arg.first + n]); };
      switch (arg.kind) {
        case PendingArg::Kind::Constant: args_.push_back(call.constant(i)); break;
        case PendingArg::Kind::Tensor: args_.push_back(Arg(held_.emplace_back(of(0)))); break;
        case PendingArg::Kind::Number: args_.push_back(Arg(pending.numbers[arg.first])); break;
        case PendingArg::Kind::TensorList: {
          std::vector<Tensor>& list = lists_.emplace_back();
          for (uint32_t n = 0; n < arg.count; n++) list.push_back(of(n));
          args_.push_back(Arg(list));
          break;
        }
      }
    }
  }
  std::span<const Arg> args() const { return args_; }

 private:
  std::vector<Arg> args_;
  std::vector<Tensor> held_;
  std::vector<std::vector<Tensor>> lists_;
};

}  // namespace terra::coexec
