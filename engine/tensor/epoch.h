// When tensors that exist change what they are, as opposed to which numbers they hold. All such changes are made here.
#pragma once
#include <cstdint>

#include "engine/tensor/tensor.h"

namespace terra {

/// Grows whenever a tensor that the host language can see changes its dtype, sizes, strides, offset, storage,
/// requires_grad or leafness. While it is unchanged, whatever was found out about those of a tensor is still so. (Views
/// that follow the history of a base are excepted: theirs changes with writes to the base.) Belongs to the thread that
/// holds the interpreter's lock.
inline uint64_t tensor_epoch = 1;

/// To be called by whoever changes the history of a tensor that was not made just now. The functions below call it.
/// Work on a tensor as it was that has been put off is done first; what the host has not seen yet, no work is about.
inline void note_changed(TensorImpl& tensor) {
  if (tensor.owner) {
    if (tensor.storage) tensor.storage->settle();
    ++tensor_epoch;
  }
  tensor.serial = new_tensor_serial();
}

/// The tensor becomes a view of `storage` of the dtype, sizes, strides and offset that `like` has.
void become(TensorImpl& tensor, Ref<Storage> storage, const TensorImpl& like);
/// The elements of the tensor lie elsewhere in its storage.
void lay_out(TensorImpl& tensor, const Dims& strides, int64_t offset);
/// Whether gradients flow into the tensor.
inline void set_wants_grad(TensorImpl& tensor, bool wants) {
  note_changed(tensor);
  tensor.wants_grad = wants;
}

}  // namespace terra
