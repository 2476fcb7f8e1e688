#include "kernels/abi/kernel_error.h"

#include "kernels/abi/view.h"

namespace terra {

void throw_not_implemented(DType dtype) {
  throw KernelError(KernelError::Kind::NotImplemented,
                    "not implemented for '" + std::string(scalar_type_name(dtype)) + "'");
}

void throw_unexpected_dtype(DType expected, DType found) {
  throw KernelError(KernelError::Kind::Runtime, "expected scalar type " + std::string(scalar_type_name(expected)) +
                                                    " but found " + std::string(scalar_type_name(found)));
}

}  // namespace terra
