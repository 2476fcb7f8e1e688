#include "engine/tensor/storage.h"

#include "engine/device/backend.h"

namespace terra {
namespace {

/// Of the storage whose bytes another one has.
void let_go_of(void* storage) { Ref<Storage>::adopt(static_cast<Storage*>(storage)); }

/// What has failed stays so. Belongs to the storage that it was to make the bytes of.
class FailedWork final : public Deferral {
 public:
  explicit FailedWork(std::exception_ptr error) : error_(std::move(error)) {}
  void settle() override { std::rethrow_exception(error_); }
  static void release(void* work) { delete static_cast<FailedWork*>(work); }

 private:
  std::exception_ptr error_;
};

}  // namespace

Ref<Storage> Storage::allocate(size_t bytes, Device device) {
  void* data = backend_of(device).allocate(bytes);
  auto* s = new Storage;
  s->data_ = data;
  s->bytes_ = bytes;
  s->device_ = device;
  return Ref<Storage>(s);
}

Ref<Storage> Storage::wrap(void* data, size_t bytes, void (*release)(void*), void* context, Device device) {
  auto* s = new Storage;
  s->data_ = data;
  s->bytes_ = bytes;
  s->release_ = release;
  s->context_ = context;
  s->exported_ = true;
  s->device_ = device;
  return Ref<Storage>(s);
}

Ref<Storage> Storage::apart(const Ref<Storage>& original) {
  Ref<Storage> apart =
      wrap(original->data(), original->bytes(), let_go_of, Ref<Storage>(original).release(), original->device());
  apart->bytes_of_ = original->bytes_of_;
  apart->fixed_ = original->fixed_;
  apart->inference_ = original->inference_;
  return apart;
}

Ref<Storage> Storage::copied(const Storage& original) {
  Ref<Storage> copy = allocate(original.bytes(), original.device());
  backend_of(original.device()).copy(copy->data(), original.data(), original.bytes());
  return copy;
}

Ref<Storage> Storage::deferred(size_t bytes, Deferral& by, uint32_t ticket) {
  auto* s = new Storage;
  s->bytes_ = bytes;
  s->deferral_ = &by;
  s->ticket_ = ticket;
  return Ref<Storage>(s);
}

void Storage::deliver(Ref<Storage> bytes, size_t from) {
  data_ = static_cast<char*>(bytes->data()) + from;
  release_ = let_go_of;
  context_ = bytes.release();
  deferral_ = nullptr;
}

void Storage::fail(std::exception_ptr error) {
  auto* work = new FailedWork(std::move(error));
  defer_to(work, 0);
  release_ = FailedWork::release;
  context_ = work;
}

void Storage::destroy(Storage* s) {
  if (s->release_)
    s->release_(s->context_);
  else if (s->data_)  // else nobody has ever asked for the bytes
    backend_of(s->device_).release(s->data_, s->bytes_);
  delete s;
}

}  // namespace terra
