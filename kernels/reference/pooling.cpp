// Pooling over windows of the last two dimensions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/abi/kernel_error.h"
#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

struct Pair {
  int64_t at[2];
  int64_t operator[](int axis) const { return at[axis]; }
};

Pair pair(const KernelCall& call, int i, Pair otherwise) {
  if (!call.has(i) || call.ints(i).empty()) return otherwise;
  return {call.ints(i)[0], call.ints(i)[call.ints(i).size() - 1]};
}

int64_t height(const View& v) { return v.sizes[v.rank - 2]; }
int64_t width(const View& v) { return v.sizes[v.rank - 1]; }
int64_t planes(const View& v) { return height(v) * width(v) == 0 ? 0 : v.numel() / (height(v) * width(v)); }

/// Calls body(plane, y, x) for every output.
template <class Body>
void for_each_output(const View& out, const Body& body) {
  for (int64_t p = 0; p < planes(out); ++p) {
    for (int64_t y = 0; y < height(out); ++y) {
      for (int64_t x = 0; x < width(out); ++x) body(p, y, x);
    }
  }
}

template <class T>
T& pixel(const View& v, int64_t plane, int64_t y, int64_t x) {
  return nth<T>(v, (plane * height(v) + y) * width(v) + x);
}

/// The first of the largest; a NaN is larger than anything, a later NaN than an earlier one.
void max_pool(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  const Pair kernel = pair(call, 1, {1, 1}), stride = pair(call, 2, kernel), padding = pair(call, 3, {0, 0});
  const Pair dilation = pair(call, 4, {1, 1});
  with_number(out.dtype, [&]<class T>(T) {
    for_each_output(out, [&](int64_t p, int64_t y, int64_t x) {
      T best = std::is_floating_point_v<T> ? static_cast<T>(-INFINITY) : std::numeric_limits<T>::lowest();
      int64_t index = -1;
      for (int64_t i = 0; i < kernel[0]; ++i) {
        for (int64_t j = 0; j < kernel[1]; ++j) {
          const int64_t iy = y * stride[0] - padding[0] + i * dilation[0],
                        ix = x * stride[1] - padding[1] + j * dilation[1];
          if (iy < 0 || iy >= height(in) || ix < 0 || ix >= width(in)) continue;
          const T value = pixel<T>(in, p, iy, ix);
          if (index < 0 || value > best || value != value) {
            best = value;
            index = iy * width(in) + ix;
          }
        }
      }
      pixel<T>(out, p, y, x) = best;
      pixel<int64_t>(call.out[1], p, y, x) = index;
    });
  });
}

/// (grad, indices, input_sizes)
void max_pool_backward(const KernelCall& call) {
  const View &grad = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for_each_output(grad, [&](int64_t p, int64_t y, int64_t x) {
      const int64_t index = pixel<int64_t>(call.view(1), p, y, x);
      if (index == -1) return;
      if (index < 0 || index >= height(out) * width(out)) {
        throw KernelError(KernelError::Kind::Index, "max_pool2d_backward: found an invalid index");
      }
      pixel<T>(out, p, index / width(out), index % width(out)) += pixel<T>(grad, p, y, x);
    });
  });
}

/// Rows [y0, y1) and columns [x0, x1) of the input, divided by `count`.
struct Window {
  int64_t y0, y1, x0, x1, count;
};

/// Attributes from position `first` on: kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override.
Window average_window(const KernelCall& call, int first, int64_t h, int64_t w, int64_t y, int64_t x) {
  const Pair kernel = pair(call, first, {1, 1}), stride = pair(call, first + 1, kernel);
  const Pair padding = pair(call, first + 2, {0, 0});
  const int64_t y0 = y * stride[0] - padding[0], x0 = x * stride[1] - padding[1];
  const int64_t y1 = std::min(y0 + kernel[0], h + padding[0]), x1 = std::min(x0 + kernel[1], w + padding[1]);
  Window window{std::max<int64_t>(y0, 0), std::min(y1, h), std::max<int64_t>(x0, 0), std::min(x1, w), 0};
  window.count = call.flag(first + 4) ? (y1 - y0) * (x1 - x0) : (window.y1 - window.y0) * (window.x1 - window.x0);
  if (call.has(first + 5)) window.count = call.integer(first + 5);
  return window;
}

