// Convolution and its gradients as sums over output pixels and taps, accumulated in f64.
#include <vector>

#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

struct Attributes {
  int64_t stride[2], padding[2], dilation[2], groups;

  explicit Attributes(const KernelCall& call) : groups(call.integer(6)) {
    for (int axis = 0; axis < 2; ++axis) {
      const auto pick = [&](int i) { return call.ints(i)[call.ints(i).size() == 1 ? 0 : static_cast<size_t>(axis)]; };
      stride[axis] = pick(3);
      padding[axis] = pick(4);
      dilation[axis] = pick(5);
    }
  }
};

/// Calls body(n, oc, oy, ox, input channel, iy, ix, channel within the group, ky, kx) for every product that the
/// convolution sums. `input`, `weight`, `output`: sizes.
template <class Body>
void for_each_product(const Attributes& a, const int64_t* input, const int64_t* weight, const int64_t* output,
                      const Body& body) {
  const int64_t oc_per_group = weight[0] / a.groups;
  for (int64_t n = 0; n < input[0]; ++n) {
    for (int64_t oc = 0; oc < weight[0]; ++oc) {
      for (int64_t oy = 0; oy < output[2]; ++oy) {
        for (int64_t ox = 0; ox < output[3]; ++ox) {
          for (int64_t c = 0; c < weight[1]; ++c) {
            for (int64_t ky = 0; ky < weight[2]; ++ky) {
              for (int64_t kx = 0; kx < weight[3]; ++kx) {
                const int64_t iy = oy * a.stride[0] - a.padding[0] + ky * a.dilation[0];
                const int64_t ix = ox * a.stride[1] - a.padding[1] + kx * a.dilation[1];
                if (iy < 0 || iy >= input[2] || ix < 0 || ix >= input[3]) continue;
                body(n, oc, oy, ox, oc / oc_per_group * weight[1] + c, iy, ix, c, ky, kx);
              }
            }
          }
        }
      }
    }
  }
}

/// Adds up products in f64, then rounds once.
template <class T>
void store(const std::vector<double>& sums, const View& out) {
  for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = static_cast<T>(sums[static_cast<size_t>(i)]);
}

int64_t flat(const View& v, int64_t a, int64_t b, int64_t c, int64_t d) {
  return ((a * v.sizes[1] + b) * v.sizes[2] + c) * v.sizes[3] + d;
}

void conv2d(const KernelCall& call) {
  const View &input = call.view(0), &weight = call.view(1), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(out.numel()));
    for_each_product(Attributes(call), input.sizes, weight.sizes, out.sizes,
                     [&](int64_t n, int64_t oc, int64_t oy, int64_t ox, int64_t ic, int64_t iy, int64_t ix, int64_t c,
                         int64_t ky, int64_t kx) {
                       sums[flat(out, n, oc, oy, ox)] += static_cast<double>(at<T>(input, {n, ic, iy, ix})) *
                                                         static_cast<double>(at<T>(weight, {oc, c, ky, kx}));
                     });
    if (call.has(2)) {
      const int64_t pixels = out.sizes[2] * out.sizes[3];
      for (int64_t i = 0; i < out.numel(); ++i) {
        sums[static_cast<size_t>(i)] += at<T>(call.view(2), {i / pixels % out.sizes[1]});
      }
    }
    store<T>(sums, out);
  });
}

void conv2d_backward_input(const KernelCall& call) {
  const View &grad = call.view(0), &weight = call.view(1), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(out.numel()));
    for_each_product(Attributes(call), out.sizes, weight.sizes, grad.sizes,
                     [&](int64_t n, int64_t oc, int64_t oy, int64_t ox, int64_t ic, int64_t iy, int64_t ix, int64_t c,
                         int64_t ky, int64_t kx) {
                       sums[flat(out, n, ic, iy, ix)] += static_cast<double>(at<T>(grad, {n, oc, oy, ox})) *
                                                         static_cast<double>(at<T>(weight, {oc, c, ky, kx}));
                     });
    store<T>(sums, out);
  });
}

void conv2d_backward_weight(const KernelCall& call) {
  const View &grad = call.view(0), &input = call.view(1), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(out.numel()));
    for_each_product(Attributes(call), input.sizes, out.sizes, grad.sizes,
                     [&](int64_t n, int64_t oc, int64_t oy, int64_t ox, int64_t ic, int64_t iy, int64_t ix, int64_t c,
                         int64_t ky, int64_t kx) {
                       sums[flat(out, oc, c, ky, kx)] += static_cast<double>(at<T>(grad, {n, oc, oy, ox})) *
                                                         static_cast<double>(at<T>(input, {n, ic, iy, ix}));
                     });
    store<T>(sums, out);
  });
}

constexpr Kernel kKernels[] = {
    {.op = "conv2d", .run = conv2d},
    {.op = "conv2d_backward_input", .run = conv2d_backward_input},
    {.op = "conv2d_backward_weight", .run = conv2d_backward_weight},
};

}  // namespace

std::span<const Kernel> convolution_kernels() { return kKernels; }

}  // namespace terra::reference
