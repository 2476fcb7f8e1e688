// Max and average pooling, with their gradients. Inputs are [.., h, w]; planes are shared out among threads. Images
// that lie channels last are pooled pixel by pixel instead, all channels at once.
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/kernel_error.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/channels_last.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/written.h"

namespace terra::cpu {
namespace {

/// Attribute `i` of a call as two numbers: an empty or absent list means `otherwise`, one number stands for both.
void read_pair(const KernelCall& call, int i, const int64_t (&otherwise)[2], int64_t (&pair)[2]) {
  const auto values = call.has(i) ? call.ints(i) : std::span<const int64_t>();
  for (size_t axis = 0; axis < 2; ++axis) {
    pair[axis] = values.empty() ? otherwise[axis] : values[std::min(axis, values.size() - 1)];
  }
}

/// `first`: position of kernel_size in the signature, followed by stride and padding.
PoolShape shape_of(const KernelCall& call, int first, const int64_t* input, int input_rank, const View& output) {
  PoolShape s{.ih = input[input_rank - 2],
              .iw = input[input_rank - 1],
              .oh = output.sizes[output.rank - 2],
              .ow = output.sizes[output.rank - 1],
              .dilation = {1, 1}};
  read_pair(call, first, {1, 1}, s.kernel);
  read_pair(call, first + 1, s.kernel, s.stride);
  read_pair(call, first + 2, {0, 0}, s.padding);
  return s;
}

/// A pool between images of those sizes whose windows follow from them, or are of no interest.
PoolShape adaptive_shape(const View& whole, const View& pooled) {
  return {.ih = whole.sizes[whole.rank - 2],
          .iw = whole.sizes[whole.rank - 1],
          .oh = pooled.sizes[pooled.rank - 2],
          .ow = pooled.sizes[pooled.rank - 1]};
}

/// Calls body(plane) for every plane of `view`.
template <class Body>
void for_each_plane(const View& view, int64_t elements_of_work, const Body& body) {
  int64_t planes = 1;
  for (int i = 0; i < view.rank - 2; ++i) planes *= view.sizes[i];
  parallel_for(planes, std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, elements_of_work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) body(p);
               });
}

// ---- pixels ----------------------------------------------------------------------------------------------------
/// Whether a pool between those images goes pixel by pixel. Outputs lie so already, inputs can be copied.
template <class T>
bool goes_by_pixels(const View& in, std::span<const View> outs) {
  if (!std::is_floating_point_v<T> || !(computes_channels_last(in) || computes_channels_last(outs[0]))) return false;
  return std::all_of(outs.begin(), outs.end(), lies_channels_last);
}

/// Calls body(image, y, x) for every output of `images` images; rows of outputs are shared out among threads.
template <class Body>
void for_each_pooled(const PoolShape& s, int64_t images, int64_t elements_of_work, const Body& body) {
  parallel_for(images * s.oh, std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, s.ow * elements_of_work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row)
                   for (int64_t x = 0; x < s.ow; ++x) body(row / s.oh, row % s.oh, x);
               });
}

/// The same where outputs of one image may meet: images are shared out, after begin(image).
template <class Begin, class Body>
void for_each_image(const PoolShape& s, int64_t images, int64_t elements_of_work, const Begin& start,
                    const Body& body) {
  parallel_for(images, std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, elements_of_work)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t image = begin; image < end; ++image) {
                   start(image);
                   for (int64_t y = 0; y < s.oh; ++y)
                     for (int64_t x = 0; x < s.ow; ++x) body(image, y, x);
                 }
               });
}

/// Finds the largest of every window(y, x) of images [n, h, w, channels].
template <class T, class WindowOf>
void max_pixels(const PoolShape& s, const View& out, int64_t* indices, const T* in, const WindowOf& window) {
  const ChannelRows<T> loops = TERRA_ROWS(channel_rows, ChannelRows, T);
  const int64_t channels = out.sizes[1];
  const int64_t work = channels * std::max<int64_t>(1, s.ih * s.iw / std::max<int64_t>(1, s.oh * s.ow));
  for_each_pooled(s, out.sizes[0], work, [&](int64_t image, int64_t y, int64_t x) {
    const int64_t to = ((image * s.oh + y) * s.ow + x) * channels;
    loops.largest(window(y, x), in + image * s.ih * s.iw * channels, channels, out.as<T>() + to, indices + to);
  });
}

