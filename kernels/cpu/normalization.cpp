// Batch and layer normalization with their gradients.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

// ---- batch normalization ---------------------------------------------------------------------------------------

/// [images, channels, plane]. With planes of one element, the channels are brought together by a transposed copy.
struct Batch {
  int64_t images, channels, plane = 1;

  explicit Batch(const View& v) : images(v.sizes[0]), channels(v.sizes[1]) {
    for (int i = 2; i < v.rank; ++i) plane *= v.sizes[i];
  }
  int64_t per_channel() const { return images * plane; }
  bool is_transposed() const { return plane == 1 && channels != 1; }
  int64_t grain() const { return std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, per_channel())); }
};

/// The elements of a channel: runs of `length`, `step` apart.
template <class T>
struct Channels {
  const T* data;
  int64_t runs, length, step, between;

  const T* run(int64_t channel, int64_t i) const { return data + channel * between + i * step; }
};

template <class T>
Channels<T> channels_of(const View& view, Scratch& scratch) {
  const Batch b(view);
  if (!b.is_transposed()) {
    return {scratch.contiguous<T>(view), b.images, b.plane, b.channels * b.plane, b.plane};
  }
  T* copy = scratch.take<T>(view.numel());
  if (!scratch.counting()) {
    const int64_t sizes[2] = {b.channels, b.images}, strides[2] = {view.strides[1], view.strides[0]};
    pack(View{view.data, sizes, strides, 2, view.dtype}, copy);
  }
  return {copy, 1, b.images, 0, b.images};
}

void batch_norm_stats_in(const KernelCall& call, Scratch& scratch) {
  const View& input = call.view(0);
  with_float(input.dtype, [&]<class T>(T) {
    const Channels<T> in = channels_of<T>(input, scratch);
    if (scratch.counting()) return;
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    const Batch b(input);
    const double eps = call.real(1), count = static_cast<double>(std::max<int64_t>(b.per_channel(), 1));
    T *mean = call.out[0].as<T>(), *invstd = call.out[1].as<T>(), *var = call.out[2].as<T>();
    parallel_for(b.channels, b.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < in.runs; ++i) sum += loops.sum(in.run(c, i), in.length);
        const double center = sum / count;
        for (int64_t i = 0; i < in.runs; ++i) squares += loops.sum_of_squares(in.run(c, i), center, in.length);
        mean[c] = static_cast<T>(center);
        var[c] = static_cast<T>(squares / count);
        invstd[c] = static_cast<T>(1.0 / std::sqrt(squares / count + eps));
      }
    });
  });
}

/// The value for channel c of an optional [C] operand.
template <class T>
const T* optional_channels(const KernelCall& call, int i, Scratch& scratch) {
  return call.has(i) ? scratch.contiguous<T>(call.view(i)) : nullptr;
}

void batch_norm_apply_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* in = scratch.contiguous<T>(input);
    const T* mean = scratch.contiguous<T>(call.view(1));
    const T* invstd = scratch.contiguous<T>(call.view(2));
    const T* weight = optional_channels<T>(call, 3, scratch);
    const T* bias = optional_channels<T>(call, 4, scratch);
    const Batch b(input);
    T* scale = scratch.take<T>(b.channels);
    T* shift = scratch.take<T>(b.channels);
    if (scratch.counting()) return;
    for (int64_t c = 0; c < b.channels; ++c) {
      scale[c] = invstd[c] * (weight != nullptr ? weight[c] : T{1});
      shift[c] = (bias != nullptr ? bias[c] : T{0}) - mean[c] * scale[c];
    }
    T* to = out.as<T>();
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    const int64_t planes = b.images * b.channels;
    parallel_for(planes, std::max<int64_t>(1, grain_for_cost(1) / std::max<int64_t>(1, b.plane)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p) {
                     const int64_t c = p % b.channels;
                     if (b.plane == 1) {
                       to[p] = in[p] * scale[c] + shift[c];
                     } else {
                       loops.scale_shift(to + p * b.plane, in + p * b.plane, scale[c], shift[c], b.plane);
                     }
                   }
                 });
  });
}

