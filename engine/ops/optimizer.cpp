#include "engine/ops/optimizer.h"

#include "engine/ops/inference.h"

namespace terra::ops {
namespace {

/// One result for each tensor that the record says is written, in order; all lists run beside the parameters.
void written(Inference& f) {
  const std::span<const Tensor> params = f.tensors(0);
  for (size_t p = 0; p < f.op.sig().params.size(); ++p) {
    if (f.op.sig().params[p].type != ParamType::TensorList) continue;
    const std::span<const Tensor> list = f.tensors(static_cast<int>(p));
    check(list.size() == params.size() || (list.empty() && p == 2),
          "{}: the list '{}' has {} tensors, but there are {} parameters.", f.op.name, f.op.sig().params[p].name,
          list.size(), params.size());
    for (size_t i = 0; i < list.size(); ++i) {
      check(list[i].sizes() == params[i].sizes(), "{}: tensor {} of '{}' has shape {}, but its parameter has shape {}.",
            f.op.name, i, f.op.sig().params[p].name, to_string(list[i].sizes()), to_string(params[i].sizes()));
      if (f.op.writes >> p & 1) f.result(list[i].dtype(), list[i].sizes());
    }
  }
}

}  // namespace

const Op sgd_update{{.name = "sgd_update",
                     .signature = "(Tensor[] params, Tensor[] grads, Tensor[] momentum_buffers, Number lr, "
                                  "Number momentum, Number dampening, Number weight_decay, bool nesterov, "
                                  "bool maximize, bool first) -> Tensor[]",
                     .doc = "One step of gradient descent with momentum for every parameter, in place; no buffers are "
                            "given without momentum, and `first` starts them.",
                     .example = "",
                     .flags = kNoGradient,
                     .shape = written,
                     .writes = saves({0, 2})}};

const Op adam_update{{.name = "adam_update",
                      .signature = "(Tensor[] params, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, "
                                   "Number step, Number lr, Number beta1, Number beta2, Number eps, "
                                   "Number weight_decay, bool decoupled, bool maximize) -> Tensor[]",
                      .doc = "One step of Adam for every parameter, in place; `decoupled` weight decay makes it AdamW.",
                      .example = "",
                      .flags = kNoGradient,
                      .shape = written,
                      .writes = saves({0, 2, 3})}};

}  // namespace terra::ops
