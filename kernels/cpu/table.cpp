// The table of CPU kernels: the list of families, at the instruction set chosen for this process.
#include "kernels/cpu/families.h"

namespace terra {

namespace {

constexpr KernelFamily kFamilies[] = {
    cpu::float_arithmetic_kernels,
};

}  // namespace

const KernelIndex& cpu_kernels() {
  static const KernelIndex index(kFamilies);
  return index;
}

const Kernel* find_kernel(std::string_view op) { return cpu_kernels().find(op); }

}  // namespace terra
