// Every family of reference kernels; table.cpp lists them.
#pragma once
#include "kernels/abi/kernel_index.h"

namespace terra::reference {

std::span<const Kernel> arithmetic_kernels();

}  // namespace terra::reference
