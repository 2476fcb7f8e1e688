#include "engine/ops/ctc.h"

#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

constexpr std::string_view kWhile = "(while checking arguments for ctc_loss_allocate_outputs)";

/// log_probs, targets, input_lengths and target_lengths are parameters first .. first + 3, blank the next.
void check_operands(Inference& f, int first) {
  const auto sizes = f.sizes(first), targets = f.sizes(first + 1);
  check(sizes.size() == 3,
        "Expected 3-dimensional tensor, but got {}-dimensional tensor for argument #1 'log_probs' {}", sizes.size(),
        kWhile);
  check(f.impl(first).numel > 0, "log_probs tensor must not be empty");
  check_kind(is_floating(f.dtype(first)), ErrorKind::NotImplementedError, "\"ctc_loss_cpu\" not implemented for '{}'",
             scalar_type_name(f.dtype(first)));
  check(targets.size() == 1 || targets.size() == 2,
        "Expected 1 to 2 dimensions, but got {}-dimensional tensor for argument #2 'targets' {}", targets.size(),
        kWhile);
  check(targets.size() == 1 || targets[0] == sizes[1],
        "Expected tensor to have size {} at dimension 0, but got size {} for argument #2 'targets' {}", sizes[1],
        targets[0], kWhile);
  static constexpr std::string_view kLengths[] = {"input_lengths", "target_lengths"};
  for (int i = 0; i < 2; ++i) {
    check(f.rank(first + 2 + i) == 1 && f.sizes(first + 2 + i)[0] == sizes[1], "{} must be of size batch_size",
          kLengths[i]);
    check(f.dtype(first + 2 + i) == DType::I64, "{} must be integral", kLengths[i]);
  }
  check(f.dtype(first + 1) == DType::I64, "expected scalar type Long but found {}",
        scalar_type_name(f.dtype(first + 1)));
  const int64_t blank = f.integer(first + 4);
  check(blank >= 0 && blank < sizes[2], "blank must be in label range");
}
void each_shape(Inference& f) {
  check_operands(f, 0);
  f.result(f.dtype(0), Dims{f.sizes(0)[1]});
}
void backward_shape(Inference& f) {
  check_operands(f, 1);
  check(f.rank(0) == 1 && f.sizes(0)[0] == f.sizes(1)[1] && f.dtype(0) == f.dtype(1),
        "{}: a gradient of size {} isn't that of {} losses", f.op.name, listed(f.sizes(0)), f.sizes(1)[1]);
  f.result(f.dtype(1), Dims(f.sizes(1)));
}

void each_gradient(Backward& b) {
  b.set(0, ctc_loss_backward(b.grad(), b.in(0), b.in(1), b.in(2), b.in(3), b.arg(4), b.arg(5)));
}
void backward_gradient(Backward&) {
  fail(ErrorKind::NotImplementedError, "the derivative for ctc_loss_backward is not implemented");
}

}  // namespace

const Op ctc_loss_each{
    {.name = "ctc_loss_each",
     .signature = "(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, bool "
                  "zero_infinity=False) -> Tensor",
     .doc = "-log of the probability that frames [T, N, C] read as each target: blanks and repetitions left out.",
     .example = "",
     .flags = kChecksValues,
     .shape = each_shape,
     .gradient = each_gradient,
     .saved = saves({0, 1, 2, 3}),
     .grad_fn = "CtcLossBackward0",
     .samples = {{"randn(5, 2, 4).log_softmax(-1), randint(1, 4, (2, 2)), terra.tensor([5, 4]), terra.tensor([2, 1])",
                  "float", false},
                 {"randn(6, 3, 4).log_softmax(-1), terra.tensor([0, 3, 3, 1]), terra.tensor([6, 0, 2]), "
                  "terra.tensor([3, 0, 1]), 2, True",
                  "float", false}}}};
const Op ctc_loss_backward{
    {.name = "ctc_loss_backward",
     .signature = "(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int "
                  "blank, bool zero_infinity) -> Tensor",
     .doc = "The gradient of ctc_loss_each by what log_probs are the log_softmax of: probabilities minus those of the "
            "paths that read as the target.",
     .example = "",
     .flags = kChecksValues,
     .shape = backward_shape,
     .gradient = backward_gradient,
     .samples = {{"randn(2), randn(5, 2, 4).log_softmax(-1), randint(1, 4, (2, 2)), terra.tensor([5, 4]), "
                  "terra.tensor([2, 1]), 0, False",
                  "float", false}}}};

}  // namespace terra::ops
