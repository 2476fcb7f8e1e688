#include "engine/ops/recurrent.h"

#include <algorithm>
#include <utility>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/creation.h"
#include "engine/ops/matmul.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

/// Operand i is of those sizes, and of the dtype of operand `other`.
void check_operand(Inference& f, int i, int other, const Dims& sizes) {
  check(Dims(f.sizes(i)) == sizes, "{}: {} should have size {}, but has {}", f.op.name,
        f.op.sig().params[static_cast<size_t>(i)].name, listed(sizes), listed(f.sizes(i)));
  check(f.dtype(i) == f.dtype(other), "{}: expected scalar type {} but found {}", f.op.name,
        scalar_type_name(f.dtype(other)), scalar_type_name(f.dtype(i)));
}

void layer_shape(Inference& f) {
  check(f.rank(0) == 3 && f.rank(1) == 2, "{}: expected steps of 3 dimensions and a weight of 2, but got {} and {}",
        f.op.name, f.rank(0), f.rank(1));
  check_kind(is_floating(f.dtype(0)), ErrorKind::NotImplementedError, "\"{}\" not implemented for '{}'", f.op.name,
             scalar_type_name(f.dtype(0)));
  const int64_t steps = f.sizes(0)[0], examples = f.sizes(0)[1], cells = f.sizes(1)[1];
  const int64_t gates = size_product(4, cells);
  check_operand(f, 1, 0, {gates, cells});
  check_operand(f, 0, 0, {steps, examples, gates});
  for (int i : {2, 3}) check_operand(f, i, 0, {examples, cells});
  for (const int64_t width : {cells, cells, gates}) f.result(f.dtype(0), Dims{steps, examples, width});
}
void layer_backward_shape(Inference& f) {
  check(f.rank(5) == 3, "{}: expected cells of 3 dimensions, but got {}", f.op.name, f.rank(5));
  check_kind(is_floating(f.dtype(5)), ErrorKind::NotImplementedError, "\"{}\" not implemented for '{}'", f.op.name,
             scalar_type_name(f.dtype(5)));
  const int64_t steps = f.sizes(5)[0], examples = f.sizes(5)[1], n = f.sizes(5)[2];
  const Dims states{steps, examples, n}, gates{steps, examples, size_product(4, n)}, state{examples, n};
  const std::pair<int, Dims> operands[] = {{0, states}, {1, states}, {2, gates}, {3, Dims{size_product(4, n), n}},
                                           {4, state},  {6, gates}};
  for (const auto& [i, sizes] : operands)
    if (f.has(i)) check_operand(f, i, 5, sizes);
  for (const Dims& sizes : {gates, state, state}) f.result(f.dtype(5), sizes);
}

/// The states before each step, of a first one and those behind the steps.
Tensor states_before(const Tensor& first, const Tensor& states, bool reversed) {
  if (states.size(0) == 0) return states;
  const Tensor start = unsqueeze(first, 0);
  const int64_t others = states.size(0) - 1;
  if (reversed) return cat(std::vector{narrow(states, 0, 1, others), start});
  return cat(std::vector{start, narrow(states, 0, 0, others)});
}

/// By the steps' sums, the first hidden state and the first cells.
struct Gradients {
  Tensor sums, hidden, cell;
};

/// In ops, so that it can be differentiated again. Undefined gradients are zero.
Gradients differentiable(const Tensor& by_output, const Tensor& by_cells, const Tensor& by_gates, const Tensor& weight,
                         const Tensor& first_cell, const Tensor& cells, const Tensor& gates, bool reversed) {
  const int64_t steps = cells.size(0), n = cells.size(2);
  const Tensor before = states_before(first_cell, cells, reversed);
  const auto plus = [](const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; };
  std::vector<Tensor> sums(static_cast<size_t>(steps));
  Tensor hidden, carried;
  for (int64_t turn = steps - 1; turn >= 0; --turn) {
    const int64_t t = reversed ? steps - 1 - turn : turn;
    const auto at = [t](const Tensor& all) { return all.defined() ? select(all, 0, t) : Tensor(); };
    const Tensor gates_here = at(gates), given = at(by_gates);
    const auto gate = [&](int64_t row) { return narrow(gates_here, 1, row * n, n); };
    const Tensor i = gate(0), f = gate(1), g = gate(2), o = gate(3), squashed = tanh(at(cells));
    hidden = plus(hidden, at(by_output));
    carried = plus(carried, at(by_cells));
    if (!hidden.defined()) hidden = zeros_like(squashed);
    carried = plus(carried, hidden * o * (1.0 - squashed * squashed));
    Tensor by_gate = cat(std::vector{carried * g, carried * at(before), carried * i, hidden * squashed}, 1);
    by_gate = plus(by_gate, given);
    const Tensor slopes = cat(std::vector{i * (1.0 - i), f * (1.0 - f), 1.0 - g * g, o * (1.0 - o)}, 1);
    sums[static_cast<size_t>(t)] = by_gate * slopes;
    carried = carried * f;
    hidden = matmul(sums[static_cast<size_t>(t)], weight);
  }
  return {stack(sums), hidden, carried};
}

