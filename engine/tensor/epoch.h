// When tensors that exist change what they are, as opposed to which numbers they hold.
#pragma once
#include <cstdint>

#include "engine/tensor/tensor.h"

namespace terra {

/// Grows whenever a tensor that the host language can see changes its dtype, sizes, strides, offset, storage,
/// requires_grad or leafness. While it is unchanged, whatever was found out about those of a tensor is still so. (Views
/// that follow the history of a base are excepted: theirs changes with writes to the base.) Belongs to the thread that
/// holds the interpreter's lock.
inline uint64_t tensor_epoch = 1;

/// To be called by whoever changes one of these on a tensor that was not made just now.
inline void note_changed(TensorImpl& tensor) {
  tensor.serial = new_tensor_serial();
  if (tensor.owner) ++tensor_epoch;
}

}  // namespace terra
