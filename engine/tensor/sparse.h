// Sparse tensors as the engine sees them: sizes and a dtype. The host keeps their indices and values in tensors of its
// own, and lends the engine what sums of gradients need of them.
#pragma once
#include "engine/tensor/tensor.h"

namespace terra {

/// The one of TensorImpl::binding_bits that a sparse tensor has; a wrapper, which stands for others, has the second.
inline constexpr uint8_t kSparseBit = 1, kWrapperBit = 2;

/// A tensor of those sizes that ops refuse: it has no elements to show.
Tensor make_sparse(TensorMeta meta);
inline bool is_sparse(const TensorImpl& t) { return (t.binding_bits & kSparseBit) != 0; }
/// Another tensor of the same sizes and strides, whose elements nobody asks for.
Tensor make_wrapper(const Tensor& like);
/// Either of them: what the tensor holds is the host's affair.
inline bool is_foreign(const TensorImpl& t) { return (t.binding_bits & (kSparseBit | kWrapperBit)) != 0; }

/// Throws for such a tensor, and for one of a graph that is being built: there is no memory to share, read or write.
void check_has_memory(const TensorImpl& t);

/// What the host does with tensors of which some are foreign.
struct SparseHooks {
  /// a + b, sparse if both are. `in_place`: the sum may become the value of `a`, which nobody else needs.
  Tensor (*sum)(const Tensor& a, const Tensor& b, bool in_place) = nullptr;
  Tensor (*to_dense)(const Tensor& t) = nullptr;
  /// A first gradient as .grad keeps it; `ours`: nobody else has it.
  Tensor (*kept)(const Tensor& gradient, bool ours) = nullptr;
  /// Of size rows x n: `values` (... x n) at the rows that `places` (...) name, but for row `padding` (-1: none).
  Tensor (*rows)(const Tensor& values, const Tensor& places, int64_t rows, int64_t padding) = nullptr;
};
SparseHooks& sparse_hooks();

/// Whether the host is asked for sums of any tensors on this thread: it shows them to somebody.
inline thread_local constinit bool sums_are_seen = false;
inline bool host_adds(const TensorImpl& a, const TensorImpl& b) {
  return is_foreign(a) || is_foreign(b) || sums_are_seen;
}

}  // namespace terra
