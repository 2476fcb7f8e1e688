#include "graph/file/portable.h"

namespace terra::graph {

Tensor arranged(const Tensor& tensor, const Dims& strides) {
  if (tensor.strides() == strides) return tensor;
  static const Op* const copy = find_op("copy");
  const auto bytes = static_cast<size_t>(storage_reach(tensor.sizes(), strides, 0)) * size_of(tensor.dtype());
  const Tensor t = Tensor::view_of(Storage::allocate(bytes), tensor.dtype(), tensor.sizes(), strides, 0);
  copy->in_place(t, tensor);
  return t;
}

}  // namespace terra::graph
