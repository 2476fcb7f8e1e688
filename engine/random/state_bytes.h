// A generator's state as bytes, in the layout of PyTorch's CPU generator, so that saved states go both ways.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "kernels/abi/random_state.h"

namespace terra {

inline constexpr size_t kRandomStateBytes = 5056;

std::array<uint8_t, kRandomStateBytes> to_bytes(const RandomState& state);
/// Throws Error in PyTorch's words if the bytes are no state.
RandomState random_state_from_bytes(std::span<const uint8_t> bytes);

}  // namespace terra
