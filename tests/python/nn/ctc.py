# run: --torch
"""The CTC loss: all forms of targets and lengths, reductions, infinite losses, gradients, errors as PyTorch's; and its
gradient against differences."""

import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

T, N, C = 7, 3, 5
LOGITS = (torch.arange(1.0, 1 + T * N * C, dtype=torch.float64) ** 1.3).reshape(T, N, C).sin() * 2
PADDED = torch.tensor([[1, 2, 2], [3, 3, 3], [4, 1, 2]])
INPUTS, TARGETS = torch.tensor([7, 6, 5]), torch.tensor([3, 2, 1])
JOINED = torch.tensor([1, 2, 2, 3, 3, 4])


def run(targets, input_lengths, target_lengths, logits=LOGITS, dtype=torch.float64, **kwargs):
    x = logits.to(dtype).clone().requires_grad_()
    log_probs = F.log_softmax(x, -1)
    loss = F.ctc_loss(log_probs, targets, input_lengths, target_lengths, **kwargs)
    weights = torch.linspace(0.5, 1.5, loss.numel(), dtype=dtype).view(loss.shape)
    by_probs, by_logits = torch.autograd.grad((loss * weights).sum(), (log_probs, x))
    return [loss, by_probs, by_logits]


def losses():
    for reduction in ("none", "mean", "sum"):
        yield f"padded {reduction}", run(PADDED, INPUTS, TARGETS, reduction=reduction)
        yield f"joined {reduction}", run(JOINED, (7, 6, 5), (3, 2, 1), reduction=reduction)
    yield "float32, int32", run(PADDED.int(), INPUTS.int(), TARGETS.int(), dtype=torch.float32)
    yield "another blank", run(PADDED - 1, INPUTS, TARGETS, blank=4)
    yield "a batch of one", run(JOINED[:3], (7,), (3,), LOGITS[:, 0], reduction="none")
    yield "  its lengths as numbers", run(JOINED[:3], torch.tensor(7), torch.tensor(3), LOGITS[:, 0])
    yield "nothing to read", run(PADDED, INPUTS, torch.tensor([0, 2, 0]), reduction="none")
    yield "nothing to read from", run(PADDED, torch.tensor([7, 0, 5]), torch.tensor([3, 0, 1]), reduction="none")
    short = torch.tensor([7, 2, 0])  # the second repeats a label and has no frame to tell so
    yield "too short", run(PADDED, short, TARGETS, reduction="none")[0]
    for reduction in ("none", "mean", "sum"):
        yield f"  as zeros {reduction}", run(PADDED, short, TARGETS, reduction=reduction, zero_infinity=True)
    layer = nn.CTCLoss(blank=1, reduction="sum", zero_infinity=True)
    yield repr(layer), layer(F.log_softmax(LOGITS, -1), PADDED * 0 + 3, INPUTS, TARGETS)
    strided = F.log_softmax(LOGITS, -1).transpose(0, 1).contiguous().transpose(0, 1)
    yield "strided", F.ctc_loss(strided, PADDED.t().contiguous().t(), INPUTS, TARGETS)


p = F.log_softmax(LOGITS, -1)
I, O = (7, 6, 5), (3, 2, 1)
ERRORS = """
F.ctc_loss(p, JOINED, I, (3, 3, 1)) | F.ctc_loss(p, JOINED, I, (3, 1, 1)) | F.ctc_loss(p, PADDED, (8, 6, 5), O)
F.ctc_loss(p, PADDED, I, (4, 2, 1)) | F.ctc_loss(p, PADDED, (-1, 6, 5), O) | F.ctc_loss(p, PADDED, I, (-1, 2, 1))
F.ctc_loss(p, PADDED, (7, 6), O) | F.ctc_loss(p, PADDED, I, (3, 2)) | F.ctc_loss(p, PADDED[:2], INPUTS, TARGETS)
F.ctc_loss(p, PADDED, INPUTS, TARGETS, blank=5) | F.ctc_loss(p, PADDED, I, O, blank=-1) | F.ctc_loss(p, PADDED, I, O, reduction='x')
F.ctc_loss(p, PADDED, INPUTS.double(), TARGETS) | F.ctc_loss(p, PADDED.unsqueeze(2), I, O) | F.ctc_loss(p[:, :0], PADDED[:0], (), ())
F.ctc_loss(p.long(), PADDED, I, O)
"""


def differences():
    """The gradient by the scores is that of the loss."""
    step = 1e-5
    x = LOGITS.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(F.ctc_loss(F.log_softmax(x, -1), PADDED, INPUTS, TARGETS, reduction="sum"), x)
    worst = 0.0
    for i in range(0, LOGITS.numel(), 4):
        moved = [LOGITS.clone() for _ in range(2)]
        for x, sign in zip(moved, (1, -1)):
            x.view(-1)[i] += sign * step
        losses = [F.ctc_loss(F.log_softmax(x, -1), PADDED, INPUTS, TARGETS, reduction="sum").item() for x in moved]
        worst = max(worst, abs((losses[0] - losses[1]) / (2 * step) - gradient.view(-1)[i].item()))
    yield "differences", worst < 1e-7


def twice():
    """PyTorch has no second derivative either."""
    x = LOGITS.clone().requires_grad_()
    loss = F.ctc_loss(F.log_softmax(x, -1), PADDED, INPUTS, TARGETS)
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    try:
        g.sum().backward()
        yield "twice", "went through"
    except Exception as error:
        yield "twice", isinstance(error, RuntimeError)


check([*losses(), *outcomes(ERRORS, globals()), *differences(), *twice()], __file__)
