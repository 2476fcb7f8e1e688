// What a kernel refuses, as the user's exception.
#pragma once
#include <string_view>

#include "kernels/abi/kernel_error.h"

namespace terra {

/// Throws the Error that stands for a failure of the kernel of `op` (empty: not known which).
[[noreturn]] void fail_as(const KernelError& failure, std::string_view op);

}  // namespace terra
