#include "engine/random/generator.h"

#include <random>

#include "engine/device/backend.h"

namespace terra {

/// PyTorch's default_rng_seed_val.
constexpr uint64_t kDefaultSeed = 67280421310721;

Generator::Generator(Device device) : device_(device) { libraries().draws.seed(state_, kDefaultSeed); }

void Generator::manual_seed(uint64_t value) { libraries().draws.seed(state_, value); }

uint64_t Generator::seed() {
  std::random_device device;
  const uint64_t value = (static_cast<uint64_t>(device()) << 32 | device()) & ((uint64_t{1} << 53) - 1);
  manual_seed(value);
  return value;
}

Generator& default_generator() {
  static Generator* instance = [] {
    auto* g = new Generator;
    g->retain();
    return g;
  }();
  return *instance;
}

}  // namespace terra
