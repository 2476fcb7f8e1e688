// The one way from CPython into this folder: no exception crosses a C frame.
#pragma once
#include <type_traits>

#include "interpreter_hooks/bindings/object.h"

namespace terra::hooks {

/// Sets Python's error indicator from the C++ exception in flight. A terra::Error becomes the Python exception of its
/// kind (table in errors.cpp), an InternalError SystemError. Call it inside a catch block.
void translate_exception() noexcept;

/// terra.OutOfMemoryError, a RuntimeError. Borrowed.
Borrowed out_of_memory_error();
/// torch._C._LinAlgError, a RuntimeError. Borrowed.
Borrowed linear_algebra_error();

/// Raises a Python exception of `type` with a formatted text (PyErr_Format's language).
[[noreturn]] void raise(PyObject* type, const char* format, ...);

namespace detail {

template <auto F>
struct Entry;

template <class R>
using CResult = std::conditional_t<std::is_same_v<R, Object>, PyObject*, R>;

template <class R, class... A, R (*F)(A...)>
struct Entry<F> {
  static CResult<R> call(A... args) noexcept {
    try {
      if constexpr (std::is_same_v<R, Object>)
        return F(args...).release();
      else
        return F(args...);
    } catch (...) {
      translate_exception();
      if constexpr (std::is_pointer_v<CResult<R>>)
        return nullptr;
      else
        return static_cast<CResult<R>>(-1);
    }
  }
};

}  // namespace detail

/// The C function pointer for a function that may throw and may return Object: what slot and method tables hold.
template <auto F>
inline constexpr auto entry = &detail::Entry<F>::call;

/// The same as a PyCFunction, for PyMethodDef rows with METH_FASTCALL or METH_KEYWORDS.
template <auto F>
inline PyCFunction method() {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(entry<F>));
}
/// The same as a type slot's value.
template <auto F>
inline void* slot() {
  return reinterpret_cast<void*>(entry<F>);
}

}  // namespace terra::hooks
