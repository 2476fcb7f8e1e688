// Blocks of memory as the system gives them.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TERRA_FORBIDS_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TERRA_FORBIDS_MEMORY
#endif
#endif
#ifdef TERRA_FORBIDS_MEMORY
#include <sanitizer/asan_interface.h>
#endif

namespace terra::memory {

/// A block from this size on is a mapping of its own, which leaves the process as soon as it is given back. Smaller
/// ones are parts of the heap of C, which rarely shrinks.
inline constexpr size_t kMappedBytes = size_t{256} << 10;

/// At least `bytes` bytes, on a cache line; null if there are none.
void* system_allocate(size_t bytes);
/// Gives a block of `system_allocate(bytes)` back, with the same `bytes`.
void system_release(void* block, size_t bytes) noexcept;

// Every tensor passes these: elsewhere than under AddressSanitizer they are nothing.
#ifdef TERRA_FORBIDS_MEMORY
/// Says that nobody may read or write these bytes: AddressSanitizer reports who does.
inline void forbid(void* block, size_t bytes) noexcept { ASAN_POISON_MEMORY_REGION(block, bytes); }
/// Says that they may again.
inline void permit(void* block, size_t bytes) noexcept { ASAN_UNPOISON_MEMORY_REGION(block, bytes); }
#else
inline void forbid(void*, size_t) noexcept {}
inline void permit(void*, size_t) noexcept {}
#endif

}  // namespace terra::memory
