#include "engine/random/state_bytes.h"

#include <cstring>

#include "engine/errors/errors.h"

namespace terra {
namespace {

/// PyTorch's struct. Words are kept in 64 bits each; the cached normal is `normal_y`, the two after it stay zero, and
/// so does the cached f32 normal at the end, which current versions don't use.
struct Layout {
  uint64_t seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t words[624];
  double normal_x;
  double normal_y;
  double normal_rho;
  int32_t has_normal;
  int32_t padding;
  float f32_normal;
  uint32_t has_f32_normal;
};
static_assert(sizeof(Layout) == kRandomStateBytes);

constexpr int32_t kWords = 624;

}  // namespace

std::array<uint8_t, kRandomStateBytes> to_bytes(const RandomState& state) {
  Layout layout{};
  layout.seed = state.seed;
  layout.left = static_cast<int32_t>(state.left);
  layout.seeded = 1;
  layout.next = state.next;
  for (int i = 0; i < kWords; ++i) layout.words[i] = state.words[i];
  if (state.has_cached_normal) layout.normal_y = state.cached_normal;
  layout.has_normal = state.has_cached_normal;
  std::array<uint8_t, kRandomStateBytes> bytes;
  std::memcpy(bytes.data(), &layout, sizeof layout);
  return bytes;
}

RandomState random_state_from_bytes(std::span<const uint8_t> bytes) {
  check(bytes.size() == kRandomStateBytes,
        "Expected a CPUGeneratorImplState of size {} but found the input RNG state size to be {}", kRandomStateBytes,
        bytes.size());
  Layout layout;
  std::memcpy(&layout, bytes.data(), sizeof layout);
  // `left - 1` words from `next` on are unused: together they must not reach past the block.
  const bool valid = layout.seeded == 1 && layout.left >= 1 && layout.left <= kWords && layout.next <= kWords &&
                     layout.next + static_cast<uint64_t>(layout.left) - 1 <= kWords;
  check(valid, "Invalid mt19937 state");
  RandomState state;
  state.seed = layout.seed;
  state.left = static_cast<uint32_t>(layout.left);
  state.next = static_cast<uint32_t>(layout.next);
  for (int i = 0; i < kWords; ++i) state.words[i] = static_cast<uint32_t>(layout.words[i]);
  state.has_cached_normal = layout.has_normal != 0;
  state.cached_normal = state.has_cached_normal ? layout.normal_y : 0;
  return state;
}

}  // namespace terra
