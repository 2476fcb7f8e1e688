#include "recursive/batching/undefined.h"

#include <algorithm>
#include <string_view>

namespace terra::recursive {
namespace {

using graph::Graph;
using graph::Node;

/// Ops whose operands 1 and 2 are the factors of a product that is added to operand 0.
bool adds_a_product(const Node& n) {
  static constexpr std::string_view names[] = {"addmm", "baddbmm", "addmv", "addr", "addcmul"};
  return n.kind == graph::NodeKind::Op && std::find(std::begin(names), std::end(names), n.op->name) != std::end(names);
}

class Dropping {
 public:
  Dropping(Graph& part, const std::vector<bool>& flows, std::vector<bool>& undefined)
      : part_(part), flows_(flows), undefined_(undefined) {}

  bool run() {
    bool changed = false;
    const std::vector<Node> nodes = std::move(part_.nodes);
    part_.nodes.clear();
    for (Node node : nodes) {
      bool defined = joins_others(node), undefined = false;
      graph::for_each_use(node, [&](ValueId id) {
        undefined |= undefined_[id];
        defined |= flows_[id] && !undefined_[id];
      });
      if (undefined && !defined) {
        for (ValueId r : node.results) undefined_[r] = true;
        changed = true;
        continue;
      }
      if (undefined) changed |= use_zeros(node);
      part_.nodes.push_back(std::move(node));
    }
    return changed;
  }

 private:
  /// A list of which some parts are no gradients: a pass has made several products one.
  bool joins_others(const Node& node) const {
    return std::any_of(node.args.begin(), node.args.end(), [&](const graph::NodeArg& a) {
      const auto* list = std::get_if<graph::UseList>(&a);
      return list && std::any_of(list->begin(), list->end(), [&](ValueId id) { return !flows_[id]; });
    });
  }

  /// The node adds gradients of which some are undefined. True: it multiplies them, too.
  bool use_zeros(Node& node) {
    const auto factor = [&](size_t a) {
      const ValueId id = graph::operand(node, a);
      return id != graph::kNoId && undefined_[id];
    };
    const bool product = adds_a_product(node) && (factor(1) || factor(2));
    if (product)
      for (size_t a : {1, 2}) std::get<graph::Use>(node.args[a]).id = zeros_like(graph::operand(node, a));
    graph::for_each_use(node, [&](ValueId& id) {
      if (id < undefined_.size() && undefined_[id]) id = zeros_like(id);
    });
    return product;
  }

  ValueId zeros_like(ValueId id) {
    const graph::ValueMeta meta = part_.meta(id);
    part_.nodes.push_back(graph::new_op(
        part_, "full", {graph::IntList(meta.sizes.begin(), meta.sizes.end()), Scalar(0.0), meta.dtype}, meta, -1));
    return part_.nodes.back().results[0];
  }

  Graph& part_;
  const std::vector<bool>& flows_;
  std::vector<bool>& undefined_;
};

}  // namespace

bool drop_undefined(Graph& part, const std::vector<bool>& flows, std::vector<bool>& undefined) {
  return Dropping(part, flows, undefined).run();
}

}  // namespace terra::recursive
