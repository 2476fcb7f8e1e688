#include "graph/executor/arena.h"

#include <algorithm>
#include <numeric>

#include "engine/memory/allocator.h"

namespace terra::graph {

size_t pack(std::vector<ArenaBlock>& blocks) {
  const auto aligned = [](size_t n) { return (n + memory::kAlignment - 1) / memory::kAlignment * memory::kAlignment; };
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return blocks[a].bytes > blocks[b].bytes; });

  std::vector<const ArenaBlock*> placed;  // by offset
  size_t total = 0;
  for (size_t i : order) {
    ArenaBlock& b = blocks[i];
    const size_t bytes = aligned(std::max<size_t>(b.bytes, 1));
    size_t at = 0;
    for (const ArenaBlock* other : placed) {
      if (other->last < b.first || b.last < other->first) continue;
      if (other->offset >= at + bytes) break;
      at = std::max(at, other->offset + aligned(std::max<size_t>(other->bytes, 1)));
    }
    b.offset = at;
    total = std::max(total, at + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), at,
                                   [](size_t offset, const ArenaBlock* p) { return offset < p->offset; }),
                  &b);
  }
  return total;
}

}  // namespace terra::graph
