// Products of matrices, of which those below each other are one.
#include "recursive/batching/batched_call.h"

namespace terra::recursive {
namespace {

/// Of two matrices, rows of either or both; of none as well.
Batched product(const Batched& a, const Batched& b, int64_t rows) {
  if (!a.rows && !b.rows) return {run("mm", a.tensor, b.tensor)};
  if (!b.rows) return {run("reshape", run("mm", stacked(a), b.tensor), Dims{rows, a.size(0), b.size(1)}), true};
  return {run("bmm", for_each_row(a, rows), b.tensor), true};
}

void mm(BatchedCall& c) { c.results.push_back(product(c.at(0), c.at(1), c.rows)); }

void bmm(BatchedCall& c) {
  const Tensor a = for_each_row(c.at(0), c.rows), b = for_each_row(c.at(1), c.rows);
  const int64_t count = a.size(1), n = a.size(2), m = b.size(3);
  const Tensor made = run("bmm", run("reshape", a, Dims{c.rows * count, n, a.size(3)}),
                          run("reshape", b, Dims{c.rows * count, b.size(2), m}));
  c.give(run("reshape", made, Dims{c.rows, count, n, m}));
}

void addmm(BatchedCall& c) {
  const Batched &bias = c.at(0), &a = c.at(1), &b = c.at(2);
  const Scalar by = c.number(3), times = c.number(4);
  if (a.rows && !bias.rows && !b.rows && bias.rank() < 2)
    return c.give(
        run("reshape", run("addmm", bias.tensor, stacked(a), b.tensor, by, times), Dims{c.rows, a.size(0), b.size(1)}));
  const Tensor made = run("mul", product(a, b, c.rows).tensor, times);
  c.give(run("add", made, run("mul", aligned(bias, 2), by)));
}

/// input @ weight.T + bias, where each call may have weights of its own.
void linear(BatchedCall& c) {
  const Batched input = c.at(0), weight = c.at(1);
  if (!weight.rows) {
    const Batched bias = c.is_none(2) ? Batched() : c.at(2);
    if (!bias.rows) return c.emit();
    if (!input.rows) c.set(0, for_each_row(input, c.rows));
    c.args[2] = graph::NodeArg();
    c.emit();
    c.results[0].tensor = run("add", c.results[0].tensor, aligned(bias, c.results[0].rank()));
    return;
  }
  if (weight.rank() != 2) c.refuse("has a weight of its own in each call that is no matrix");
  Dims sizes = sizes_of(input);
  sizes.back() = weight.size(0);
  const Tensor x = run("reshape", for_each_row(input, c.rows), Dims{c.rows, -1, weight.size(1)});
  Tensor made = run("reshape", run("bmm", x, run("transpose", weight.tensor, 1, 2)), with_rows(c.rows, sizes));
  if (!c.is_none(2)) made = run("add", made, aligned(c.at(2), sizes.size()));
  c.give(made);
}

}  // namespace

std::span<const NamedRule> product_rules() {
  static constexpr NamedRule rules[] = {
      {"mm", mm},
      {"bmm", bmm},
      {"addmm", addmm},
      {"linear", linear},
  };
  return rules;
}

}  // namespace terra::recursive
