#include "engine/autograd/saved.h"

#include <typeinfo>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::autograd {
namespace {

/// "torch.FloatTensor [3]": how PyTorch's message names a tensor.
std::string legacy_name(const TensorMeta& t) {
  return fmt::format("torch.{}Tensor {}", scalar_type_name(t.dtype), to_string(t.sizes));
}

/// Whether the program has such a tensor packed.
bool is_to_be_packed(const Tensor& t) { return pack_hook() && !t->is_symbolic() && !t->wrapped_number; }

std::unique_ptr<const Packed> pack(const Tensor& t) {
  const uint32_t version = t->version();
  const GradMode off(false);
  std::unique_ptr<const Packed> packed = pack_hook()(t);
  check(t->version() == version,
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
        "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
        "to perform in-place operations on the input to a pack hook.");
  return packed;
}

}  // namespace

PackHook& pack_hook() {
  static thread_local PackHook hook = nullptr;
  return hook;
}

SavedTensor::SavedTensor(const Tensor& t, bool is_result, uint32_t result_index)
    : result_index_(result_index), is_result_(is_result) {
  // A result gets its history only after its node is complete.
  requires_grad_ = is_result ? is_inexact(t.dtype()) : t.requires_grad();
  if (requires_grad_ && !is_result) edge_ = gradient_edge(t);
  version_ = t->version();
  if (is_to_be_packed(t))
    packed_ = pack(is_result ? t.alias() : t);
  else
    alias_ = t.alias();
}

SavedTensor::SavedTensor(Tensor&& own) : version_(own->version()) {
  if (is_to_be_packed(own))
    packed_ = pack(own);
  else
    alias_ = std::move(own);
}

void fail_modified(const TensorMeta& meta, const Edge& origin, uint32_t version, uint32_t expected) {
  const std::string maker = origin.node ? operation_of(*origin.node) : "";
  const bool computed = !maker.empty() && maker != "AccumulateGrad";
  fail(ErrorKind::RuntimeError,
       "one of the variables needed for gradient computation has been modified by an inplace operation: [{}]{} is at "
       "version {}; expected version {} instead. Hint: enable anomaly detection to find the operation that failed to "
       "compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).",
       legacy_name(meta), computed ? fmt::format(", which is output {} of {},", origin.index, maker) : std::string(),
       version, expected);
}

void fail_modified_apart(const TensorMeta& meta) {
  fail(ErrorKind::RuntimeError,
       "one of the variables needed for gradient computation has been modified by an inplace operation: [{}] was "
       "written through .data or .detach(), and this gradient has to be computed from what it was before.",
       legacy_name(meta));
}

bool SavedTensor::was_written() const { return !packed_ && alias_->version() != version_; }

const Tensor* SavedTensor::leaf() const {
  const Node* const node = edge_.node.get();
  if (packed_ || !node || !node->edges.empty() || typeid(*node) != typeid(AccumulateGrad)) return nullptr;
  return &static_cast<const AccumulateGrad*>(node)->variable();
}

bool SavedTensor::was_moved() const {
  const Tensor* const t = leaf();
  return t && alias_.defined() && (*t)->storage != alias_->storage;
}

Tensor SavedTensor::unpack(const Ref<Node>& owner) const {
  if (was_written()) fail_modified({alias_.dtype(), alias_.sizes()}, origin(owner), alias_->version(), version_);
  unpacked_ = true;
  if (const Tensor* const t = leaf()) {
    if (grad_enabled()) return *t;
    if ((*t)->is_symbolic() || (*t)->storage != alias_->storage) return t->alias();
  }
  if (!packed_ && (!grad_enabled() || !requires_grad_)) return alias_;
  Tensor t = packed_ ? packed_->unpack().alias() : alias_.alias();
  if (!grad_enabled() || !requires_grad_) return t;
  if (is_result_)
    set_history(t, owner, result_index_);
  else
    set_history(t, edge_.node, edge_.index);
  return t;
}

}  // namespace terra::autograd
