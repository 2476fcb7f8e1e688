// The meta device: kernels find no memory and do nothing, so that a call gives what its shape rule says.
#include "engine/device/backend.h"
#include "engine/errors/errors.h"

namespace terra {
namespace {

[[noreturn]] void refuse(void*, const void*, size_t) {
  fail(ErrorKind::NotImplementedError, "Cannot copy out of meta tensor; no data!");
}

constexpr Backend kMeta{
    .name = "Meta",
    .allocate = [](size_t) -> void* { return nullptr; },
    .release = [](void*, size_t) noexcept {},
    .copy_in = [](void*, const void*, size_t) {},
    .copy_out = refuse,
    .copy = [](void*, const void*, size_t) {},
    .clear = [](void*, size_t) {},
    .find_kernel = find_kernel,
    .launch = [](const Kernel&, const KernelCall&) {},
    .launch_elementwise = [](const Kernel&, const View&, std::span<const View>, std::span<const KernelArg>) {},
    .prepare_fused = [](const FusedGroup&) -> std::unique_ptr<FusedKernel> {
      throw InternalError("graphs don't compute on the meta device");
    },
    .synchronize = [] {},
};

}  // namespace

const Backend& meta_backend() { return kMeta; }

}  // namespace terra
