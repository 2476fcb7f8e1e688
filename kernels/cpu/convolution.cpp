// conv2d and conv3d with their gradients as kernels: f32 through oneDNN's plans, other dtypes by unfolding.
#include "kernels/cpu/convolution.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/kernel_error.h"
#include "kernels/cpu/channels_last.h"
#include "kernels/cpu/convolution_columns.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/written.h"

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

/// Runs the plan of this shape with scratch for it; oneDNN's refusals become the user's error.
void run_plan(const ConvShape& shape, ConvPass pass, const ConvOptions& options, const ConvBuffers& buffers,
              Scratch& scratch) {
  try {
    const auto plan = ConvPlan::get(shape, pass, options);
    const size_t bytes = plan->workspace_bytes();
    char* memory = scratch.take<char>(static_cast<int64_t>(bytes));
    if (!scratch.counting()) plan->execute(buffers, {memory, bytes});
  } catch (const dnnl::error& e) {
    throw KernelError(KernelError::Kind::Runtime, std::string("convolution: oneDNN could not compute it: ") + e.what());
  }
}

/// What a pass reads, as a plan takes it: where it lies, row by row or channels last, else a copy.
ConvLayout read(const View& view, Scratch& scratch, float*& buffer) {
  const bool last = computes_channels_last(view);
  buffer = const_cast<float*>(last ? view.as<const float>() : scratch.contiguous<float>(view));  // it isn't written
  return last ? ConvLayout::ChannelsLast : ConvLayout::Plain;
}

/// Fills in the buffer that a plan writes, runs it and brings the result to where it is wanted.
void run_plan_into(const View& out, float* ConvBuffers::*buffer, ConvLayout ConvOptions::*layout,
                   const ConvShape& shape, ConvPass pass, ConvOptions options, ConvBuffers buffers, Scratch& scratch) {
  const bool last = computes_channels_last(out);
  const Written<float> written(out, last, scratch);
  buffers.*buffer = written.data;
  options.*layout = last ? ConvLayout::ChannelsLast : ConvLayout::Plain;
  run_plan(shape, pass, options, buffers, scratch);
  if (!scratch.counting()) written.finish();
}

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
      const Written<T> written(out, false, scratch);
      if (scratch.counting()) return;
      convolve_by_columns(shape, in, w, b, written.data, columns);
      written.finish();
    });
  }
  ConvBuffers buffers;
  ConvOptions options{.bias = bias};
  options.source = read(input, scratch, buffers.source);
  options.weights = read(weight, scratch, buffers.weights);
  if (bias) read(call.view(2), scratch, buffers.bias);
  run_plan_into(out, &ConvBuffers::destination, &ConvOptions::destination, shape, ConvPass::Forward, options, buffers,
                scratch);
}

void backward_input_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &weight = call.view(1), &out = call.out[0];
  check_numbers(out.dtype);
  if (out.numel() == 0) return;
  if (gradient.numel() == 0) {
    if (!scratch.counting()) fill_elements(out, Scalar(0));
    return;
  }
  const ConvShape shape = shape_of(call, out, weight, gradient);
  if (!has_plan(shape, out.dtype)) {
    return with_number(out.dtype, [&]<class T>(T) {
      const T *g = scratch.contiguous<T>(gradient), *w = scratch.contiguous<T>(weight);
      T* columns = scratch.take<T>(column_elements(shape));
      const Written<T> written(out, false, scratch);
      if (scratch.counting()) return;
      convolve_backward_input_by_columns(shape, g, w, written.data, columns);
      written.finish();
    });
  }
  ConvBuffers buffers;
  ConvOptions options;
  options.destination = read(gradient, scratch, buffers.destination);
  options.weights = read(weight, scratch, buffers.weights);
  run_plan_into(out, &ConvBuffers::source, &ConvOptions::source, shape, ConvPass::BackwardInput, options, buffers,
                scratch);
}

void backward_weight_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &input = call.view(1), &out = call.out[0];
  check_numbers(out.dtype);
  if (out.numel() == 0) return;
  if (gradient.numel() == 0) {
    if (!scratch.counting()) fill_elements(out, Scalar(0));
    return;
  }
  const ConvShape shape = shape_of(call, input, out, gradient);
  if (!has_plan(shape, out.dtype)) {
    return with_number(out.dtype, [&]<class T>(T) {
      const T *g = scratch.contiguous<T>(gradient), *in = scratch.contiguous<T>(input);
      T* columns = scratch.take<T>(column_elements(shape));
      const Written<T> written(out, false, scratch);
      if (scratch.counting()) return;
      convolve_backward_weight_by_columns(shape, g, in, written.data, columns);
      written.finish();
    });
  }
  ConvBuffers buffers;
  ConvOptions options;
  options.destination = read(gradient, scratch, buffers.destination);
  options.source = read(input, scratch, buffers.source);
  run_plan_into(out, &ConvBuffers::weights, &ConvOptions::weights, shape, ConvPass::BackwardWeight, options, buffers,
                scratch);
}

constexpr Kernel kKernels[] = {
    strided_kernel<forward_in>("conv2d"),
    strided_kernel<backward_input_in>("conv2d_backward_input"),
    strided_kernel<backward_weight_in>("conv2d_backward_weight"),
    strided_kernel<forward_in>("conv3d"),
    strided_kernel<backward_input_in>("conv3d_backward_input"),
    strided_kernel<backward_weight_in>("conv3d_backward_weight"),
};

}  // namespace

std::span<const Kernel> convolution_kernels() { return kKernels; }

}  // namespace terra::cpu