void layer_gradient(Backward& b) {
  const Tensor weight = b.in(1), cell = b.in(3), cells = b.out(1), gates = b.out(2);
  const bool reversed = b.flag(4);
  const auto given = [&](int i) { return b.has_grad(i) ? b.grad(i) : Tensor(); };
  Gradients r;
  if (grad_enabled() && cells.numel() > 0) {
    r = differentiable(given(0), given(1), given(2), weight, cell, cells, gates, reversed);
  } else {
    const auto optional = [&](int i) { return b.has_grad(i) ? Arg(b.grad(i)) : Arg(); };
    const auto all =
        lstm_layer_backward.all(optional(0), optional(1), optional(2), weight, cell, cells, gates, b.arg(4));
    r = {all[0], all[1], all[2]};
  }
  b.set(0, r.sums);
  b.set(2, r.hidden);
  b.set(3, r.cell);
  if (!b.needs(1)) return;
  const Tensor before = states_before(b.in(2), b.out(0), reversed);
  const int64_t n = weight.size(1), rows = before.numel() / std::max<int64_t>(n, 1);
  b.set(1, matmul(t(reshape(r.sums, {rows, 4 * n})), reshape(before, {rows, n})));
}

/// PyTorch has a library compute layers of float32 on the host, and stacks the steps of others.
std::string_view layer_name(std::span<const Arg> args) {
  const TensorImpl& steps = *args[0].impl();
  return steps.dtype == DType::F32 && steps.device.is_cpu() ? "MkldnnRnnLayerBackward0" : "StackBackward0";
}

}  // namespace

const Op lstm_layer{
    {.name = "lstm_layer",
     .signature = "(Tensor steps, Tensor weight, Tensor hidden, Tensor cell, bool reversed=False) -> (Tensor output, "
                  "Tensor cells, Tensor gates)",
     .doc = "One pass of an LSTM over steps [T, N, 4 H], the sums of the inputs to the gates i, f, g and o.",
     .example = "",
     .shape = layer_shape,
     .gradient = layer_gradient,
     .saved = saves({1, 2, 3}) | saves_result(0) | saves_result(1) | saves_result(2),
     .grad_fn_of = layer_name,
     .samples = {{"randn(3, 2, 12), randn(12, 3), randn(2, 3), randn(2, 3)"},
                 {"randn(4, 1, 8), randn(8, 2), randn(1, 2), randn(1, 2), True"},
                 {"randn(1, 3, 76), randn(76, 19), randn(3, 19), randn(3, 19)"}}}};
const Op lstm_layer_backward{
    {.name = "lstm_layer_backward",
     .signature = "(Tensor? output_grad, Tensor? cells_grad, Tensor? gates_grad, Tensor weight, Tensor cell, Tensor "
                  "cells, Tensor gates, bool reversed) -> (Tensor steps_grad, Tensor hidden_grad, Tensor cell_grad)",
     .doc = "The gradients of lstm_layer but that of its weight.",
     .example = "",
     .flags = kNoGradient,
     .shape = layer_backward_shape,
     .samples = {{"randn(3, 2, 5), None, None, randn(20, 5), randn(2, 5), randn(3, 2, 5), rand(3, 2, 20), False",
                  "float", false},
                 {"randn(3, 2, 5), randn(3, 2, 5), randn(3, 2, 20), randn(20, 5), randn(2, 5), randn(3, 2, 5), "
                  "rand(3, 2, 20), True",
                  "float", false}}}};

}  // namespace terra::ops
