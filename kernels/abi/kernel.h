// What a kernel is: a function over strided views and plain attributes, found by the name of its op.
#pragma once
#include <span>
#include <string_view>

#include "kernels/abi/scalar.h"
#include "kernels/abi/view.h"

namespace terra {

/// One argument of a kernel call, in the order of the op's signature. Everything is borrowed for the call.
struct KernelArg {
  enum class Kind : uint8_t { None, Tensor, TensorList, Scalar, IntList, DType, String };

  Kind kind = Kind::None;
  DType dtype = DType::F32;  ///< Kind::DType
  uint32_t count = 0;        ///< length of a TensorList or IntList, bytes of a String
  union {
    const View* views = nullptr;  ///< Kind::Tensor (one) or Kind::TensorList (count of them)
    const int64_t* ints;          ///< Kind::IntList
    const char* chars;            ///< Kind::String
  };
  terra::Scalar number;  ///< Kind::Scalar: Python's bool, int, float or complex
};

/// Scratch memory for the length of one kernel call. A kernel's `workspace` function says how many bytes it wants, so
/// that the planner can reserve them before a run; `bytes` is at least that many, 64-byte aligned.
struct Workspace {
  void* bytes = nullptr;
  size_t size = 0;
};

/// Where a device takes its work from; each backend defines its own.
struct Queue;

/// A call. Outputs are allocated by the caller to the shape rule's shapes, contiguous unless the kernel takes others
/// (Kernel::takes), and never overlap an input, except that an elementwise kernel (ElementwiseLoop) may be given
/// an output that is exactly one of its inputs, and a kernel whose record says `reuses` or `writes` one that is that
/// parameter.
struct KernelCall {
  std::span<const View> out;
  std::span<const KernelArg> args;
  Workspace workspace;
  Queue* queue = nullptr;  ///< that the backend launches in; the CPU has none

  const View& view(int i) const { return *args[i].views; }
  bool has(int i) const { return args[i].kind != KernelArg::Kind::None; }
  std::span<const View> views(int i) const { return {args[i].views, args[i].count}; }
  const terra::Scalar& scalar(int i) const { return args[i].number; }
  int64_t integer(int i) const { return args[i].number.to_int(); }
  double real(int i) const { return args[i].number.to_double(); }
  bool flag(int i) const { return args[i].number.to_bool(); }
  std::span<const int64_t> ints(int i) const { return {args[i].ints, args[i].count}; }
  std::string_view text(int i) const { return {args[i].chars, args[i].count}; }
};

using KernelFunction = void (*)(const KernelCall&);
using WorkspaceFunction = size_t (*)(const KernelCall&);

/// The inner loop of an elementwise op at one dtype: `n` elements from byte pointers `data` = {out, in0, in1, ...} with
/// byte strides. The value of an element depends on its inputs only, never on its position or on n (vector tails are
/// computed by the same instructions), so that eager, tiled and split runs agree bit for bit. `params` are the op's
/// attributes, aligned with its signature (tensor entries are unspecified).
using ElementwiseLoop = void (*)(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params);

/// One kernel of one op on one device.
struct Kernel {
  std::string_view op;           ///< name of the op record
  KernelFunction run = nullptr;  ///< null for a purely elementwise kernel, which the generic driver runs
  WorkspaceFunction workspace = nullptr;
  /// Elementwise ops: the loop for each *input* dtype (index: DType), null where it isn't supported. Inputs of one call
  /// have one dtype (the front end converts), except that `where`-like ops say otherwise in their record.
  ElementwiseLoop loops[kDTypeCount] = {};
  /// CPU time of one element in quarter nanoseconds, roughly: decides when work is worth splitting among threads.
  uint8_t cost = 1;
  /// `run` writes outputs that lie in any strides. Otherwise it gets contiguous ones, whoever calls it. (The driver of
  /// elementwise loops takes any.)
  bool any_strides = false;

  /// Whether a call may write an output that lies like that.
  bool takes(const View& out) const { return run == nullptr || any_strides || out.is_contiguous(); }
};

/// The kernels of the CPU by op name; null if there is none. Those of any device: Backend::find_kernel.
const Kernel* find_kernel(std::string_view op);            ///< at this machine's best instruction set
const Kernel* find_reference_kernel(std::string_view op);  ///< slow loops: the meaning of each op, oracle of every test

}  // namespace terra
