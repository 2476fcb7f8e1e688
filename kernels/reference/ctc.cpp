// The CTC loss: every labelling of the frames is read with blanks and repetitions left out; those that read as the
// target count. In probabilities and f64.
#include <cmath>
#include <vector>

#include "kernels/abi/kernel_error.h"
#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

using Rows = std::vector<std::vector<double>>;

/// One sample as a chain of states blank, label, blank, ...: probs[t][s] is that of the label of state s in frame t.
struct Chain {
  std::vector<int64_t> labels;
  Rows probs;

  /// Sample n of log_probs, targets, input_lengths and target_lengths at positions `first` on, then blank.
  template <class T>
  static Chain of(const KernelCall& call, int first, int64_t n) {
    const View &log_probs = call.view(first), &targets = call.view(first + 1);
    const auto length = [&](int i, int64_t sample) { return nth<int64_t>(call.view(first + i), sample); };
    int64_t begin = 0, all = 0;
    for (int64_t i = 0; i < log_probs.sizes[1]; ++i) {
      if (i < n) begin += length(3, i);
      all += length(3, i);
      if (length(2, i) < 0 || length(2, i) > log_probs.sizes[0] || length(3, i) < 0) {
        throw KernelError(KernelError::Kind::Runtime, "ctc_loss: a length is out of range");
      }
    }
    const bool padded = targets.rank == 2;
    if (padded ? length(3, n) > targets.sizes[1] : all != targets.sizes[0]) {
      throw KernelError(KernelError::Kind::Runtime, "ctc_loss: targets don't have the lengths that are said");
    }
    Chain chain;
    const int64_t blank = call.integer(first + 4);
    chain.labels.push_back(blank);
    for (int64_t i = 0; i < length(3, n); ++i) {
      const int64_t label = nth<int64_t>(targets, (padded ? n * targets.sizes[1] : begin) + i);
      if (label < 0 || label >= log_probs.sizes[2]) {
        throw KernelError(KernelError::Kind::Index, "Target " + std::to_string(label) + " is out of bounds.");
      }
      chain.labels.insert(chain.labels.end(), {label, blank});
    }
    for (int64_t t = 0; t < length(2, n); ++t) {
      std::vector<double>& row = chain.probs.emplace_back();
      for (int64_t label : chain.labels) row.push_back(std::exp(static_cast<double>(at<T>(log_probs, {t, n, label}))));
    }
    return chain;
  }

  bool joined(size_t from, size_t to) const {
    return to == from || to == from + 1 || (to == from + 2 && labels[to] != labels[from] && labels[to] != labels[0]);
  }
  bool is_last(size_t s) const { return s + 2 >= labels.size(); }

  /// [t][s]: probability of all paths that are in state s at frame t, up to it.
  Rows forward() const {
    Rows rows(probs.size(), std::vector<double>(labels.size()));
    for (size_t t = 0; t < probs.size(); ++t) {
      for (size_t to = 0; to < labels.size(); ++to) {
        double reached = t == 0 && to < 2 ? 1 : 0;
        for (size_t from = 0; t > 0 && from < labels.size(); ++from) {
          if (joined(from, to)) reached += rows[t - 1][from];
        }
        rows[t][to] = reached * probs[t][to];
      }
    }
    return rows;
  }
  /// The same behind frame t.
  Rows backward() const {
    Rows rows(probs.size(), std::vector<double>(labels.size()));
    for (size_t t = probs.size(); t-- > 0;) {
      for (size_t from = 0; from < labels.size(); ++from) {
        if (t + 1 == probs.size()) {
          rows[t][from] = is_last(from) ? 1 : 0;
          continue;
        }
        for (size_t to = 0; to < labels.size(); ++to) {
          if (joined(from, to)) rows[t][from] += probs[t + 1][to] * rows[t + 1][to];
        }
      }
    }
    return rows;
  }
  double probability() const {
    if (probs.empty()) return labels.size() == 1 ? 1 : 0;
    double sum = 0;
    const Rows rows = forward();
    for (size_t s = 0; s < labels.size(); ++s) sum += is_last(s) ? rows.back()[s] : 0;
    return sum;
  }
};

/// (log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
void ctc_loss_each(const KernelCall& call) {
  with_float(call.out[0].dtype, [&]<class T>(T) {
    for (int64_t n = 0; n < call.out[0].numel(); ++n) {
      const double loss = -std::log(Chain::of<T>(call, 0, n).probability());
      nth<T>(call.out[0], n) = static_cast<T>(call.flag(5) && std::isinf(loss) ? 0 : loss);
    }
  });
}

/// (grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
void ctc_loss_backward(const KernelCall& call) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    for (int64_t n = 0; n < out.sizes[1]; ++n) {
      const Chain chain = Chain::of<T>(call, 1, n);
      const double all = chain.probability(), grad = static_cast<double>(nth<T>(call.view(0), n));
      if (call.flag(6) && all == 0) continue;
      const Rows forward = chain.forward(), backward = chain.backward();
      for (size_t t = 0; t < chain.probs.size(); ++t) {
        for (int64_t c = 0; c < out.sizes[2]; ++c) {
          double through = 0;
          for (size_t s = 0; s < chain.labels.size(); ++s) {
            if (chain.labels[s] == c) through += forward[t][s] * backward[t][s];
          }
          const auto frame = static_cast<int64_t>(t);
          const double prob = std::exp(static_cast<double>(at<T>(call.view(1), {frame, n, c})));
          at<T>(out, {frame, n, c}) = static_cast<T>((prob - through / all) * grad);
        }
      }
    }
  });
}

constexpr Kernel kKernels[] = {
    {.op = "ctc_loss_each", .run = ctc_loss_each},
    {.op = "ctc_loss_backward", .run = ctc_loss_backward},
};

}  // namespace

std::span<const Kernel> ctc_kernels() { return kKernels; }

}  // namespace terra::reference
