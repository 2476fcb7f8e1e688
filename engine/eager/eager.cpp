#include "engine/eager/eager.h"

#include <algorithm>
#include <iterator>

#include "engine/autograd/autograd.h"
#include "engine/eager/deferred_op.h"
#include "engine/eager/kernel_call.h"
#include "engine/eager/value_dependent.h"
#include "engine/errors/errors.h"
#include "engine/memory/inline_array.h"
#include "engine/ops/devices.h"
#include "engine/ops/emitter.h"
#include "engine/ops/inference.h"
#include "engine/ops/reduce.h"
#include "engine/ops/registry.h"
#include "engine/ops/replaced_args.h"
#include "engine/tensor/epoch.h"
#include "engine/tensor/kept_bytes.h"
#include "engine/tensor/sparse.h"
#include "engine/tensor/transfer.h"

namespace terra::eager {

uint64_t& value_dependent_calls() {
  static thread_local uint64_t calls = 0;
  return calls;
}

namespace {

bool same_view(const TensorImpl& a, const TensorImpl& b) {
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype && a.sizes == b.sizes &&
         a.strides == b.strides;
}

[[noreturn]] void refuse(const Op& op, const TensorImpl& operand) {
  if (operand.is_symbolic())
    throw InternalError("the op '" + std::string(op.name) + "' got a symbolic tensor outside its graph");
  fail(ErrorKind::NotImplementedError,
       "Could not run 'aten::{}' with arguments from the 'SparseCPU' backend: it takes tensors that to_dense() makes.",
       op.name);
}

/// Folds, whose kernels widen elements and round results themselves.
bool is_fold(const Op& op) {
  static const Op* const kFolds[] = {&ops::sum,  &ops::prod,           &ops::amax,
                                     &ops::amin, &ops::sum_of_squares, &ops::sum_of_numbers};
  return std::find(std::begin(kFolds), std::end(kFolds), &op) != std::end(kFolds);
}

/// The operands are no symbols and not sparse. True: all of them are on the CPU.
bool require_real(const Op& op, std::span<const Arg> args) {
  bool here = true;
  const auto look = [&op, &here](const TensorImpl& t) {
    if (t.is_symbolic() || is_sparse(t)) [[unlikely]]
      refuse(op, t);
    here &= t.device.is_cpu();
  };
  each_tensor(args, look);
  return here;
}

Tensor contiguous_copy(const TensorImpl& t) {
  static const Op* clone = find_op("clone");
  Tensor copy = Tensor::empty(t.sizes, t.dtype, t.device);
  const Arg source[] = {Arg(const_cast<TensorImpl*>(&t))};
  const View out[] = {copy->view()};
  run_kernel(*clone, source, out, t.device);
  return copy;
}

/// A call's arguments with all tensors on one device.
ReplacedArgs moved_args(std::span<const Arg> args, Device device) {
  return ReplacedArgs(args, [device](const Tensor& t) { return moved_to(t, device); });
}

/// The host computes these wherever the operands are: they come to it, and the results go there.
void run_host_rule(const Op& op, std::span<const Arg> args, Device device, std::vector<Tensor>& results) {
  const DeviceScope here{Device()};
  if (device.is_cpu()) return op.host(args, results);
  const ReplacedArgs moved = moved_args(args, Device());
  const size_t first = results.size();
  op.host(moved.args(), results);
  for (size_t i = first; i < results.size(); ++i) results[i] = moved_to(results[i], device);
}

/// On the meta device a call gives what its shape rule says.
void make_without_elements(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                           std::vector<Tensor>& results) {
  std::vector<ResultMeta> of_host;
  if (op.is(kHost)) {
    check_kind(
        op.shape != nullptr, ErrorKind::NotImplementedError,
        "aten::{}: attempted to run this operator with Meta tensors, but the sizes of its result depend on their "
        "elements, and they have none.",
        op.name);
    Inference inference(op, args, DType::F32, of_host);
    op.shape(inference);
    metas = of_host;
  }
  for (const ResultMeta& m : metas) {
    results.push_back(Tensor::empty(m.sizes, m.dtype, kMetaDevice));
    if (!m.strides.empty()) lay_out(*results.back(), m.strides, 0);
  }
}

class EagerEmitter final : public Emitter {
 public:
  void emit(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
            std::vector<Tensor>& results) override {
    require_real(op, args);
    if (deferred_work() && defer_op && defer_op(op, args, metas, results)) [[unlikely]]
      return;
    if (op.is(kHost)) {
      const Device device = device_of(op, args);
      if (device.is_meta()) return make_without_elements(op, args, metas, results);
      if (!op.shape && !op.is(kRandom)) ++value_dependent_calls();
      return run_host_rule(op, args, device, results);
    }
    if (op.is(kView)) {
      const TensorImpl& base = *args[0].impl();
      for (const ResultMeta& m : metas)
        results.push_back(Tensor::view_of(base.storage, m.dtype, m.sizes, m.strides, m.offset));
      return;
    }
    const Device device = metas.empty() ? Device() : metas[0].device;
    if (device.is_cpu()) [[likely]]
      return compute(op, args, metas, device, results);
    if (device.is_meta()) return make_without_elements(op, args, metas, results);
    const ReplacedArgs moved = moved_args(args, device);
    compute(op, moved.args(), metas, device, results);
  }

