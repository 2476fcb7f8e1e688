// Packs blocks with known lifetimes into one stretch of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terra::graph {

/// Alive from step `first` to step `last`, both included.
struct ArenaBlock {
  size_t bytes = 0;
  int32_t first = 0, last = 0;
  size_t offset = 0;  ///< assigned: a multiple of the allocator's alignment
};

/// Assigns offsets so that blocks alive at the same step don't overlap; returns the size of the arena. Largest block
/// first, each at the lowest offset that is free during its life (greedy by size).
size_t pack(std::vector<ArenaBlock>& blocks);

}  // namespace terra::graph
