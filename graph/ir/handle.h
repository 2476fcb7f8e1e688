// Objects and functions of the host program as a graph sees them: opaque.
#pragma once
#include <span>
#include <string>
#include <variant>

#include "engine/tensor/tensor.h"
#include "kernels/abi/scalar.h"

namespace terra::graph {

/// What the host supplies once. `release` may be called on any thread: the host queues it back to its own.
struct HandleTable {
  void (*retain)(void* object) = nullptr;
  void (*release)(void* object) = nullptr;
  std::string (*describe)(void* object) = nullptr;
};
HandleTable& handle_table();

/// A strong reference to a host object.
class Handle {
 public:
  Handle() = default;
  explicit Handle(void* object) : object_(object) {
    if (object_ && handle_table().retain) handle_table().retain(object_);
  }
  Handle(const Handle& other) : Handle(other.object_) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ && handle_table().release) handle_table().release(object_);
  }
  void* get() const { return object_; }

 private:
  void* object_ = nullptr;
};

using HostValue = std::variant<Tensor, Scalar, Handle>;

/// Host functions, numbered by whoever supplies them; a HostCall node names one by its number. Called on the thread
/// that called the graph, between nodes, before the commit point. It fills `results` (of the declared kinds and shapes)
/// and throws to abandon the run.
using HostFunction = void (*)(uint32_t index, std::span<const HostValue> args, std::span<HostValue> results);
void set_host_functions(HostFunction function);
HostFunction host_functions();

}  // namespace terra::graph
