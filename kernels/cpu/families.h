// Every family of CPU kernels. A family is one file that exports its kernels; table.cpp lists them.
#pragma once
#include "kernels/abi/kernel_index.h"

namespace terra::cpu {

std::span<const Kernel> arithmetic_kernels();
std::span<const Kernel> math_kernels();
std::span<const Kernel> special_kernels();
std::span<const Kernel> compare_kernels();
std::span<const Kernel> select_kernels();
std::span<const Kernel> remainder_kernels();
std::span<const Kernel> integer_arithmetic_kernels();
std::span<const Kernel> integer_compare_kernels();
std::span<const Kernel> division_kernels();
std::span<const Kernel> complex_kernels();
std::span<const Kernel> complex_math_kernels();
std::span<const Kernel> conversion_kernels();
std::span<const Kernel> movement_kernels();
std::span<const Kernel> padding_kernels();
std::span<const Kernel> creation_kernels();
std::span<const Kernel> reduction_kernels();
std::span<const Kernel> arg_reduction_kernels();
std::span<const Kernel> scan_kernels();
std::span<const Kernel> sort_kernels();
std::span<const Kernel> indexing_kernels();
std::span<const Kernel> embedding_kernels();
std::span<const Kernel> matmul_kernels();
std::span<const Kernel> sparse_kernels();
std::span<const Kernel> fourier_kernels();
std::span<const Kernel> convolution_kernels();
std::span<const Kernel> columns_kernels();
std::span<const Kernel> ctc_kernels();
std::span<const Kernel> pooling_kernels();
std::span<const Kernel> resample_kernels();
std::span<const Kernel> softmax_kernels();
std::span<const Kernel> normalization_kernels();
std::span<const Kernel> nll_loss_kernels();
std::span<const Kernel> recurrent_kernels();
std::span<const Kernel> update_kernels();

}  // namespace terra::cpu
