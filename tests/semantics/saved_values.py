# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""What a forward frame has saved is written before its gradient is asked for: the same error as without capture, and none
where none is due; what is written behind the tape's back is what gradients are computed from."""
import sys

import terra
import terra.nn.functional as F
from _gradients import leaf, t
from _harness import main, program
from terra import nn

CALLS = 12
w = leaf(1)


# ---- forward frames: what they return, the loss first ----------------------------------------------------------------

def result_of_a_product(x):
    y = w * x
    return (y * y).sum(), y


def result_that_saves_itself(x):
    y = terra.sigmoid(w * x)
    return y.sum(), y


def rectified(x):
    y = F.relu(w * x)
    return y, y


def part_of_what_is_saved(x):
    y = w * x
    return y * y, y[1:]


def part_of_what_is_not(x):
    y = w * x
    return y.exp(), y[1:]


def nothing_saved(x):
    y = w * x
    return y.sum() * 2, y


def read_by_another_loss(x):
    y = w * x
    return (y * 2).sum(), y.exp()


def saved_by_one_of_two(x):
    y = w * x
    return y.exp().sum(), (y * y).sum(), y


def detached(x):
    y = w * x
    return (y * y).sum(), y.detach()


def data_of_it(x):
    y = w * x
    return (y * y).sum(), y.data


def reshaped(x):
    y = terra.tanh(w * x)
    return y.sum(), y.view(3, 1)


def saved_argument(x):
    return (w * x).sum() * 3, x


def sum_with_the_argument(x):
    return (w + x).exp().sum(), x


def of_a_copy_of_the_argument(x):
    return (w * (x + 1)).sum(), x


def softmax_of_it(x):
    y = F.softmax(w * x, 0)
    return (y * terra.arange(3.0)).sum(), y


def same_thing_twice(x):
    a, b = (w * x).exp(), (w * x).exp()
    return (a * 2).sum(), b


def biggest(x):
    value, place = terra.max(w * x, 0)
    return value * 2, place


def weight_itself(x):
    return (w * w * x).sum(), w


def weight_that_no_gradient_reads(x):
    return (w * x).sum(), w.detach()


def weight_of_a_layer(x):
    return F.linear(x, w.reshape(1, 3)).sum(), w.detach()


FORWARDS = [result_of_a_product, result_that_saves_itself, rectified, part_of_what_is_saved, part_of_what_is_not,
            nothing_saved, read_by_another_loss, saved_by_one_of_two, detached, data_of_it, reshaped, saved_argument,
            sum_with_the_argument, of_a_copy_of_the_argument, softmax_of_it, same_thing_twice, biggest, weight_itself,
            weight_that_no_gradient_reads, weight_of_a_layer]


# ---- what the caller does with the last of them ----------------------------------------------------------------------

def adds(y):
    y.add_(1)


def writes_an_element(y):
    y[..., :1] = 0


def writes_data(y):
    y.data.mul_(2)


def writes_a_view(y):
    y.view(-1)[0] = 5


def writes_twice(y):
    y.mul_(2)
    y.sub_(1)


def moves_data(y):
    y.data = y.data * 3


def nothing(y):
    pass


WRITES = [adds, writes_an_element, writes_data, writes_a_view, writes_twice, moves_data, nothing]


def first_loss(made):
    made[0].sum().backward()


def both_losses(made):
    made[1].sum().backward(retain_graph=True)
    made[0].sum().backward()


def kept_and_again(made):
    made[0].sum().backward(retain_graph=True)
    made[-1].detach().mul_(0) if made[-1].is_floating_point() else None
    made[0].sum().backward()


def add(forward, write, ask):
    def build():
        w.data = t(1)
        own = type(forward)(forward.__code__.replace(), forward.__globals__, forward.__name__)
        def f(x):
            here = sys._getframe()
            w.grad = None
            made = own(x)
            with terra.no_grad():
                write(made[-1])
            try:
                ask(made)
            except RuntimeError as error:
                return str(error)
            finally:
                w.data = t(1)
            return w.grad
        f.target = own
        return f, lambda i: (t(i) + 1,), None
    build.__name__ = f"{forward.__name__}_{write.__name__}_{ask.__name__}"
    program(calls=CALLS, captures=4)(build)


# The first time that gradients come for some results of a part only, the region is computed again: from what it read, and
# not from what has been made of its results since.
COMPUTED_AGAIN = {(part_of_what_is_saved, writes_data), (reshaped, writes_data)}
for forward in FORWARDS:
    for write in WRITES:
        if (forward, write) not in COMPUTED_AGAIN:
            add(forward, write, first_loss)
add(saved_by_one_of_two, adds, both_losses)
add(saved_by_one_of_two, nothing, both_losses)
for forward in result_of_a_product, result_that_saves_itself, nothing_saved, saved_argument:
    add(forward, nothing, kept_and_again)


@program(calls=CALLS, captures=None)
def written_by_the_frame_itself():
    net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Dropout(0.5, inplace=True))
    def f(x):
        net.zero_grad()
        loss = net(x).sum()
        loss.backward()
        return loss.item()
    def call(x):
        here = sys._getframe()
        try:
            return f(x)
        except RuntimeError as error:
            return str(error)
    call.target = f
    terra.manual_seed(0)
    return call, lambda i: (terra.ones(2, 3),), None


@program(calls=CALLS, captures=None)
def written_by_the_frame_and_differentiated_outside():
    def forward(x):
        y = terra.sigmoid(w * x)
        y.mul_(2)
        return y
    def f(x):
        here = sys._getframe()
        w.grad = None
        y = forward(x)
        try:
            y.sum().backward()
        except RuntimeError as error:
            return str(error), y.detach()
        return y.detach()
    f.target = forward
    return f, lambda i: (t(i),), None


if __name__ == "__main__":
    main()
