// The types of real numbers behind those of complex ones.
#pragma once
#include <complex>
#include <type_traits>

namespace terra {

/// The type of a number's parts: T itself where it is real.
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

}  // namespace terra
