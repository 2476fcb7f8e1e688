// The CPU as a backend: all is done when the call returns.
#include <cstring>

#include "engine/device/backend.h"
#include "engine/memory/allocator.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/fused.h"

namespace terra {
namespace {

void copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

constexpr Backend kCpu{
    .name = "CPU",
    .allocate = memory::allocate,
    .release = memory::release,
    .copy_in = copy,
    .copy_out = copy,
    .find_kernel = find_kernel,
    .launch = [](const Kernel& kernel, const KernelCall& call) { kernel.run(call); },
    .launch_elementwise = cpu::run_elementwise,
    .prepare_fused = cpu::prepare_fused,
    .synchronize = [] {},
};

}  // namespace

const Backend& cpu_backend() { return kCpu; }

}  // namespace terra
