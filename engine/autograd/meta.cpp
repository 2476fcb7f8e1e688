#include <algorithm>

#include "engine/autograd/ambiguous_writes.h"
#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/epoch.h"

namespace terra::autograd {
namespace {

/// Keeps Meta::accumulate true: the leaf remembers its AccumulateGrad without owning it (the node owns the leaf).
Ref<Node> accumulate_node(const Tensor& t) {
  Meta& meta = meta_of(t);
  if (!meta.accumulate) meta.accumulate = new AccumulateGrad(t);
  return Ref<Node>(meta.accumulate);
}

/// What keeps its gradient takes that of the history which it has from now on.
void change_history(Meta& meta, Edge edge) {
  if (meta.retained && meta.history.node)
    std::erase_if(meta.history.node->retained, [&](const auto& r) { return r.second == meta.retained; });
  meta.history = std::move(edge);
  if (meta.retained && meta.history.node) meta.history.node->retained.emplace_back(meta.history.index, meta.retained);
}

/// A base without gradients is asked again: it may be about to learn of the write.
bool is_outdated(const Tensor& t, const Meta& meta) {
  return meta.view && meta.history_version != t->version() && meta.base.requires_grad();
}

/// The history of a view whose base was written through another alias: the same derivation from the base's present.
void refresh_view(const Tensor& t, Meta& meta) {
  if (!is_outdated(t, meta)) return;
  const ViewOrigin origin = meta.view->origin;
  if (is_ambiguous(origin) && !t->wants_grad)
    fail(ErrorKind::RuntimeError,
         "A view was created in {} and its base or another view of its base has been modified inplace {}. {}",
         names_of(origin).made_in, names_of(origin).written_in, advice_on(origin));
  meta.history_version = t->version();
  GradMode on(true);
  const Tensor again = derive_view(*meta.view, meta.base);
  set_wants_grad(*t, true);
  Edge derived = find_meta(again)->history;
  if (meta.is_view) derived.node->rename("AsStridedBackward0");  // PyTorch finds the place in memory anew
  change_history(meta, std::move(derived));
}

/// The steps `last` ends, taken after `first`.
std::shared_ptr<const ViewStep> behind(const std::shared_ptr<const ViewStep>& first, const ViewStep& last) {
  const ViewOrigin origin = first->origin != ViewOrigin::Plain ? first->origin : last.origin;
  return std::make_shared<ViewStep>(ViewStep{last.op, OwnedArgs(last.args.args(), 0),
                                             last.previous ? behind(first, *last.previous) : first, origin,
                                             last.number});
}

uint64_t next_hook_id() {
  static uint64_t counter = 0;
  return ++counter;
}

/// A hook on result `edge.index` of `edge.node`.
uint64_t add_result_hook(const Edge& edge, TensorHook hook) {
  const uint64_t id = next_hook_id();
  edge.node->expose(edge.index);
  edge.node->tensor_hooks.emplace_back(id, [index = edge.index, hook = std::move(hook)](std::vector<Tensor>& grads) {
    if (!grads[index].defined()) return;
    if (Tensor replaced = hook(grads[index]); replaced.defined()) grads[index] = std::move(replaced);
  });
  return id;
}

}  // namespace

std::string advice_on(ViewOrigin origin) {
  return fmt::format(
      "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
      "both the view and the inplace either both inside the {} block (if you don't want the inplace to be tracked) or "
      "both outside (if you want the inplace to be tracked).",
      names_of(origin).block);
}

bool Meta::learn_from_base(const TensorImpl& view) {
  if (this->view && !is_ambiguous(this->view->origin))  // of those, only reads of the history fail
    refresh_view(Tensor(Ref<TensorImpl>(const_cast<TensorImpl*>(&view))), *this);
  return view.wants_grad || base.requires_grad();
}

Tensor derive_view(const ViewStep& last, const Tensor& base) {
  const Tensor from = last.previous ? derive_view(*last.previous, base) : base;
  std::vector<Arg> args(last.args.args().begin(), last.args.args().end());
  args[0] = Arg(from);
  std::vector<Tensor> results;
  call(*last.op, args, results);
  return results.front();
}

Meta* find_meta(const Tensor& t) { return static_cast<Meta*>(t->autograd.get()); }

Meta& meta_of(const Tensor& t) {
  if (!t->autograd) t->autograd = std::make_unique<Meta>();
  return static_cast<Meta&>(*t->autograd);
}

bool is_leaf(const Tensor& t) { return !history(t).node; }

void set_requires_grad(const Tensor& t, bool value) {
  check(is_leaf(t) || value,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  check(!value || is_inexact(t.dtype()), "only Tensors of floating point and complex dtype can require gradients");
  check(!value || t->is_symbolic() || !t->is_inference() || inference_mode(),
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  set_wants_grad(*t, value);
}

void make_require_grad(const Tensor& t) {
  check(is_inexact(t.dtype()), "Only Tensors of floating point and complex dtype can require gradients");
  set_requires_grad(t, true);
}

Tensor grad(const Tensor& t) {
  const Meta* meta = find_meta(t);
  if (!meta) return {};
  return meta->retained ? *meta->retained : meta->grad;
}

void set_grad(const Tensor& t, const Tensor& g) {
  if (g.defined()) {
    check(
        g.dtype() == t.dtype(),
        "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must match the "
        "dtype of the tensor; convert it first.",
        name_of(g.dtype()), name_of(t.dtype()));
    check(g.device() == t.device(),
          "attempting to assign a gradient with device type '{}' to a tensor with device type '{}'. Please ensure that "
          "the gradient and the tensor are on the same device",
          to_string(g.device()), to_string(t.device()));
    check(g.sizes() == t.sizes(),
          "attempting to assign a gradient of size '{}' to a tensor of size '{}'. Please ensure that the gradient and "
          "the tensor are the same size",
          listed(g.sizes()), listed(t.sizes()));
  } else if (!t->autograd) {
    return;
  }
  Meta& meta = meta_of(t);
  (meta.retained ? *meta.retained : meta.grad) = g;
}

void retain_grad(const Tensor& t) {
  check(t.requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  Meta& meta = meta_of(t);
  const Edge edge = own_history(t);
  if (!edge.node || meta.retained) return;
  meta.retained = std::make_shared<Tensor>(std::exchange(meta.grad, Tensor()));
  edge.node->expose(edge.index);
  edge.node->retained.emplace_back(edge.index, meta.retained);
}

Edge history(const Tensor& t) {
  Meta* meta = find_meta(t);
  if (!meta) return {};
  refresh_view(t, *meta);
  return meta->history;
}

bool has_outdated_history(const Tensor& t) {
  const Meta* meta = find_meta(t);
  return meta && is_outdated(t, *meta);
}

Edge gradient_edge(const Tensor& t) {
  Edge edge = history(t);
  if (edge.node || !t->wants_grad) return edge;  // of its base alone
  return {accumulate_node(t), 0};
}

Edge own_history(const Tensor& t) {
  const Edge edge = history(t);
  if (!edge.node) return edge;
  const Edge own = edge.node->unfolded(edge.index);
  if (!own.node) return edge;
  change_history(meta_of(t), own);
  return own;
}

Edge own_gradient_edge(const Tensor& t) {
  const Edge edge = own_history(t);
  return edge.node ? edge : gradient_edge(t);
}

void set_history(const Tensor& t, const Ref<Node>& node, uint32_t index) {
  Meta& meta = meta_of(t);
  if (meta.history.node) meta.history.node->superseded({node, index});
  change_history(meta, {node, index});
  meta.history_version = t->version();
  set_wants_grad(*t, true);
}

void set_view(const Tensor& t, const Tensor& base, const std::shared_ptr<const ViewStep>& steps, uint32_t version) {
  const Meta* from = find_meta(base);
  const bool nested = from && from->base.defined();
  Meta& meta = meta_of(t);
  meta.base = nested ? from->base : base;
  meta.view = nested ? behind(from->view, *steps) : steps;
  meta.history_version = version;
  meta.is_view = true;
}

void detach_in_place(const Tensor& t) {
  Meta* meta = find_meta(t);
  check(!meta || !meta->view, "Can't detach views in-place. Use detach() instead.");
  set_wants_grad(*t, false);
  if (!meta) return;
  change_history(*meta, {});
  if (const auto kept = std::exchange(meta->retained, nullptr)) meta->grad = *kept;
}

uint64_t add_hook(const Tensor& t, TensorHook hook) {
  check(t.requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  if (const Edge edge = own_history(t); edge.node) return add_result_hook(edge, std::move(hook));
  const uint64_t id = next_hook_id();
  meta_of(t).hooks.emplace_back(id, std::move(hook));
  return id;
}

bool has_hook(const Tensor& t, uint64_t id) {
  const auto is_it = [id](const auto& h) { return h.first == id; };
  const Edge edge = history(t);
  const Meta* meta = find_meta(t);
  if (edge.node) return std::any_of(edge.node->tensor_hooks.begin(), edge.node->tensor_hooks.end(), is_it);
  return meta && std::any_of(meta->hooks.begin(), meta->hooks.end(), is_it);
}

void remove_hook(const Tensor& t, uint64_t id) {
  const auto is_it = [id](const auto& h) { return h.first == id; };
  Meta* meta = find_meta(t);
  if (!meta) return;
  std::erase_if(meta->hooks, is_it);
  if (meta->history.node) std::erase_if(meta->history.node->tensor_hooks, is_it);
}

}  // namespace terra::autograd
