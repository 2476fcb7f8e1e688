#include "engine/eager/long_call.h"

#include <algorithm>
#include <utility>

namespace terra::eager {
namespace {

thread_local bool letting_go = false;

/// Fewer elements don't take long in any op.
constexpr int64_t kFewElements = 8192;

/// Used under the host's lock.
double& pace_of(const Op& op) {
  static std::vector<double> paces;
  const auto id = static_cast<size_t>(op.id);
  if (paces.size() <= id) paces.resize(all_ops().size(), 0);
  return paces[id];
}

bool relies_on_checks(const Op& op, std::span<const Arg> args) {
  bool integers = false;
  each_tensor(args, [&](const TensorImpl& t) { integers = integers || !is_inexact(t.dtype); });
  return op.is(kChecksValues) || (integers && !op.is(kElementwise));
}

}  // namespace

LettingGo::LettingGo() : outer_(std::exchange(letting_go, true)) {}
LettingGo::~LettingGo() { letting_go = outer_; }

LongCall::LongCall(const Op& op, bool fresh, std::span<const Arg> args, std::span<const View> outs) {
  if (!letting_go || !fresh) return;
  size_t tensors = 0;
  for (const View& out : outs) elements_ += out.numel();
  each_tensor(args, [&](const TensorImpl& t) {
    elements_ += t.numel;
    ++tensors;
  });
  if (elements_ < kFewElements) return;
  pace_ = &pace_of(op);
  const double expected = *pace_ * static_cast<double>(elements_);
  released_ =
      expected >= kLongWork && !relies_on_checks(op, args) && WithoutHostLock::is_due(static_cast<int64_t>(expected));
  if (released_) held_.reserve(tensors);
}

View LongCall::held_view(const TensorImpl& tensor) {
  const Held& held = held_.emplace_back(Held{tensor.storage, tensor.sizes, tensor.strides});
  View view = tensor.view();
  view.sizes = held.sizes.data();
  view.strides = held.strides.data();
  return view;
}

LongCall::Running::Running(LongCall& call) : call_(call) {
  if (!call_.pace_) return;
  if (call_.released_) others_.emplace();
  start_ = std::chrono::steady_clock::now();
}

LongCall::Running::~Running() {
  if (!call_.pace_) return;
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start_;
  others_.reset();
  kernel_time_us += took.count() * 1e-3;
  *call_.pace_ = took.count() / static_cast<double>(call_.elements_);
}

}  // namespace terra::eager
