// Calls that have been put off: what they make are tensors whose bytes are computed, for many calls at once, when
// somebody first asks for any of them.
//
//   l, r = encode(tree.left), encode(tree.right)     # tensors that know their sizes, and where they come from
//   return join(l, r)                                # one more call that computes from them
//   ...
//   loss.backward()                                  # asks: all that was put off runs, level by level
//
// Whoever reads or writes bytes that the calls make or read has them done first (engine/tensor/deferral.h), so nobody
// can tell that they were put off.
#pragma once
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "engine/autograd/folded_node.h"
#include "engine/tensor/kept_bytes.h"
#include "recursive/deferral/dag_run.h"

namespace terra::recursive {

/// How many calls have been put off, and in how many batches they have run.
struct DeferralCounts {
  uint64_t calls = 0, batches = 0, settled = 0;
  uint64_t widest = 0;  ///< calls in one settling
};
DeferralCounts& deferral_counts();

/// Is told what broke in the engine when calls were to run many at a time; they run op by op then. May be null.
inline void (*on_deferral_error)(const char* what) = nullptr;

class DeferredNode;

/// Calls of one stage of the queue (deferred_queue.h).
class DeferredCalls final : public Deferral, public std::enable_shared_from_this<DeferredCalls> {
 public:
  static std::shared_ptr<DeferredCalls> make() { return std::shared_ptr<DeferredCalls>(new DeferredCalls); }

  /// Puts a call off, on tensors and numbers in the order of the graph's trace. False: it can't be, and nothing has
  /// happened. Throws Error where an op of it refuses the values that it gets.
  static bool defer(const std::shared_ptr<DeferredGraph>& graph, LentTensors tensors, std::span<const Scalar> numbers,
                    std::vector<std::variant<Tensor, Scalar>>& results);

  /// Everything in the queue.
  void settle() override;

  /// The tensor is what one of these calls makes, and not a view or another tensor of the same memory.
  bool has_made(const TensorImpl& tensor) const;
  /// Nobody writes the bytes before everything has been done.
  void guard(Storage& storage);
  /// What guards have kept from being read and written may be again.
  void let_go();
  /// All calls, once. Throws Error where that fails; then what they would have made fails for whoever asks.
  void run_now();
  void fail(std::exception_ptr why) { failed_ = std::move(why); }

  /// Tickets of storages that are read, and not made, have this bit.
  static constexpr uint32_t kRead = uint32_t{1} << 31;

 private:
  friend class DeferredNode;
  DeferredCalls() = default;

  void add(const std::shared_ptr<DeferredGraph>& graph, LentTensors tensors, std::span<const Scalar> numbers,
           std::vector<std::variant<Tensor, Scalar>>& results);
  bool take_operands(const DeferredGraph& graph, LentTensors tensors);
  void take_drawn(const DeferredGraph& graph, const std::vector<Tensor>& drawn);
  bool take_operand(TensorImpl& tensor, CallDag::Operand& operand);
  uint32_t add_tensor(TensorImpl& tensor);
  void add_edge(uint32_t tensor);
  uint32_t kind_of(const std::shared_ptr<DeferredGraph>& graph);
  Tensor make_result(const DeferredGraph::Output& output);
  void run();
  void run_plainly();
  void show(uint32_t result, Ref<Storage> bytes);
  bool is_shown_written() const;
  std::vector<Tensor> play(const std::vector<bool>& wanted, autograd::FoldedNode::StandIns& memory) const;
  void free();
  bool is_freed() const { return run_ && run_->is_released(); }

  struct Made {
    Ref<Storage> storage;
    uint64_t serial;  ///< of the one tensor that a call may compute from
  };

  CallDag dag_;
  std::vector<Made> made_;                                     ///< by result; until settled
  std::vector<Ref<Storage>> guarded_;                          ///< until settled
  std::unordered_map<const TensorImpl*, uint32_t> number_of_;  ///< of tensors from outside
  std::vector<CallDag::Operand> operands_;                     ///< of the call that is being put off
  std::vector<uint32_t> weights_;
  DeferredNode* node_ = nullptr;  ///< of results that require grad; while it is alive
  Ref<autograd::Node> new_node_;  ///< the same, until settled
  std::unique_ptr<DagRun> run_;   ///< settled, and somebody may ask for gradients
  // As long as it is:
  std::vector<Ref<Storage>> shown_;  ///< by result, those that the program has
  KeptBytes kept_;                   ///< what the calls got
  std::exception_ptr failed_;
  bool settled_ = false;
};

}  // namespace terra::recursive
