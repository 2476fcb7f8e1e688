// Ops that only gradients are made of.
#include "recursive/batching/batched_call.h"

namespace terra::recursive {
namespace {

void pad_slice(BatchedCall& c) {
  shift_dims(c, c.at(0).rank());
  c.list(1).insert(c.list(1).begin(), c.rows);
  c.emit();
}

/// The gradient of the input is that of rows; those of weight and bias are sums of each call's own.
void layer_norm_backward(BatchedCall& c) {
  c.refuse_rows(4);
  const Batched grad{for_each_row(c.at(0), c.rows), true}, input{for_each_row(c.at(1), c.rows), true};
  const graph::IntList shape = c.list(5);
  const size_t outer = input.rank() - shape.size();
  Dims norms = with_rows(c.rows, sizes_of(input));
  for (size_t d = outer + 1; d < norms.size(); ++d) norms[d] = 1;
  const Tensor mean = for_each_row(c.at(2), c.rows), rstd = for_each_row(c.at(3), c.rows);
  const Tensor scaled = run("mul", run("sub", input.tensor, run("reshape", mean, norms)), run("reshape", rstd, norms));
  c.args[0] = grad;
  c.args[1] = input;
  c.set(2, run("reshape", mean, Dims{-1}));
  c.set(3, run("reshape", rstd, Dims{-1}));
  c.emit();
  const auto of_each_call = [&](const Tensor& all) {
    Dims flat{c.rows, -1};
    for (int64_t s : shape) flat.push_back(s);
    return run("sum", run("reshape", all, flat), Dims{1});
  };
  c.results[1].tensor = of_each_call(run("mul", grad.tensor, scaled));
  c.results[2].tensor = of_each_call(grad.tensor);
}

/// By the element, whatever each call's loss is the sum or the mean of. `total`: the argument that a mean is divided
/// by, `reduction` the one that says which; `sizes` those of the scores.
void of_each_score(BatchedCall& c, size_t total, size_t reduction, const Dims& sizes) {
  const int64_t samples = sizes.size() == 1 ? 1 : sizes[0];
  Tensor grad = for_each_row(c.at(0), c.rows);
  if (c.text(reduction) == "mean") grad = run("div", grad, for_each_row(c.at(total), c.rows));
  if (c.text(reduction) != "none") grad = run("expand", run("reshape", grad, Dims{c.rows, 1}), Dims{c.rows, samples});
  c.set(0, run("reshape", grad, Dims{-1}));
  c.set(1, run("reshape", for_each_row(c.at(1), c.rows), Dims{-1}));
  c.args[total] = Batched{run("full", Dims{}, 1.0, grad.dtype())};
  c.args[reduction] = graph::NodeArg(std::string("none"));
}

void cross_entropy_backward(BatchedCall& c) {
  if (c.is_rows(2)) c.refuse("weighs classes in each call in its own way");
  const Batched scores{for_each_row(c.at(4), c.rows), true};
  const Dims sizes = sizes_of(scores);
  of_each_score(c, 3, 5, sizes);
  c.set(4, stacked(scores));
  c.emit();
  c.results[0].tensor = run("reshape", c.results[0].tensor, with_rows(c.rows, sizes));
}

void nll_loss_backward(BatchedCall& c) {
  if (c.is_rows(2)) c.refuse("weighs classes in each call in its own way");
  graph::IntList& given = c.list(4);
  const Dims sizes(given);
  if (sizes.size() > 2) c.refuse("is of images");
  of_each_score(c, 3, 5, sizes);
  given = {c.rows * (sizes.size() == 1 ? 1 : sizes[0]), sizes.back()};
  c.emit();
  c.results[0].tensor = run("reshape", c.results[0].tensor, with_rows(c.rows, sizes));
}

}  // namespace

std::span<const NamedRule> gradient_rules() {
  static constexpr NamedRule rules[] = {
      {"pad_slice", pad_slice},
      {"softmax_backward", along_dims},
      {"log_softmax_backward", along_dims},
      {"layer_norm_backward", layer_norm_backward},
      {"cross_entropy_backward", cross_entropy_backward},
      {"nll_loss_backward", nll_loss_backward},
  };
  return rules;
}

}  // namespace terra::recursive