Window adaptive_window(int64_t h, int64_t w, int64_t oh, int64_t ow, int64_t y, int64_t x) {
  Window window{y * h / oh, ((y + 1) * h + oh - 1) / oh, x * w / ow, ((x + 1) * w + ow - 1) / ow, 0};
  window.count = (window.y1 - window.y0) * (window.x1 - window.x0);
  return window;
}

template <class T, class WindowOf>
void average(const View& in, const View& out, const WindowOf& window_of) {
  for_each_output(out, [&](int64_t p, int64_t y, int64_t x) {
    const Window window = window_of(y, x);
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;  // whole numbers wrap
    Sum sum = 0;
    for (int64_t i = window.y0; i < window.y1; ++i) {
      for (int64_t j = window.x0; j < window.x1; ++j) sum += static_cast<Sum>(pixel<T>(in, p, i, j));
    }
    if constexpr (std::is_floating_point_v<T>) {
      pixel<T>(out, p, y, x) = static_cast<T>(sum / static_cast<double>(window.count));
    } else {
      const T whole = static_cast<T>(sum);
      pixel<T>(out, p, y, x) = window.count == -1 ? static_cast<T>(0 - sum) : static_cast<T>(whole / window.count);
    }
  });
}

template <class T, class WindowOf>
void spread(const View& grad, const View& out, const WindowOf& window_of) {
  std::vector<double> sums(static_cast<size_t>(out.numel()));
  for_each_output(grad, [&](int64_t p, int64_t y, int64_t x) {
    const Window window = window_of(y, x);
    for (int64_t i = window.y0; i < window.y1; ++i) {
      for (int64_t j = window.x0; j < window.x1; ++j) {
        sums[static_cast<size_t>((p * height(out) + i) * width(out) + j)] +=
            static_cast<double>(pixel<T>(grad, p, y, x)) / static_cast<double>(window.count);
      }
    }
  });
  for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = static_cast<T>(sums[static_cast<size_t>(i)]);
}

void avg_pool(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    average<T>(in, out, [&](int64_t y, int64_t x) { return average_window(call, 1, height(in), width(in), y, x); });
  });
}

void avg_pool_backward(const KernelCall& call) {
  const View &grad = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    spread<T>(grad, out, [&](int64_t y, int64_t x) { return average_window(call, 2, height(out), width(out), y, x); });
  });
}

void adaptive_avg_pool(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    average<T>(in, out, [&](int64_t y, int64_t x) {
      return adaptive_window(height(in), width(in), height(out), width(out), y, x);
    });
  });
}

void adaptive_avg_pool_backward(const KernelCall& call) {
  const View &grad = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    spread<T>(grad, out, [&](int64_t y, int64_t x) {
      return adaptive_window(height(out), width(out), height(grad), width(grad), y, x);
    });
  });
}

void adaptive_max_pool(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    for_each_output(out, [&](int64_t p, int64_t y, int64_t x) {
      const Window window = adaptive_window(height(in), width(in), height(out), width(out), y, x);
      int64_t best_y = window.y0, best_x = window.x0;
      for (int64_t i = window.y0; i < window.y1; ++i) {
        for (int64_t j = window.x0; j < window.x1; ++j) {
          const T value = pixel<T>(in, p, i, j);
          if (value != value || value > pixel<T>(in, p, best_y, best_x)) {
            best_y = i;
            best_x = j;
          }
        }
      }
      pixel<T>(out, p, y, x) = pixel<T>(in, p, best_y, best_x);
      pixel<int64_t>(call.out[1], p, y, x) = best_y * width(in) + best_x;
    });
  });
}

constexpr Kernel kKernels[] = {
    {.op = "max_pool2d_with_indices", .run = max_pool},
    {.op = "max_pool2d_backward", .run = max_pool_backward},
    {.op = "avg_pool2d", .run = avg_pool},
    {.op = "avg_pool2d_backward", .run = avg_pool_backward},
    {.op = "adaptive_avg_pool2d", .run = adaptive_avg_pool},
    {.op = "adaptive_avg_pool2d_backward", .run = adaptive_avg_pool_backward},
    {.op = "adaptive_max_pool2d_with_indices", .run = adaptive_max_pool},
};

}  // namespace

std::span<const Kernel> pooling_kernels() { return kKernels; }

}  // namespace terra::reference
