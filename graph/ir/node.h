// One node of a graph: an op with arguments aligned to its signature, or one of the few structural kinds.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/ops/op.h"
#include "graph/ir/value.h"

namespace terra::graph {

struct Graph;

enum class NodeKind : uint8_t {
  Op,         ///< `op` on `args`
  Fused,      ///< bodies[0]: elementwise ops over one iteration space; args are its inputs
  WriteView,  ///< args[0] with the elements seen through view `op` replaced by args[1]; args[2..]: op's args from 1 on
  Item,       ///< the only element of args[0] as a scalar
  AsTensor,   ///< scalar args[0] as a 0-d tensor (bool, i64 or f64)
  Assert,     ///< the truth of args[0] is `expected`
  Switch,     ///< args[0] selects among bodies; the last body is `exit`; args[1..] are the operands
  While,   ///< bodies[0] condition, bodies[1] step; args are the initial operands, those without a result don't change
  Call,    ///< graph `index` of the table on args
  Pack,    ///< the arguments as a record; absent ones are as well
  Unpack,  ///< what was packed as args[0]: zeros and empty records where it, or the whole record, is absent
  HostCall,  ///< host function `index` on args, run on the host's thread
};

/// The use of a value as an argument.
struct Use {
  ValueId id = kNoId;
  friend bool operator==(Use, Use) = default;
};
/// A list argument; kNoId stands for an absent element.
using UseList = std::vector<ValueId>;
using IntList = std::vector<int64_t>;

/// One argument: absent, an attribute, a value or a list of values. A Use in a Number position is a scalar value that
/// is read when the node runs.
using NodeArg = std::variant<std::monostate, Scalar, IntList, DType, std::string, Generator*, Use, UseList>;

/// Where a node came from in the program.
struct Origin {
  std::string file;
  int line = 0;
};

struct Node {
  NodeKind kind = NodeKind::Op;
  bool expected = false;   ///< Assert
  bool checks = false;     ///< Op: the program itself called it, and it may refuse the values that it sees
  const Op* op = nullptr;  ///< Op, WriteView
  uint32_t chain = 0;      ///< effect chain; 0: the node is pure
  uint32_t ticket = 0;     ///< position in the chain, ascending along the list
  uint32_t index = 0;      ///< Assert: its number in the trace; HostCall: which function; Call: which graph
  int32_t origin = -1;     ///< index into Graph::origins
  std::vector<NodeArg> args;
  std::vector<ValueId> results;
  std::vector<std::shared_ptr<const Graph>> bodies;

  bool is_pure() const { return chain == 0; }
  bool is_op(uint32_t flag) const { return kind == NodeKind::Op && op->is(flag); }
};

/// Node::index of an assert that the trace knows nothing of: one inside of a loop.
inline constexpr uint32_t kUnnumbered = ~0u;

/// Chains that exist in every graph; generators get the numbers from kFirstGeneratorChain on.
inline constexpr uint32_t kAssertChain = 1, kHostChain = 2, kFirstGeneratorChain = 3;

/// Calls f(ValueId&) for every value that a node uses, list elements included, absent ones not.
template <class NodeT, class F>
void for_each_use(NodeT& node, F&& f) {
  for (auto& arg : node.args) {
    if (auto* use = std::get_if<Use>(&arg)) {
      f(use->id);
    } else if (auto* list = std::get_if<UseList>(&arg)) {
      for (auto& id : *list)
        if (id != kNoId) f(id);
    }
  }
}

/// Argument i as a value, kNoId if it is none.
ValueId operand(const Node& node, size_t i);
bool is_pure_op(const Node& node, std::string_view name);

/// Same kind and bits: what common subexpressions and folded attributes compare.
bool same_scalar(const Scalar& a, const Scalar& b);
bool same_arg(const NodeArg& a, const NodeArg& b);
/// True iff two nodes compute the same from the same operands (kind, op, attributes; results and origin aside).
bool same_computation(const Node& a, const Node& b);

}  // namespace terra::graph
