#include "graph/passes/pipeline.h"

#include <cstdlib>
#include <string_view>

#include "graph/ir/graph_table.h"
#include "graph/ir/verify.h"
#include "graph/passes/batch_products.h"
#include "graph/passes/copy_transposed.h"
#include "graph/passes/drop_dead_code.h"
#include "graph/passes/drop_dead_graphs.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/fuse_elementwise.h"
#include "graph/passes/merge_common.h"
#include "graph/passes/merge_sums.h"
#include "graph/passes/merge_updates.h"
#include "graph/passes/narrow_products.h"
#include "graph/passes/simplify.h"
#include "kernels/abi/exact_mode.h"

namespace terra::graph {
namespace {

bool switched_off(std::string_view name) {
  const char* text = std::getenv("TERRA_PASSES");
  std::string_view rest = text ? text : "";
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, comma);
    if (!item.empty() && item[0] == '-' && item.substr(1) == name) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

}  // namespace

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> passes = {
      {"dce", "What a replay emitted for nobody makes the next passes slower.", drop_dead_code, Phase::Whole},
      {"simplify", "Writes that cover all of a tensor are its new value; copies and ones from gradients vanish.",
       simplify, Phase::Whole},
      {"fold", "What depends on constants only is computed once.", fold_constants, Phase::Whole},
      {"cse", "Gradient rules and the program ask for the same views and masks.", merge_common, Phase::Whole},
      {"resimplify", "Merged operands match more rules.", simplify, Phase::Whole},
      {"sums", "The gradient of a weight that is used at every step is one product, not a sum of small ones.",
       merge_sums, Phase::Whole, true},
      {"batch", "Products of a loop that don't wait for each other are one.", batch_products, Phase::Whole, true},
      {"narrow", "Of a product only what is wanted is computed.", narrow_products, Phase::Whole, true},
      {"recse", "A weight and its bias gathered the same operands.", merge_common, Phase::Whole},
      {"sweep", "The rules leave what they went around.", drop_dead_code, Phase::Whole},
      {"turn", "Many small products read a matrix the other way round.", copy_transposed, Phase::Part, true},
      {"updates", "One kernel call steps all parameters.", merge_updates, Phase::Part},
      {"fuse", "Chains of elementwise ops stay in the cache.", fuse_elementwise, Phase::Part},
  };
  return passes;
}

namespace {

/// The passes on a graph and in the bodies of its nodes: whatever runs as a body runs by itself.
void run_passes(Graph& graph, Phase phase) {
  for (Node& node : graph.nodes) {
    if (node.kind == NodeKind::Fused) continue;
    for (auto& body : node.bodies) {
      auto better = std::make_shared<Graph>(*body);
      better->table = graph.table;
      run_passes(*better, phase);
      better->table = nullptr;
      body = std::move(better);
    }
  }
  for (const Pass& pass : pipeline()) {
    if (pass.phase != phase || switched_off(pass.name)) continue;
    if (pass.reassociates && exact_mode()) continue;
    pass.run(graph);
#ifndef NDEBUG
    verify(graph, Stage::Optimized, pass.name);
#endif
  }
}

/// What the graph, optimized, still calls.
void optimize_callees(Graph& graph, Phase phase) {
  drop_dead_graphs(graph);
  if (!graph.table) return;
  auto better = std::make_shared<GraphTable>(*graph.table);
  for (GraphId id = 0; id < better->size(); ++id) {
    if (!better->find(id)) continue;
    Graph callee = better->at(id);
    callee.table = graph.table;
    run_passes(callee, phase);
    better->define(id, std::move(callee));
  }
  graph.table = std::move(better);
}

}  // namespace

void optimize(Graph& graph, Phase phase) {
  run_passes(graph, phase);
  optimize_callees(graph, phase);
}

}  // namespace terra::graph
