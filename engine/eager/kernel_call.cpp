#include "engine/eager/kernel_call.h"

#include <algorithm>
#include <array>

#include "engine/device/backend.h"
#include "engine/eager/long_call.h"
#include "engine/errors/errors.h"
#include "engine/errors/kernel_failure.h"
#include "engine/memory/allocator.h"
#include "engine/memory/inline_array.h"
#include "engine/ops/call.h"
#include "engine/ops/refusals.h"
#include "kernels/abi/element.h"

namespace terra::eager {
namespace {

bool reference = false;

bool is_operand(ParamType type) { return type == ParamType::Tensor || type == ParamType::TensorOrNumber; }

const Kernel* lookup_cpu(const Op& op, bool from_reference) {
  // Indexed by the op's dense id: kernels of all ops that exist at the first call.
  static const std::array<std::vector<const Kernel*>, 2> tables = [] {
    std::array<std::vector<const Kernel*>, 2> found;
    for (const Op* known : all_ops()) {
      found[false].push_back(cpu_backend().find_kernel(known->name));
      found[true].push_back(find_reference_kernel(known->name));
    }
    return found;
  }();
  return tables[from_reference][static_cast<size_t>(op.id)];
}

/// Memory for a Python number that stands where a tensor could.
struct BoxedNumber {
  alignas(8) char bytes[kMaxElementSize];  // filled in by box

  View box(const Scalar& s, DType dtype) {
    store_element(bytes, dtype, s);
    return {bytes, nullptr, nullptr, 0, dtype, true};
  }
};

/// The dtype that numbers among the operands take: that which the tensors they were promoted with are computed in.
DType operand_dtype(const Op& op, std::span<const Arg> args) {
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].is_tensor() && (op.promoted >> i & 1))
      return op.is(kMovesBytes) ? args[i].impl()->dtype : computed_in(args[i].impl()->dtype);
  return dtype_of_numbers(op, args);
}

/// For a kernel that doesn't take all of `outs` as they lie: the results go through contiguous memory.
void run_through_copies(const Op& op, const Kernel& kernel, std::span<const Arg> args, std::span<const View> outs,
                        Device device) {
  static const Op& copy = *find_op("copy");
  std::vector<Tensor> dense(outs.size());
  std::vector<View> places(outs.begin(), outs.end());
  for (size_t i = 0; i < outs.size(); ++i) {
    if (kernel.takes(outs[i])) continue;
    dense[i] = Tensor::empty({outs[i].sizes, static_cast<size_t>(outs[i].rank)}, outs[i].dtype, device);
    places[i] = dense[i]->view();
  }
  run_kernel(op, args, places, device);
  for (size_t i = 0; i < outs.size(); ++i) {
    if (!dense[i].defined()) continue;
    KernelArg operands[2];  // the old value, which isn't read, and the new one
    operands[1].kind = KernelArg::Kind::Tensor;
    operands[1].count = 1;
    operands[1].views = &places[i];
    backend_of(device).launch(kernel_of(copy, device), {{&outs[i], 1}, operands, {}});
  }
}

}  // namespace

DType dtype_of_numbers(const Op& op, std::span<const Arg> args) {
  InlineArray<Arg, kMaxParams> numbers(args.size());
  size_t n = 0;
  for (size_t i = 0; i < args.size(); ++i)
    if ((op.promoted >> i & 1) && is_operand(op.sig().params[i].type)) numbers[n++] = args[i];
  DType dtype = result_type({numbers.data(), n});
  if (op.promotion == Promotion::Floating && !is_inexact(dtype)) dtype = default_dtype();
  return computed_in(dtype);
}

const Kernel& kernel_of(const Op& op, Device device) {
  const Kernel* kernel = device.is_cpu() ? lookup_cpu(op, reference) : backend_of(device).find_kernel(op.name);
  if (!kernel && reference && device.is_cpu()) kernel = lookup_cpu(op, false);
  check_kind(kernel != nullptr, ErrorKind::NotImplementedError, "The operation '{}' has no {} kernel in this build.",
             op.name, backend_of(device).name);
  return *kernel;
}

