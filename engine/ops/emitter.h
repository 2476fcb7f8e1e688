// Who turns a primitive call into results: now (engine/eager) or later (graph).
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "engine/ops/op.h"
#include "engine/tensor/tensor.h"

namespace terra {

/// Metadata of one result, from the shape rule. For views, strides and offset within the storage of parameter 0.
struct ResultMeta : TensorMeta {
  Dims strides;
  int64_t offset = 0;
};

/// One per way of executing. Arguments have been completed, promoted and checked; `metas` come from the shape rule
/// (empty for kHost ops). Gradient recording is the front end's business (call.cpp asks the tape).
class Emitter {
 public:
  virtual ~Emitter() = default;
  /// A pure primitive, or a view: appends one tensor per meta to `results`.
  virtual void emit(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                    std::vector<Tensor>& results) = 0;
  /// The in-place form and ops that write: result i becomes the new value of targets[i] (same dtype and shape). Bumps
  /// versions.
  virtual void emit_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                          std::span<const Tensor> targets) = 0;
  /// Whether it computes this elementwise op of floats of 16 bits as they are, widened and rounded on the way: the same
  /// values without tensors of the converted operands. Otherwise the front end emits conversions around the op.
  virtual bool widens(const Op&) const { return false; }
};

/// The emitter of this thread; the eager one unless a scope says otherwise.
Emitter& current_emitter();
/// The eager emitter, whatever the scope.
Emitter& default_emitter();
/// Set by engine/eager when the program starts.
void set_default_emitter(Emitter* emitter);

/// Makes an emitter current for a scope.
class EmitterScope {
 public:
  explicit EmitterScope(Emitter& emitter);
  ~EmitterScope();
  EmitterScope(const EmitterScope&) = delete;

 private:
  Emitter* before_;
};

/// The tape's door, implemented by engine/autograd and reached through pointers because the tape stands above ops.
struct TapeHooks {
  /// A differentiable primitive ran with gradients enabled and an input that requires grad.
  void (*record)(const Op& op, std::span<const Arg> args, std::span<Tensor> results) = nullptr;
  /// Before a write with gradients enabled: throws if the target is a leaf that requires grad, or a view that may not
  /// be written to. `records`: the write is going to be recorded.
  void (*check_write)(const Tensor& target, bool records) = nullptr;
  /// A copy of `target` as it is before a write, with its history: what gradients that read the old value save.
  Tensor (*before_write)(const Tensor& target) = nullptr;
  /// Runs `write`, which replaces the value of `target` by a differentiable function of `args`, and records it.
  /// Operands are saved as they were before, results as they are after.
  void (*record_write)(const Op& op, std::span<const Arg> args, const Tensor& target,
                       const std::function<void()>& write) = nullptr;
  /// A differentiable view of a tensor was made, with or without gradients: the view remembers its base.
  void (*record_view)(const Op& op, std::span<const Arg> args, const Tensor& base, const Tensor& view) = nullptr;
  /// A composite has made `result` of `args`: the node of its last op is to say so. `name` outlives everything; empty:
  /// the name of the node before.
  void (*name)(const Tensor& result, std::string_view name, const Op* op, std::span<const Arg> args) = nullptr;
  /// A composite has made `result` of `args`: it is a view of nothing that only the composite has had.
  void (*forget_inner_base)(const Tensor& result, std::span<const Arg> args) = nullptr;
  /// `view` was made as result `number` of what is, in PyTorch, one node with many views for results.
  void (*one_of_many)(const Tensor& view, uint32_t number) = nullptr;
};
TapeHooks& tape_hooks();

}  // namespace terra
