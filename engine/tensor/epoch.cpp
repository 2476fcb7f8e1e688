#include "engine/tensor/epoch.h"

#include "engine/tensor/sparse.h"

namespace terra {

void become(TensorImpl& tensor, Ref<Storage> storage, const TensorImpl& like) {
  check_has_memory(tensor);
  check_has_memory(like);
  note_changed(tensor);
  if (storage) tensor.device = storage->device();
  tensor.storage = std::move(storage);
  tensor.dtype = like.dtype;
  tensor.offset = like.offset;
  tensor.numel = like.numel;
  tensor.sizes = like.sizes;
  tensor.strides = like.strides;
}

void lay_out(TensorImpl& tensor, const Dims& strides, int64_t offset) {
  note_changed(tensor);
  tensor.strides = strides;
  tensor.offset = offset;
}

}  // namespace terra
