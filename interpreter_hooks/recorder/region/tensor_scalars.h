// Numbers that are read from tensors (item(), float(), int()), and comparisons of them.
//
// The graph knows them while it runs, so what such a comparison decides is a branch of the graph, as the truth of a
// tensor is. The host program gets one only where it does something else with it.
#pragma once
#include "graph/trace/trace.h"
#include "interpreter_hooks/recorder/core/value.h"

#include <unordered_map>
#include <vector>

namespace terra::capture {

class Recording;
class TraceBuilder;

class TensorScalars {
 public:
  TensorScalars(Recording& recording, TraceBuilder& trace) : r_(recording), trace_(trace) {}

  /// The only element of a tensor: number `id` of the trace.
  Value item(graph::TraceId id, PyObject* number);
  /// A comparison, `result` in the recorded run; Unknown unless such a number is in it and the graph compares exactly
  /// as Python does.
  Value compared(Word code, const std::vector<Value>& in, PyObject* result);

  bool follow(const Value& value) const { return value.has_register() && nodes_.count(value.reg); }
  graph::TraceId id(const Value& value) const { return nodes_.at(value.reg).id; }
  /// The register is about to be used by a program.
  void need(Register reg);
  /// Makes the truth a branch of the graph; false where it follows from no number of these.
  bool decide(const Value& value);
  /// The same for a value that is a truth itself: it is a fact from then on.
  bool fix(const Value& value) { return PyBool_Check(value.object) && decide(value); }

 private:
  struct Node {
    graph::TraceId id;
    bool needed = false, decided = false;
  };

  Value add(graph::TraceId id, PyObject* object);
  bool operand(const Value& value, bool floats, graph::TraceNumber& out);

  Recording& r_;
  TraceBuilder& trace_;
  std::unordered_map<Register, Node> nodes_;
};

}  // namespace terra::capture
