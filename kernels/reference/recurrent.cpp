// Recurrent layers, one number at a time and in f64.
#include <cmath>
#include <vector>

#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// lstm_layer(steps, weight, hidden, cell, reversed) -> (output, cells, gates): rows of gates are input, forget, cell
/// and output; c' = f c + i g, h' = o tanh(c').
void lstm_layer(const KernelCall& call) {
  const View &output = call.out[0], &cells = call.out[1], &gates = call.out[2];
  const int64_t steps = output.sizes[0], examples = output.sizes[1], n = output.sizes[2];
  with_float(output.dtype, [&]<class T>(T) {
    for (int64_t turn = 0; turn < steps; ++turn) {
      const int64_t t = call.flag(4) ? steps - 1 - turn : turn, last = call.flag(4) ? t + 1 : t - 1;
      for (int64_t b = 0; b < examples; ++b) {
        const auto before = [&](const View& first, const View& all, int64_t k) -> double {
          return turn == 0 ? at<T>(first, {b, k}) : at<T>(all, {last, b, k});
        };
        for (int64_t row = 0; row < 4 * n; ++row) {
          double sum = at<T>(call.view(0), {t, b, row});
          for (int64_t k = 0; k < n; ++k)
            sum += static_cast<double>(at<T>(call.view(1), {row, k})) * before(call.view(2), output, k);
          at<T>(gates, {t, b, row}) = static_cast<T>(row / n == 2 ? std::tanh(sum) : logistic(sum));
        }
        for (int64_t k = 0; k < n; ++k) {
          const auto gate = [&](int64_t row) -> double { return at<T>(gates, {t, b, row * n + k}); };
          const double cell = gate(1) * before(call.view(3), cells, k) + gate(0) * gate(2);
          at<T>(cells, {t, b, k}) = static_cast<T>(cell);
          at<T>(output, {t, b, k}) = static_cast<T>(gate(3) * std::tanh(cell));
        }
      }
    }
  });
}

/// lstm_layer_backward(output_grad?, cells_grad?, gates_grad?, weight, cell, cells, gates, reversed) -> gradients by
/// the steps, the first hidden state and the first cells.
void lstm_layer_backward(const KernelCall& call) {
  const View& cells = call.view(5);
  const int64_t steps = cells.sizes[0], examples = cells.sizes[1], n = cells.sizes[2];
  with_float(cells.dtype, [&]<class T>(T) {
    const auto given = [&](int i, int64_t t, int64_t b, int64_t k) -> double {
      return call.has(i) ? static_cast<double>(at<T>(call.view(i), {t, b, k})) : 0.0;
    };
    for (int64_t b = 0; b < examples; ++b) {
      std::vector<double> hidden(n), carried(n), sums(4 * n);
      for (int64_t turn = steps - 1; turn >= 0; --turn) {
        const int64_t t = call.flag(7) ? steps - 1 - turn : turn, last = call.flag(7) ? t + 1 : t - 1;
        for (int64_t k = 0; k < n; ++k) {
          const auto gate = [&](int64_t row) -> double { return at<T>(call.view(6), {t, b, row * n + k}); };
          const double before = turn == 0 ? at<T>(call.view(4), {b, k}) : at<T>(cells, {last, b, k});
          const double squashed = std::tanh(static_cast<double>(at<T>(cells, {t, b, k})));
          const double by_hidden = hidden[k] + given(0, t, b, k);
          const double by_cell = carried[k] + given(1, t, b, k) + by_hidden * gate(3) * (1 - squashed * squashed);
          const double by_gate[] = {by_cell * gate(2), by_cell * before, by_cell * gate(0), by_hidden * squashed};
          for (int64_t row = 0; row < 4; ++row) {
            const double g = gate(row), slope = row == 2 ? 1 - g * g : g * (1 - g);
            sums[row * n + k] = (by_gate[row] + given(2, t, b, row * n + k)) * slope;
            at<T>(call.out[0], {t, b, row * n + k}) = static_cast<T>(sums[row * n + k]);
          }
          carried[k] = by_cell * gate(1);
        }
        for (int64_t k = 0; k < n; ++k) {
          hidden[k] = 0;
          for (int64_t row = 0; row < 4 * n; ++row)
            hidden[k] += sums[row] * static_cast<double>(at<T>(call.view(3), {row, k}));
        }
      }
      for (int64_t k = 0; k < n; ++k) {
        at<T>(call.out[1], {b, k}) = static_cast<T>(hidden[k]);
        at<T>(call.out[2], {b, k}) = static_cast<T>(carried[k]);
      }
    }
  });
}

constexpr Kernel kKernels[] = {{.op = "lstm_layer", .run = lstm_layer},
                               {.op = "lstm_layer_backward", .run = lstm_layer_backward}};

}  // namespace

std::span<const Kernel> recurrent_kernels() { return kKernels; }

}  // namespace terra::reference
