// The table of CPU kernels: the list of families, at the instruction set chosen for this process.
#include "kernels/cpu/families.h"

namespace terra {

namespace {

constexpr KernelFamily kFamilies[] = {
    cpu::arithmetic_kernels,
    cpu::math_kernels,
    cpu::special_kernels,
    cpu::compare_kernels,
    cpu::select_kernels,
    cpu::remainder_kernels,
    cpu::integer_arithmetic_kernels,
    cpu::integer_compare_kernels,
    cpu::division_kernels,
    cpu::complex_kernels,
    cpu::complex_math_kernels,
    cpu::conversion_kernels,
    cpu::movement_kernels,
    cpu::padding_kernels,
    cpu::creation_kernels,
    cpu::reduction_kernels,
    cpu::arg_reduction_kernels,
    cpu::scan_kernels,
    cpu::sort_kernels,
    cpu::indexing_kernels,
    cpu::embedding_kernels,
    cpu::matmul_kernels,
    cpu::sparse_kernels,
    cpu::fourier_kernels,
    cpu::convolution_kernels,
    cpu::columns_kernels,
    cpu::pooling_kernels,
    cpu::resample_kernels,
    cpu::softmax_kernels,
    cpu::normalization_kernels,
    cpu::nll_loss_kernels,
    cpu::ctc_kernels,
    cpu::recurrent_kernels,
    cpu::update_kernels,
};

}  // namespace

const KernelIndex& cpu_kernels() {
  static const KernelIndex& index = *new KernelIndex(kFamilies);  // threads may still compute while the process ends
  return index;
}

const Kernel* find_kernel(std::string_view op) { return cpu_kernels().find(op); }

}  // namespace terra