// ---- max -------------------------------------------------------------------------------------------------------
/// The index of a window that lies outside the image.
constexpr int64_t kNowhere = -1;

/// The largest whole numbers of one plane, the first of equal ones.
template <class T>
void max_plane(const PoolShape& s, T* out, int64_t* indices, const T* in) {
  for (int64_t at = 0; at < s.oh * s.ow; ++at) {
    const int64_t top = at / s.ow * s.stride[0] - s.padding[0], left = at % s.ow * s.stride[1] - s.padding[1];
    out[at] = std::numeric_limits<T>::lowest();
    indices[at] = kNowhere;
    for (int64_t tap = 0; tap < s.kernel[0] * s.kernel[1]; ++tap) {
      const int64_t y = top + tap / s.kernel[1] * s.dilation[0], x = left + tap % s.kernel[1] * s.dilation[1];
      if (y < 0 || y >= s.ih || x < 0 || x >= s.iw) continue;
      const int64_t pixel = y * s.iw + x;
      if (indices[at] != kNowhere && in[pixel] <= out[at]) continue;
      out[at] = in[pixel];
      indices[at] = pixel;
    }
  }
}

/// The loop for planes of T.
template <class T>
auto max_planes() {
  if constexpr (std::is_floating_point_v<T>) {
    return TERRA_ROWS(pool_planes, PoolPlanes, T).max;
  } else {
    return max_plane<T>;
  }
}

/// What of a window of max_pool2d lies on the image.
PixelWindow max_window(const PoolShape& s, int64_t y, int64_t x) {
  int64_t begin[2] = {y * s.stride[0] - s.padding[0], x * s.stride[1] - s.padding[1]};
  const int64_t size[2] = {s.ih, s.iw};
  int64_t end[2];
  for (int axis = 0; axis < 2; ++axis) {
    end[axis] = std::min(begin[axis] + (s.kernel[axis] - 1) * s.dilation[axis] + 1, size[axis]);
    if (begin[axis] < 0) begin[axis] += (-begin[axis] + s.dilation[axis] - 1) / s.dilation[axis] * s.dilation[axis];
  }
  const bool on_image = begin[0] < end[0] && begin[1] < end[1];
  return {begin[0], end[0],        s.dilation[0], begin[1],
          end[1],   s.dilation[1], s.iw,          on_image ? begin[0] * s.iw + begin[1] : kNowhere};
}

void max_pool_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    const bool by_pixels = goes_by_pixels<T>(input, call.out);
    const T* in = in_order<T>(input, by_pixels, scratch);
    const Written<T> largest(out, by_pixels, scratch);
    const Written<int64_t> indices(call.out[1], by_pixels, scratch);
    if (scratch.counting()) return;
    PoolShape s = shape_of(call, 1, input.sizes, input.rank, out);
    read_pair(call, 4, {1, 1}, s.dilation);
    if constexpr (std::is_floating_point_v<T>) {
      if (by_pixels)
        return max_pixels(s, out, indices.data, in, [&](int64_t y, int64_t x) { return max_window(s, y, x); });
    }
    const auto pool = max_planes<T>();
    const int64_t from = s.ih * s.iw, to = s.oh * s.ow;
    for_each_plane(out, to * s.kernel[0] * s.kernel[1],
                   [&](int64_t p) { pool(s, largest.data + p * to, indices.data + p * to, in + p * from); });
    largest.finish();
    indices.finish();
  });
}

void check_winners(const int64_t* indices, int64_t n, int64_t pixels) {
  for (int64_t i = 0; i < n; ++i) {
    if (indices[i] < kNowhere || indices[i] >= pixels) {
      throw KernelError(KernelError::Kind::Index, "max_pool2d_backward: found an invalid index " +
                                                      std::to_string(indices[i]) + " into planes of " +
                                                      std::to_string(pixels) + " elements");
    }
  }
}

