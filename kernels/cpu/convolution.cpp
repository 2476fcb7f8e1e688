// conv2d and its two gradients as kernels: f32 through oneDNN's plans, other dtypes by unfolding.
#include "kernels/cpu/convolution.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>

#include "kernels/abi/kernel_error.h"
#include "kernels/cpu/convolution_columns.h"
#include "kernels/cpu/dtype_dispatch.h"
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

void check_numbers(DType dtype) {
  with_number(dtype, [](auto) {});
}

/// oneDNN computes in f32, on images and filters that have elements, and counts in ints.
bool has_plan(const ConvShape& s, DType dtype) {
  constexpr int64_t kMost = 1 << 24;
  const int64_t counted[] = {s.stride_h, s.stride_w, s.pad_h, s.pad_w, s.dilation_h, s.dilation_w};
  return dtype == DType::F32 && s.ic > 0 && s.ih > 0 && s.iw > 0 &&
         *std::max_element(std::begin(counted), std::end(counted)) < kMost;
}

void fill_zero(const View& out) {
  std::fill_n(out.bytes(), static_cast<size_t>(out.numel()) * size_of(out.dtype), char{0});
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
  check_numbers(out.dtype);
  if (out.numel() == 0) return;
  const ConvShape shape = shape_of(call, input.sizes, weight.sizes, out.sizes);
  const bool bias = call.has(2);
  if (!has_plan(shape, out.dtype)) {
    return with_number(out.dtype, [&]<class T>(T) {
      const T *in = scratch.contiguous<T>(input), *w = scratch.contiguous<T>(weight);
      const T* b = bias ? scratch.contiguous<T>(call.view(2)) : nullptr;
      T* columns = scratch.take<T>(column_elements(shape));
      if (!scratch.counting()) convolve_by_columns(shape, in, w, b, out.as<T>(), columns);
    });
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
  check_numbers(out.dtype);
  if (out.numel() == 0) return;
  if (gradient.numel() == 0) {
    if (!scratch.counting()) fill_zero(out);
    return;
  }
  const ConvShape shape = shape_of(call, out.sizes, weight.sizes, gradient.sizes);
  if (!has_plan(shape, out.dtype)) {
    return with_number(out.dtype, [&]<class T>(T) {
      const T *g = scratch.contiguous<T>(gradient), *w = scratch.contiguous<T>(weight);
      T* columns = scratch.take<T>(column_elements(shape));
      if (!scratch.counting()) convolve_backward_input_by_columns(shape, g, w, out.as<T>(), columns);
    });
  }
  ConvBuffers buffers;
  buffers.destination = writable(scratch.contiguous<float>(gradient));
  buffers.weights = writable(scratch.contiguous<float>(weight));
  buffers.source = out.as<float>();
  run_plan(shape, ConvPass::BackwardInput, false, buffers, scratch);
}

void backward_weight_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &input = call.view(1), &out = call.out[0];
  check_numbers(out.dtype);
  if (out.numel() == 0) return;
  if (gradient.numel() == 0) {
    if (!scratch.counting()) fill_zero(out);
    return;
  }
  const ConvShape shape = shape_of(call, input.sizes, out.sizes, gradient.sizes);
  if (!has_plan(shape, out.dtype)) {
    return with_number(out.dtype, [&]<class T>(T) {
      const T *g = scratch.contiguous<T>(gradient), *in = scratch.contiguous<T>(input);
      T* columns = scratch.take<T>(column_elements(shape));
      if (!scratch.counting()) convolve_backward_weight_by_columns(shape, g, in, out.as<T>(), columns);
    });
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
