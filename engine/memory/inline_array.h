// A few plain objects on the stack, of which only those in use are initialised.
#pragma once
#include <cstddef>
#include <new>
#include <type_traits>

namespace terra {

/// Room for N objects; the first `size` are default-constructed. An op call has rarely more than three arguments but
/// may have two dozen: initialising all of them would cost as much as the call.
template <class T, size_t N>
class InlineArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit InlineArray(size_t size) {
    for (size_t i = 0; i < size; ++i) new (data() + i) T;
  }
  InlineArray(const InlineArray&) = delete;

  T* data() { return std::launder(reinterpret_cast<T*>(bytes_)); }
  const T* data() const { return std::launder(reinterpret_cast<const T*>(bytes_)); }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }

 private:
  alignas(T) unsigned char bytes_[N * sizeof(T)];
};

}  // namespace terra
