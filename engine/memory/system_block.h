// Blocks of memory as the system gives them.
#pragma once
#include <cstddef>

namespace terra::memory {

/// A block from this size on is a mapping of its own, which leaves the process as soon as it is given back. Smaller
/// ones are parts of the heap of C, which rarely shrinks.
inline constexpr size_t kMappedBytes = size_t{256} << 10;

/// At least `bytes` bytes, on a cache line; null if there are none.
void* system_allocate(size_t bytes);
/// Gives a block of `system_allocate(bytes)` back, with the same `bytes`.
void system_release(void* block, size_t bytes) noexcept;

/// Says that nobody may read or write these bytes: AddressSanitizer reports who does. Elsewhere nothing.
void forbid(void* block, size_t bytes) noexcept;
/// Says that they may again.
void permit(void* block, size_t bytes) noexcept;

}  // namespace terra::memory
