// What an index picks, and losses that pick by a target.
#include "recursive/batching/batched_call.h"

#include <algorithm>

namespace terra::recursive {
namespace {

void embedding(BatchedCall& c) {
  if (c.is_rows(0)) c.refuse("has a table of its own in each call");
  c.emit();
}

/// What an index picks along `dim` of each call's own tensor.
Tensor picked(const Tensor& x, int64_t dim, const Batched& index) {
  Dims sizes = x.sizes(), ones(sizes.size(), 1);
  ones[0] = sizes[0];
  ones[static_cast<size_t>(dim)] = sizes[static_cast<size_t>(dim)] = index.rank() == 0 ? 1 : index.size(0);
  return run("gather", x, dim, run("expand", run("reshape", index.tensor, ones), sizes));
}

void index_select(BatchedCall& c) {
  const Batched x = c.at(0), index = c.at(2);
  if (!index.rows) return along_dims_of_first(c);
  const auto rank = static_cast<int64_t>(x.rank());
  if (rank == 0) c.refuse("picks from a tensor without dimensions");
  const int64_t dim = (c.integer(1) + rank) % rank;
  if (x.rows || dim > 0) return c.give(picked(for_each_row(x, c.rows), dim + 1, index));
  // Rows of a table that all calls share: one index for all.
  Dims sizes = sizes_of(x);
  sizes[0] = index.rank() == 0 ? 1 : index.size(0);
  c.give(run("reshape", run("index_select", x.tensor, 0, run("reshape", index.tensor, Dims{-1})),
             with_rows(c.rows, sizes)));
}

/// x[i, j, ...]: tensors that pick along dimensions, behind dimensions that are left as they are.
void index(BatchedCall& c) {
  const Batched x = c.at(0);
  auto& indices = std::get<std::vector<Batched>>(c.args[1]);
  size_t first = 0, behind = 0, rank = 0;
  bool rows = false;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].tensor.defined()) {
      first += behind == 0;
      continue;
    }
    if (behind && behind != i) c.refuse("picks along dimensions that aren't next to each other");
    behind = i + 1;
    rank = std::max(rank, indices[i].rank());
    rows |= indices[i].rows;
  }
  if (!rows) {  // the same picks of each call's own tensor
    indices.insert(indices.begin(), Batched());
    return c.emit();
  }
  if (!x.rows && first == 0) {  // one pick of a tensor that all calls share
    for (Batched& i : indices)
      if (i.rows) i.tensor = aligned(i, rank);
    return c.emit();
  }
  if (behind != first + 1) c.refuse("picks along several dimensions of a tensor that each call has for itself");
  const Batched& only = indices[first];
  const Batched flat{run("reshape", only.tensor, Dims{c.rows, -1}), true};
  const auto dim = static_cast<int64_t>(first) + 1;
  Dims sizes;
  for (size_t d = 0; d < x.rank(); ++d) {
    if (d != first) sizes.push_back(x.size(d));
    for (size_t k = 0; d == first && k < only.rank(); ++k) sizes.push_back(only.size(k));
  }
  const Tensor own = for_each_row(x, c.rows);
  // Negative numbers count from the end.
  const Tensor number = run("where", run("lt", flat.tensor, 0), run("add", flat.tensor, x.size(first)), flat.tensor);
  c.give(run("reshape", picked(own, dim, {number, true}), with_rows(c.rows, sizes)));
}

/// Each call's loss by itself, picked from its row: the op itself would add up weights over all calls. The mean is over
/// the targets that aren't ignored, by the weights of their classes.
void nll_loss(BatchedCall& c) {
  if (c.is_rows(2)) c.refuse("weighs classes in each call in its own way");
  const Batched x{for_each_row(c.at(0), c.rows), true}, target{for_each_row(c.at(1), c.rows), true};
  if (x.rank() > 2) c.refuse("is of images");
  const Tensor flat = run("reshape", target.tensor, Dims{-1}), counts = run("ne", flat, c.integer(4));
  const Tensor classes = run("where", counts, flat, 0);
  const auto of_each_call = [&](const Tensor& each) {
    return target.rank() == 0 || c.text(3) == "none" ? run("reshape", each, with_rows(c.rows, sizes_of(target)))
                                                     : run("sum", run("reshape", each, Dims{c.rows, -1}), Dims{1});
  };
  const Tensor picked = run("reshape", run("gather", stacked(x), 1, run("unsqueeze", classes, 1)), Dims{-1});
  Tensor weights = run("to_dtype", counts, picked.dtype());
  if (!c.is_none(2)) weights = run("mul", weights, run("index_select", c.at(2).tensor, 0, classes));
  const Tensor each = run("where", counts, run("neg", picked), 0.0);
  Tensor loss = of_each_call(c.is_none(2) ? each : run("mul", each, weights));
  if (c.text(3) == "mean") loss = run("div", loss, of_each_call(weights));
  c.give(loss);
}

}  // namespace

std::span<const NamedRule> look_up_rules() {
  static constexpr NamedRule rules[] = {
      {"embedding_forward", embedding}, {"index_select", index_select}, {"index", index},
      {"gather", along_dims},           {"scatter", along_dims},        {"scatter_add", along_dims},
      {"nll_loss_forward", nll_loss},
  };
  return rules;
}

}  // namespace terra::recursive
