// Batch and layer normalization, in f64.
#include <cmath>

#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

/// Calls body(i, c) for element number i, of channel c, of [N, C, ...].
template <class Body>
void for_each_element(const View& v, const Body& body) {
  int64_t plane = 1;
  for (int i = 2; i < v.rank; ++i) plane *= v.sizes[i];
  for (int64_t i = 0; i < v.numel(); ++i) body(i, i / plane % v.sizes[1]);
}

double per_channel(const View& v) { return static_cast<double>(v.numel() / v.sizes[1]); }

/// Element i of an optional operand.
template <class T>
double optional(const KernelCall& call, int arg, int64_t i, double otherwise) {
  return call.has(arg) ? static_cast<double>(nth<T>(call.view(arg), i)) : otherwise;
}

/// (input, eps) -> mean, 1 / sqrt(var + eps), var
void batch_norm_stats(const KernelCall& call) {
  const View& in = call.view(0);
  with_float(in.dtype, [&]<class T>(T) {
    std::vector<double> mean(in.sizes[1]), var(in.sizes[1]);
    for_each_element(in,
                     [&](int64_t i, int64_t c) { mean[c] += static_cast<double>(nth<T>(in, i)) / per_channel(in); });
    for_each_element(in, [&](int64_t i, int64_t c) {
      var[c] += std::pow(static_cast<double>(nth<T>(in, i)) - mean[c], 2) / per_channel(in);
    });
    for (int64_t c = 0; c < in.sizes[1]; ++c) {
      nth<T>(call.out[0], c) = static_cast<T>(mean[c]);
      nth<T>(call.out[1], c) = static_cast<T>(1 / std::sqrt(var[c] + call.real(1)));
      nth<T>(call.out[2], c) = static_cast<T>(var[c]);
    }
  });
}

/// (input, mean, invstd, weight?, bias?): (input - mean) invstd weight + bias
void batch_norm_apply(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for_each_element(in, [&](int64_t i, int64_t c) {
      const double normal =
          (static_cast<double>(nth<T>(in, i)) - nth<T>(call.view(1), c)) * static_cast<double>(nth<T>(call.view(2), c));
      nth<T>(out, i) = static_cast<T>(normal * optional<T>(call, 3, c, 1) + optional<T>(call, 4, c, 0));
    });
  });
}

/// (grad, input, mean, invstd, weight?), where mean and invstd are the batch's own.
void batch_norm_backward(const KernelCall& call) {
  const View &grad = call.view(0), &in = call.view(1);
  with_float(in.dtype, [&]<class T>(T) {
    const auto normal = [&](int64_t i, int64_t c) {
      return (static_cast<double>(nth<T>(in, i)) - nth<T>(call.view(2), c)) *
             static_cast<double>(nth<T>(call.view(3), c));
    };
    std::vector<double> gw(in.sizes[1]), gb(in.sizes[1]);
    for_each_element(in, [&](int64_t i, int64_t c) {
      gw[c] += static_cast<double>(nth<T>(grad, i)) * normal(i, c);
      gb[c] += static_cast<double>(nth<T>(grad, i));
    });
    for_each_element(in, [&](int64_t i, int64_t c) {
      const double g = static_cast<double>(nth<T>(grad, i)) - (gb[c] + normal(i, c) * gw[c]) / per_channel(in);
      nth<T>(call.out[0], i) =
          static_cast<T>(g * optional<T>(call, 4, c, 1) * static_cast<double>(nth<T>(call.view(3), c)));
    });
    for (int64_t c = 0; c < in.sizes[1]; ++c) {
      nth<T>(call.out[1], c) = static_cast<T>(gw[c]);
      nth<T>(call.out[2], c) = static_cast<T>(gb[c]);
    }
  });
}

/// (input, normalized_shape, weight?, bias?, eps) -> out, mean, rstd
void layer_norm(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  const int64_t rows = call.out[1].numel();
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t n = in.numel() / rows;
      double mean = 0, var = 0;
      for (int64_t i = 0; i < n; ++i) mean += static_cast<double>(nth<T>(in, r * n + i)) / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) {
        var += std::pow(static_cast<double>(nth<T>(in, r * n + i)) - mean, 2) / static_cast<double>(n);
      }
      const double rstd = 1 / std::sqrt(var + call.real(4));
      for (int64_t i = 0; i < n; ++i) {
        const double normal = (static_cast<double>(nth<T>(in, r * n + i)) - mean) * rstd;
        nth<T>(out, r * n + i) = static_cast<T>(normal * optional<T>(call, 2, i, 1) + optional<T>(call, 3, i, 0));
      }
      nth<T>(call.out[1], r) = static_cast<T>(mean);
      nth<T>(call.out[2], r) = static_cast<T>(rstd);
    }
  });
}

