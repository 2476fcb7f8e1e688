// The table of reference kernels: the list of families.
#include "kernels/reference/families.h"

namespace terra {

namespace {

// clang-format off
constexpr KernelFamily kFamilies[] = {
    reference::arithmetic_kernels,
    reference::division_kernels,
    reference::math_kernels,
    reference::special_kernels,
    reference::compare_kernels,
    reference::select_kernels,
    reference::complex_kernels,
    reference::fourier_kernels,
    reference::conversion_kernels,
    reference::movement_kernels,
    reference::reduction_kernels,
    reference::indexing_kernels,
    reference::matmul_kernels,
    reference::sparse_kernels,
    reference::convolution_kernels,
    reference::columns_kernels,
    reference::pooling_kernels,
    reference::resample_kernels,
    reference::softmax_kernels,
    reference::normalization_kernels,
    reference::nll_loss_kernels,
    reference::ctc_kernels,
    reference::recurrent_kernels,
    reference::update_kernels,
};
// clang-format on

}  // namespace

const KernelIndex& reference_kernels() {
  static const KernelIndex index(kFamilies);
  return index;
}

const Kernel* find_reference_kernel(std::string_view op) { return reference_kernels().find(op); }

}  // namespace terra