/// (grad, indices, input_sizes): every gradient goes to the element that won.
void max_pool_backward_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const bool by_pixels = goes_by_pixels<T>(gradient, call.out);
    const T* grad = in_order<T>(gradient, by_pixels, scratch);
    const int64_t* indices = in_order<int64_t>(call.view(1), by_pixels, scratch);
    const Written<T> written(out, by_pixels, scratch);
    if (scratch.counting()) return;
    const int64_t to = out.sizes[out.rank - 2] * out.sizes[out.rank - 1];
    const int64_t from = gradient.sizes[gradient.rank - 2] * gradient.sizes[gradient.rank - 1];
    check_winners(indices, gradient.numel(), to);
    if (by_pixels) {
      const PoolShape s = adaptive_shape(out, gradient);
      const int64_t channels = out.sizes[1];
      const auto start = [&](int64_t image) { std::fill_n(written.data + image * to * channels, to * channels, T{0}); };
      return for_each_image(s, out.sizes[0], (to + from) * channels, start, [&](int64_t image, int64_t y, int64_t x) {
        const int64_t at = ((image * s.oh + y) * s.ow + x) * channels;
        T* const pixels = written.data + image * to * channels;
        for (int64_t c = 0; c < channels; ++c)
          if (indices[at + c] != kNowhere) pixels[indices[at + c] * channels + c] += grad[at + c];
      });
    }
    for_each_plane(out, to + 2 * from, [&](int64_t p) {
      T* plane = written.data + p * to;
      std::fill_n(plane, to, T{0});
      for (int64_t i = p * from; i < (p + 1) * from; ++i) {
        if (indices[i] != kNowhere) plane[indices[i]] += grad[i];
      }
    });
    written.finish();
  });
}

// ---- average ---------------------------------------------------------------------------------------------------

/// The window of one output: rows [y0, y1) and columns [x0, x1) of the input, and what its sum is divided by.
struct Window {
  int64_t y0, y1, x0, x1;
  double divisor;
};

/// What a call of avg_pool2d divides sums by.
struct Divisor {
  bool count_padding;
  double fixed;  ///< 0: the number of elements

  /// `first`: position of count_include_pad in the signature, followed by divisor_override.
  Divisor(const KernelCall& call, int first)
      : count_padding(call.flag(first)), fixed(call.has(first + 1) ? call.real(first + 1) : 0) {}
};

/// Windows of avg_pool2d: those that reach beyond the padding count what lies within it.
Window average_window(const PoolShape& s, const Divisor& divisor, int64_t y, int64_t x) {
  int64_t begin[2] = {y * s.stride[0] - s.padding[0], x * s.stride[1] - s.padding[1]};
  const int64_t size[2] = {s.ih, s.iw};
  int64_t end[2];
  double with_padding = 1, without = 1;
  for (int axis = 0; axis < 2; ++axis) {
    end[axis] = std::min(begin[axis] + s.kernel[axis], size[axis] + s.padding[axis]);
    with_padding *= static_cast<double>(end[axis] - begin[axis]);
    begin[axis] = std::max<int64_t>(begin[axis], 0);
    end[axis] = std::min(end[axis], size[axis]);
    without *= static_cast<double>(end[axis] - begin[axis]);
  }
  const double count = divisor.count_padding ? with_padding : without;
  return {begin[0], end[0], begin[1], end[1], divisor.fixed != 0 ? divisor.fixed : count};
}

/// Windows of adaptive_avg_pool2d: the input cut into oh x ow nearly equal, perhaps overlapping pieces.
Window adaptive_window(const PoolShape& s, int64_t y, int64_t x) {
  Window w{y * s.ih / s.oh, ((y + 1) * s.ih + s.oh - 1) / s.oh, x * s.iw / s.ow, ((x + 1) * s.iw + s.ow - 1) / s.ow, 1};
  w.divisor = static_cast<double>((w.y1 - w.y0) * (w.x1 - w.x0));
  return w;
}

/// What elements are summed in: whole numbers wrap.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;

/// Means of whole numbers are cut to whole numbers.
template <class T>
T quotient(Sum<T> sum, double divisor) {
  if (std::is_integral_v<T> && divisor == -1) return static_cast<T>(Sum<T>{0} - sum);  // the least has no opposite
  return static_cast<T>(sum) / static_cast<T>(divisor);
}

