// The failure that only element values can show: a kernel throws it, the engine turns it into the user's exception.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace terra {

/// Thrown before a kernel has written anything that outlives its outputs. The message is the sentence the user reads.
class KernelError : public std::runtime_error {
 public:
  enum class Kind : uint8_t { Runtime, Value, Index };

  KernelError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace terra
