// Batch, layer and group normalization with their gradients.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/channels_last.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/written.h"

namespace terra::cpu {
namespace {

// ---- batch normalization ---------------------------------------------------------------------------------------

/// [images, channels, plane]. Where the channels of a pixel or an example lie together, rows of all channels.
struct Batch {
  int64_t images, channels, plane = 1;

  explicit Batch(const View& v) : images(v.sizes[0]), channels(v.sizes[1]) {
    for (int i = 2; i < v.rank; ++i) plane *= v.sizes[i];
  }
  int64_t rows() const { return images * plane; }
  int64_t grain() const { return std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, rows())); }
  int64_t row_grain() const { return std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, channels)); }
};

bool lies_by_rows(const View& v) { return (v.rank == 2 && v.is_contiguous()) || lies_channels_last(v); }

/// Whether a kernel that reads `in` goes by rows of channels; `out`, where there is one, lies so.
bool goes_by_rows(const View& in, const View* out = nullptr) {
  if (out != nullptr && !lies_by_rows(*out)) return false;
  return in.rank == 2 || computes_channels_last(in) || (out != nullptr && computes_channels_last(*out));
}

template <class T>
const T* read(const View& view, bool by_rows, Scratch& scratch) {
  return in_order<T>(view, by_rows && view.rank > 2, scratch);
}

/// Sums over rows: `kinds` for each channel. Rows are cut into blocks by their number alone; the sums of blocks, which
/// add(sums, first row, rows) adds up, are added in order.
class RowSums {
 public:
  RowSums(const Batch& b, int64_t kinds, Scratch& scratch) : rows_(b.rows()), sums_(kinds * b.channels) {
    constexpr int64_t kMostBlocks = 32;
    block_ = std::max({int64_t{1}, (rows_ + kMostBlocks - 1) / kMostBlocks, b.row_grain()});
    blocks_ = (rows_ + block_ - 1) / block_;
    parts_ = scratch.take<double>(std::max<int64_t>(blocks_, 1) * sums_);
  }

  template <class Add>
  const double* of(const Add& add) const {
    std::fill_n(parts_, std::max<int64_t>(blocks_, 1) * sums_, 0.0);
    parallel_for(blocks_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        add(parts_ + b * sums_, b * block_, std::min(rows_, (b + 1) * block_) - b * block_);
    });
    for (int64_t b = 1; b < blocks_; ++b)
      for (int64_t i = 0; i < sums_; ++i) parts_[i] += parts_[b * sums_ + i];
    return parts_;
  }

 private:
  int64_t rows_, sums_, block_, blocks_;
  double* parts_;
};

void batch_norm_stats_in(const KernelCall& call, Scratch& scratch) {
  const View& input = call.view(0);
  with_float(input.dtype, [&]<class T>(T) {
    const Batch b(input);
    const bool by_rows = goes_by_rows(input);
    const T* in = read<T>(input, by_rows, scratch);
    const RowSums row_sums(b, by_rows ? 1 : 0, scratch);
    if (scratch.counting()) return;
    const double eps = call.real(1), count = static_cast<double>(std::max<int64_t>(b.rows(), 1));
    T *mean = call.out[0].as<T>(), *invstd = call.out[1].as<T>(), *var = call.out[2].as<T>();
    const auto set_spread = [&](int64_t c, double squares) {
      var[c] = static_cast<T>(squares / count);
      invstd[c] = static_cast<T>(1.0 / std::sqrt(squares / count + eps));
    };
    if (by_rows) {
      const ChannelRows<T> loops = TERRA_ROWS(channel_rows, ChannelRows, T);
      const int64_t n = b.channels;
      const double* sums =
          row_sums.of([&](double* to, int64_t first, int64_t rows) { loops.sums(in + first * n, rows, n, to); });
      for (int64_t c = 0; c < n; ++c) mean[c] = static_cast<T>(sums[c] / count);
      sums = row_sums.of(
          [&](double* to, int64_t first, int64_t rows) { loops.sums_of_squares(in + first * n, mean, rows, n, to); });
      for (int64_t c = 0; c < n; ++c) set_spread(c, sums[c]);
      return;
    }
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    const auto run = [&](int64_t c, int64_t i) { return in + (i * b.channels + c) * b.plane; };
    parallel_for(b.channels, b.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < b.images; ++i) sum += loops.sum(run(c, i), b.plane);
        const double center = sum / count;
        for (int64_t i = 0; i < b.images; ++i) squares += loops.sum_of_squares(run(c, i), center, b.plane);
        mean[c] = static_cast<T>(center);
        set_spread(c, squares);
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
    const Batch b(input);
    const bool by_rows = goes_by_rows(input, &out);
    const T* in = read<T>(input, by_rows, scratch);
    const Written<T> written(out, by_rows, scratch);
    const T* mean = scratch.contiguous<T>(call.view(1));
    const T* invstd = scratch.contiguous<T>(call.view(2));
    const T* weight = optional_channels<T>(call, 3, scratch);
    const T* bias = optional_channels<T>(call, 4, scratch);
    T* scale = scratch.take<T>(b.channels);
    T* shift = scratch.take<T>(b.channels);
    if (scratch.counting()) return;
    for (int64_t c = 0; c < b.channels; ++c) {
      scale[c] = invstd[c] * (weight != nullptr ? weight[c] : T{1});
      shift[c] = (bias != nullptr ? bias[c] : T{0}) - mean[c] * scale[c];
    }
    T* to = written.data;
    if (by_rows) {
      const ChannelRows<T> loops = TERRA_ROWS(channel_rows, ChannelRows, T);
      return parallel_for(b.rows(), b.row_grain(), [&](int64_t begin, int64_t end) {
        loops.scale_shift(to + begin * b.channels, in + begin * b.channels, scale, shift, end - begin, b.channels);
      });
    }
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    const int64_t planes = b.images * b.channels;
    parallel_for(planes, std::max<int64_t>(1, grain_for_cost(1) / std::max<int64_t>(1, b.plane)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p) {
                     const int64_t c = p % b.channels;
                     loops.scale_shift(to + p * b.plane, in + p * b.plane, scale[c], shift[c], b.plane);
                   }
                 });
    written.finish();
  });
}