/// Adds up a window of a plane whose rows have `width` elements; windows of whole rows are one run.
template <class T>
Sum<T> window_sum(const T* plane, int64_t width, const Window& w) {
  if constexpr (std::is_floating_point_v<T>) {
    if (w.x0 == 0 && w.x1 == width)
      return static_cast<T>(TERRA_ROWS(norm_rows, NormRows, T).sum(plane + w.y0 * width, (w.y1 - w.y0) * width));
  }
  Sum<T> sum = 0;
  for (int64_t i = w.y0; i < w.y1; ++i) {
    for (int64_t j = w.x0; j < w.x1; ++j) sum += static_cast<Sum<T>>(plane[i * width + j]);
  }
  return sum;
}

/// The windows of one row of outputs, from `window(y, x)`. Those of [begin, end) are as large as each other, `step`
/// columns apart and have one divisor: there, each tap of all windows is one pass along a row of the input.
class WindowRow {
 public:
  template <class WindowOf>
  void set(int64_t y, int64_t count, const WindowOf& window) {
    windows_.resize(static_cast<size_t>(count));
    for (int64_t x = 0; x < count; ++x) windows_[static_cast<size_t>(x)] = window(y, x);
    begin = end = count / 2;
    if (count < kFewest) return;
    const Window& middle = at(begin);
    step = at(begin + 1).x0 - middle.x0;
    const auto is_alike = [&](int64_t x) {
      return at(x).x0 == middle.x0 + (x - count / 2) * step && at(x).x1 - at(x).x0 == middle.x1 - middle.x0 &&
             at(x).divisor == middle.divisor;
    };
    while (begin > 0 && is_alike(begin - 1)) --begin;
    while (end < count && is_alike(end)) ++end;
    if (end - begin < kFewest || step < 1) begin = end = 0;
  }
  const Window& at(int64_t x) const { return windows_[static_cast<size_t>(x)]; }
  int64_t count() const { return static_cast<int64_t>(windows_.size()); }

  int64_t begin = 0, end = 0, step = 1;

 private:
  static constexpr int64_t kFewest = 4;
  std::vector<Window> windows_;
};

/// Calls loop(step) with a step that the vectorizer knows, if it is usual.
template <class Loop>
void with_step(int64_t step, const Loop& loop) {
  if (step == 1)
    loop(std::integral_constant<int64_t, 1>());
  else if (step == 2)
    loop(std::integral_constant<int64_t, 2>());
  else
    loop(step);
}

/// A row of means. Each sum takes its elements row by row.
template <class T>
void average_row(const WindowRow& row, int64_t width, const T* plane, T* to) {
  const int64_t n = std::is_floating_point_v<T> ? row.end - row.begin : 0;
  for (int64_t x = 0; x < row.count(); ++x) {
    if (n > 0 && x == row.begin && (x = row.end) == row.count()) break;
    to[x] = quotient<T>(window_sum(plane, width, row.at(x)), row.at(x).divisor);
  }
  if (n == 0) return;
  const Window& first = row.at(row.begin);
  T* const sums = to + row.begin;
  std::fill_n(sums, n, T{0});
  for (int64_t i = first.y0; i < first.y1; ++i) {
    for (int64_t j = first.x0; j < first.x1; ++j) {
      const T* const from = plane + i * width + j;
      with_step(row.step, [&](auto step) {
        for (int64_t x = 0; x < n; ++x) sums[x] += from[x * step];
      });
    }
  }
  const T divisor = static_cast<T>(first.divisor);
  for (int64_t x = 0; x < n; ++x) sums[x] /= divisor;
}

