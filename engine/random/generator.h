// A stream of random numbers with its lifetime: what Python calls a Generator.
#pragma once
#include <cstdint>

#include "engine/device/device.h"
#include "engine/memory/intrusive.h"
#include "kernels/abi/random_state.h"

namespace terra {

/// Used under the interpreter's lock, like tensors. Whoever may abandon a run copies `state()` first and puts it back.
class Generator final : public Counted {
 public:
  /// Starts with PyTorch's default seed. Draws are made on that device.
  explicit Generator(Device device = {});
  static void destroy(Generator* generator) { delete generator; }

  void manual_seed(uint64_t seed);
  /// A seed from the operating system, which it returns.
  uint64_t seed();
  Device device() const { return device_; }
  uint64_t initial_seed() const { return state_.seed; }

  RandomState& state() { return state_; }
  const RandomState& state() const { return state_; }
  void set_state(const RandomState& state) { state_ = state; }

 private:
  RandomState state_;
  const Device device_;
};

/// The generator of calls that name none. Lives as long as the process.
Generator& default_generator();

}  // namespace terra
