// The CPU as a backend: all is done when the call returns.
#include <cstring>

#include "engine/device/backend.h"
#include "engine/memory/allocator.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/fused.h"

namespace terra {
namespace {

void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void clear(void* to, size_t bytes) {
  if (bytes > 0) std::memset(to, 0, bytes);
}

void launch_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs,
                        std::span<const KernelArg> params) {
  cpu::run_elementwise(kernel, out, inputs, params.data());
}

constexpr Backend kCpu{
    .name = "CPU",
    .allocate = memory::allocate,
    .release = memory::release,
    .copy_in = copy_bytes,
    .copy_out = copy_bytes,
    .copy = copy_bytes,
    .clear = clear,
    .find_kernel = find_kernel,
    .launch = [](const Kernel& kernel, const KernelCall& call) { kernel.run(call); },
    .launch_elementwise = launch_elementwise,
    .prepare_fused = cpu::prepare_fused,
    .synchronize = [] {},
};

}  // namespace

const Backend& cpu_backend() { return kCpu; }

}  // namespace terra
