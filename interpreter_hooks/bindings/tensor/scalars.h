// Python numbers and scalars of the engine.
#pragma once
#include "engine/tensor/tensor.h"
#include "interpreter_hooks/bindings/entry.h"
#include "kernels/abi/scalar.h"

namespace terra::hooks {

/// The number that `object` is: a bool, int, float or complex (and subclasses), a numpy scalar, an object with
/// __index__, or a 0-d tensor that needs no gradient (its observer is told). False, and no error set, for anything
/// else. Throws for an int beyond both int64 and uint64.
bool to_scalar(Borrowed object, Scalar& out);
/// The same, integers only: floats and bools are no integers (a bool dimension is a mistake).
bool to_int(Borrowed object, int64_t& out);

/// bool, int, float or complex: new reference.
PyObject* from_scalar(const Scalar& value);
/// Where work that was put off is to make or to write the tensor's bytes: waits for it, while other threads go on.
void wait_for_bytes(const TensorImpl& tensor);
/// The element of a one-element tensor; throws Error for any other, in PyTorch's words.
Scalar item_of(const TensorImpl& tensor);
/// Writes a number as an element; throws Error for a number with a fraction or parts that an integer is too narrow for.
void store_scalar(void* data, DType dtype, const Scalar& value);

}  // namespace terra::hooks
