#include "engine/autograd/saved.h"

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::autograd {
namespace {

/// "torch.FloatTensor [3]": how PyTorch's message names a tensor.
std::string legacy_name(const TensorMeta& t) {
  return fmt::format("torch.{}Tensor {}", scalar_type_name(t.dtype), to_string(t.sizes));
}

}  // namespace

SavedTensor::SavedTensor(const Tensor& t, bool is_result, uint32_t result_index)
    : alias_(t.alias()), result_index_(result_index), is_result_(is_result) {
  // A result gets its history only after its node is complete.
  requires_grad_ = is_result ? is_inexact(t.dtype()) : t.requires_grad();
  if (requires_grad_ && !is_result) edge_ = gradient_edge(t);
  version_ = t->version();
}

void fail_modified(const TensorMeta& meta, const Edge& origin, uint32_t version, uint32_t expected) {
  const std::string maker = origin.node ? origin.node->name() : "";
  const bool computed = !maker.empty() && maker != "AccumulateGrad";
  fail(ErrorKind::RuntimeError,
       "one of the variables needed for gradient computation has been modified by an inplace operation: [{}]{} is at "
       "version {}; expected version {} instead. Hint: enable anomaly detection to find the operation that failed to "
       "compute its gradient, with torch.autograd.set_detect_anomaly(True).",
       legacy_name(meta), computed ? fmt::format(", which is output {} of {},", origin.index, maker) : std::string(),
       version, expected);
}

Tensor SavedTensor::unpack(const Ref<Node>& owner) const {
  if (alias_->version() != version_)
    fail_modified({alias_.dtype(), alias_.sizes()}, origin(owner), alias_->version(), version_);
  unpacked_ = true;
  if (!grad_enabled() || !requires_grad_) return alias_;
  Tensor t = alias_.alias();
  if (is_result_) {
    set_history(t, owner, result_index_);
  } else if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(edge_.node.get())) {
    return leaf->variable();
  } else {
    set_history(t, edge_.node, edge_.index);
  }
  return t;
}

}  // namespace terra::autograd
