// The negative log likelihood loss, its gradient, and its gradient through the log-softmax before it.
#include <algorithm>
#include <string>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/kernel_error.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

/// Scores [images, classes, places] and a class for each (image, place).
struct Shape {
  int64_t images = 1, classes = 1, places = 1;

  explicit Shape(std::span<const int64_t> sizes) {
    if (sizes.size() == 1) {
      classes = sizes[0];
      return;
    }
    images = sizes[0];
    classes = sizes[1];
    for (size_t i = 2; i < sizes.size(); ++i) places *= sizes[i];
  }
  int64_t targets() const { return images * places; }
  /// Where the score of class 0 for that target lies.
  int64_t first_score(int64_t target) const { return target / places * classes * places + target % places; }
};

/// Class numbers in whatever integer type they come.
class Targets {
 public:
  Targets(const View& view, Scratch& scratch) : dtype_(view.dtype) {
    if (dtype_ == DType::U8) {
      data_ = scratch.contiguous<uint8_t>(view);
    } else if (dtype_ == DType::I32) {
      data_ = scratch.contiguous<int32_t>(view);
    } else {
      data_ = scratch.contiguous<int64_t>(view);
    }
  }
  int64_t operator[](int64_t i) const {
    if (dtype_ == DType::U8) return static_cast<const uint8_t*>(data_)[i];
    if (dtype_ == DType::I32) return static_cast<const int32_t*>(data_)[i];
    return static_cast<const int64_t*>(data_)[i];
  }

 private:
  DType dtype_;
  const void* data_;
};

void check_target(int64_t target, int64_t classes) {
  if (target < 0 || target >= classes) {
    throw KernelError(KernelError::Kind::Index, "Target " + std::to_string(target) + " is out of bounds.");
  }
}

/// (self, target, weight?, reduction, ignore_index) -> loss, total_weight
void forward_in(const KernelCall& call, Scratch& scratch) {
  const View &self = call.view(0), &loss = call.out[0];
  with_float(self.dtype, [&]<class T>(T) {
    const T* scores = scratch.contiguous<T>(self);
    const Targets targets(call.view(1), scratch);
    const T* weight = call.has(2) ? scratch.contiguous<T>(call.view(2)) : nullptr;
    if (scratch.counting()) return;
    const Shape shape(std::span(self.sizes, static_cast<size_t>(self.rank)));
    const int64_t ignored = call.integer(4);
    const bool reduces = call.text(3) != "none";
    double sum = 0, total = 0;
    for (int64_t i = 0; i < shape.targets(); ++i) {
      const int64_t target = targets[i];
      if (target == ignored) {
        if (!reduces) loss.as<T>()[i] = 0;
        continue;
      }
      check_target(target, shape.classes);
      const T w = weight != nullptr ? weight[target] : T{1};
      const T value = -w * scores[shape.first_score(i) + target * shape.places];
      total += static_cast<double>(w);
      sum += static_cast<double>(value);
      if (!reduces) loss.as<T>()[i] = value;
    }
    if (reduces) *loss.as<T>() = static_cast<T>(call.text(3) == "mean" ? sum / total : sum);
    *call.out[1].as<T>() = static_cast<T>(total);
  });
}

/// (grad, target, weight?, total_weight, input_sizes, reduction, ignore_index) -> gradient of self
void backward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* grad = scratch.contiguous<T>(call.view(0));
    const Targets targets(call.view(1), scratch);
    const T* weight = call.has(2) ? scratch.contiguous<T>(call.view(2)) : nullptr;
    if (scratch.counting()) return;
    const Shape shape(std::span(out.sizes, static_cast<size_t>(out.rank)));
    const int64_t ignored = call.integer(6);
    const bool each = call.text(5) == "none";
    const T scale = each ? T{1} : call.text(5) == "mean" ? *grad / *call.view(3).as<const T>() : *grad;
    T* to = out.as<T>();
    std::fill_n(to, out.numel(), T{0});
    for (int64_t i = 0; i < shape.targets(); ++i) {
      const int64_t target = targets[i];
      if (target == ignored) continue;
      check_target(target, shape.classes);
      const T w = weight != nullptr ? weight[target] : T{1};
      to[shape.first_score(i) + target * shape.places] = -w * (each ? grad[i] : scale);
    }
  });
}

/// (grad, target, weight?, total_weight, log_p, reduction, ignore_index) -> gradient of the scores, for scores
/// [classes] or [images, classes]
void cross_entropy_backward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* grad = scratch.contiguous<T>(call.view(0));
    const Targets targets(call.view(1), scratch);
    const T* weight = call.has(2) ? scratch.contiguous<T>(call.view(2)) : nullptr;
    const T* log_p = scratch.contiguous<T>(call.view(4));
    if (scratch.counting()) return;
    const Shape shape(std::span(out.sizes, static_cast<size_t>(out.rank)));
    const int64_t ignored = call.integer(6);
    const bool each = call.text(5) == "none";
    const T scale = each ? T{1} : call.text(5) == "mean" ? *grad / *call.view(3).as<const T>() : *grad;
    for (int64_t i = 0; i < shape.targets(); ++i)
      if (targets[i] != ignored) check_target(targets[i], shape.classes);
    const SoftmaxRows<T> loops = TERRA_ROWS(softmax_rows, SoftmaxRows, T);
    const int64_t grain = std::max<int64_t>(1, grain_for_cost(4) / std::max<int64_t>(1, shape.classes));
    parallel_for(shape.targets(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const bool counts = targets[i] != ignored;
        const int64_t target = counts ? targets[i] : 0;
        const T w = counts && weight != nullptr ? weight[target] : T{1};
        const T g = counts ? -w * (each ? grad[i] : scale) : T{0};
        loops.cross_entropy_backward(out.as<T>() + i * shape.classes, g, target, log_p + i * shape.classes,
                                     shape.classes);
      }
    });
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<forward_in>("nll_loss_forward"),
    scratch_kernel<backward_in>("nll_loss_backward"),
    scratch_kernel<cross_entropy_backward_in>("cross_entropy_backward"),
};

}  // namespace

std::span<const Kernel> nll_loss_kernels() { return kKernels; }

}  // namespace terra::cpu
