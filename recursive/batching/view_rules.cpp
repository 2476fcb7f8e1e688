// Views of each row.
#include "recursive/batching/batched_call.h"

namespace terra::recursive {
namespace {

using graph::IntList;

void sized(BatchedCall& c) {
  IntList& sizes = c.list(1);
  for (int64_t& s : sizes)
    if (s == -1) {
      int64_t known = 1;
      for (int64_t k : sizes) known *= k == -1 ? 1 : k;
      s = known == 0 ? 0 : c.at(0).tensor.numel() / c.rows / known;
    }
  sizes.insert(sizes.begin(), c.rows);
  c.give(run("reshape", c.at(0).tensor, sizes));
}

void expanded(BatchedCall& c) {
  IntList& sizes = c.list(1);
  const Tensor x = aligned(c.at(0), sizes.size());
  sizes.insert(sizes.begin(), c.rows);
  c.give(run("expand", x, sizes));
}

void permuted(BatchedCall& c) {
  shift_dims(c, c.at(0).rank());
  c.list(1).insert(c.list(1).begin(), 0);
  c.emit();
}

void turned(BatchedCall& c) {
  const Batched& x = c.at(0);
  c.give(x.rank() < 2 ? x.tensor : run("transpose", x.tensor, 1, 2));
}

void unsqueezed(BatchedCall& c) {
  shift_dims(c, c.at(0).rank() + 1);
  c.emit();
}

void squeezed(BatchedCall& c) {
  Dims sizes = sizes_of(c.at(0));
  IntList left;
  const auto rank = static_cast<int64_t>(sizes.size());
  for (int64_t d = 0; d < rank; ++d) {
    bool named = c.is_none(1);
    if (!named)
      for (int64_t k : c.list(1)) named |= k == d || k + rank == d;
    if (!named || sizes[d] != 1) left.push_back(sizes[d]);
  }
  left.insert(left.begin(), c.rows);
  c.give(run("reshape", c.at(0).tensor, left));
}

}  // namespace

std::span<const NamedRule> view_rules() {
  static constexpr NamedRule rules[] = {
      {"view", sized},           {"expand", expanded},  {"permute", permuted},      {"t", turned},
      {"unsqueeze", unsqueezed}, {"squeeze", squeezed}, {"transpose", along_dims},  {"narrow", along_dims},
      {"select", along_dims},    {"slice", along_dims}, {"diagonal", along_dims},   {"unfold", along_dims},
      {"detach", as_it_is},      {"alias", as_it_is},   {"view_as_real", as_it_is}, {"view_as_complex", as_it_is},
  };
  return rules;
}

}  // namespace terra::recursive
