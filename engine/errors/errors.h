// The two kinds of failure: a user's mistake, which becomes a Python exception, and a bug of ours.
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace terra {

/// What a user of PyTorch expects to catch. The binding layer maps each kind to the Python exception of the same name.
enum class ErrorKind : uint8_t {
  RuntimeError,
  ValueError,
  TypeError,
  IndexError,
  OverflowError,
  NotImplementedError,
  OutOfMemoryError,
  LinAlgError  ///< a matrix that can't be factorized or inverted
};

/// A mistake of the user, told in a sentence: what was done, on what, why it can't be, what to do instead.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message) : std::runtime_error(std::move(message)), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// A broken invariant of ours. Capture catches it, counts it and runs the frame plainly; elsewhere it surfaces as
/// Python's SystemError.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <class... A>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<A...> text, A&&... args) {
  throw Error(kind, fmt::format(text, std::forward<A>(args)...));
}

/// Numbers as sentences show a shape, "[2, 3]", made into text only where the sentence is: what check gets as arguments
/// is evaluated at every call.
struct Listed {
  std::span<const int64_t> numbers;
};
inline Listed listed(std::span<const int64_t> numbers) { return {numbers}; }

/// check(condition, "sentence {}", ...): a user's mistake of kind RuntimeError.
template <class... A>
void check(bool holds, fmt::format_string<A...> text, A&&... args) {
  if (!holds) [[unlikely]]
    fail(ErrorKind::RuntimeError, text, std::forward<A>(args)...);
}

template <class... A>
void check_kind(bool holds, ErrorKind kind, fmt::format_string<A...> text, A&&... args) {
  if (!holds) [[unlikely]]
    fail(kind, text, std::forward<A>(args)...);
}

/// ensure(condition, "what was supposed to hold"): a bug of ours.
inline void ensure(bool holds, const char* what) {
  if (!holds) [[unlikely]]
    throw InternalError(what);
}

}  // namespace terra

template <>
struct fmt::formatter<terra::Listed> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const terra::Listed& listed, Context& context) const {
    return fmt::format_to(context.out(), "[{}]", fmt::join(listed.numbers, ", "));
  }
};
