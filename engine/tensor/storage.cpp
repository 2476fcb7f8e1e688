#include "engine/tensor/storage.h"

#include "engine/memory/allocator.h"

namespace terra {

Ref<Storage> Storage::allocate(size_t bytes) {
  void* data = memory::allocate(bytes);
  auto* s = new Storage;
  s->data_ = data;
  s->bytes_ = bytes;
  return Ref<Storage>(s);
}

Ref<Storage> Storage::wrap(void* data, size_t bytes, void (*release)(void*), void* context) {
  auto* s = new Storage;
  s->data_ = data;
  s->bytes_ = bytes;
  s->release_ = release;
  s->context_ = context;
  s->exported_ = true;
  return Ref<Storage>(s);
}

Ref<Storage> Storage::apart(const Ref<Storage>& original) {
  const auto release = [](void* kept) { Ref<Storage>::adopt(static_cast<Storage*>(kept)); };
  Ref<Storage> apart = wrap(original->data(), original->bytes(), release, Ref<Storage>(original).release());
  apart->bytes_of_ = original->bytes_of_;
  return apart;
}

void Storage::destroy(Storage* s) {
  if (s->release_)
    s->release_(s->context_);
  else
    memory::release(s->data_, s->bytes_);
  delete s;
}

}  // namespace terra
