#include "engine/tensor/sparse.h"

#include <cstring>

#include "engine/errors/errors.h"

namespace terra {

/// Whoever looks at its memory all the same finds one zero in every place.
Tensor make_sparse(TensorMeta meta) {
  Ref<Storage> zero = Storage::allocate(size_of(meta.dtype));
  std::memset(zero->data(), 0, zero->bytes());
  const Dims strides(meta.sizes.size(), 0);
  Tensor t = Tensor::view_of(std::move(zero), meta.dtype, std::move(meta.sizes), strides, 0);
  t->binding_bits |= kSparseBit;
  return t;
}

Tensor make_wrapper(const Tensor& like) {
  Tensor t = like.alias();
  t->binding_bits |= kWrapperBit;
  return t;
}

void check_has_memory(const TensorImpl& t) {
  check(!t.is_symbolic(), "the value of a tensor that belongs to a graph under construction is not known yet");
  check_kind(!is_foreign(t), ErrorKind::NotImplementedError,
             "Cannot access storage of SparseTensorImpl: use Tensor.to_dense() first");
}

SparseHooks& sparse_hooks() {
  static SparseHooks hooks;
  return hooks;
}

}  // namespace terra
