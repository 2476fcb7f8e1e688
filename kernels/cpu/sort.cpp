// Order along a dimension: sort, topk, at_place. NaN is the greatest value. sort is stable; which of equal elements the
// others pick is nobody's promise, but programs see it (a beam search that begins with equal scores, a gate of zeros):
// it is what PyTorch's algorithms come to.
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/ties.h"
#include "kernels/cpu/along.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/radix_sort.h"

namespace terra::cpu {

namespace {

template <class Bits>
constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);

template <class T>
auto key_of_float(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const Bits bits = std::bit_cast<Bits>(value + T{0});  // -0 + 0 is 0
  const Bits flipped = bits ^ ((Bits{0} - (bits >> (8 * sizeof(Bits) - 1))) | kSign<Bits>);
  return value != value ? ~Bits{0} : flipped;
}

/// An unsigned number for each value, in the order of the values: numbers as they are, both zeros the same, NaN last.
template <class T>
auto key_of(T value) {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>)
    return key_of_float(value);
  else if constexpr (std::is_same_v<T, int64_t>)
    return static_cast<uint64_t>(value) ^ kSign<uint64_t>;
  else if constexpr (std::is_same_v<T, uint64_t> || std::is_same_v<T, uint32_t>)
    return value;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<uint32_t>(static_cast<int32_t>(value)) ^ kSign<uint32_t>;
  else
    return key_of_float(static_cast<float>(value));
}

/// A key and the place that it came from, which settles ties. Short ones are one number: to compare those is the work
/// of sorting.
struct LongEntry {
  LongEntry() = default;
  LongEntry(uint64_t key, int64_t index) : key(key), index(index) {}
  bool operator<(const LongEntry& other) const { return key < other.key || (key == other.key && index < other.index); }
  int64_t place() const { return index; }
  uint64_t rank() const { return key; }
  static constexpr int kBytes = 8;  ///< of a rank

  uint64_t key;
  int64_t index;
};

struct ShortEntry {
  ShortEntry() = default;
  ShortEntry(uint32_t key, int64_t index) : both(uint64_t{key} << 32 | static_cast<uint32_t>(index)) {}
  bool operator<(const ShortEntry& other) const { return both < other.both; }
  int64_t place() const { return static_cast<uint32_t>(both); }
  uint64_t rank() const { return both >> 32; }
  static constexpr int kBytes = 4;

  uint64_t both;
};

/// The first place from `from` on whose key is below `limit`; n if there is none.
template <class Key>
int64_t next_below(const Key* keys, int64_t from, int64_t n, uint64_t limit) {
  constexpr int64_t kBlock = 32;
  const auto most = static_cast<Key>(limit);
  for (; from + kBlock <= n; from += kBlock) {
    Key any = 0;
    for (int64_t i = from; i < from + kBlock; ++i) any |= keys[i] < most;
    if (any) break;
  }
  while (from < n && keys[from] >= most) ++from;
  return from;
}

/// The first `kept` of n entries, in order. Others are turned away as they come: by the last of those that would be
/// kept if there were no more.
template <class Entry>
class First {
 public:
  First(int64_t n, int64_t kept)
      : n_(n), kept_(kept), entries_(static_cast<size_t>(kept == n ? n : std::min(n, 2 * kept + 16))) {}

  /// Of the entries of n keys.
  template <class Key>
  const std::vector<Entry>& of(const Key* keys) {
    if (kept_ == n_ && n_ >= kFewestForDigits) {
      for (int64_t i = 0; i < n_; ++i) entries_[static_cast<size_t>(i)] = Entry(keys[i], i);
      sort_by_digits(entries_, other_, Entry::kBytes);
      return entries_;
    }
    if (kept_ <= (kept_ < n_ ? kMostInserted : kMostSorted)) return inserted(keys);
    const auto begin = entries_.begin(), last = begin + kept_ - 1;
    auto end = begin;
    bool is_cut = false;
    for (int64_t i = 0; i < n_; ++i) {
      if (is_cut && (i = next_below(keys, i, n_, last->rank())) == n_) break;
      *end++ = Entry(keys[i], i);
      if (end != entries_.end() || i + 1 == n_) continue;
      std::nth_element(begin, last, end);
      end = last + 1;
      is_cut = true;
    }
    if (end > last + 1) std::nth_element(begin, last, end);
    std::sort(begin, last + 1);
    return entries_;
  }

