// The front end of every op call: defaults, promotion, shape rule, then the current emitter.
#pragma once
#include <span>
#include <vector>

#include "engine/ops/op.h"

namespace terra {

/// Calls `op`: completes `args` with defaults, expands a composite, converts operands to their common dtype, computes
/// result metadata and hands the primitive to the current emitter. Results are appended to `results`.
/// Throws Error for a user's mistake, before anything was computed.
void call(const Op& op, std::span<const Arg> args, std::vector<Tensor>& results);

/// The in-place form of an op with kInPlace: computes the op, then the value (converted to the dtype of args[0], whose
/// shape it must have) replaces that of args[0], which is returned.
Tensor call_in_place(const Op& op, std::span<const Arg> args);

/// PyTorch's result type of operands (tensors with dimensions win over 0-d ones, those over Python numbers).
DType result_type(std::span<const Arg> operands);
DType promote_types(DType a, DType b);
/// What Python numbers and integer operands of floating ops become: float32 unless set_default_dtype said otherwise.
DType default_dtype();
/// Of complex numbers without one.
DType default_complex_dtype();
void set_default_dtype(DType dtype);

/// What a thread's contexts say of gradients.
struct GradientModes {
  bool enabled = true;     ///< terra.no_grad and friends
  bool inference = false;  ///< terra.inference_mode: nothing is recorded, enabled or not (engine/tensor/storage.h)

  friend bool operator==(GradientModes a, GradientModes b) = default;
};
GradientModes gradient_modes();
void set_gradient_modes(GradientModes modes);
/// Whether calls of this thread are recorded.
bool grad_enabled();
class GradMode {
 public:
  explicit GradMode(GradientModes modes) : before_(gradient_modes()) { set_gradient_modes(modes); }
  /// Without recording in the mode that there is; with it outside of inference mode.
  explicit GradMode(bool enabled) : GradMode(GradientModes{enabled, !enabled && gradient_modes().inference}) {}
  ~GradMode() { set_gradient_modes(before_); }
  GradMode(const GradMode&) = delete;

 private:
  GradientModes before_;
};

}  // namespace terra
