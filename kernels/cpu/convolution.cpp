// conv2d and its two gradients as kernels: f32 through oneDNN's plans, f64 by unfolding.
#include "kernels/cpu/convolution.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>

#include "kernels/abi/kernel_error.h"
#include "kernels/cpu/convolution_columns.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

/// Where the attributes begin in the three signatures: stride, padding, dilation, groups.
constexpr int kAttributes = 3;

/// `input`, `weight` and `output` are sizes [n, c, h, w] and [oc, ic / groups, kh, kw].
ConvShape shape_of(const KernelCall& call, const int64_t* input, const int64_t* weight, const int64_t* output) {
  const auto pair = [&](int i, int axis) {
    const auto values = call.ints(kAttributes + i);
    return values[std::min<size_t>(static_cast<size_t>(axis), values.size() - 1)];
  };
  return {.n = input[0],
          .ic = input[1],
          .ih = input[2],
          .iw = input[3],
          .oc = weight[0],
          .oh = output[2],
          .ow = output[3],
          .kh = weight[2],
          .kw = weight[3],
          .stride_h = pair(0, 0),
          .stride_w = pair(0, 1),
          .pad_h = pair(1, 0),
          .pad_w = pair(1, 1),
          .dilation_h = pair(2, 0),
          .dilation_w = pair(2, 1),
          .groups = call.integer(kAttributes + 3)};
}

void fill_zero(const View& out) {
  std::fill_n(out.as<char>(), static_cast<size_t>(out.numel()) * size_of(out.dtype), char{0});
}

/// Runs the plan of this shape with scratch for it; oneDNN's refusals become the user's error.
void run_plan(const ConvShape& shape, ConvPass pass, bool bias, const ConvBuffers& buffers, Scratch& scratch) {
  try {
    const auto plan = ConvPlan::get(shape, pass, {.bias = bias});
    const size_t bytes = plan->workspace_bytes();
    char* memory = scratch.take<char>(static_cast<int64_t>(bytes));
    if (!scratch.counting()) plan->execute(buffers, {memory, bytes});
  } catch (const dnnl::error& e) {
    throw KernelError(KernelError::Kind::Runtime, std::string("conv2d: oneDNN could not compute it: ") + e.what());
  }
}

float* writable(const float* p) { return const_cast<float*>(p); }  // plans read what isn't their result

void forward_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &weight = call.view(1), &out = call.out[0];
  if (out.numel() == 0) return;
  const ConvShape shape = shape_of(call, input.sizes, weight.sizes, out.sizes);
  const bool bias = call.has(2);
  if (out.dtype == DType::F64) {
    const double* in = scratch.contiguous<double>(input);
    const double* w = scratch.contiguous<double>(weight);
    const double* b = bias ? scratch.contiguous<double>(call.view(2)) : nullptr;
    double* columns = scratch.take<double>(column_elements(shape));
    if (!scratch.counting()) convolve_by_columns(shape, in, w, b, out.as<double>(), columns);
    return;
  }
  ConvBuffers buffers;
  buffers.source = writable(scratch.contiguous<float>(input));
  buffers.weights = writable(scratch.contiguous<float>(weight));
  if (bias) buffers.bias = writable(scratch.contiguous<float>(call.view(2)));
  buffers.destination = out.as<float>();
  run_plan(shape, ConvPass::Forward, bias, buffers, scratch);
}

void backward_input_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &weight = call.view(1), &out = call.out[0];
  if (out.numel() == 0) return;
  if (gradient.numel() == 0) {
    if (!scratch.counting()) fill_zero(out);
    return;
  }
  const ConvShape shape = shape_of(call, out.sizes, weight.sizes, gradient.sizes);
  if (out.dtype == DType::F64) {
    const double* g = scratch.contiguous<double>(gradient);
    const double* w = scratch.contiguous<double>(weight);
    double* columns = scratch.take<double>(column_elements(shape));
    if (!scratch.counting()) convolve_backward_input_by_columns(shape, g, w, out.as<double>(), columns);
    return;
  }
  ConvBuffers buffers;
  buffers.destination = writable(scratch.contiguous<float>(gradient));
  buffers.weights = writable(scratch.contiguous<float>(weight));
  buffers.source = out.as<float>();
  run_plan(shape, ConvPass::BackwardInput, false, buffers, scratch);
}

void backward_weight_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &input = call.view(1), &out = call.out[0];
  if (out.numel() == 0) return;
  if (gradient.numel() == 0) {
    if (!scratch.counting()) fill_zero(out);
    return;
  }
  const ConvShape shape = shape_of(call, input.sizes, out.sizes, gradient.sizes);
  if (out.dtype == DType::F64) {
    const double* g = scratch.contiguous<double>(gradient);
    const double* in = scratch.contiguous<double>(input);
    double* columns = scratch.take<double>(column_elements(shape));
    if (!scratch.counting()) convolve_backward_weight_by_columns(shape, g, in, out.as<double>(), columns);
    return;
  }
  ConvBuffers buffers;
  buffers.destination = writable(scratch.contiguous<float>(gradient));
  buffers.source = writable(scratch.contiguous<float>(input));
  buffers.weights = out.as<float>();
  run_plan(shape, ConvPass::BackwardWeight, false, buffers, scratch);
}

constexpr Kernel kKernels[] = {
    scratch_kernel<forward_in>("conv2d"),
    scratch_kernel<backward_input_in>("conv2d_backward_input"),
    scratch_kernel<backward_weight_in>("conv2d_backward_weight"),
};

}  // namespace

std::span<const Kernel> convolution_kernels() { return kKernels; }

}  // namespace terra::cpu
