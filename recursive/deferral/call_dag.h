// Calls of graphs, and which of them compute from what others have computed: a directed acyclic graph.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "recursive/deferral/deferred_graph.h"

namespace terra::recursive {

/// Calls stand in the order of the program, so that each comes behind those that it computes from.
struct CallDag {
  static constexpr uint32_t kNone = ~0u;

  /// What a call gets for a tensor among its graph's inputs: one of these.
  struct Operand {
    uint32_t result = kNone;
    uint32_t tensor = kNone;
  };
  struct Call {
    uint32_t kind;
    uint32_t row;       ///< among the calls of its kind
    uint32_t operands;  ///< by input of its graph, in `operands`: where they begin
    uint32_t numbers;   ///< by number of a run, in `numbers`
    uint32_t results;   ///< by output of its graph, in `results`
  };
  /// Calls of one graph that may run together.
  struct Kind {
    std::shared_ptr<DeferredGraph> graph;
    std::vector<uint32_t> weights;  ///< by input: the large tensor that they all get there, or kNone
    std::vector<uint32_t> calls;
  };
  struct Result {
    uint32_t call;
    uint32_t output;
  };
  /// From outside. What calls get is the memory that the tensor had then: `w.data = other` gives it another one.
  struct External {
    explicit External(const Tensor& t)
        : tensor(t), given(t.alias()), version(t->version()), writes(t->storage->writes()) {}

    Tensor tensor;  ///< itself, until the calls run; then only a leaf
    Tensor given;   ///< without a history
    uint32_t version;
    uint32_t writes;
    /// Where its gradient goes, if a call wants one: also when it no longer requires any (requires_grad_, detach_).
    autograd::Edge history;

    bool wants_gradient() const { return history.node.get() != nullptr; }
    /// By writes of any kind, also those that count no version (x.data).
    bool is_written() const { return given->storage->writes() != writes; }
    /// A leaf has other memory since (w.data = other).
    bool is_moved() const { return tensor->storage != given->storage; }
    /// Of what isn't a leaf: it may come to be computed from results of the calls, and would keep them alive.
    void let_go();
    /// What the calls got, with its history.
    Tensor on_tape() const;
    /// The same of other memory: `bytes` as many as there were. It counts as many versions as the tensor had then.
    Tensor on_tape(const Ref<Storage>& bytes) const;
  };

  std::vector<Kind> kinds;
  std::vector<Call> calls;
  std::vector<Operand> operands;
  std::vector<Scalar> numbers;
  std::vector<Result> results;
  std::vector<External> tensors;

  const DeferredGraph& graph_of(const Call& call) const { return *kinds[call.kind].graph; }
  const Operand& operand(const Call& call, uint32_t input) const { return operands[call.operands + input]; }
  /// What a call of `callee` gets that it computes from; `uses` in the order of calls.
  struct Use {
    uint32_t call, input;
  };
  /// By result: who uses it. `first` has one place more than there are results.
  struct Uses {
    std::vector<uint32_t> first;
    std::vector<Use> uses;
  };
  Uses uses() const;
  /// The call by itself, op by op; `tensor_of` an operand.
  template <class TensorOf>
  std::vector<Tensor> play(const Call& call, TensorOf&& tensor_of) const;
};

template <class TensorOf>
std::vector<Tensor> CallDag::play(const Call& call, TensorOf&& tensor_of) const {
  const auto& inputs = graph_of(call).inputs();
  std::vector<Tensor> given;
  size_t count = 0;  // of numbers
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor) {
      count = std::max<size_t>(count, inputs[i].number + 1);
      continue;
    }
    if (given.size() <= inputs[i].number) given.resize(inputs[i].number + 1);
    const Tensor t = tensor_of(operand(call, i));
    given[inputs[i].number] = !inputs[i].requires_grad && t.requires_grad() ? t.alias() : t;
  }
  return graph_of(call).play(given, std::span<const Scalar>(numbers.data() + call.numbers, count));
}

}  // namespace terra::recursive
