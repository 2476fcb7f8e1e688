# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
# run: --torch --capture=verify
"""Hooks on tensors and nodes and retain_grad() in every order, on what is computed, on views and on leaves: who sees which
gradient, as PyTorch has it."""

import itertools
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []
CALLS = 6


# ---- what a program does to a tensor, one letter each ----------------------------------------------------------------

class Doing:
    """`steps` done to a tensor; what its functions saw is kept."""

    def __init__(self):
        self.seen, self.handles = [], []

    def see(self, name, factor):
        def hook(g):
            self.seen.append((name, g.tolist()))
            return None if factor is None else g * factor
        return hook

    def step(self, t, letter, number):
        if letter == "d":  # doubles
            self.handles.append(t.register_hook(self.see("d", number + 2)))
        elif letter == "n":  # returns None
            self.handles.append(t.register_hook(self.see("n", None)))
        elif letter == "x":  # takes the first handle off again
            if self.handles:
                self.handles.pop(0).remove()
        elif letter == "r":
            t.retain_grad()
        elif letter == "i":  # in place: another node of the tape
            t.mul_(3)
        elif letter == "p" and t.grad_fn is not None:  # of the node, before it runs
            t.grad_fn.register_prehook(lambda gs: tuple(g * 7 for g in gs))


def computed(w):
    return w * 2


def view(w):
    return (w * 2)[1:]


def one_of_two(w):
    return (w * 2).split(2)[0]


def run(make, steps, w, ask):
    w.grad = None
    done = Doing()
    h = make(w)
    for number, letter in enumerate(steps):
        done.step(h, letter, number)
    loss = (torch.sin(h) * h).sum()
    got = ask(loss, h, w)
    grad = None if h.grad is None else h.grad.tolist()
    return got, grad, None if w.grad is None else w.grad.tolist(), done.seen


def backward(loss, h, w):
    loss.backward()


def backward_twice(loss, h, w):
    loss.backward(retain_graph=True)
    loss.backward()


def backward_to_inputs(loss, h, w):
    loss.backward(inputs=[w])


def grad_of_leaf(loss, h, w):
    return torch.autograd.grad(loss, w)[0].tolist()


def grad_of_both(loss, h, w):
    return [g.tolist() for g in torch.autograd.grad(loss, [h, w])]


def grad_of_computed(loss, h, w):
    return torch.autograd.grad(loss, h)[0].tolist()


def rounded(value):
    if isinstance(value, float):
        return round(value, 6) + 0.0
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    return value


def add(name, f, calls=CALLS):
    """`f` is called with other numbers each time; after three calls and more it runs captured, where it can."""
    for i in range(calls):
        w = (torch.arange(4.0) * 0.25 + 0.5 * i).requires_grad_()
        try:
            value = f(w)
        except RuntimeError as error:
            value = str(error)[:60]
        if i in (0, calls - 2, calls - 1):
            items.append((f"{name} {i}", str(rounded(value))))


for make in computed, view, one_of_two:
    for length in 1, 2, 3:
        for steps in itertools.product("dnri", repeat=length):
            if "i" in steps and make is not computed:  # of a view it changes the history of the base, which others may not have
                continue
            add(f"{make.__name__} {''.join(steps)}", lambda w, m=make, s=steps: run(m, s, w, backward), calls=4)
for steps in "rdx", "drx", "dxr", "ddxr", "rndx", "prd", "rpd", "drp", "dpr", "rr", "rdrd", "drir", "rid", "dird":
    for ask in backward, backward_twice, backward_to_inputs, grad_of_leaf, grad_of_both, grad_of_computed:
        add(f"{steps} {ask.__name__}", lambda w, s=steps, a=ask: run(computed, s, w, a), calls=4)


# ---- the same with the hooks inside of a frame that is captured by itself ---------------------------------------------

def captured_late(w):
    h = w * 2
    h.register_hook(lambda g: g.clamp(max=0.5))
    h.retain_grad()
    (torch.sin(h) * h).sum().backward()
    return h.grad.tolist(), w.grad.tolist()


def captured_early(w):
    h = w * 2
    h.retain_grad()
    h.register_hook(lambda g: g.clamp(max=0.5))
    (torch.sin(h) * h).sum().backward()
    return h.grad.tolist(), w.grad.tolist()


def forward_late(w):
    h = w * 2
    h.register_hook(lambda g: g * 3)
    h.retain_grad()
    return h, torch.sin(h).sum()


def forward_then_backward(w):
    h, loss = forward_late(w)
    sys._getframe()
    loss.backward()
    return h.grad.tolist(), w.grad.tolist()


def forward_written(w):
    h = w * 2
    h.register_hook(lambda g: g * 3)
    h.retain_grad()
    h.mul_(2)
    return h, torch.sin(h).sum()


def forward_written_then_backward(w):
    h, loss = forward_written(w)
    sys._getframe()
    loss.backward()
    return h.grad.tolist(), w.grad.tolist()


for f in captured_late, captured_early, forward_then_backward, forward_written_then_backward:
    add(f.__name__, f, calls=10)


# ---- leaves, and modules ----------------------------------------------------------------------------------------------

def leaf(order):
    def f(w):
        seen = []
        v = w.detach().clone().requires_grad_()
        for letter in order:
            if letter == "a":
                v.register_post_accumulate_grad_hook(lambda p: seen.append(("after", p.grad.tolist())))
            elif letter == "r":
                v.retain_grad()
            else:
                v.register_hook(lambda g: (seen.append(("hook", g.tolist())), g * 3)[1])
        (v * v).sum().backward(retain_graph=True)
        first = v.grad.tolist()
        asked = torch.autograd.grad((v * v).sum(), v)[0].tolist()
        return first, asked, seen, v.retains_grad
    return f


for order in itertools.permutations("adr"):
    add("leaf " + "".join(order), leaf(order), calls=4)


def module_hooks(w):
    seen = []
    net = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.arange(float(p.numel())).view_as(p) * 0.1)
    handles = [
        net[0].register_full_backward_hook(lambda m, i, o: seen.append(("full", [g.tolist() for g in o]))),
        net[1].register_full_backward_pre_hook(lambda m, o: tuple(g * 2 for g in o)),
        net[1].register_full_backward_hook(lambda m, i, o: tuple(g * 3 for g in i)),
    ]
    x = w.detach().clone().requires_grad_()
    y = net(x)
    y.register_hook(lambda g: g + 1)
    y.retain_grad()
    y.sum().backward()
    for handle in handles:
        handle.remove()
    net(x).sum().backward()
    return y.grad.tolist(), x.grad.tolist(), net[0].weight.grad.tolist(), seen


add("module", module_hooks)

check(items, __file__)
print(f"{len(items)} passed")