void use_reference_kernels(bool yes) { reference = yes; }

void run_kernel(const Op& op, std::span<const Arg> args, std::span<const View> outs, Device device, bool fresh) {
  const Backend& backend = backend_of(device);
  const Kernel& kernel = kernel_of(op, device);
  if (!fresh && !std::all_of(outs.begin(), outs.end(), [&](const View& out) { return kernel.takes(out); }))
    return run_through_copies(op, kernel, args, outs, device);
  LongCall call_of_op(op, fresh, args, outs);
  InlineArray<KernelArg, kMaxParams> kernel_args(args.size());
  InlineArray<View, kMaxParams> views(args.size()), operands(args.size());
  InlineArray<BoxedNumber, kMaxParams> numbers(args.size());
  std::vector<std::vector<View>> lists;
  size_t operand_count = 0;
  const DType number_dtype = op.is(kElementwise) ? operand_dtype(op, args) : DType::F32;

  for (size_t i = 0; i < args.size(); ++i) {
    KernelArg& k = kernel_args[i];
    const Arg& a = args[i];
    switch (a.kind()) {
      case Arg::Kind::None:
      case Arg::Kind::Generator: break;
      case Arg::Kind::Tensor:
        k.kind = KernelArg::Kind::Tensor;
        k.count = 1;
        views[i] = call_of_op.view(*a.impl());
        k.views = &views[i];
        break;
      case Arg::Kind::TensorList: {
        auto& list = lists.emplace_back();
        for (const Tensor& t : a.tensors()) list.push_back(t.defined() ? call_of_op.view(*t) : View());
        k.kind = KernelArg::Kind::TensorList;
        k.count = static_cast<uint32_t>(list.size());
        k.views = list.data();
        break;
      }
      case Arg::Kind::Scalar:
        k.kind = KernelArg::Kind::Scalar;
        k.number = a.scalar();
        if (op.is(kElementwise) && is_operand(op.sig().params[i].type))
          views[i] = numbers[i].box(a.scalar(), number_dtype);
        break;
      case Arg::Kind::IntList:
        k.kind = KernelArg::Kind::IntList;
        k.count = static_cast<uint32_t>(a.ints().size());
        k.ints = a.ints().data();
        break;
      case Arg::Kind::DType:
        k.kind = KernelArg::Kind::DType;
        k.dtype = a.dtype();
        break;
      case Arg::Kind::String:
        k.kind = KernelArg::Kind::String;
        k.count = static_cast<uint32_t>(a.text().size());
        k.chars = a.text().data();
        break;
    }
    if (is_operand(op.sig().params[i].type) && !a.is_none()) operands[operand_count++] = views[i];
  }

  try {
    const LongCall::Running running(call_of_op);
    if (!kernel.run) {
      backend.launch_elementwise(kernel, outs[0], {operands.data(), operand_count}, {kernel_args.data(), args.size()});
      if (!device.is_cpu() && op.is(kChecksValues)) backend.synchronize();
      return;
    }
    // Reference loops read numbers as operands too.
    for (size_t i = 0; i < args.size(); ++i)
      if (op.is(kElementwise) && kernel_args[i].kind == KernelArg::Kind::Scalar &&
          is_operand(op.sig().params[i].type)) {
        kernel_args[i].kind = KernelArg::Kind::Tensor;
        kernel_args[i].count = 1;
        kernel_args[i].views = &views[i];
      }
    KernelCall call{outs, {kernel_args.data(), args.size()}, {}};
    if (const size_t bytes = kernel.workspace ? kernel.workspace(call) : 0; bytes > 0) {
      call.workspace = {backend.allocate(bytes), bytes};
      struct Release {
        const Backend& backend;
        Workspace w;
        ~Release() { backend.release(w.bytes, w.size); }
      } release{backend, call.workspace};
      backend.launch(kernel, call);
    } else {
      backend.launch(kernel, call);
    }
    if (!device.is_cpu() && op.is(kChecksValues)) backend.synchronize();
  } catch (const KernelError& e) {
    fail_as(e, kernel_name_of(op));
  }
}

}  // namespace terra::eager
