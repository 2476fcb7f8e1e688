#include "engine/ops/optimizer.h"

#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

void check_pairs(Inference& f, int list) {
  const auto params = f.tensors(0), others = f.tensors(list);
  check(params.size() == others.size(), "{} got {} parameters but {} {}", f.op.name, params.size(), others.size(),
        f.op.sig().params[static_cast<size_t>(list)].name);
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].sizes() == others[i].sizes() && params[i].dtype() == others[i].dtype()) continue;
    fail(ErrorKind::RuntimeError, "{}: parameter {} is {}, but number {} of {} is {}", f.op.name, i,
         describe(params[i]), i, f.op.sig().params[static_cast<size_t>(list)].name, describe(others[i]));
  }
}
void results_like(Inference& f, int list) {
  for (const Tensor& t : f.tensors(list)) f.result(t.dtype(), t.sizes());
}

void sgd_shape(Inference& f) {
  check_pairs(f, 1);
  if (!f.tensors(2).empty()) check_pairs(f, 2);
  results_like(f, 0);
  results_like(f, 2);
}
void adam_shape(Inference& f) {
  for (int list : {1, 2, 3}) check_pairs(f, list);
  for (int list : {0, 2, 3}) results_like(f, list);
}

}  // namespace

const Op sgd_update{
    {.name = "sgd_update",
     .signature = "(Tensor[] params, Tensor[] grads, Tensor[] momentum_buffers, Number lr, float momentum, "
                  "float dampening, float weight_decay, bool nesterov, bool maximize, bool first) -> Tensor[]",
     .doc = "One step of stochastic gradient descent; `first`: the buffers start with the gradients.",
     .example = "",
     .flags = kNoGradient,
     .shape = sgd_shape,
     .writes = saves({0, 2}),
     .samples = {{"[randn(3)], [randn(3)], [randn(3)], 0.1, 0.9, 0.0, 0.01, False, False, False", "float", false},
                 {"[randn(3), randn(2, 2)], [randn(3), randn(2, 2)], [], 0.1, 0.0, 0.0, 0.0, False, False, True",
                  "float", false}}}};
const Op adam_update{
    {.name = "adam_update",
     .signature = "(Tensor[] params, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Number step, "
                  "Number lr, float beta1, float beta2, float eps, float weight_decay, bool decoupled, bool "
                  "maximize) -> Tensor[]",
     .doc = "Step number `step` of Adam; `decoupled`: weight decay as in AdamW.",
     .example = "",
     .flags = kNoGradient,
     .shape = adam_shape,
     .writes = saves({0, 2, 3}),
     .samples = {{"[randn(3)], [randn(3)], [randn(3)], [rand(3)], 3, 0.1, 0.9, 0.999, 1e-8, 0.01, False, False",
                  "float", false}}}};

}  // namespace terra::ops
