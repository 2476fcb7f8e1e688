// Who turns a primitive call into results: now (engine/eager) or later (graph).
#pragma once
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
/// (empty for kHost ops). Gradient recording is the emitter's caller's business (engine/autograd wraps the result).
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
};

/// The emitter of this thread; the eager one unless a scope says otherwise.
Emitter& current_emitter();
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

/// The tape's door: called by the front end after a differentiable primitive ran with gradients enabled and an input
/// that requires grad. Implemented by engine/autograd, reached through this pointer because the tape stands above ops.
struct TapeHooks {
  void (*record)(const Op& op, std::span<const Arg> args, std::span<Tensor> results) = nullptr;
  /// The same for emit_write: checks that the write is allowed (a leaf that requires grad is not) before it happens.
  void (*check_write)(const Op& op, const Tensor& target) = nullptr;
  void (*record_write)(const Op& op, std::span<const Arg> args, std::span<const Tensor> targets) = nullptr;
  /// A view of a tensor was made (with or without gradients): remembers base and how it was derived.
  void (*record_view)(const Op& op, std::span<const Arg> args, const Tensor& base, const Tensor& view) = nullptr;
};
TapeHooks& tape_hooks();

}  // namespace terra