 private:
  static constexpr int64_t kMostInserted = 64, kMostSorted = 16;

  /// Few are kept in order all the time.
  template <class Key>
  const std::vector<Entry>& inserted(const Key* keys) {
    Entry* const kept = entries_.data();
    const auto insert = [kept](Entry entry, int64_t at) {
      for (; at > 0 && entry < kept[at - 1]; --at) kept[at] = kept[at - 1];
      kept[at] = entry;
    };
    for (int64_t i = 0; i < kept_; ++i) insert(Entry(keys[i], i), i);
    for (int64_t i = kept_; (i = next_below(keys, i, n_, kept[kept_ - 1].rank())) < n_; ++i)
      insert(Entry(keys[i], i), kept_ - 1);
    return entries_;
  }

  const int64_t n_, kept_;
  std::vector<Entry> entries_, other_;
};

/// Whether others than the first `kept` of n entries have their keys, or two of them one.
template <class Entry, class Key>
bool has_ties(const std::vector<Entry>& first, int64_t kept, int64_t n, const Key* keys) {
  const auto same = [](const Entry& a, const Entry& b) { return a.rank() == b.rank(); };
  if (std::adjacent_find(first.begin(), first.begin() + kept, same) != first.begin() + kept) return true;
  if (kept == n) return false;
  const auto last = static_cast<Key>(first[static_cast<size_t>(kept - 1)].rank());
  return std::count(keys, keys + n, last) > 1;
}

/// Keys of n values that lie `stride` bytes apart, turned around if `descending`.
template <class T, class Key>
void read_keys(Key* keys, const char* from, int64_t stride, int64_t n, bool descending) {
  const Key turn = descending ? ~Key{0} : Key{0};
  if (stride == sizeof(T)) {  // which the vectorizer wants to know
    const T* const values = reinterpret_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i) keys[i] = key_of(values[i]) ^ turn;
  } else {
    for (int64_t i = 0; i < n; ++i) keys[i] = key_of(*reinterpret_cast<const T*>(from + i * stride)) ^ turn;
  }
}

enum class Ties : uint8_t { Stable, Sorted, Unsorted };

template <class T, class Entry>
void sort_all(const Lines& lines, bool descending, Ties ties) {
  const int64_t n = lines.lengths[0], kept = lines.lengths[1];
  const Iteration& it = lines.starts;
  for_neighbours(lines, 200, [&](char* const* at, int64_t count) {
    First<Entry> first(n, kept);
    std::vector<decltype(key_of(T{}))> keys(static_cast<size_t>(n));
    for (int64_t line = 0; line < count; ++line) {
      char* start[3];
      for (int p = 0; p < 3; ++p) start[p] = at[p] + line * it.strides[p][it.rank - 1];
      const auto value = [&](int64_t i) { return *reinterpret_cast<const T*>(start[0] + i * lines.strides[0]); };
      read_keys<T>(keys.data(), start[0], lines.strides[0], n, descending);
      const auto put = [&](int64_t i, int64_t place) {
        *reinterpret_cast<T*>(start[1] + i * lines.strides[1]) = value(place);
        *reinterpret_cast<int64_t*>(start[2] + i * lines.strides[2]) = place;
      };
      if (ties != Ties::Unsorted) {
        const std::vector<Entry>& entries = first.of(keys.data());
        if (ties == Ties::Stable || !has_ties(entries, kept, n, keys.data())) {
          for (int64_t i = 0; i < kept; ++i) put(i, entries[static_cast<size_t>(i)].place());
          continue;
        }
      }
      const std::vector<int64_t> places =
          first_of_tied(tied(n, [&](int64_t i) { return keys[static_cast<size_t>(i)]; }), kept, ties == Ties::Sorted);
      for (int64_t i = 0; i < kept; ++i) put(i, places[static_cast<size_t>(i)]);
    }
  });
}

