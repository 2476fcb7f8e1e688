#include "graph/ir/order.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/errors/errors.h"

namespace terra::graph {

void restore_order(Graph& graph) {
  const std::vector<int32_t> made_by = definitions(graph);
  const auto count = static_cast<int32_t>(graph.nodes.size());
  std::vector<int32_t> before_in_chain(graph.nodes.size(), -1);
  std::map<uint32_t, int32_t> last;
  for (int32_t n = 0; n < count; ++n) {
    if (graph.nodes[n].is_pure()) continue;
    if (const auto [at, first] = last.try_emplace(graph.nodes[n].chain, n); !first)
      before_in_chain[n] = std::exchange(at->second, n);
  }

  enum class State : uint8_t { Waits, Open, Placed };
  std::vector<State> states(graph.nodes.size(), State::Waits);
  std::vector<Node> placed;
  placed.reserve(graph.nodes.size());
  std::vector<int32_t> open;
  for (int32_t first = 0; first < count; ++first) {
    open.push_back(first);
    while (!open.empty()) {
      const int32_t at = open.back();
      if (states[at] == State::Placed) {
        open.pop_back();
        continue;
      }
      const size_t before = open.size();
      const auto ask_for = [&](int32_t n) {
        if (n >= 0 && states[n] != State::Placed) open.push_back(n);
      };
      for_each_use(graph.nodes[at], [&](ValueId id) { ask_for(made_by[id]); });
      ask_for(before_in_chain[at]);
      std::reverse(open.begin() + static_cast<std::ptrdiff_t>(before), open.end());
      if (open.size() > before) {
        if (std::exchange(states[at], State::Open) == State::Open)
          throw InternalError(fmt::format("the nodes of graph \"{}\" wait for each other", graph.name));
        continue;
      }
      states[at] = State::Placed;
      placed.push_back(std::move(graph.nodes[at]));
      open.pop_back();
    }
  }
  graph.nodes = std::move(placed);
}

}  // namespace terra::graph