/// Adds the shares of a row of gradients; each element takes those of windows from left to right.
template <class T>
void spread_row(const WindowRow& row, int64_t width, const T* grad, T* shares, T* plane) {
  const auto one = [&](int64_t x) {
    const Window& w = row.at(x);
    const T share = grad[x] / static_cast<T>(w.divisor);
    for (int64_t i = w.y0; i < w.y1; ++i) {
      for (int64_t j = w.x0; j < w.x1; ++j) plane[i * width + j] += share;
    }
  };
  for (int64_t x = 0; x < row.begin; ++x) one(x);
  if (const int64_t n = row.end - row.begin; n > 0) {
    const Window& first = row.at(row.begin);
    for (int64_t x = 0; x < n; ++x) shares[x] = grad[row.begin + x] / static_cast<T>(first.divisor);
    for (int64_t i = first.y0; i < first.y1; ++i) {
      for (int64_t j = first.x1 - 1; j >= first.x0; --j) {
        T* const to = plane + i * width + j;
        with_step(row.step, [&](auto step) {
#pragma GCC ivdep
          for (int64_t x = 0; x < n; ++x) to[x * step] += shares[x];
        });
      }
    }
  }
  for (int64_t x = row.end; x < row.count(); ++x) one(x);
}

/// Calls body(row of windows, plane, y) for all rows of outputs of all planes.
template <class WindowOf, class Body>
void for_each_row(const PoolShape& s, const View& view, const WindowOf& window, const Body& body) {
  int64_t planes = 1;
  for (int i = 0; i < view.rank - 2; ++i) planes *= view.sizes[i];
  parallel_for(planes, std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, s.ih * s.iw)),
               [&](int64_t begin, int64_t end) {
                 WindowRow row;
                 for (int64_t y = 0; y < s.oh; ++y) {
                   row.set(y, s.ow, window);
                   for (int64_t p = begin; p < end; ++p) body(row, p, y);
                 }
               });
}

PixelWindow pixels_of(const PoolShape& s, const Window& w) {
  return {w.y0, w.y1, 1, w.x0, w.x1, 1, s.iw, w.y0 * s.iw + w.x0};
}

/// `window(y, x)` says where each output comes from.
template <class T, class WindowOf>
void average(const PoolShape& s, const View& input, const View& out, Scratch& scratch, const WindowOf& window) {
  const bool by_pixels = goes_by_pixels<T>(input, {&out, 1});
  const T* in = in_order<T>(input, by_pixels, scratch);
  const Written<T> written(out, by_pixels, scratch);
  if (scratch.counting()) return;
  if constexpr (std::is_floating_point_v<T>) {
    if (by_pixels) {
      const ChannelRows<T> loops = TERRA_ROWS(channel_rows, ChannelRows, T);
      const int64_t channels = out.sizes[1];
      const int64_t work = channels * s.ih * s.iw / std::max<int64_t>(1, s.oh * s.ow);
      return for_each_pooled(s, out.sizes[0], work, [&](int64_t image, int64_t y, int64_t x) {
        const Window w = window(y, x);
        loops.mean(pixels_of(s, w), in + image * s.ih * s.iw * channels, channels,
                   written.data + ((image * s.oh + y) * s.ow + x) * channels, static_cast<T>(w.divisor));
      });
    }
  }
  for_each_row(s, out, window, [&](const WindowRow& row, int64_t p, int64_t y) {
    average_row(row, s.iw, in + p * s.ih * s.iw, written.data + (p * s.oh + y) * s.ow);
  });
  written.finish();
}

template <class T, class WindowOf>
void spread(const PoolShape& s, const View& gradient, const View& out, Scratch& scratch, const WindowOf& window) {
  const bool by_pixels = goes_by_pixels<T>(gradient, {&out, 1});
  const T* grad = in_order<T>(gradient, by_pixels, scratch);
  const Written<T> written(out, by_pixels, scratch);
  if (scratch.counting()) return;
  if (by_pixels) {
    const ChannelRows<T> loops = TERRA_ROWS(channel_rows, ChannelRows, T);
    const int64_t channels = out.sizes[1], elements = s.ih * s.iw * channels;
    const auto start = [&](int64_t image) { std::fill_n(written.data + image * elements, elements, T{0}); };
    return for_each_image(s, out.sizes[0], elements, start, [&](int64_t image, int64_t y, int64_t x) {
      const Window w = window(y, x);
      loops.spread(pixels_of(s, w), grad + ((image * s.oh + y) * s.ow + x) * channels, channels,
                   written.data + image * elements, static_cast<T>(w.divisor));
    });
  }
  std::fill_n(written.data, out.numel(), T{0});
  for_each_row(s, out, window, [&](const WindowRow& row, int64_t p, int64_t y) {
    static thread_local std::vector<T> shares;
    shares.resize(static_cast<size_t>(s.ow));
    spread_row(row, s.iw, grad + (p * s.oh + y) * s.ow, shares.data(), written.data + p * s.ih * s.iw);
  });
  written.finish();
}

