// Families whose kernels exist once per instruction set: hands out those of the active one.
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu {

namespace {

std::span<const Kernel> as_span(KernelList list) { return {list.kernels, list.count}; }

}  // namespace

std::span<const Kernel> arithmetic_kernels() { return as_span(TERRA_PICK(arithmetic_table)()); }
std::span<const Kernel> math_kernels() { return as_span(TERRA_PICK(math_table)()); }
std::span<const Kernel> compare_kernels() { return as_span(TERRA_PICK(compare_table)()); }
std::span<const Kernel> select_kernels() { return as_span(TERRA_PICK(select_table)()); }
std::span<const Kernel> remainder_kernels() { return as_span(TERRA_PICK(remainder_table)()); }

}  // namespace terra::cpu
