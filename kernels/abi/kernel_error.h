// The failure that a kernel finds: values or dtypes that it can't take. The engine turns it into the user's exception.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/abi/dtype.h"

namespace terra {

/// Thrown before a kernel has written anything that outlives its outputs. The message is the sentence the user reads.
class KernelError : public std::runtime_error {
 public:
  enum class Kind : uint8_t { Runtime, Value, Index, NotImplemented };

  KernelError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// "not implemented for 'Long'": a kernel has no loop for the dtype of the operand that picks it. Whoever ran the
/// kernel puts the op's name before it.
[[noreturn]] void throw_not_implemented(DType dtype);

}  // namespace terra
