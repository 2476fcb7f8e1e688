#include "graph/passes/fold_constants.h"

#include <map>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/emitter.h"
#include "graph/ir/arg_list.h"

namespace terra::graph {
namespace {

constexpr size_t kLargestFolded = 64 * 1024;

bool foldable(const Graph& g, const Node& n, const std::map<ValueId, Tensor>& known) {
  if (n.kind != NodeKind::Op || !n.is_pure() || n.op->is(kHost | kRandom | kChecksValues) || n.op->writes) return false;
  bool all = true;
  for_each_use(n, [&](ValueId id) { all &= known.count(id) > 0; });
  size_t bytes = 0;
  for (ValueId r : n.results) bytes += g.meta(r).bytes();
  return all && bytes <= kLargestFolded;
}

}  // namespace

bool fold_constants(Graph& graph) {
  EmitterScope eager(default_emitter());
  GradMode off(false);
  std::map<ValueId, Tensor> known(graph.constants.begin(), graph.constants.end());
  std::vector<bool> folded(graph.nodes.size(), false);
  bool changed = false;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!foldable(graph, node, known)) continue;
    const ArgList args(node.args, [&](ValueId id) { return known.at(id); });
    std::vector<Tensor> results;
    try {
      call(*node.op, args.args(), results);
    } catch (const Error&) {
      continue;  // the run raises it
    }
    bool as_declared = results.size() == node.results.size();
    for (size_t r = 0; r < node.results.size() && as_declared; ++r)
      as_declared =
          graph.meta(node.results[r]) == ValueMeta::tensor(results[r].dtype(), results[r].sizes(), results[r].device());
    if (!as_declared) continue;
    for (size_t r = 0; r < node.results.size(); ++r) {
      known[node.results[r]] = results[r];
      graph.constants.emplace_back(node.results[r], results[r]);
    }
    folded[n] = changed = true;
  }
  size_t at = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return folded[at++]; });
  return changed;
}

}  // namespace terra::graph