/// The gradient through the batch's own statistics:
/// w invstd (g - mean(g) - (x - mean) invstd^2 mean(g (x - mean))).
void batch_norm_backward_in(const KernelCall& call, Scratch& scratch) {
  const View &gradient = call.view(0), &input = call.view(1), &out = call.out[0];
  with_float(input.dtype, [&]<class T>(T) {
    const Batch b(input);
    const bool by_rows = goes_by_rows(input, &out);
    const T *grad = read<T>(gradient, by_rows, scratch), *in = read<T>(input, by_rows, scratch);
    const T* mean = scratch.contiguous<T>(call.view(2));
    const T* invstd = scratch.contiguous<T>(call.view(3));
    const T* weight = optional_channels<T>(call, 4, scratch);
    const Written<T> written(out, by_rows, scratch), weight_grad(call.out[1], false, scratch),
        bias_grad(call.out[2], false, scratch);
    const RowSums row_sums(b, by_rows ? 2 : 0, scratch);
    T* factors = scratch.take<T>(by_rows ? 3 * b.channels : 0);
    if (scratch.counting()) return;
    const double count = static_cast<double>(b.rows());
    /// The result is grad * scale + x * slope + shift.
    struct Line {
      T scale, slope, shift;
    };
    // From the sums of grad and of grad * (x - mean) of a channel.
    const auto line_of = [&](int64_t c, double sum, double product) -> Line {
      const double r = static_cast<double>(invstd[c]);
      weight_grad.data[c] = static_cast<T>(product * r);
      bias_grad.data[c] = static_cast<T>(sum);
      const double scale = r * (weight != nullptr ? static_cast<double>(weight[c]) : 1.0);
      const double slope = -scale * r * r * product / count;
      const double shift = -scale * sum / count - slope * static_cast<double>(mean[c]);
      return {static_cast<T>(scale), static_cast<T>(slope), static_cast<T>(shift)};
    };
    if (by_rows) {
      const ChannelRows<T> loops = TERRA_ROWS(channel_rows, ChannelRows, T);
      const int64_t n = b.channels;
      const double* sums = row_sums.of([&](double* to, int64_t first, int64_t rows) {
        loops.sums_with_gradient(grad + first * n, in + first * n, mean, rows, n, to);
      });
      T *scale = factors, *slope = factors + n, *shift = factors + 2 * n;
      for (int64_t c = 0; c < n; ++c) {
        const Line line = line_of(c, sums[c], sums[n + c]);
        scale[c] = line.scale, slope[c] = line.slope, shift[c] = line.shift;
      }
      parallel_for(b.rows(), b.row_grain(), [&](int64_t begin, int64_t end) {
        loops.combine(written.data + begin * n, grad + begin * n, scale, in + begin * n, slope, shift, end - begin, n);
      });
    } else {
      const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
      parallel_for(b.channels, b.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          const auto run = [&](int64_t i) { return (i * b.channels + c) * b.plane; };
          double sums[2] = {0, 0};
          for (int64_t i = 0; i < b.images; ++i)
            loops.sums_with_gradient(grad + run(i), in + run(i), static_cast<double>(mean[c]), b.plane, sums);
          const Line line = line_of(c, sums[0], sums[1]);
          for (int64_t i = 0; i < b.images; ++i)
            loops.combine(written.data + run(i), grad + run(i), line.scale, in + run(i), line.slope, line.shift,
                          b.plane);
        }
      });
    }
    written.finish();
    weight_grad.finish();
    bias_grad.finish();
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

// ---- group normalization ---------------------------------------------------------------------------------------

/// Images whose channels come in groups: rows of `each` channels.
struct Groups {
  Batch b;
  int64_t groups, each, rows, row_size;

  Groups(const View& v, int64_t groups)
      : b(v), groups(groups), each(b.channels / groups), rows(b.images * groups), row_size(each * b.plane) {}
  /// Calls body(row, its first channel) for all.
  void for_rows(const auto& body) const {
    parallel_for(rows, std::max<int64_t>(1, grain_for_cost(2) / std::max<int64_t>(1, row_size)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r) body(r, r % groups * each);
                 });
  }
};