/// The dtypes that have means.
template <class F>
void with_mean(DType dtype, F&& fn) {
  if (dtype == DType::I64) return fn(int64_t{});
  with_float(dtype, fn);
}

/// (self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
void avg_pool_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &out = call.out[0];
  with_mean(out.dtype, [&]<class T>(T) {
    const PoolShape s = shape_of(call, 1, input.sizes, input.rank, out);
    const Divisor divisor(call, 5);
    average<T>(s, input, out, scratch, [&](int64_t y, int64_t x) { return average_window(s, divisor, y, x); });
  });
}

/// (grad, input_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
void avg_pool_backward_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const PoolShape s = shape_of(call, 2, out.sizes, out.rank, gradient);
    const Divisor divisor(call, 6);
    spread<T>(s, gradient, out, scratch, [&](int64_t y, int64_t x) { return average_window(s, divisor, y, x); });
  });
}

/// (self, output_size)
void adaptive_avg_pool_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const PoolShape s = adaptive_shape(input, out);
    average<T>(s, input, out, scratch, [&](int64_t y, int64_t x) { return adaptive_window(s, y, x); });
  });
}

/// (grad, input_sizes)
void adaptive_avg_pool_backward_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const PoolShape s = adaptive_shape(out, gradient);
    spread<T>(s, gradient, out, scratch, [&](int64_t y, int64_t x) { return adaptive_window(s, y, x); });
  });
}

/// (self, output_size): the first of the largest; a NaN is larger than anything.
void adaptive_max_pool_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &out = call.out[0];
  with_number(out.dtype, [&]<class T>(T) {
    const bool by_pixels = goes_by_pixels<T>(input, call.out);
    const T* in = in_order<T>(input, by_pixels, scratch);
    const Written<T> largest(out, by_pixels, scratch);
    const Written<int64_t> indices(call.out[1], by_pixels, scratch);
    if (scratch.counting()) return;
    const PoolShape s = adaptive_shape(input, out);
    if constexpr (std::is_floating_point_v<T>) {
      if (by_pixels)
        return max_pixels(s, out, indices.data, in,
                          [&](int64_t y, int64_t x) { return pixels_of(s, adaptive_window(s, y, x)); });
    }
    for_each_plane(out, s.ih * s.iw, [&](int64_t p) {
      const T* plane = in + p * s.ih * s.iw;
      for (int64_t at = 0; at < s.oh * s.ow; ++at) {
        const Window w = adaptive_window(s, at / s.ow, at % s.ow);
        int64_t best = w.y0 * s.iw + w.x0;
        for (int64_t i = w.y0; i < w.y1; ++i) {
          for (int64_t pixel = i * s.iw + w.x0; pixel < i * s.iw + w.x1; ++pixel) {
            if (plane[pixel] > plane[best] || plane[pixel] != plane[pixel]) best = pixel;
          }
        }
        largest.data[p * s.oh * s.ow + at] = plane[best];
        indices.data[p * s.oh * s.ow + at] = best;
      }
    });
    largest.finish();
    indices.finish();
  });
}

constexpr Kernel kKernels[] = {
    strided_kernel<max_pool_in>("max_pool2d_with_indices"),
    strided_kernel<max_pool_backward_in>("max_pool2d_backward"),
    strided_kernel<avg_pool_in>("avg_pool2d"),
    strided_kernel<avg_pool_backward_in>("avg_pool2d_backward"),
    strided_kernel<adaptive_avg_pool_in>("adaptive_avg_pool2d"),
    strided_kernel<adaptive_avg_pool_backward_in>("adaptive_avg_pool2d_backward"),
    strided_kernel<adaptive_max_pool_in>("adaptive_max_pool2d_with_indices"),
};

}  // namespace

std::span<const Kernel> pooling_kernels() { return kKernels; }

}  // namespace terra::cpu
