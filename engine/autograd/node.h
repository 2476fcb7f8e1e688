// A node of the tape: the gradient of one recorded call.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/memory/intrusive.h"
#include "engine/tensor/tensor.h"

namespace terra::autograd {

class BatchedBackward;
class Node;
class SavedTensor;

/// Where the gradient of one input goes: input `index` of `node`. Null node: nobody wants it.
struct Edge {
  Ref<Node> node;
  uint32_t index = 0;
};

using GradientsHook = std::function<void(std::vector<Tensor>&)>;

/// Gradients flow from the results of a call (the node's inputs) to its operands (the node's edges). Nodes form a
/// directed acyclic graph that keeps its upstream alive; destruction is iterative, so chains may be of any length.
class Node : public Counted {
 public:
  Node();
  virtual ~Node() = default;
  static void destroy(Node* node);

  /// Given one gradient per result of the recorded call (undefined: none arrived), one per edge. Emits ops; with
  /// gradients enabled its work is recorded in turn.
  virtual std::vector<Tensor> apply(const std::vector<Tensor>& grads) = 0;
  /// Comes before each apply: which edges lead to what the pass asks for; null where it asks for everything.
  virtual void select(const std::vector<bool>*) {}
  /// "AddBackward0": what Python's grad_fn.name() says.
  virtual std::string name() const = 0;
  /// The call that the program made was a larger one, of which this node was the last part. `name` outlives everything.
  virtual void rename(std::string_view) {}
  /// The same: these are its operands.
  virtual void stand_for(std::vector<Edge>) {}
  /// Frees what was saved for apply; a second backward then raises.
  virtual void release_saved() {}
  /// True iff release_saved freed something that apply needs.
  virtual bool released() const { return false; }
  /// Metadata of result i, to make zeros for a gradient that didn't arrive and to check user gradients. May be absent.
  virtual const TensorMeta* result_meta(uint32_t) const { return nullptr; }
  /// Of a view of some elements of its operand, each of them once (`x[2]`): metadata of the operand, whose gradient is
  /// that of the view at their place and zero elsewhere. Null for all other nodes.
  virtual const TensorMeta* whole_meta() const { return nullptr; }
  /// That place in a gradient of the operand: a view of `whole`.
  virtual Tensor place_in(const Tensor& /*whole*/) const { return {}; }
  /// Calls visit(saved) for everything that apply may unpack.
  virtual void each_saved(const std::function<void(const SavedTensor&)>&) const {}
  /// Of a node that stands for many calls, behind an apply: by edge, how many of the calls had been passed when it got
  /// the last of its gradient. Leaves are served in that order. Empty for all others.
  virtual std::vector<uint32_t> turns() const { return {}; }
  /// Which edges take part in what hooks of the node see and give, by their places in `edges`; -1 for one that
  /// PyTorch's node has and that leads nowhere.
  virtual std::vector<int> seen_edges() const;
  /// The edges as programs look at them: those of the call that the program made.
  virtual std::vector<Edge> seen() const;
  /// A tensor whose history this was gets another.
  virtual void superseded(const Edge&) {}
  /// Of a node that stands for many calls: the history of one result alone, as it would be had each call made a node of
  /// its own, so that what passes there can be looked at. Null for all others.
  virtual Edge unfolded(uint32_t) { return {}; }
  /// The same of a node that programs take for that of its last call: the node of this call alone. Null for all others,
  /// and where the calls can't be made again.
  virtual Ref<Node> last_call() { return {}; }
  /// Somebody is going to look at what passes at a result: all of its gradient has to pass there.
  virtual void expose(uint32_t) {}
  /// Of a node that stands for several parts of a tape: from here on each has a node of its own, and all of the
  /// gradient of a result that a part hands on to another passes between them.
  virtual void come_apart() {}
  /// Nodes that have the same one may be applied together, in any order. Null: this one is applied by itself.
  virtual BatchedBackward* batched() { return nullptr; }
  /// Whether its apply runs code of the program, which may look at tensors and change them.
  virtual bool calls_program() const { return true; }
  /// What comes before all else, also where a pass ends here: the hooks of the tensors that this is the history of, in
  /// order of registration, then the tensors that keep their gradients take them.
  virtual void hook_gradients(std::vector<Tensor>& grads);
  /// Whether a pass through here runs hooks, or gives gradients to tensors that keep them.
  virtual bool is_hooked() const;

  std::vector<Edge> edges;
  uint32_t results = 1;  ///< number of gradients apply takes
  /// Backward visits higher numbers first. A node has a lower one than those that hand gradients to it; nodes get them
  /// in order of creation, one that is made late may take a number that was reserved.
  uint64_t sequence;
  /// Hooks of results: may replace their gradients. The number identifies a hook.
  std::vector<std::pair<uint64_t, GradientsHook>> tensor_hooks;
  /// Results that keep their gradients, and where.
  std::vector<std::pair<uint32_t, std::shared_ptr<Tensor>>> retained;
  /// Hooks of the node, called before apply in order of registration; they may replace the gradients.
  std::vector<std::pair<uint64_t, GradientsHook>> pre_hooks;
  /// The same after apply: sees the gradients of the edges, may replace them.
  std::vector<std::pair<uint64_t, std::function<void(std::vector<Tensor>&, const std::vector<Tensor>&)>>> post_hooks;
};

/// "Exp" for the node "ExpBackward0": what messages call the operation.
std::string operation_of(const Node& node);

/// The number that the next node would have had, and as many behind it.
uint64_t reserve_sequence(uint64_t count = 1);

/// The last node of a leaf: adds what arrives to its .grad.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf) : leaf_(std::move(leaf)) {}
  ~AccumulateGrad() override;
  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override;
  void hook_gradients(std::vector<Tensor>& grads) override;
  bool is_hooked() const override;
  bool calls_program() const override { return false; }
  std::string name() const override { return "AccumulateGrad"; }
  const Tensor& variable() const { return leaf_; }

 private:
  Tensor leaf_;
};

}  // namespace terra::autograd
