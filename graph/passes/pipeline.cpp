#include "graph/passes/pipeline.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "graph/ir/verify.h"
#include "graph/passes/drop_dead_code.h"

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
      {"dce", "Nothing is computed that nobody uses.", drop_dead_code},
  };
  return passes;
}

std::vector<PassReport> optimize(Graph& graph) {
  std::vector<PassReport> reports;
  for (const Pass& pass : pipeline()) {
    if (switched_off(pass.name)) continue;
    const size_t before = graph.nodes.size();
    const auto start = std::chrono::steady_clock::now();
    pass.run(graph);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    reports.push_back({pass.name, took.count(), before, graph.nodes.size()});
#ifndef NDEBUG
    verify(graph, Stage::Optimized, pass.name);
#endif
  }
  return reports;
}

bool exact_mode() {
  const char* text = std::getenv("TERRA_EXACT");
  return text && std::strcmp(text, "1") == 0;
}

}  // namespace terra::graph
