// conv2d and conv3d with their gradients as kernels: f32 through oneDNN's plans, other dtypes by unfolding.
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

/// Where the attributes begin in the signatures: stride, padding, dilation, groups.
constexpr int kAttributes = 3;

/// `input`, `weight` and `output` have sizes [n, c, (d,) h, w] and [oc, ic / groups, (kd,) kh, kw].
ConvShape shape_of(const KernelCall& call, const View& input, const View& weight, const View& output) {
  const int h = input.rank - 2, w = input.rank - 1, spatial = input.rank - 2;
  const auto attribute = [&](int i, int axis) {
    const auto values = call.ints(kAttributes + i);
    return values[values.size() == 1 ? 0 : static_cast<size_t>(axis - 2)];
  };
  ConvShape s{.n = input.sizes[0],
              .ic = input.sizes[1],
              .ih = input.sizes[h],
              .iw = input.sizes[w],
              .oc = weight.sizes[0],
              .oh = output.sizes[h],
              .ow = output.sizes[w],
              .kh = weight.sizes[h],
              .kw = weight.sizes[w],
              .stride_h = attribute(0, h),
              .stride_w = attribute(0, w),
              .pad_h = attribute(1, h),
              .pad_w = attribute(1, w),
              .dilation_h = attribute(2, h),
              .dilation_w = attribute(2, w),
              .groups = call.integer(kAttributes + 3)};
  if (spatial == 2) return s;
  s.id = input.sizes[2];
  s.od = output.sizes[2];
  s.kd = weight.sizes[2];
  s.stride_d = attribute(0, 2);
  s.pad_d = attribute(1, 2);
  s.dilation_d = attribute(2, 2);
  return s;
}

void check_numbers(DType dtype) {
  with_number(dtype, [](auto) {});
}

/// oneDNN computes in f32, on images and filters that have elements, and counts in ints.
bool has_plan(const ConvShape& s, DType dtype) {
  constexpr int64_t kMost = 1 << 24;
  const int64_t counted[] = {s.stride_d, s.stride_h,   s.stride_w,   s.pad_d,     s.pad_h,
                             s.pad_w,    s.dilation_d, s.dilation_h, s.dilation_w};
  return dtype == DType::F32 && s.ic > 0 && s.input_pixels() > 0 &&
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
    throw KernelError(KernelError::Kind::Runtime, std::string("convolution: oneDNN could not compute it: ") + e.what());
  }
}

float* writable(const float* p) { return const_cast<float*>(p); }  // plans read what isn't their result

void forward_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &weight = call.view(1), &out = call.out[0];
  check_numbers(out.dtype);
  if (out.numel() == 0) return;
  const ConvShape shape = shape_of(call, input, weight, out);
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
  const ConvShape shape = shape_of(call, out, weight, gradient);
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
  const ConvShape shape = shape_of(call, input, out, gradient);
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
    scratch_kernel<forward_in>("conv3d"),
    scratch_kernel<backward_input_in>("conv3d_backward_input"),
    scratch_kernel<backward_weight_in>("conv3d_backward_weight"),
};

}  // namespace

std::span<const Kernel> convolution_kernels() { return kKernels; }

}  // namespace terra::cpu