/// Of each line one entry, the one that sorting would bring to `place`; below 0: the first NaN or else the median.
template <class T, class Entry>
void pick_all(const Lines& lines, int64_t place) {
  const int64_t n = lines.lengths[0];
  const Iteration& it = lines.starts;
  for_neighbours(lines, 20, [&](char* const* at, int64_t count) {
    std::vector<Entry> entries(static_cast<size_t>(n));
    for (int64_t line = 0; line < count; ++line) {
      char* start[3];
      for (int p = 0; p < 3; ++p) start[p] = at[p] + line * it.strides[p][it.rank - 1];
      const auto value = [&](int64_t i) { return *reinterpret_cast<const T*>(start[0] + i * lines.strides[0]); };
      int64_t found = -1;
      for (int64_t i = n; i-- > 0;) {
        const T x = value(i);
        entries[static_cast<size_t>(i)] = Entry(key_of(x), i);
        if constexpr (std::is_floating_point_v<T>) found = x != x ? i : found;
      }
      if (place >= 0 || found < 0) {
        const auto wanted = entries.begin() + (place >= 0 ? place : (n - 1) / 2);
        std::nth_element(entries.begin(), wanted, entries.end());
        found = wanted->place();
        const auto equals = [&](const Entry& e) { return e.rank() == wanted->rank(); };
        if (place >= 0 && std::count_if(entries.begin(), entries.end(), equals) > 1)
          found = place_among_tied(tied(n, [&](int64_t i) { return Entry(key_of(value(i)), i).rank(); }), place);
      }
      *reinterpret_cast<T*>(start[1]) = value(found);
      *reinterpret_cast<int64_t*>(start[2]) = found;
    }
  });
}

/// Calls run(T, Entry, lines) with the dtype of the input and the entries for its lines along `dim`.
void with_entries(const KernelCall& call, int64_t dim, const auto& run) {
  const View& in = call.view(0);
  const View operands[] = {in, call.out[0], call.out[1]};
  if (call.out[0].numel() == 0) return;
  Lines lines;
  lines_along(operands, in.rank == 0 ? 0 : wrapped(dim, in.rank), lines);
  const auto with_dtype = [&]<class T>(T) {
    if constexpr (sizeof(key_of(T{})) == sizeof(uint32_t)) {
      if (lines.lengths[0] <= std::numeric_limits<uint32_t>::max()) return run(T{}, ShortEntry(), lines);
    }
    run(T{}, LongEntry(), lines);
  };
  if (in.dtype == DType::Bool)
    with_dtype(bool{});
  else
    with_any_real(in.dtype, with_dtype);
}

void sort_lines(const KernelCall& call, int64_t dim, bool descending, Ties ties) {
  with_entries(call, dim, [=]<class T, class Entry>(T, Entry, const Lines& lines) {
    sort_all<T, Entry>(lines, descending, ties);
  });
}

/// sort(self, dim, descending) -> (values, indices).
void sort(const KernelCall& call) { sort_lines(call, call.integer(1), call.flag(2), Ties::Stable); }

/// topk(self, k, dim, largest, sorted) -> (values, indices).
void topk(const KernelCall& call) {
  sort_lines(call, call.integer(2), call.flag(3), call.flag(4) ? Ties::Sorted : Ties::Unsorted);
}

/// at_place(self, place, dim) -> (values, indices).
void at_place(const KernelCall& call) {
  const int64_t place = call.integer(1);
  with_entries(call, call.integer(2),
               [place]<class T, class Entry>(T, Entry, const Lines& lines) { pick_all<T, Entry>(lines, place); });
}

constexpr Kernel kKernels[] = {
    {.op = "sort", .run = sort}, {.op = "topk", .run = topk}, {.op = "at_place", .run = at_place}};

}  // namespace

std::span<const Kernel> sort_kernels() { return kKernels; }

}  // namespace terra::cpu