/// The gradient through the batch's own statistics:
/// w invstd (g - mean(g) - (x - mean) invstd^2 mean(g (x - mean))).
void batch_norm_backward_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &input = call.view(1);
  with_float(input.dtype, [&]<class T>(T) {
    const Channels<T> grad = channels_of<T>(gradient, scratch), in = channels_of<T>(input, scratch);
    const T* mean = scratch.contiguous<T>(call.view(2));
    const T* invstd = scratch.contiguous<T>(call.view(3));
    const T* weight = optional_channels<T>(call, 4, scratch);
    const Batch b(input);
    const bool transposed = b.is_transposed();
    T* row = transposed ? scratch.take<T>(input.numel()) : nullptr;
    if (scratch.counting()) return;
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    const double count = static_cast<double>(b.per_channel());
    T *out = call.out[0].as<T>(), *weight_grad = call.out[1].as<T>(), *bias_grad = call.out[2].as<T>();
    parallel_for(b.channels, b.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        double sums[2] = {0, 0};
        for (int64_t i = 0; i < in.runs; ++i) {
          loops.sums_with_gradient(grad.run(c, i), in.run(c, i), static_cast<double>(mean[c]), in.length, sums);
        }
        const double r = static_cast<double>(invstd[c]);
        weight_grad[c] = static_cast<T>(sums[1] * r);
        bias_grad[c] = static_cast<T>(sums[0]);
        const double scale = r * (weight != nullptr ? static_cast<double>(weight[c]) : 1.0);
        const double slope = -scale * r * r * sums[1] / count;
        const double shift = -scale * sums[0] / count - slope * static_cast<double>(mean[c]);
        for (int64_t i = 0; i < in.runs; ++i) {
          T* to = transposed ? row + c * in.between : out + c * in.between + i * in.step;
          loops.combine(to, grad.run(c, i), static_cast<T>(scale), in.run(c, i), static_cast<T>(slope),
                        static_cast<T>(shift), in.length);
        }
      }
    });
    if (transposed) {
      const int64_t sizes[2] = {b.images, b.channels}, strides[2] = {1, b.images};
      pack(View{row, sizes, strides, 2, input.dtype}, out);
    }
  });
}

// ---- layer normalization ---------------------------------------------------------------------------------------

void layer_norm_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* in = scratch.contiguous<T>(call.view(0));
    const T* weight = optional_channels<T>(call, 2, scratch);
    const T* bias = optional_channels<T>(call, 3, scratch);
    if (scratch.counting()) return;
    const int64_t rows = call.out[1].numel();
    if (rows == 0) return;
    const int64_t n = out.numel() / rows;
    const T eps = static_cast<T>(call.real(4));
    T *to = out.as<T>(), *mean = call.out[1].as<T>(), *rstd = call.out[2].as<T>();
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    parallel_for(rows, std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, n)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r) {
                     loops.layer_norm(to + r * n, in + r * n, weight, bias, eps, n, mean + r, rstd + r);
                   }
                 });
  });
}

/// Rows are cut into blocks by their number alone; each block sums its rows' weight and bias gradients, and the blocks
/// are added in order.
void layer_norm_backward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* grad = scratch.contiguous<T>(call.view(0));
    const T* in = scratch.contiguous<T>(call.view(1));
    const T* mean = scratch.contiguous<T>(call.view(2));
    const T* rstd = scratch.contiguous<T>(call.view(3));
    const T* weight = optional_channels<T>(call, 4, scratch);
    const int64_t rows = call.view(2).numel(), n = call.out[1].numel();
    constexpr int64_t kMostBlocks = 32;
    const int64_t block =
        std::max<int64_t>((rows + kMostBlocks - 1) / kMostBlocks, grain_for_cost(4) / std::max<int64_t>(1, n));
    const int64_t block_rows = std::max<int64_t>(1, block);
    const int64_t blocks = (rows + block_rows - 1) / block_rows;
    T* sums = scratch.take<T>(blocks * 2 * n);
    if (scratch.counting()) return;
    std::fill_n(sums, blocks * 2 * n, T{0});
    T* to = out.as<T>();
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T* mine = sums + b * 2 * n;
        for (int64_t r = b * block_rows; r < std::min(rows, (b + 1) * block_rows); ++r) {
          loops.layer_norm_backward(to + r * n, grad + r * n, in + r * n, mean[r], rstd[r], weight, n, mine, mine + n);
        }
      }
    });
    T* totals[2] = {call.out[1].as<T>(), call.out[2].as<T>()};
    for (int which = 0; which < 2; ++which) {
      std::fill_n(totals[which], n, T{0});
      for (int64_t b = 0; b < blocks; ++b) {
        for (int64_t i = 0; i < n; ++i) totals[which][i] += sums[(b * 2 + which) * n + i];
      }
    }
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<batch_norm_stats_in>("batch_norm_stats"),
    scratch_kernel<batch_norm_apply_in>("batch_norm_apply"),
    scratch_kernel<batch_norm_backward_in>("batch_norm_backward"),
    scratch_kernel<layer_norm_in>("layer_norm"),
    scratch_kernel<layer_norm_backward_in>("layer_norm_backward"),
};

}  // namespace

std::span<const Kernel> normalization_kernels() { return kKernels; }

}  // namespace terra::cpu
