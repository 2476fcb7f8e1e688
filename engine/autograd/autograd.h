// The tape as others use it: .grad, history, backward.
#pragma once
#include <span>
#include <vector>

#include "engine/autograd/meta.h"
#include "engine/autograd/node.h"

namespace terra::autograd {

/// Installs the tape behind the op front end. Called once by eager::start.
void start();

bool is_leaf(const Tensor& t);
/// Throws for non-leaves and for dtypes that aren't floating.
void set_requires_grad(const Tensor& t, bool value);
/// The same of a tensor that is being made to require gradients.
void make_require_grad(const Tensor& t);
Tensor grad(const Tensor& t);
/// Undefined clears it. Throws if dtype or shape differ from the tensor's.
void set_grad(const Tensor& t, const Tensor& g);
void retain_grad(const Tensor& t);

/// The call that made the tensor (null for leaves). For a view of a tensor that was written since, the history is
/// derived anew from the base's.
Edge history(const Tensor& t);
/// Where the gradient of a tensor goes: its history, or the AccumulateGrad of a leaf that requires grad.
Edge gradient_edge(const Tensor& t);
/// The same of what programs look at, ask gradients for or put hooks on: of this tensor alone (Node::unfolded).
Edge own_history(const Tensor& t);
Edge own_gradient_edge(const Tensor& t);
/// Makes `t` the result `index` of `node`; it requires grad from then on.
void set_history(const Tensor& t, const Ref<Node>& node, uint32_t index);
/// Makes `t` a view that `steps` derive from `base`, which may be a view itself, as of that version of the storage.
void set_view(const Tensor& t, const Tensor& base, const std::shared_ptr<const ViewStep>& steps, uint32_t version);
/// Forgets the history (detach_): `t` becomes a leaf that doesn't require grad.
void detach_in_place(const Tensor& t);

/// Called with the gradient of `t` when it has been computed; a defined result replaces it. Returns an id to remove it.
uint64_t add_hook(const Tensor& t, TensorHook hook);
void remove_hook(const Tensor& t, uint64_t id);
/// Whether the hook is one of the history that `t` has: after a write in place those before it stay where they are.
bool has_hook(const Tensor& t, uint64_t id);

/// Accumulates gradients of `roots` into .grad of the leaves (of `inputs` only, if any are given). `gradients`: one per
/// root, undefined for "ones" (scalar roots only).
void backward(std::span<const Tensor> roots, std::span<const Tensor> gradients, bool retain_graph, bool create_graph,
              std::span<const Tensor> inputs = {});
/// Gradients of `roots` with respect to `inputs`; undefined where an input was not used, if allowed.
std::vector<Tensor> gradients(std::span<const Tensor> roots, std::span<const Tensor> root_gradients,
                              std::span<const Tensor> inputs, bool retain_graph, bool create_graph, bool allow_unused);

/// The same with respect to what has these edges, of which none is looked into (own_gradient_edge).
std::vector<Tensor> gradients_at(std::span<const Tensor> roots, std::span<const Tensor> root_gradients,
                                 std::span<const Edge> ends, bool retain_graph, bool create_graph);

}  // namespace terra::autograd
