// The CTC loss and its gradient: forward and backward variables in log space. Samples are shared out among threads.
//
// A target of n labels is read by a chain of 2 n + 1 states: blank, label, blank, ..., label, blank. A frame stays in
// its state, goes to the next one, or skips a blank between two different labels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/kernel_error.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

template <class T>
constexpr T kImpossible = -std::numeric_limits<T>::infinity();

/// log(e^a + e^b)
template <class T>
T log_sum(T a, T b) {
  const T most = std::max(a, b), least = std::min(a, b);
  return least == kImpossible<T> ? most : most + std::log1p(std::exp(least - most));
}
/// log(e^a + e^b + e^c)
template <class T>
T log_sum(T a, T b, T c) {
  if (c == kImpossible<T>) return log_sum(a, b);
  const T most = std::max({a, b, c});
  if (most == kImpossible<T>) return most;
  return most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

template <class T>
struct Sample {
  const T* log_probs;  ///< of the first frame
  int64_t step;        ///< elements from frame to frame
  int64_t frames;
  const int64_t* target;
  int64_t length;
  int64_t blank;

  int64_t states() const { return 2 * length + 1; }
  int64_t label(int64_t state) const { return state % 2 == 0 ? blank : target[state / 2]; }
  T log_prob(int64_t frame, int64_t state) const { return log_probs[frame * step + label(state)]; }
  /// True iff `state` can be reached from the one before the last.
  bool skips_to(int64_t state) const {
    return state % 2 == 1 && state >= 3 && target[state / 2] != target[state / 2 - 1];
  }
  bool skips_from(int64_t state) const { return state + 2 < states() && skips_to(state + 2); }

  /// Row `frame` of the forward variables, from the one before (which it may replace).
  void forward(int64_t frame, const T* before, T* row) const {
    for (int64_t s = states() - 1; s >= 0; --s) {
      T reached = kImpossible<T>;
      if (frame == 0) {
        reached = s < 2 ? T{0} : reached;
      } else {
        reached = log_sum(before[s], s > 0 ? before[s - 1] : reached, skips_to(s) ? before[s - 2] : reached);
      }
      row[s] = reached + log_prob(frame, s);
    }
  }
  /// Turns the backward variables of the frame behind into those of `frame`.
  void backward(int64_t frame, T* row) const {
    for (int64_t s = 0; s < states(); ++s) {
      T left = kImpossible<T>;
      if (frame == frames - 1) {
        left = s + 2 >= states() ? T{0} : left;
      } else {
        left = log_sum(row[s], s + 1 < states() ? row[s + 1] : left, skips_from(s) ? row[s + 2] : left);
      }
      row[s] = left + log_prob(frame, s);
    }
  }
  /// The loss, from the last forward variables.
  T loss(const T* last) const {
    if (frames == 0) return length == 0 ? T{0} : -kImpossible<T>;
    return -log_sum(last[states() - 1], length > 0 ? last[states() - 2] : kImpossible<T>);
  }
};

[[noreturn]] void refuse(const std::string& what) {
  throw KernelError(KernelError::Kind::Runtime, what + " (while checking arguments for ctc_loss_allocate_outputs)");
}

/// The operands of a call: log_probs [T, N, C], targets (padded [N, S], or all in a row), input_lengths, target_lengths
/// and blank, at positions `first` on.
template <class T>
class Batch {
 public:
  Batch(const KernelCall& call, int first, Scratch& scratch)
      : log_probs_(scratch.contiguous<T>(call.view(first))),
        targets_(scratch.contiguous<int64_t>(call.view(first + 1))),
        frames_(scratch.contiguous<int64_t>(call.view(first + 2))),
        lengths_(scratch.contiguous<int64_t>(call.view(first + 3))),
        first_target_(scratch.take<int64_t>(call.view(first).sizes[1])),
        sizes_(call.view(first).sizes),
        states_(2 * call.view(first + 1).numel() + samples()),
        blank_(call.integer(first + 4)) {
    if (!scratch.counting()) check(call.view(first + 1));
  }

  int64_t samples() const { return sizes_[1]; }
  int64_t classes() const { return sizes_[2]; }
  int64_t most_frames() const { return sizes_[0]; }
  /// Room for the states of all samples.
  int64_t states() const { return states_; }
  /// Where those of sample n begin.
  int64_t first_state(int64_t n) const { return 2 * first_target_[n] + n; }
  Sample<T> operator[](int64_t n) const {
    return {log_probs_ + n * classes(),  samples() * classes(), frames_[n],
            targets_ + first_target_[n], lengths_[n],           blank_};
  }

 private:
  void check(const View& targets) {
    const bool padded = targets.rank == 2;
    int64_t next = 0;
    for (int64_t n = 0; n < samples(); ++n) {
      check_length("input_lengths", frames_[n]);
      check_length("target_lengths", lengths_[n]);
      if (frames_[n] > most_frames()) {
        refuse("Expected input_lengths to have value at most " + std::to_string(most_frames()) + ", but got value " +
               std::to_string(frames_[n]));
      }
      if (padded && lengths_[n] > targets.sizes[1]) {
        refuse("Expected tensor to have size at least " + std::to_string(lengths_[n]) +
               " at dimension 1, but got size " + std::to_string(targets.sizes[1]) + " for argument #2 'targets'");
      }
      first_target_[n] = padded ? n * targets.sizes[1] : next;
      if (__builtin_add_overflow(next, lengths_[n], &next)) next = std::numeric_limits<int64_t>::max();
    }
    if (!padded && next != targets.sizes[0]) {
      refuse("Expected tensor to have size " + std::to_string(next) + " at dimension 0, but got size " +
             std::to_string(targets.sizes[0]) + " for argument #2 'targets'");
    }
    for (int64_t n = 0; n < samples(); ++n) {
      for (int64_t i = 0; i < lengths_[n]; ++i) check_label(targets_[first_target_[n] + i]);
    }
  }
  static void check_length(const char* name, int64_t length) {
    if (length < 0) {
      refuse("Expected " + std::string(name) + " to have value at least 0, but got value " + std::to_string(length));
    }
  }
  void check_label(int64_t label) const {
    if (label < 0 || label >= classes()) {
      throw KernelError(KernelError::Kind::Index, "Target " + std::to_string(label) + " is out of bounds.");
    }
  }

  const T* log_probs_;
  const int64_t *targets_, *frames_, *lengths_;
  int64_t* first_target_;
  const int64_t* sizes_;
  int64_t states_, blank_;
};

/// Calls body(n) for every sample.
template <class T, class Body>
void for_each_sample(const Batch<T>& batch, const Body& body) {
  parallel_for(batch.samples(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) body(n);
  });
}

