// Hands out a kernel's workspace piece by piece; also counts how much a call will want.
#pragma once
#include "kernels/abi/kernel.h"
#include "kernels/cpu/packing.h"

namespace terra::cpu {

/// A kernel says once, in a body(call, Scratch&), which pieces it takes: the workspace function runs it on a counting
/// Scratch, the kernel on a real one. A counting Scratch hands out null.
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(const Workspace& workspace) : base_(static_cast<char*>(workspace.bytes)), counting_(false) {}

  /// Room for n elements, on a cache line of its own.
  template <class T>
  T* take(int64_t n) {
    const size_t at = used_;
    used_ += (static_cast<size_t>(n) * sizeof(T) + 63) & ~size_t{63};
    return counting_ ? nullptr : reinterpret_cast<T*>(base_ + at);
  }

  /// The view's elements in row-major order without gaps: its own memory if they lie so, else a copy in the scratch.
  template <class T>
  const T* contiguous(const View& view) {
    const T* own = view.as<const T>();
    if (view.is_contiguous()) return own;
    T* copy = take<T>(view.numel());
    if (!counting_) pack(view, copy);
    return copy;
  }

  bool counting() const { return counting_; }
  size_t used() const { return used_; }

 private:
  char* base_ = nullptr;
  size_t used_ = 0;
  bool counting_ = true;
};

/// The kernel and the workspace function of a body that takes its pieces from a Scratch and, unless it is counting,
/// computes.
template <auto body>
void run_with(const KernelCall& call) {
  Scratch scratch(call.workspace);
  body(call, scratch);
}
template <auto body>
size_t workspace_of(const KernelCall& call) {
  Scratch scratch;
  body(call, scratch);
  return scratch.used();
}

/// The table entry of such a body.
template <auto body>
constexpr Kernel scratch_kernel(std::string_view op) {
  return {.op = op, .run = run_with<body>, .workspace = workspace_of<body>};
}

/// The same for one whose outputs may lie in any strides.
template <auto body>
constexpr Kernel strided_kernel(std::string_view op) {
  Kernel kernel = scratch_kernel<body>(op);
  kernel.any_strides = true;
  return kernel;
}

}  // namespace terra::cpu
