// Convolution of images and volumes in f32 through oneDNN: prepared once per shape, executed many times.
//
// A plan cuts a convolution into parts (images, or channels when there are few images) whose number is a function of
// the shape alone, so that any number of threads computes the same bits, and so small that the copies in oneDNN's own
// layout stay in the cache between conversion and use.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/abi/kernel.h"

namespace terra::cpu {

/// Sizes of a convolution, NCDHW; images are volumes of depth 1. od, oh and ow are those of the output.
struct ConvShape {
  int64_t n = 1, ic = 1, ih = 1, iw = 1;
  int64_t oc = 1, oh = 1, ow = 1;
  int64_t kh = 1, kw = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_h = 0, pad_w = 0;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t groups = 1;
  int64_t id = 1, od = 1, kd = 1, stride_d = 1, pad_d = 0, dilation_d = 1;

  bool operator==(const ConvShape&) const = default;
  /// True iff there is more than one plane to look at.
  bool deep() const { return id > 1 || kd > 1 || pad_d > 0; }
  int64_t input_pixels() const { return id * ih * iw; }
  int64_t output_pixels() const { return od * oh * ow; }
  int64_t taps() const { return kd * kh * kw; }
  /// Of one pass; a multiplication and an addition count two.
  double operations() const {
    return 2.0 * static_cast<double>(n * oc * output_pixels()) * static_cast<double>(ic / groups * taps());
  }
};

enum class ConvPass : uint8_t { Forward, BackwardInput, BackwardWeight };

/// How activations lie in the caller's memory. Blocked is oneDNN's layout of this machine, nChw16c or nChw8c (channels
/// rounded up to whole blocks, the rest zeros): a chain of convolutions that keeps it converts nothing. Weights are
/// Plain or ChannelsLast.
enum class ConvLayout : uint8_t { Plain, Blocked, ChannelsLast };

/// What is asked of a pass beyond its shape.
struct ConvOptions {
  bool bias = false;  ///< Forward: add bias[oc]. BackwardWeight: also compute the gradient of the bias
  bool relu = false;  ///< Forward: the output is max(0, .)
  ConvLayout source = ConvLayout::Plain;       ///< the input, or its gradient
  ConvLayout destination = ConvLayout::Plain;  ///< the output, or its gradient
  ConvLayout weights = ConvLayout::Plain;      ///< the weights, or their gradient

  bool operator==(const ConvOptions&) const = default;
};

/// Bytes of activations [n, c, h, w] in the blocked layout.
size_t blocked_bytes(int64_t n, int64_t c, int64_t h, int64_t w);

/// Memory of one execution. Weights are OIDHW ([oc, ic / groups, kd, kh, kw]), or ODHWI where channels are last. A pass
/// writes the members that are its result (Forward: destination, BackwardInput: source, BackwardWeight: weights and, if
/// asked for, bias).
struct ConvBuffers {
  float* source = nullptr;
  float* weights = nullptr;
  float* bias = nullptr;
  float* destination = nullptr;
};

/// Immutable after creation; execute may run in several threads at once with different workspaces.
class ConvPlan {
 public:
  /// All sizes positive. Creation compiles code: up to a few milliseconds.
  ConvPlan(const ConvShape& shape, ConvPass pass, ConvOptions options = {});
  ~ConvPlan();
  /// The plan from a process-wide cache, made if it isn't there.
  static std::shared_ptr<const ConvPlan> get(const ConvShape& shape, ConvPass pass, ConvOptions options = {});

  /// For as many threads as the pool has now; execute takes any workspace of at least minimum_workspace_bytes and uses
  /// as many threads as there is room for.
  size_t workspace_bytes() const;
  size_t minimum_workspace_bytes() const;
  void execute(const ConvBuffers& buffers, const Workspace& workspace) const;

 private:
  struct Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

}  // namespace terra::cpu
