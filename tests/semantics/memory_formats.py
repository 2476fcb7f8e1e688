# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Layouts of what captured calls give: strides are those of plain execution, whatever the graph computed in."""
import terra
from _gradients import Seen, t
from _harness import main, program
from terra import nn
from terra.nn import functional as F

last, rows = terra.channels_last, terra.contiguous_format


def images(i, *sizes):
    return t(i, terra.Size(sizes).numel()).view(sizes)


def shown(x):
    return list(x.stride()), x.is_contiguous(), x.is_contiguous(memory_format=last) if x.dim() == 4 else None, x


def inference(name, function, batch, **expected):
    def program_of():
        def f(x):
            return [shown(y) for y in function(x)]
        f.__code__ = f.__code__.replace()
        return f, batch, None
    program_of.__name__ = name
    program(**expected)(program_of)


def turned(i):
    return (images(i, 3, 4).t(),)


def pixels(i):
    return (images(i, 2, 3, 4, 5).to(memory_format=last),)


inference("elementwise", lambda x: (x + 1, x * x, (x * 2).exp() - x, x + terra.ones(4, 3), terra.ones(4, 3) + x), turned)
inference("converted", lambda x: (x.clone(), x.clone(memory_format=rows), x.contiguous(), x.to(terra.float64), terra.zeros_like(x), terra.full_like(x, 2.0)), pixels)
inference("to_last", lambda x: (x.to(memory_format=last), x.contiguous(memory_format=last) * 2, x.double(memory_format=last)), lambda i: (images(i, 2, 3, 4, 5),))
inference("pooled", lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 1).flatten(1), F.interpolate(x, scale_factor=2)), pixels)
inference("joined", lambda x: (terra.cat([x, x * 2], 1), x[:, 1:].relu(), x.permute(0, 2, 3, 1) + 1, (x + 1).permute(0, 2, 3, 1).view(-1, 3)), pixels)
inference("in_place", lambda x: ((x * 2).relu_(), (x + 1).mul_(3).add_(x), x.clone().clamp_(0, 1)), pixels)
inference("parts_of_results", lambda x: ((x * 2)[:, 0], (x * 2)[0].permute(1, 2, 0), (x * 3).flatten(2), (x * 3).unbind(1)[1]), pixels)


@program(calls=10)
def numbers_that_vary():
    """A number that becomes an operand of the graph is no operand where results take their layout from those."""
    number = [0]
    def f(x):
        low = number[0]
        return [shown(y) for y in (x.clamp(low, 9.0), x.clamp(max=low), x + low, x * low)]
    def batch(i):
        number[0] = i % 4 - 1
        return (images(i, 1, 3).permute(1, 0),)
    return f, batch, None


@program()
def kept_view_and_base():
    """A result and a view of it share memory, whatever order that is in."""
    def f(x):
        y = x * 2
        z = y.permute(0, 2, 3, 1)
        y[:, 0] = 5
        z[0, 0, 0, 1] = 7
        return y, z, list(y.stride()), list(z.stride())
    return f, pixels, None


@program()
def written_behind():
    """The program writes into what a captured call gave."""
    def f(x):
        y = terra.relu(x + 1)
        return y, y.view_as(y).permute(0, 2, 3, 1)
    def g(x):
        y, z = f(x)
        z.view(-1, 3)[:, 0] = 9
        return y, list(y.stride())
    return g, pixels, None


@program()
def asked_inside():
    """Python goes by the layout."""
    def f(x):
        y = x + 1
        if y.is_contiguous(memory_format=last) and not y.is_contiguous():
            return y.permute(0, 2, 3, 1).reshape(-1, y.size(1)).sum(0), y.stride(1)
        return y.flatten(2).sum(2), y.stride(1)
    return f, lambda i: (images(i, 2, 3, 4, 5).to(memory_format=last if i % 2 else rows),), None


def trains(name, make, batch, calls=8):
    def program_of():
        terra.manual_seed(1)
        model = make().to(memory_format=last)
        optimizer = terra.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        def f(x):
            optimizer.zero_grad()
            y = model(x)
            loss = y.pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.item(), list(y.stride()), [list(p.grad.stride()) for p in model.parameters()]
        f.__code__ = f.__code__.replace()
        return f, batch, Seen(model)
    program_of.__name__ = name
    program(calls=calls)(program_of)


def block():
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 1), nn.MaxPool2d(2))


trains("block", block, pixels)
trains("head", lambda: nn.Sequential(nn.Conv2d(3, 2, 3), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2)), pixels)


@program(calls=8)
def forward_then_backward():
    """The captured forward and its backward are apart: saved values, gradients and results have their layouts."""
    terra.manual_seed(2)
    model = block().to(memory_format=last)
    def f(x):
        return model(x)
    def g(x):
        x = x.clone().requires_grad_()
        y = f(x)
        (y * y).sum().backward()
        return y, list(y.stride()), x.grad, list(x.grad.stride()), [list(p.grad.stride()) for p in model.parameters()]
    return g, pixels, Seen(model)


main()
