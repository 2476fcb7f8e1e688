#include "engine/autograd/walk.h"

#include <unordered_set>
#include <vector>

namespace terra::autograd {

void each_node(Node* history, const std::function<void(Node&)>& visit) {
  std::unordered_set<const Node*> seen;
  std::vector<Node*> stack;
  const auto meet = [&](Node* node) {
    if (node && seen.insert(node).second) stack.push_back(node);
  };
  meet(history);
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    visit(*node);
    for (const Edge& e : node->edges) meet(e.node.get());
  }
}

}  // namespace terra::autograd
