// Which of equal elements topk and kthvalue pick. It is nobody's promise, but programs see it: a beam search that
// begins with equal scores, a gate of zeros. So it is what PyTorch's algorithms come to, which compare keys alone.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace terra {

struct Tied {
  uint64_t key;
  int64_t index;
};

/// Elements 0 to n - 1 with the keys key(i).
std::vector<Tied> tied(int64_t n, const auto& key) {
  std::vector<Tied> elements(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) elements[static_cast<size_t>(i)] = {key(i), i};
  return elements;
}

/// The indices of the first `kept` > 0 in ascending order; in any order, if they need not be `sorted`.
inline std::vector<int64_t> first_of_tied(std::vector<Tied> elements, int64_t kept, bool sorted) {
  const auto before = [](const Tied& a, const Tied& b) { return a.key < b.key; };
  const auto begin = elements.begin(), end = elements.end();
  if (kept * 64 <= static_cast<int64_t>(elements.size())) {
    std::partial_sort(begin, begin + kept, end, before);
  } else {
    std::nth_element(begin, begin + kept - 1, end, before);
    if (sorted) std::sort(begin, begin + kept - 1, before);
  }
  std::vector<int64_t> indices;
  for (auto e = begin; e != begin + kept; ++e) indices.push_back(e->index);
  return indices;
}

/// The index of what is at `place` in ascending order: Hoare's quickselect with the median of three for a pivot, both
/// scans stopping at keys that equal it.
inline int64_t place_among_tied(std::vector<Tied> e, int64_t place) {
  const auto key = [&e](int64_t i) { return e[static_cast<size_t>(i)].key; };
  const auto swap = [&e](int64_t a, int64_t b) { std::swap(e[static_cast<size_t>(a)], e[static_cast<size_t>(b)]); };
  const auto order = [&](int64_t a, int64_t b) {
    if (key(a) > key(b)) swap(a, b);
  };
  for (int64_t left = 0, right = static_cast<int64_t>(e.size()) - 1; left < right;) {
    if (right == left + 1) {
      order(left, right);
      break;
    }
    swap(left + (right - left) / 2, left + 1);
    order(left + 1, right);
    order(left, right);
    order(left + 1, left);
    const uint64_t pivot = key(left);
    int64_t i = left + 1, j = right;
    for (;;) {
      while (pivot > key(++i)) {
      }
      while (key(--j) > pivot) {
      }
      if (j < i) break;
      swap(i, j);
    }
    swap(left, j);
    if (j <= place) left = i;
    if (j >= place) right = j - 1;
  }
  return e[static_cast<size_t>(place)].index;
}

}  // namespace terra
