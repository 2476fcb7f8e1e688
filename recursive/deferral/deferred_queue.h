// Everything that has been put off, in the order in which it will be done.
//
//   h = encode(tree)                      # calls: stage 0
//   s = dropout(cat([h, g])).sum()        # ops on what they make: before the calls of stage 1
//   encode(other_tree)                    # calls that need none of that: stage 0 again, one batch with those before
//
// Calls of captured graphs wait to run many at once (deferred_calls.h). Ops wait because running them would have the
// calls run that they compute from; they run one by one, as they would have. Both record their gradients when they are
// put off, and draw no random numbers: nobody can tell that they wait, since whoever reads or writes bytes that they
// make or read has everything done first.
#pragma once
#include <memory>
#include <vector>

#include "engine/ops/emitter.h"
#include "recursive/deferral/deferred_calls.h"

namespace terra::recursive {

/// Ops on tensors that the calls of earlier stages make.
class DeferredOps final : public Deferral {
 public:
  void settle() override;
  void add(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas, std::vector<Tensor>& results);
  size_t count() const { return ops_.size(); }
  /// Throws Error where an op fails: what it and all behind it would have made fails for whoever asks.
  void run();
  /// What has not been made never will.
  void fail(std::exception_ptr why) { failed_ = std::move(why); }

 private:
  struct PutOff {
    const Op* op;
    OwnedArgs args;
    std::vector<Ref<Storage>> results;
    std::vector<ResultMeta> metas;
  };
  std::vector<PutOff> ops_;
  std::exception_ptr failed_;
};

class DeferredQueue final : public Deferral {
 public:
  static DeferredQueue& get();
  void settle() override;

  /// Whether the bytes are still to be made.
  static bool is_to_be_made(const TensorImpl& tensor);
  /// The calls that one on these tensors may join. Null: something is put off by somebody else.
  DeferredCalls* calls_for(LentTensors tensors);
  /// Puts an op off if one of its operands is still to be made. False: it has to run now.
  bool defer_op(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                std::vector<Tensor>& results);
  /// More work would hold too much memory: settles.
  void bound(size_t bytes);

 private:
  struct Stage {
    std::shared_ptr<DeferredOps> ops;
    std::shared_ptr<DeferredCalls> calls;
  };
  static constexpr uint32_t kNow = ~0u;

  Stage& stage(uint32_t number);
  uint32_t stage_of(const TensorImpl& tensor, bool call) const;

  std::vector<Stage> stages_;
  std::vector<Stage> failed_;  ///< stages
  size_t bytes_ = 0, count_ = 0;
};

}  // namespace terra::recursive
