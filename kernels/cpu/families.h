// Every family of CPU kernels. A family is one file that exports its kernels; table.cpp lists them.
#pragma once
#include "kernels/abi/kernel_index.h"

namespace terra::cpu {

std::span<const Kernel> float_arithmetic_kernels();

}  // namespace terra::cpu
