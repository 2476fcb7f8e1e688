#include "kernels/cpu/short_rows.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

using namespace terra::cpu;

namespace {

/// Steps in elements that a dimension of `dense` elements below it may have: broadcast, dense, with gaps, backwards.
std::vector<int64_t> steps_of(int64_t dense) { return {0, dense, 3 * dense + 1, -dense, 1}; }

/// Element `number` of those, in the order of the dimensions.
const char* element(const StridedElements& e, int64_t number) {
  const char* at = e.data;
  for (size_t d = e.sizes.size(); d-- > 0; number /= e.sizes[d]) at += number % e.sizes[d] * e.strides[d];
  return at;
}

}  // namespace

TEST_CASE("packed elements lie behind each other, whatever the strides", "[short_rows]") {
  std::mt19937 engine(3);
  const auto drawn = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  std::vector<char> memory(1 << 22);
  for (char& c : memory) c = static_cast<char>(engine());
  for (int round = 0; round < 4000; ++round) {
    const size_t size = size_t{1} << drawn(0, 4);
    std::vector<int64_t> sizes, strides;
    int64_t numel = 1;
    for (int64_t d = drawn(1, 4); d-- > 0; numel *= sizes.front()) {
      const std::vector<int64_t> steps = steps_of(numel);
      sizes.insert(sizes.begin(), drawn(1, 9));
      strides.insert(strides.begin(), steps[static_cast<size_t>(drawn(0, 4))] * static_cast<int64_t>(size));
    }
    const StridedElements all{memory.data() + memory.size() / 2, sizes, strides, size};
    const int64_t begin = drawn(0, numel - 1), n = drawn(1, numel - begin);
    const size_t bytes = static_cast<size_t>(n) * size;
    std::vector<char> packed(bytes + 16, 'x'), expected = packed;
    pack(all, begin, n, packed.data());
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(expected.data() + static_cast<size_t>(i) * size, element(all, begin + i), size);
    INFO("round " << round);
    REQUIRE(packed == expected);
  }
}
