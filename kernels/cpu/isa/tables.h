// The tables of kernels that kernels/cpu/isa/ defines once per instruction set.
#pragma once
#include "kernels/cpu/isa.h"

namespace terra::cpu {

TERRA_PER_ISA(KernelList arithmetic_table(); KernelList math_table(); KernelList compare_table();
              KernelList select_table(); KernelList remainder_table();)

}  // namespace terra::cpu
