// The tables of kernels that kernels/cpu/isa/ defines once per instruction set.
#pragma once
#include "kernels/cpu/isa.h"

namespace terra::cpu {

TERRA_PER_ISA(KernelList arithmetic_table(); KernelList math_table(); KernelList compare_table();
              KernelList select_table(); KernelList remainder_table();
              /// The loop of one operand; null where a dtype is no real number, or one of 16 bits with a fraction.
              ElementwiseLoop real_conversion(DType from, DType to);)

}  // namespace terra::cpu