  void emit_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                  std::span<const Tensor> targets) override {
    const bool here = require_real(op, args);
    const Device device = targets.empty() ? Device() : targets[0].device();
    if (device.is_cpu() && here) [[likely]]
      return write(op, args, metas, targets, device);
    if (device.is_meta()) return count_writes(targets);
    const ReplacedArgs moved = moved_args(args, device);
    write(op, moved.args(), metas, targets, device);
  }

  /// Work that is put off goes into graphs, which fuse the conversions themselves.
  bool widens(const Op& op) const override {
    if (deferred_work()) return false;
    return op.is(kElementwise) ? kernel_of(op, Device()).run == nullptr : is_fold(op);
  }

 private:
  static constexpr size_t kMaxResults = 8;

  static void compute(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas, Device device,
                      std::vector<Tensor>& results) {
    View outs[kMaxResults];
    ensure(metas.size() <= kMaxResults, "an op has at most eight results");
    bool by_rows = true;
    for (size_t i = 0; i < metas.size(); ++i) {
      const ResultMeta& m = metas[i];
      by_rows = by_rows && m.strides.empty();
      results.push_back(Tensor::empty(m.sizes, m.dtype, device));
      if (!m.strides.empty()) lay_out(*results.back(), m.strides, 0);
      outs[i] = results.back()->view();
    }
    run_kernel(op, args, {outs, metas.size()}, device, by_rows);
  }

  static void write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                    std::span<const Tensor> targets, Device device) {
    for (const Tensor& t : targets) before_write(*t->storage);
    const bool in_place = op.writes != 0 || op.is(kElementwise) || op.reuses & params({0});
    if (in_place)
      write_in_place(op, args, targets, device);
    else
      write_beside(op, args, metas, targets, device);
    count_writes(targets);
  }

  static void count_writes(std::span<const Tensor> targets) {
    for (const Tensor& t : targets) t->storage->bump_version();
  }

  /// The kernel writes the targets' memory; other operands that overlap it are copied first.
  static void write_in_place(const Op& op, std::span<const Arg> args, std::span<const Tensor> targets, Device device) {
    std::vector<View> outs;
    outs.reserve(targets.size());
    for (const Tensor& t : targets) outs.push_back(t->view());
    std::vector<Tensor> copies;
    InlineArray<Arg, kMaxParams> safe(args.size());
    std::copy(args.begin(), args.end(), safe.data());
    for (size_t i = 0; i < args.size() && !op.writes; ++i) {
      if (!safe[i].is_tensor()) continue;
      const TensorImpl& operand = *safe[i].impl();
      const TensorImpl& target = *targets[0];
      const bool harmless = (op.is(kElementwise) || i == 0) && same_view(operand, target);
      if (operand.storage == target.storage && !harmless) safe[i] = Arg(copies.emplace_back(contiguous_copy(operand)));
    }
    run_kernel(op, {safe.data(), args.size()}, outs, device);
  }

  /// The kernel needs memory of its own: its results are copied over the targets.
  static void write_beside(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                           std::span<const Tensor> targets, Device device) {
    std::vector<Tensor> made;
    std::vector<View> outs;
    for (const ResultMeta& m : metas) {
      made.push_back(Tensor::empty(m.sizes, m.dtype, device));
      outs.push_back(made.back()->view());
    }
    run_kernel(op, args, outs, device);
    static const Op* copy = find_op("copy");
    for (size_t i = 0; i < targets.size(); ++i) {
      const Arg source[] = {targets[i], made[i]};
      const View out[] = {targets[i]->view()};
      run_kernel(*copy, source, out, device);
    }
  }
};

}  // namespace

void start() {
  static const bool once = [] {
    register_all_ops();
    static EagerEmitter emitter;
    set_default_emitter(&emitter);
    autograd::start();
    return true;
  }();
  (void)once;
}

}  // namespace terra::eager
