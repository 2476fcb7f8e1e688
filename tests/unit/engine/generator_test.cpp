#include "engine/random/generator.h"

#include <catch2/catch.hpp>

#include <vector>

#include "engine/errors/errors.h"
#include "engine/random/state_bytes.h"
#include "kernels/cpu/random.h"

using namespace terra;

namespace {

/// FNV-1a of the bytes; the expected values are those of PyTorch's get_rng_state().
uint64_t hash(std::span<const uint8_t> bytes) {
  uint64_t h = 14695981039346656037u;
  for (uint8_t b : bytes) h = (h ^ b) * 1099511628211u;
  return h;
}

}  // namespace

TEST_CASE("a generator starts with PyTorch's seed and can be seeded", "[random]") {
  Generator g;
  CHECK(g.initial_seed() == 67280421310721u);
  g.manual_seed(7);
  CHECK(g.initial_seed() == 7);
  const uint64_t drawn = g.seed();
  CHECK(drawn == g.initial_seed());
}

TEST_CASE("saved states are PyTorch's, byte for byte, and bring the stream back", "[random]") {
  Generator g;
  g.manual_seed(7);
  CHECK(hash(to_bytes(g.state())) == 0x7f4ed5c44183ee68u);
  float sink[700];
  random::normal(g.state(), sink, 3, 0, 1);
  random::uniform(g.state(), sink, 700, 0, 1);
  const auto bytes = to_bytes(g.state());
  CHECK(hash(bytes) == 0xddf9bc6f58998d99u);

  Generator other;
  other.set_state(random_state_from_bytes(bytes));
  float next[2];
  random::normal(other.state(), next, 2, 0, 1);
  CHECK(next[0] == -1.1143440008163452f);
  CHECK(next[1] == -0.07098429650068283f);
}

TEST_CASE("bytes that are no state are refused", "[random]") {
  const std::vector<uint8_t> few(10), zeros(kRandomStateBytes);
  CHECK_THROWS_WITH(random_state_from_bytes(few),
                    "Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be 10");
  CHECK_THROWS_WITH(random_state_from_bytes(zeros), "Invalid mt19937 state");
}
