#include "engine/autograd/node.h"

#include <numeric>

#include "engine/autograd/attachment.h"
#include "engine/autograd/autograd.h"
#include "engine/autograd/sparse_gradients.h"
#include "engine/ops/call.h"
#include "engine/ops/layout.h"
#include "engine/tensor/sparse.h"

namespace terra::autograd {

std::string operation_of(const Node& node) {
  const std::string name = node.name();
  return name.substr(0, name.find("Backward"));
}

uint64_t reserve_sequence(uint64_t count) {
  static thread_local uint64_t counter = 0;
  const uint64_t first = counter + 1;
  counter += count;
  return first;
}

Node::Node() : sequence(reserve_sequence()) {}

void Node::destroy(Node* node) {
  // A chain of nodes is a list of owners: deleting it recursively would use one stack frame per link.
  static thread_local std::vector<Node*>* pending = nullptr;
  if (pending) {
    pending->push_back(node);
    return;
  }
  std::vector<Node*> queue{node};
  pending = &queue;
  while (!queue.empty()) {
    Node* next = queue.back();
    queue.pop_back();
    drop_attachment(*next);
    delete next;  // drops its edges, which appends to the queue
  }
  pending = nullptr;
}

void Node::hook_gradients(std::vector<Tensor>& grads) {
  static const Op* clone = find_op("clone");
  if (!tensor_hooks.empty())
    for (const auto& [id, hook] : std::vector(tensor_hooks))  // a hook may remove itself
      if (hook) hook(grads);                                  // the node of a call may have got it
  for (const auto& [index, kept] : retained) {
    const Tensor& g = grads[index];
    if (g.defined()) *kept = kept->defined() ? sum_of(*kept, g) : is_foreign(*g) ? g : (*clone)(g);
  }
}

std::vector<int> Node::seen_edges() const {
  std::vector<int> all(edges.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Edge> Node::seen() const {
  std::vector<Edge> out;
  for (const int i : seen_edges()) out.push_back(i < 0 ? Edge{} : edges[static_cast<size_t>(i)]);
  return out;
}

bool Node::is_hooked() const {
  return !tensor_hooks.empty() || !retained.empty() || !pre_hooks.empty() || !post_hooks.empty();
}

AccumulateGrad::~AccumulateGrad() {
  if (Meta* meta = find_meta(leaf_); meta && meta->accumulate == this) meta->accumulate = nullptr;
}

void AccumulateGrad::hook_gradients(std::vector<Tensor>& grads) {
  Tensor& g = grads[0];
  const Meta* meta = find_meta(leaf_);
  if (!meta || meta->hooks.empty() || !g.defined() || !leaf_.requires_grad()) return;
  for (const auto& [id, hook] : std::vector(meta->hooks))  // a hook may remove itself
    if (Tensor replaced = hook(g); replaced.defined()) g = std::move(replaced);
}

bool AccumulateGrad::is_hooked() const {
  const Meta* meta = find_meta(leaf_);
  return Node::is_hooked() || (meta && !meta->hooks.empty());
}

std::vector<Tensor> AccumulateGrad::apply(const std::vector<Tensor>& grads) {
  Tensor g = grads[0];
  if (!g.defined() || !leaf_.requires_grad()) return {};  // it may have been frozen since
  Meta& meta = meta_of(leaf_);
  if (!meta.grad.defined() && is_foreign(*g)) {
    meta.grad = g;
  } else if (!meta.grad.defined()) {
    // The gradient becomes .grad itself where it lies as the leaf does and nobody but this call (`grads` and `g`) can
    // see it, else a copy does. With a tape of its own it may be a view, which can't be detached in place as .grad can.
    const bool fits = is_laid_out_like(*g.get(), *leaf_.get());
    const bool ours = g->use_count() <= 2 && !(g->autograd && g->autograd->is_view) &&
                      (g->is_symbolic() ? g->symbol->is_sole() : g->storage->use_count() == 1);
    if (sums_are_seen)
      meta.grad = sparse_hooks().kept(g, fits && ours);
    else
      meta.grad = fits && ours ? g : copy_laid_out_like(g, leaf_);
  } else if (grad_enabled()) {
    meta.grad = sum_of(meta.grad, g);
  } else {
    add_to(meta.grad, g);
  }
  return {};
}

}  // namespace terra::autograd
