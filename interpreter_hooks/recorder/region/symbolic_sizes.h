// Numbers that follow from the sizes of tensors, where these may differ between runs of an entry.
//
// A graph instance is made for certain sizes and knows all such numbers, so a run computes one only where the host
// program needs it (guards, effects, results): until then its register is filled by nothing. "Early": known from the
// inputs before the graph runs. "Late": a size of something that the frame made. "Pure": made of sizes and facts only.
#pragma once
#include "graph/trace/trace.h"
#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/recorder/core/value.h"

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace terra::capture {

class Recording;
class TraceBuilder;

class Sizes {
 public:
  Sizes(Recording& recording, TraceBuilder& trace) : r_(recording), trace_(trace) {}

  /// The size of a tensor, `value` in the recorded run. `input`: the register of an input that still has the sizes it
  /// had when the frame began; no_register for any other tensor.
  Value size(graph::TraceId tensor, int32_t dim, PyObject* value, Register input, const std::string& name);
  /// The result of an operator or of a call of `callee` on numbers; Unknown unless sizes are among them and the graph
  /// library knows the arithmetic.
  Value computed(Op op, Word code, PyObject* callee, const std::vector<Value>& in, PyObject* result);
  /// A number that host arithmetic makes from `in`, in the late program.
  void derived(Register result, const std::vector<Value>& in);

  bool follow(const Value& value) const { return value.has_register() && nodes_.count(value.reg); }
  bool pure(const Value& value) const;
  /// A late number that the graph library doesn't know, but that nothing but sizes decides.
  bool is_derived(const Value& value) const { return value.has_register() && derived_.count(value.reg); }
  /// The register is about to be used by a program.
  void need(Register reg);
  /// Makes the value a fact of the instance; false where a guard on its register has to do.
  bool fix(const Value& value);
  /// As an argument of a recorded call; other dynamic numbers become structural inputs.
  graph::TraceNumber number(const Value& value);

  // ---- numbers that rounds of a loop decide (loops.h): of the trace from the start, and known to the program late
  // ----
  /// The same number as one of these.
  Value counter(const Value& number);
  /// An operator on numbers, one of which is one of these; `result` is what Python makes of them.
  Value counted(Op op, Word code, const std::vector<Value>& in, PyObject* result);
  bool is_counted(const Value& value) const;
  /// What stands for the truth of a number: for one of these a bool, for others the number itself.
  Value truth(const Value& value);
  /// The dynamic numbers that a number follows from and that no round decides.
  void leaves(const Value& value, std::vector<Value>& out) const;
  /// How a number stands in the trace: by its number, or (operands not null) as a sum that the trace hasn't got yet.
  struct Part {
    graph::TraceId id = graph::kNoValue;
    uint64_t code = 0;
    PyObject* callee = nullptr;
    const std::vector<Value>* operands = nullptr;
  };
  Part part(const Value& value) const;
  /// Of which input which size it is; no_register: of none.
  std::pair<Register, int32_t> size_of(Register reg) const;

 private:
  struct Node {
    PyObject* value = nullptr;            ///< in the recorded run (held by the recording)
    graph::TraceId id = graph::kNoValue;  ///< once the trace has it
    bool pure = true, needed = false, fixed = false, counted = false;
    // A size.
    bool is_size = false;
    graph::TraceId tensor = graph::kNoValue;
    int32_t dim = 0;
    Register input = no_register;
    // Arithmetic.
    Op op = Op::Binary;
    Word code = 0;
    PyObject* callee = nullptr;
    graph::NumberRecord::Op operation = graph::NumberRecord::Op::Add;
    std::vector<Value> in;
  };

  Value add(Node node, std::string name, bool late, PyObject* value);
  const Node* node_of(const Value& value) const;

  Recording& r_;
  TraceBuilder& trace_;
  std::unordered_map<Register, Node> nodes_;
  std::unordered_set<Register> derived_;
  /// Sizes of inputs and early sums that were asked for before, as loops do.
  std::map<std::vector<uint64_t>, Register> known_;
};

}  // namespace terra::capture
