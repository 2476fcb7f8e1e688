#include "engine/tensor/transfer.h"

#include "engine/device/backend.h"
#include "engine/errors/errors.h"
#include "engine/errors/kernel_failure.h"
#include "engine/tensor/dense.h"
#include "engine/tensor/epoch.h"

namespace terra {
namespace {

/// A copy on the same device whose elements lie row by row.
Tensor gathered(const Tensor& t) {
  const Backend& backend = backend_of(t.device());
  Tensor copy = Tensor::empty(t.sizes(), t.dtype(), t.device());
  const View from = t->view(), to = copy->view();
  KernelArg args[2];
  args[0].kind = KernelArg::Kind::Tensor;
  args[0].count = 1;
  args[0].views = &from;
  backend.launch(*backend.find_kernel("clone"), {{&to, 1}, args, {}});
  return copy;
}

}  // namespace

Tensor empty_like_on(const Tensor& t, Device device) {
  Tensor made = Tensor::empty(t.sizes(), t.dtype(), device);
  if (leave_no_gaps(t.sizes(), t.strides())) lay_out(*made, t.strides(), 0);
  return made;
}

Tensor moved_to(const Tensor& t, Device device) {
  if (t.device() == device) return t;
  if (device.is_meta()) return empty_like_on(t, device);
  check_kind(!t.device().is_meta(), ErrorKind::NotImplementedError, "Cannot copy out of meta tensor; no data!");
  const Tensor from = leave_no_gaps(t.sizes(), t.strides()) ? t : gathered(t);
  const size_t bytes = static_cast<size_t>(t.numel()) * size_of(t.dtype());
  Tensor to = Tensor::empty(t.sizes(), t.dtype(), device);
  lay_out(*to, from.strides(), 0);
  try {
    if (device.is_cpu()) {
      backend_of(t.device()).copy_out(to->data(), from->data(), bytes);
    } else {
      const Tensor host = to_host(from);
      backend_of(device).copy_in(to->data(), host->data(), bytes);
    }
  } catch (const KernelError& e) {
    fail_as(e, {});
  }
  return to;
}

void synchronize(Device device) {
  try {
    backend_of(device).synchronize();
  } catch (const KernelError& e) {
    fail_as(e, {});
  }
}

}  // namespace terra
