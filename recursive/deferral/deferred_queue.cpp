#include "recursive/deferral/deferred_queue.h"

#include <algorithm>

#include "engine/eager/deferred_op.h"
#include "engine/eager/kernel_call.h"
#include "engine/errors/errors.h"
#include "engine/ops/emitter.h"
#include "engine/tensor/sparse.h"

namespace terra::recursive {
namespace {

/// So much is put off at most: what waits holds its operands, and its results take memory once they are made.
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kMostCalls = 1 << 16;

Dims strides_of(const ResultMeta& meta) { return meta.strides.empty() ? contiguous_strides(meta.sizes) : meta.strides; }

template <class F>
void each_operand(std::span<const Arg> args, F&& f) {
  for (const Arg& a : args) {
    if (a.is_tensor()) f(*a.impl());
    if (a.kind() == Arg::Kind::TensorList)
      for (const Tensor& t : a.tensors())
        if (t.defined()) f(*t);
  }
}

}  // namespace

// ---- ops ----------------------------------------------------------------------------------------------------------

void DeferredOps::settle() {
  if (failed_) std::rethrow_exception(failed_);
  DeferredQueue::get().settle();
}

void DeferredOps::add(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                      std::vector<Tensor>& results) {
  PutOff& made = ops_.emplace_back(PutOff{&op, OwnedArgs(args), {}, {metas.begin(), metas.end()}});
  for (const ResultMeta& m : metas) {
    const auto bytes = static_cast<size_t>(checked_numel(m.sizes)) * size_of(m.dtype);
    made.results.push_back(Storage::deferred(bytes, *this, 0));
    results.push_back(Tensor::view_of(made.results.back(), m.dtype, m.sizes, strides_of(m), 0));
  }
}

void DeferredOps::run() {
  for (PutOff& p : ops_) {
    const bool wanted =
        std::any_of(p.results.begin(), p.results.end(), [](const Ref<Storage>& s) { return s->use_count() > 1; });
    if (wanted) {
      std::vector<View> outs;
      std::vector<Dims> strides;
      std::vector<Ref<Storage>> bytes;
      strides.reserve(p.metas.size());
      for (size_t i = 0; i < p.metas.size(); ++i) {
        const Dims& sizes = p.metas[i].sizes;
        bytes.push_back(Storage::allocate(p.results[i]->bytes()));
        strides.push_back(strides_of(p.metas[i]));
        outs.push_back({bytes.back()->data(), sizes.data(), strides.back().data(), static_cast<int32_t>(sizes.size()),
                        p.metas[i].dtype});
      }
      eager::run_kernel(*p.op, p.args.args(), outs, Device());
      for (size_t i = 0; i < bytes.size(); ++i) p.results[i]->deliver(bytes[i]);
    }
    p = PutOff{p.op, {}, {}, {}};
  }
  ops_.clear();
}

// ---- the queue ----------------------------------------------------------------------------------------------------

DeferredQueue& DeferredQueue::get() {
  static DeferredQueue queue;
  return queue;
}

void DeferredQueue::settle() {
  const EmitterScope now(default_emitter());  // whoever asks may be building a graph
  std::vector<Stage> stages = std::exchange(stages_, {});
  bytes_ = count_ = 0;
  if (deferred_work() == this) set_deferred_work(nullptr);
  for (const Stage& s : stages)
    if (s.calls) s.calls->let_go();
  std::exception_ptr failed;
  for (const Stage& s : stages) {
    try {
      if (!failed && s.ops) s.ops->run();
      if (!failed && s.calls) s.calls->run_now();
    } catch (...) {
      failed = std::current_exception();
    }
    if (failed && s.ops) s.ops->fail(failed);
    if (failed && s.calls) s.calls->fail(failed);
  }
  if (failed) {
    // Storages that were to be made refer to them.
    failed_.insert(failed_.end(), stages.begin(), stages.end());
    std::rethrow_exception(failed);
  }
}

DeferredQueue::Stage& DeferredQueue::stage(uint32_t number) {
  if (stages_.size() <= number) stages_.resize(number + 1);
  set_deferred_work(this);
  eager::defer_op = [](const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                       std::vector<Tensor>& results) { return get().defer_op(op, args, metas, results); };
  return stages_[number];
}

bool DeferredQueue::is_to_be_made(const TensorImpl& tensor) {
  if (!tensor.storage) return false;
  return tensor.storage->deferral() && !(tensor.storage->ticket() & DeferredCalls::kRead);
}

/// The first stage at which work on the tensor can be done: `call` by the calls of the stage, else by its ops.
uint32_t DeferredQueue::stage_of(const TensorImpl& tensor, bool call) const {
  if (!is_to_be_made(tensor)) return 0;
  const Deferral* const by = tensor.storage->deferral();
  for (uint32_t s = 0; s < stages_.size(); ++s) {
    if (stages_[s].ops.get() == by) return s;
    if (static_cast<const Deferral*>(stages_[s].calls.get()) == by)
      return call && stages_[s].calls->has_made(tensor) ? s : s + 1;
  }
  return kNow;
}

DeferredCalls* DeferredQueue::calls_for(LentTensors tensors) {
  uint32_t first = 0;
  for (const TensorImpl* t : tensors) {
    const uint32_t s = stage_of(*t, true);
    if (s == kNow) return nullptr;
    first = std::max(first, s);
  }
  Stage& at = stage(first);
  if (!at.calls) at.calls = DeferredCalls::make();
  return at.calls.get();
}

bool DeferredQueue::defer_op(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                             std::vector<Tensor>& results) {
  bool waits = false, can_wait = !op.is(kHost | kView | kRandom | kChecksValues) && !op.writes;
  uint32_t first = 0;
  each_operand(args, [&](const TensorImpl& t) {
    if (!t.storage || !t.device.is_cpu() || t.storage->exported()) return void(can_wait = false);
    waits = waits || is_to_be_made(t);
    const uint32_t s = stage_of(t, false);
    can_wait = can_wait && s != kNow;
    first = std::max(first, s);
  });
  if (!waits || !can_wait) return false;
  Stage& at = stage(first);
  if (!at.ops) at.ops = std::make_shared<DeferredOps>();
  if (!at.calls) at.calls = DeferredCalls::make();
  each_operand(args, [&](const TensorImpl& t) { at.calls->guard(*t.storage); });
  at.ops->add(op, args, metas, results);
  size_t bytes = 0;
  for (const ResultMeta& m : metas) bytes += static_cast<size_t>(checked_numel(m.sizes)) * size_of(m.dtype);
  bound(bytes);
  return true;
}

void DeferredQueue::bound(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > kMostBytes || ++count_ > kMostCalls) settle();
}

}  // namespace terra::recursive
