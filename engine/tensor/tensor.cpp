#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include "engine/errors/errors.h"

namespace terra {
namespace {

/// No tensor shows memory that its storage doesn't have.
void check_within(const Storage& storage, DType dtype, const Dims& sizes, const Dims& strides, int64_t offset) {
  const auto bytes = static_cast<int64_t>(size_of(dtype)), reach = storage_reach(sizes, strides, offset);
  if (reach <= static_cast<int64_t>(storage.bytes()) / bytes) [[likely]]
    return;
  check(reach <= INT64_MAX / bytes, "Storage size calculation overflowed with sizes={} and strides={}", listed(sizes),
        listed(strides));
  fail(ErrorKind::RuntimeError,
       "setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} requiring a storage size of {} are out of "
       "bounds for storage of size {}",
       to_string(sizes), to_string(strides), offset, bytes, reach * bytes, storage.bytes());
}

}  // namespace

OwnerHooks& owner_hooks() {
  static OwnerHooks hooks;
  return hooks;
}

int64_t Tensor::size(int64_t dim) const {
  const Dims& all = get()->sizes;
  check_kind(!all.empty(), ErrorKind::IndexError, "Dimension specified as {} but tensor has no dimensions", dim);
  return all[static_cast<size_t>(wrap_dim(dim, all.size()))];
}

Tensor Tensor::empty(std::span<const int64_t> sizes, DType dtype, Device device) {
  const int64_t n = checked_numel(sizes);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(n, static_cast<int64_t>(size_of(dtype)), &bytes)) [[unlikely]]
    fail(ErrorKind::RuntimeError, "Storage size calculation overflowed with sizes={}", to_string(sizes));
  auto* impl = new TensorImpl;
  Tensor t{Ref<TensorImpl>(impl)};
  impl->storage = Storage::allocate(static_cast<size_t>(bytes), device);
  impl->dtype = dtype;
  impl->device = device;
  impl->sizes = Dims(sizes);
  impl->strides = contiguous_strides(sizes);
  impl->numel = n;
  return t;
}

Tensor Tensor::view_of(Ref<Storage> storage, DType dtype, Dims sizes, Dims strides, int64_t offset) {
  const int64_t n = checked_numel(sizes);
  if (storage) check_within(*storage, dtype, sizes, strides, offset);
  auto* impl = new TensorImpl;
  if (storage) impl->device = storage->device();
  impl->storage = std::move(storage);
  impl->dtype = dtype;
  impl->offset = offset;
  impl->numel = n;
  impl->sizes = std::move(sizes);
  impl->strides = std::move(strides);
  return Tensor(Ref<TensorImpl>(impl));
}

Tensor Tensor::alias() const {
  const TensorImpl& from = **this;
  auto* impl = new TensorImpl;
  impl->dtype = from.dtype;
  impl->device = from.device;
  impl->wrapped_number = from.wrapped_number;
  impl->storage = from.storage;
  impl->offset = from.offset;
  impl->numel = from.numel;
  impl->sizes = from.sizes;
  impl->strides = from.strides;
  impl->binding_bits = from.binding_bits;
  impl->symbol_is_inference = from.symbol_is_inference;
  if (from.symbol) impl->symbol = from.symbol->clone();
  return Tensor(Ref<TensorImpl>(impl));
}

Tensor Tensor::symbolic(TensorMeta meta, std::unique_ptr<Symbol> symbol) {
  auto* impl = new TensorImpl;
  impl->dtype = meta.dtype;
  impl->device = meta.device;
  impl->wrapped_number = meta.wrapped;
  impl->symbol_is_inference = inference_mode();
  impl->numel = checked_numel(meta.sizes);
  impl->strides = contiguous_strides(meta.sizes);
  impl->sizes = std::move(meta.sizes);
  impl->symbol = std::move(symbol);
  return Tensor(Ref<TensorImpl>(impl));
}

void TensorImpl::destroy(TensorImpl* impl) {
  if (impl->keeps_owner)
    owner_hooks().release_owner(impl->owner);
  else
    delete impl;
}

bool TensorImpl::is_contiguous() const {
  int64_t expected = 1;
  for (int i = static_cast<int>(sizes.size()) - 1; i >= 0; --i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

std::string describe(const Tensor& t) {
  if (!t.defined()) return "no tensor";
  return fmt::format("{} {}", name_of(t.dtype()), to_string(t.sizes()));
}

}  // namespace terra
