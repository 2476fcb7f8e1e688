#include "interpreter_hooks/verify/gradient_check.h"

#include "engine/autograd/autograd.h"
#include "engine/autograd/folded_node.h"
#include "engine/autograd/op_node.h"
#include "engine/autograd/walk.h"
#include "engine/errors/errors.h"
#include "engine/tensor/transfer.h"
#include "graph/cache/pair.h"
#include "recursive/deferral/deferred_node.h"

#include <unordered_map>
#include <unordered_set>

namespace terra::capture {

namespace {

/// Computes gradients, and runs no code of the program.
bool is_of_engine(const autograd::Node& node) {
  if (node.is_hooked()) return false;
  // Of leaves that nobody asks about, AccumulateGrad is only passed.
  return dynamic_cast<const autograd::OpNode*>(&node) || dynamic_cast<const autograd::AccumulateGrad*>(&node) ||
         graph::is_half_of_pair(node);
}

/// No code of the program runs between the results and the inputs.
bool is_quiet(const Tape& tape) {
  std::unordered_set<const autograd::Node*> ends, seen;
  std::vector<autograd::Node*> waiting;
  for (const Tensor& input : tape.inputs) {
    const autograd::Edge edge = autograd::gradient_edge(input);
    if (!edge.node || edge.node->is_hooked()) return false;
    ends.insert(edge.node.get());
  }
  const auto visit = [&](const autograd::Edge& edge) {
    if (edge.node && !ends.count(edge.node.get()) && seen.insert(edge.node.get()).second)
      waiting.push_back(edge.node.get());
  };
  for (const Tensor& result : tape.results) visit(autograd::gradient_edge(result));
  while (!waiting.empty()) {
    const autograd::Node* node = waiting.back();
    waiting.pop_back();
    if (!is_of_engine(*node)) return false;
    for (const autograd::Edge& edge : node->edges) visit(edge);
  }
  return true;
}

/// The node of the run that has made a tensor, which stands for its calls; else null.
const autograd::Node* run_of(const autograd::Edge& edge) {
  const autograd::Node* node = edge.node.get();
  if (node && graph::is_half_of_pair(*node) && !dynamic_cast<const autograd::FoldedNode*>(node))
    node = node->edges[0].node.get();
  return dynamic_cast<const autograd::FoldedNode*>(node);
}

/// Numbers of all sizes between 0.5 and 1.5, the same for every tensor of one shape. Complex ones are two each.
template <class T>
void fill(const Tensor& tensor) {
  auto* element = static_cast<T*>(tensor->data());
  const int64_t count = tensor.numel() * static_cast<int64_t>(size_of(tensor.dtype()) / sizeof(T));
  uint32_t random = 1;
  for (int64_t i = 0; i < count; i++) {
    random = random * 1664525 + 1013904223;
    element[i] = static_cast<T>(0.5) + static_cast<T>(random >> 8) / static_cast<T>(1 << 24);
  }
}

}  // namespace

void keep_separate_inputs(Tape& real, Tape& copies) {
  std::unordered_set<const autograd::Node*> behind;
  std::unordered_map<const autograd::Node*, int> made_by;
  for (const Tensor& input : real.inputs) {
    const autograd::Edge edge = autograd::history(input);
    if (!edge.node) continue;
    const autograd::Node* const run = run_of(edge);
    autograd::each_node(edge.node.get(), [&](autograd::Node& node) {
      if (&node != edge.node.get() && &node != run) behind.insert(&node);
    });
    if (run) ++made_by[run];
  }
  const auto is_separate = [&](const autograd::Edge& edge) {
    const autograd::Node* const run = run_of(edge);
    if (behind.count(edge.node.get())) return false;
    if (!run) return true;
    return !behind.count(run) && made_by[run] == 1 && !dynamic_cast<const recursive::DeferredNode*>(run);
  };
  Tape left_real{real.results, {}}, left_copies{copies.results, {}};
  for (size_t i = 0; i < real.inputs.size(); i++) {
    const autograd::Edge edge = autograd::gradient_edge(real.inputs[i]);
    if (!is_separate(edge)) continue;
    left_real.inputs.push_back(real.inputs[i]);
    left_copies.inputs.push_back(copies.inputs[i]);
  }
  real = std::move(left_real);
  copies = std::move(left_copies);
}

std::optional<std::vector<Tensor>> try_gradients(const Tape& tape) {
  std::vector<Tensor> given;
  for (const Tensor& result : tape.results) {
    given.push_back(Tensor::empty(result.sizes(), result.dtype()));
    if (real_dtype_of(result.dtype()) == DType::F32)
      fill<float>(given.back());
    else if (real_dtype_of(result.dtype()) == DType::F64)
      fill<double>(given.back());
    else
      return std::nullopt;
    given.back() = moved_to(given.back(), result.device());
  }
  try {
    if (!is_quiet(tape)) return std::nullopt;
    return autograd::gradients(tape.results, given, tape.inputs, true, false, true);
  } catch (const Error&) {  // written since
    return std::nullopt;
  }
}

bool is_expected(const Tensor& result) { return graph::is_prepared_for(autograd::gradient_edge(result)); }

}  // namespace terra::capture