/// (grad, input, mean, rstd, weight?) -> gradients of input, weight, bias
void layer_norm_backward(const KernelCall& call) {
  const View &grad = call.view(0), &in = call.view(1);
  const int64_t rows = call.view(2).numel(), n = call.out[1].numel();
  with_float(in.dtype, [&]<class T>(T) {
    std::vector<double> gw(n), gb(n);
    for (int64_t r = 0; r < rows; ++r) {
      const double mean = nth<T>(call.view(2), r), rstd = nth<T>(call.view(3), r);
      const auto normal = [&](int64_t i) { return (static_cast<double>(nth<T>(in, r * n + i)) - mean) * rstd; };
      const auto g = [&](int64_t i) {
        return static_cast<double>(nth<T>(grad, r * n + i)) * optional<T>(call, 4, i, 1);
      };
      double sum = 0, product = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += g(i);
        product += g(i) * normal(i);
        gw[i] += static_cast<double>(nth<T>(grad, r * n + i)) * normal(i);
        gb[i] += static_cast<double>(nth<T>(grad, r * n + i));
      }
      for (int64_t i = 0; i < n; ++i) {
        nth<T>(call.out[0], r * n + i) =
            static_cast<T>(rstd * (g(i) - (sum + normal(i) * product) / static_cast<double>(n)));
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      nth<T>(call.out[1], i) = static_cast<T>(gw[i]);
      nth<T>(call.out[2], i) = static_cast<T>(gb[i]);
    }
  });
}

/// Elements of a channel of one image.
int64_t plane_of(const View& images) {
  int64_t plane = 1;
  for (int d = 2; d < images.rank; ++d) plane *= images.sizes[d];
  return plane;
}

/// (input, groups, weight?, bias?, eps) -> out, mean, rstd
void group_norm(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  const int64_t rows = call.out[1].numel(), plane = plane_of(in);
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t n = in.numel() / rows;
      const auto x = [&](int64_t i) { return static_cast<double>(nth<T>(in, r * n + i)); };
      double mean = 0, var = 0;
      for (int64_t i = 0; i < n; ++i) mean += x(i) / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) var += std::pow(x(i) - mean, 2) / static_cast<double>(n);
      const double rstd = 1 / std::sqrt(var + call.real(4));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t c = (r * n + i) / plane % in.sizes[1];
        const double normal = (x(i) - mean) * rstd;
        nth<T>(out, r * n + i) = static_cast<T>(normal * optional<T>(call, 2, c, 1) + optional<T>(call, 3, c, 0));
      }
      nth<T>(call.out[1], r) = static_cast<T>(mean);
      nth<T>(call.out[2], r) = static_cast<T>(rstd);
    }
  });
}

/// (grad, input, mean, rstd, weight?, groups) -> gradients of input, weight, bias
void group_norm_backward(const KernelCall& call) {
  const View &grad = call.view(0), &in = call.view(1);
  const int64_t rows = call.view(2).numel(), channels = in.sizes[1], plane = plane_of(in);
  with_float(in.dtype, [&]<class T>(T) {
    std::vector<double> gw(channels), gb(channels);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t n = in.numel() / rows;
      const double mean = nth<T>(call.view(2), r), rstd = nth<T>(call.view(3), r);
      const auto channel = [&](int64_t i) { return (r * n + i) / plane % channels; };
      const auto normal = [&](int64_t i) { return (static_cast<double>(nth<T>(in, r * n + i)) - mean) * rstd; };
      const auto own = [&](int64_t i) { return static_cast<double>(nth<T>(grad, r * n + i)); };
      double sum = 0, product = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double weight = optional<T>(call, 4, channel(i), 1);
        sum += own(i) * weight;
        product += own(i) * weight * normal(i);
        gw[channel(i)] += own(i) * normal(i);
        gb[channel(i)] += own(i);
      }
      for (int64_t i = 0; i < n; ++i) {
        const double rest = (sum + normal(i) * product) / static_cast<double>(n);
        nth<T>(call.out[0], r * n + i) = static_cast<T>(rstd * (own(i) * optional<T>(call, 4, channel(i), 1) - rest));
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      nth<T>(call.out[1], c) = static_cast<T>(gw[c]);
      nth<T>(call.out[2], c) = static_cast<T>(gb[c]);
    }
  });
}

constexpr Kernel kKernels[] = {
    {.op = "batch_norm_stats", .run = batch_norm_stats},       {.op = "batch_norm_apply", .run = batch_norm_apply},
    {.op = "batch_norm_backward", .run = batch_norm_backward}, {.op = "layer_norm", .run = layer_norm},
    {.op = "layer_norm_backward", .run = layer_norm_backward}, {.op = "group_norm_rows", .run = group_norm},
    {.op = "group_norm_backward", .run = group_norm_backward},
};

}  // namespace

std::span<const Kernel> normalization_kernels() { return kKernels; }

}  // namespace terra::reference