/// (log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
void forward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const Batch<T> batch(call, 0, scratch);
    T* rows = scratch.take<T>(batch.states());
    if (scratch.counting()) return;
    const bool zero_infinity = call.flag(5);
    for_each_sample(batch, [&](int64_t n) {
      const Sample<T> sample = batch[n];
      T* row = rows + batch.first_state(n);
      for (int64_t t = 0; t < sample.frames; ++t) sample.forward(t, row, row);
      const T loss = sample.loss(row);
      out.as<T>()[n] = zero_infinity && std::isinf(loss) ? T{0} : loss;
    });
  });
}

/// (grad, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
void backward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* grad = scratch.contiguous<T>(call.view(0));
    const Batch<T> batch(call, 1, scratch);
    T* forward = scratch.take<T>(batch.most_frames() * batch.states());
    T* backward = scratch.take<T>(batch.states());
    if (scratch.counting()) return;
    const bool zero_infinity = call.flag(6);
    std::fill_n(out.as<T>(), out.numel(), T{0});
    for_each_sample(batch, [&](int64_t n) {
      const Sample<T> sample = batch[n];
      const int64_t states = sample.states();
      T* rows = forward + batch.most_frames() * batch.first_state(n);
      for (int64_t t = 0; t < sample.frames; ++t) sample.forward(t, rows + (t - 1) * states, rows + t * states);
      const T loss = sample.loss(rows + (sample.frames - 1) * states);
      if (zero_infinity && std::isinf(loss)) return;
      T* row = backward + batch.first_state(n);
      for (int64_t t = sample.frames - 1; t >= 0; --t) {
        sample.backward(t, row);
        T* to = out.as<T>() + t * sample.step + n * batch.classes();
        std::fill_n(to, batch.classes(), kImpossible<T>);  // becomes log of the paths through each label
        for (int64_t s = 0; s < states; ++s) {
          T& paths = to[sample.label(s)];
          paths = log_sum(paths, rows[t * states + s] + row[s]);
        }
        for (int64_t c = 0; c < batch.classes(); ++c) {
          const T log_prob = sample.log_probs[t * sample.step + c];
          to[c] = (std::exp(log_prob) - std::exp(to[c] + loss - log_prob)) * grad[n];
        }
      }
    });
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<forward_in>("ctc_loss_each"),
    scratch_kernel<backward_in>("ctc_loss_backward"),
};

}  // namespace

std::span<const Kernel> ctc_kernels() { return kKernels; }

}  // namespace terra::cpu