/// (input, groups, weight?, bias?, eps)
void group_norm_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* in = scratch.contiguous<T>(call.view(0));
    const T* weight = optional_channels<T>(call, 2, scratch);
    const T* bias = optional_channels<T>(call, 3, scratch);
    if (scratch.counting()) return;
    const Groups g(out, call.integer(1));
    const double eps = call.real(4), count = static_cast<double>(std::max<int64_t>(g.row_size, 1));
    T *to = out.as<T>(), *mean = call.out[1].as<T>(), *rstd = call.out[2].as<T>();
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    g.for_rows([&](int64_t r, int64_t channel) {
      const T* row = in + r * g.row_size;
      const double center = loops.sum(row, g.row_size) / count;
      const double squares = loops.sum_of_squares(row, center, g.row_size);
      const double scale = 1.0 / std::sqrt(squares / count + eps);
      mean[r] = static_cast<T>(center);
      rstd[r] = static_cast<T>(scale);
      for (int64_t c = 0; c < g.each; ++c) {
        const double own = scale * (weight != nullptr ? static_cast<double>(weight[channel + c]) : 1.0);
        const double shift = (bias != nullptr ? static_cast<double>(bias[channel + c]) : 0.0) - center * own;
        loops.scale_shift(to + r * g.row_size + c * g.b.plane, row + c * g.b.plane, static_cast<T>(own),
                          static_cast<T>(shift), g.b.plane);
      }
    });
  });
}

/// (grad, input, mean, rstd, weight?, groups): with h = (x - mean) rstd and the means over a row,
/// rstd (w g - mean(w g) - h mean(w g h)).
void group_norm_backward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T *grad = scratch.contiguous<T>(call.view(0)), *in = scratch.contiguous<T>(call.view(1));
    const T *mean = scratch.contiguous<T>(call.view(2)), *rstd = scratch.contiguous<T>(call.view(3));
    const T* weight = optional_channels<T>(call, 4, scratch);
    const Groups g(out, call.integer(5));
    const int64_t planes = g.b.images * g.b.channels, plane = g.b.plane;
    double *sums = scratch.take<double>(planes), *products = scratch.take<double>(planes);
    if (scratch.counting()) return;
    const auto weight_of = [&](int64_t c) { return weight != nullptr ? static_cast<double>(weight[c]) : 1.0; };
    const NormRows<T> loops = TERRA_ROWS(norm_rows, NormRows, T);
    g.for_rows([&](int64_t r, int64_t channel) {
      const double center = static_cast<double>(mean[r]), scale = static_cast<double>(rstd[r]);
      double sum = 0, product = 0;
      for (int64_t c = 0; c < g.each; ++c) {
        const int64_t p = r * g.each + c;
        double of_plane[2] = {0, 0};
        loops.sums_with_gradient(grad + p * plane, in + p * plane, center, plane, of_plane);
        sums[p] = of_plane[0];
        products[p] = of_plane[1] * scale;
        sum += weight_of(channel + c) * sums[p];
        product += weight_of(channel + c) * products[p];
      }
      const double count = static_cast<double>(g.row_size);
      const double slope = -scale * scale * product / count, shift = -scale * sum / count - slope * center;
      for (int64_t c = 0; c < g.each; ++c) {
        const int64_t at = (r * g.each + c) * plane;
        loops.combine(out.as<T>() + at, grad + at, static_cast<T>(scale * weight_of(channel + c)), in + at,
                      static_cast<T>(slope), static_cast<T>(shift), plane);
      }
    });
    for (int64_t c = 0; c < g.b.channels; ++c) {
      double of_weight = 0, of_bias = 0;
      for (int64_t i = 0; i < g.b.images; ++i) {
        of_weight += products[i * g.b.channels + c];
        of_bias += sums[i * g.b.channels + c];
      }
      call.out[1].as<T>()[c] = static_cast<T>(of_weight);
      call.out[2].as<T>()[c] = static_cast<T>(of_bias);
    }
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<batch_norm_stats_in>("batch_norm_stats"),
    strided_kernel<batch_norm_apply_in>("batch_norm_apply"),
    strided_kernel<batch_norm_backward_in>("batch_norm_backward"),
    scratch_kernel<layer_norm_in>("layer_norm"),
    scratch_kernel<layer_norm_backward_in>("layer_norm_backward"),
    scratch_kernel<group_norm_in>("group_norm_rows"),
    scratch_kernel<group_norm_backward_in>("group_norm_backward"),
};

}  // namespace

std::span<const Kernel> normalization_kernels() { return kKernels; }

}  // namespace terra::cpu
