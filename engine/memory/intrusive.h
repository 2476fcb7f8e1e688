// Reference counting inside the object: one word, no control block.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace terra {

/// Base of everything that Ref<T> manages. Starts at zero references; the first Ref makes it one.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns true iff this was the last reference: the caller then destroys the object.
  bool drop() const {
    // The holder of the only reference is alone with the object: no other thread can take one.
    return refs_.load(std::memory_order_acquire) == 1 || refs_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  uint32_t use_count() const { return refs_.load(std::memory_order_relaxed); }

 protected:
  ~Counted() = default;

 private:
  mutable std::atomic<uint32_t> refs_{0};
};

/// A strong reference. T provides `static void destroy(T*)`, called when the last reference goes.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { reset(); }

  void reset() {
    if (T* old = std::exchange(object_, nullptr); old && old->drop()) T::destroy(old);
  }
  /// Gives the reference away without dropping it.
  T* release() { return std::exchange(object_, nullptr); }
  /// Takes over a reference that `release` gave away.
  static Ref adopt(T* object) {
    Ref r;
    r.object_ = object;
    return r;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace terra
