# run: --torch
# run: --torch --capture=verify
"""What programs are warned of: old names and arguments, sizes that broadcast, steps in the wrong order."""

import pathlib
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import lr_scheduler as schedules

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

x = torch.ones(2, 3, requires_grad=True)
y, f, image = x * 2, torch.ones(2, 2), torch.ones(1, 1, 2, 2)
sgd = torch.optim.SGD([x], 0.1)


class Own(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    def step(self):
        pass


def scheduled(order, optimizer=None):
    """o: a step of the optimizer, s: of its scheduler."""
    optimizer = optimizer or torch.optim.SGD([x], 0.1, momentum=0.9)
    scheduler = schedules.StepLR(optimizer, 1)
    for letter in order:
        (optimizer if letter == "o" else scheduler).step()
    return scheduler.get_last_lr()


def in_sequence():
    optimizer = torch.optim.Adam([x], 0.1)
    both = [schedules.ConstantLR(optimizer), schedules.ExponentialLR(optimizer, 0.9)]
    scheduler = schedules.SequentialLR(optimizer, both, [2])
    for _ in range(4):
        optimizer.step()
        scheduler.step()


def no_grad_number():
    with torch.no_grad():
        return float(torch.ones((), requires_grad=True))


class Context(torch.utils._contextlib._DecoratorContextManager):
    __enter__ = __exit__ = lambda *given: None


def decorated_class():
    return Context()(Own)([x]).defaults["lr"]


CALLS = """
torch.meshgrid(f[0], f[0]) ; torch.meshgrid(f[0], f[0]) ; torch.cross(torch.ones(2, 3), torch.ones(2, 3)) ; torch.ones(2, 3, 4).T ; y.grad ; y.grad
torch.ones(1).std() ; torch.ones(1).var() ; torch.std_mean(torch.ones(1)) ; torch.ones(2).std() ; torch.ones(2, 1).std(1)
torch.ones(3)[torch.tensor([1, 0, 1], dtype=torch.uint8)] ; no_grad_number() ; torch.no_grad()(Own) ; decorated_class() ; float(torch.ones((), requires_grad=True)) ; int(torch.ones((), requires_grad=True))
torch.from_numpy(np.broadcast_to(np.ones(2), (2, 2))) ; nn.Hardtanh(min_value=-1, max_value=1, min_val=-2) ; F.dropout2d(torch.ones(2, 3))
F.dropout2d(torch.ones(2, 3, 4)) ; F.dropout3d(torch.ones(2, 3)) ; F.kl_div(f, f) ; F.kl_div(f, f, reduction="batchmean") ; F.upsample(image, scale_factor=2)
F.gumbel_softmax(f, eps=1e-5) ; torch.range(0, 3) ; torch.chain_matmul(f, f) ; torch.lu(f) ; torch.set_default_tensor_type(torch.FloatTensor)
nn.utils.clip_grad_norm([x], 1.0) ; nn.utils.clip_grad_norm_([], 1.0) ; nn.utils.clip_grad_norm_(iter([]), 1.0) ; nn.utils.weight_norm(nn.Linear(2, 2))
nn.utils.stateless.functional_call(nn.Linear(2, 2), {}, (f,)) ; torch.cuda.amp.autocast() ; torch.cuda.amp.GradScaler() ; torch.cpu.amp.autocast()
torch.cuda.amp.custom_fwd(lambda a: a) ; nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1) ; nn.Linear(1, 1).state_dict(None)
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1, batch_first=True), 1) ; nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True), 1)
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True, norm_first=True), 1) ; nn.Conv2d(2, 2, 2, padding="same")(torch.ones(1, 2, 3, 3))
scheduled("s") ; scheduled("os") ; scheduled("ss") ; scheduled("sos") ; scheduled("oos") ; scheduled("os", Own([x])) ; in_sequence()
schedules.StepLR(sgd, 1).get_lr() ; schedules.ExponentialLR(sgd, 0.9).get_lr() ; schedules.ReduceLROnPlateau(sgd).step(1.0, 3)
schedules.CosineAnnealingLR(sgd, 3).get_lr() ; schedules.OneCycleLR(sgd, 1.0, 10, cycle_momentum=False).get_lr()
torch.utils.data.DataLoader([1], num_workers=99).num_workers ; F.mse_loss(torch.ones(2, 1), torch.ones(2)) ; F.sigmoid(f) ; nn.Module().register_backward_hook(print)
"""
items = []
for text in CALLS.replace("\n", " ; ").strip(" ;").split(" ; "):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            eval(text)
            error = ""
        except Exception as failure:
            error = f"{type(failure).__name__} {failure}"
    told = [f"{each.category.__name__} {str(each.message).partition(' (Triggered')[0]}" for each in given]
    items.append((text, f"{error} {told}"))
check(items, __file__)
