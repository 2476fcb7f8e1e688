#include "engine/autograd/spent_node.h"

#include <unordered_set>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"

namespace terra::autograd {

void fail_spent() {
  fail(ErrorKind::RuntimeError,
       "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
       "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
       "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
       "saved tensors after calling backward.");
}

bool is_spent(const Tensor& t) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack;
  const auto visit = [&](const Node* node) {
    if (node && seen.insert(node).second) stack.push_back(node);
  };
  visit(history(t).node.get());
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (node->released()) return true;
    for (const Edge& e : node->edges) visit(e.node.get());
  }
  return false;
}

}  // namespace terra::autograd
