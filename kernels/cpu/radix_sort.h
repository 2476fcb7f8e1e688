// Sorting entries by the digits of their keys.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace terra::cpu {

/// Fewer entries than this are sorted faster by comparing them.
inline constexpr int64_t kFewestForDigits = 256;

/// Sorts entries by rank(), a number of `bytes` bytes; those of one rank stay in order. `other` is room for as many.
/// Digits that all entries share cost nothing more than to find that out.
template <class Entry>
void sort_by_digits(std::vector<Entry>& entries, std::vector<Entry>& other, int bytes) {
  using Counts = std::array<size_t, 256>;
  std::vector<Counts> counts(static_cast<size_t>(bytes), Counts{});
  for (const Entry& e : entries) {
    uint64_t rank = e.rank();
    for (Counts& of_digit : counts) {
      ++of_digit[rank & 0xff];
      rank >>= 8;
    }
  }
  other.resize(entries.size());
  for (size_t digit = 0; digit < counts.size(); ++digit) {
    const auto of = [shift = 8 * digit](const Entry& e) { return static_cast<size_t>(e.rank() >> shift & 0xff); };
    Counts& places = counts[digit];
    if (places[of(entries.front())] == entries.size()) continue;
    size_t next = 0;
    for (size_t& place : places) {
      const size_t count = place;
      place = next;
      next += count;
    }
    for (const Entry& e : entries) other[places[of(e)]++] = e;
    entries.swap(other);
  }
}

}  // namespace terra::cpu
