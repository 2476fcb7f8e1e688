// Another shape for a tensor that stays the same object: resize_(), and out= of another shape than the result.
#pragma once
#include "engine/tensor/memory_format.h"
#include "engine/tensor/tensor.h"

namespace terra::hooks {

/// Gives a tensor another shape; where its storage is too small it goes on to view a larger one with the same elements,
/// unless the storage is fixed.
void resize(TensorImpl& t, Dims sizes, MemoryFormat format);

}  // namespace terra::hooks
