// A graph that may call itself, written by hand in ops.
//
//   SubGraph encode("encode");
//   const HostSymbol tree = encode.handle("tree");
//   encode.output(DType::F32, {1, 150});
//   encode.define([&] {
//     return cond(is_leaf(tree),
//                 [&] { return std::vector{leaf(word(tree))}; },
//                 [&] { return std::vector{join(InvokeOp(encode)(left(tree))[0], InvokeOp(encode)(right(tree))[0])};
//                 });
//   });
//
// `Recursion::make(encode)` runs it (recursive/runtime/recursion.h).
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/ir/graph_table.h"
#include "recursive/ir/host.h"

namespace terra {

namespace recursive {
struct SubGraphState;
}

/// An operand or an input: a tensor, or what the host decides.
using Operand = std::variant<Tensor, HostSymbol>;

/// Inputs and results are declared first, so that the body can call what isn't complete yet, itself among it. Tensors
/// from outside that the body reads become implicit inputs. An object must live until what calls it has been lowered;
/// copies are the same SubGraph.
class SubGraph {
 public:
  explicit SubGraph(std::string name);

  /// The next input: an opaque handle to a structure, a number of it, a tensor.
  HostSymbol handle(std::string name = "");
  HostSymbol number(Scalar::Kind kind, std::string name = "");
  Tensor input(DType dtype, Dims sizes, std::string name = "");
  /// The next result.
  void output(DType dtype, Dims sizes);
  /// Calls `body` once, on this thread. Throws Error where it returns other tensors than were declared.
  void define(const std::function<std::vector<Tensor>()>& body);

  const std::string& name() const;
  const std::shared_ptr<recursive::SubGraphState>& state() const { return state_; }

 private:
  std::shared_ptr<recursive::SubGraphState> state_;
};

namespace recursive {

/// SubGraphs as a table of plain graphs: the root and all that it calls.
struct Lowered {
  std::shared_ptr<graph::GraphTable> table;
  graph::GraphId root = graph::kNoId;
  std::vector<Tensor> outside;  ///< the last operands of the root: what its bodies read from outside

  /// A graph that calls the root, for printing.
  graph::Graph caller() const;
};

/// Throws Error where a SubGraph that is called has no body.
Lowered lower(const SubGraph& root);
/// The text form, which graph::parse reads.
std::string print(const SubGraph& root);

}  // namespace recursive
}  // namespace terra
