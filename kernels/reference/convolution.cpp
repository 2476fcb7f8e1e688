// Convolution and its gradients as sums over output pixels and taps, accumulated in f64.
#include <vector>

#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

constexpr int kMostAxes = 3;

/// A convolution over the last one to three dimensions: `input` [n, c, ..], `weight` [oc, c / groups, ..], `output`.
struct Convolution {
  const View &input, &weight, &output;
  int axes;
  int64_t stride[kMostAxes], padding[kMostAxes], dilation[kMostAxes], groups;

  Convolution(const KernelCall& call, const View& input, const View& weight, const View& output)
      : input(input), weight(weight), output(output), axes(input.rank - 2), groups(call.integer(6)) {
    for (int axis = 0; axis < axes; ++axis) {
      const auto pick = [&](int i) { return call.ints(i)[call.ints(i).size() == 1 ? 0 : static_cast<size_t>(axis)]; };
      stride[axis] = pick(3);
      padding[axis] = pick(4);
      dilation[axis] = pick(5);
    }
  }

  static int64_t pixels(const View& v) {
    int64_t n = 1;
    for (int i = 2; i < v.rank; ++i) n *= v.sizes[i];
    return n;
  }
  /// The pixel that tap `tap` of output pixel `out` reads, or -1 for one of the padding.
  int64_t source(int64_t out, int64_t tap) const {
    int64_t pixel = 0, step = 1;
    for (int axis = axes - 1; axis >= 0; --axis) {
      const int64_t size = input.sizes[2 + axis];
      const int64_t at =
          out % output.sizes[2 + axis] * stride[axis] - padding[axis] + tap % weight.sizes[2 + axis] * dilation[axis];
      if (at < 0 || at >= size) return -1;
      pixel += at * step;
      step *= size;
      out /= output.sizes[2 + axis];
      tap /= weight.sizes[2 + axis];
    }
    return pixel;
  }

  /// Calls body(output element, input element, weight element) for every product that the convolution sums.
  template <class Body>
  void for_each_product(const Body& body) const {
    const int64_t oc_per_group = weight.sizes[0] / groups, from = pixels(input), taps = pixels(weight);
    for (int64_t i = 0; i < output.numel(); ++i) {
      const int64_t out = i % pixels(output), oc = i / pixels(output) % output.sizes[1];
      const int64_t n = i / pixels(output) / output.sizes[1];
      for (int64_t w = oc * weight.sizes[1] * taps; w < (oc + 1) * weight.sizes[1] * taps; ++w) {
        const int64_t pixel = source(out, w % taps);
        if (pixel < 0) continue;
        const int64_t ic = oc / oc_per_group * weight.sizes[1] + w / taps % weight.sizes[1];
        body(i, (n * input.sizes[1] + ic) * from + pixel, w);
      }
    }
  }
};

/// Adds up products in f64, then rounds once.
template <class T>
void store(const std::vector<double>& sums, const View& out) {
  for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = static_cast<T>(sums[static_cast<size_t>(i)]);
}

template <class T>
double number(const View& v, int64_t i) {
  return static_cast<double>(nth<T>(v, i));
}

void forward(const KernelCall& call) {
  const View &input = call.view(0), &weight = call.view(1), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(out.numel()));
    Convolution(call, input, weight, out).for_each_product([&](int64_t o, int64_t i, int64_t w) {
      sums[static_cast<size_t>(o)] += number<T>(input, i) * number<T>(weight, w);
    });
    if (call.has(2)) {
      const int64_t pixels = Convolution::pixels(out);
      for (int64_t i = 0; i < out.numel(); ++i) {
        sums[static_cast<size_t>(i)] += number<T>(call.view(2), i / pixels % out.sizes[1]);
      }
    }
    store<T>(sums, out);
  });
}

void backward_input(const KernelCall& call) {
  const View &grad = call.view(0), &weight = call.view(1), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(out.numel()));
    Convolution(call, out, weight, grad).for_each_product([&](int64_t o, int64_t i, int64_t w) {
      sums[static_cast<size_t>(i)] += number<T>(grad, o) * number<T>(weight, w);
    });
    store<T>(sums, out);
  });
}

void backward_weight(const KernelCall& call) {
  const View &grad = call.view(0), &input = call.view(1), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(out.numel()));
    Convolution(call, input, out, grad).for_each_product([&](int64_t o, int64_t i, int64_t w) {
      sums[static_cast<size_t>(w)] += number<T>(grad, o) * number<T>(input, i);
    });
    store<T>(sums, out);
  });
}

constexpr Kernel kKernels[] = {
    {.op = "conv2d", .run = forward},
    {.op = "conv2d_backward_input", .run = backward_input},
    {.op = "conv2d_backward_weight", .run = backward_weight},
    {.op = "conv3d", .run = forward},
    {.op = "conv3d_backward_input", .run = backward_input},
    {.op = "conv3d_backward_weight", .run = backward_weight},
};

}  // namespace

std::span<const Kernel> convolution_kernels() { return kKernels; }

}  // namespace terra::reference
