// The caching allocator of the CPU: 64-byte aligned blocks, kept by size class between uses. Idle blocks go back to the
// system before more is held than was ever in use (watermark.h).
#pragma once
#include <cstddef>
#include <cstdint>

namespace terra::memory {

/// Every block starts on a cache line, which is also what the widest vector load wants.
inline constexpr size_t kAlignment = 64;

struct Statistics {
  uint64_t live_bytes = 0;     ///< handed out and not yet returned
  uint64_t peak_bytes = 0;     ///< the most that live_bytes has been
  uint64_t cached_bytes = 0;   ///< returned and kept for the next request
  uint64_t system_blocks = 0;  ///< blocks asked of the system so far
};

/// At least `bytes` bytes (one cache line for zero). Throws Error(OutOfMemoryError) naming the size. Any thread.
void* allocate(size_t bytes);
/// Takes back a block of `allocate(bytes)`, with the same `bytes`. Any thread.
void release(void* block, size_t bytes) noexcept;
/// Returns the cached blocks to the system.
void trim() noexcept;
Statistics statistics();
void reset_peak();

}  // namespace terra::memory
