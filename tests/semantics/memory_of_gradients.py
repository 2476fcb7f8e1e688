# run: TERRA_EXACT=1 TERRA_CHAOS=memory=1
# run: TERRA_EXACT=1
"""New gradients in the memory of old ones, what backward uses up, tensors that only a recording knows: with every
tensor a large one."""
import sys
import weakref

import terra
from terra import nn

from _gradients import Near, Net, Seen, t
from _harness import main, program


def nets():
    net = Net()
    return net, terra.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


def step_of(net, optimizer):
    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


@program(calls=9, captures=4)
def replaced_at_each_step():
    net, optimizer = nets()
    return step_of(net, optimizer), lambda i: (t(i, 8).reshape(2, 4),), Seen(net)


@program(calls=9, captures=4)
def kept_by_the_program():
    net, optimizer = nets()
    kept = []

    def arguments(i):
        kept.extend(p.grad for p in net.parameters() if p.grad is not None)
        return (t(i, 8).reshape(2, 4),)
    return step_of(net, optimizer), arguments, (Seen(net), kept)


@program(calls=9, captures=4)
def a_part_is_kept():
    net, optimizer = nets()
    kept = []

    def arguments(i):
        if i % 2 and net.a.weight.grad is not None:
            kept.append(net.a.weight.grad[1])
            kept.append(net.b.bias.grad.detach())
        return (t(i, 8).reshape(2, 4),)
    return step_of(net, optimizer), arguments, (Seen(net), kept)


@program(calls=9, captures=4)
def written_and_counted_between():
    net, optimizer = nets()
    seen = []

    def arguments(i):
        if net.a.weight.grad is not None:
            net.a.weight.grad.mul_(2)
            seen.append([p.grad._version for p in net.parameters()])
        return (t(i, 8).reshape(2, 4),)
    return step_of(net, optimizer), arguments, (Seen(net), seen)


@program(calls=9, captures=3)
def referred_to_weakly():
    net, optimizer = nets()
    references, alive = [], []

    def arguments(i):
        alive.append([r() is not None for r in references])
        references.extend(weakref.ref(p.grad) for p in net.parameters() if p.grad is not None)
        return (t(i, 8).reshape(2, 4),)
    return step_of(net, optimizer), arguments, (Seen(net), alive)


@program(calls=10, captures=3)
def with_labels_out_of_range():
    net, optimizer = nets()
    seen = []

    def step(x, labels):
        loss = nn.functional.cross_entropy(net(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def guarded(x, labels):
        try:
            return step(x, labels)
        except IndexError as error:
            seen.append([p.grad.clone() for p in net.parameters()])
            return str(error)
    guarded.target = step
    return guarded, lambda i: (t(i, 8).reshape(2, 4), terra.tensor([1, 7 if i == 7 else 2])), (Seen(net), seen)


@program(calls=10, captures=3)
def embeddings_and_their_indices():
    terra.manual_seed(1)
    table, out = nn.Embedding(5, 4), nn.Linear(4, 3)
    optimizer = terra.optim.Adam([*table.parameters(), *out.parameters()], lr=0.1)
    seen = []

    def step(indices):
        optimizer.zero_grad()
        loss = out(table(indices)).square().sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    def guarded(indices):
        try:
            return step(indices)
        except IndexError as error:
            seen.append([p.grad for p in table.parameters()])
            return str(error)
    guarded.target = step
    return guarded, lambda i: (terra.tensor([i % 5, 9 if i == 8 else 1]),), (Seen(table, out), seen)


@program(calls=9, captures=4)
def two_optimizers():
    a, first = nets()
    b, second = nets()

    def step(x):
        first.zero_grad()
        inner = a(x).square().mean()
        inner.backward()
        first.step()
        second.zero_grad()
        (b(x) - a(x).detach()).square().mean().backward()
        second.step()
        return inner.item(), [p.grad for p in a.parameters()]
    return step, lambda i: (t(i, 8).reshape(2, 4),), Seen(a, b)


@program(calls=9, captures=4)
def accumulated_over_two_steps():
    net, optimizer = nets()

    def step(x, last):
        loss = net(x).square().mean()
        loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
        return loss.item()
    return step, lambda i: (t(i, 8).reshape(2, 4), i % 2 == 1), Seen(net)


@program(calls=9, captures=4)
def passed_back_later():
    net, optimizer = nets()
    losses = []

    def forward(x):
        return net(x).square().mean()

    def call(x):
        here = sys._getframe()
        optimizer.zero_grad()
        loss = forward(x)
        loss.backward()
        optimizer.step()
        losses.append(loss)
        try:
            loss.backward()
        except RuntimeError as error:
            return loss.item(), str(error)[:60]
    call.target = forward
    return call, lambda i: (t(i, 8).reshape(2, 4),), Seen(net)


@program(calls=9, captures=4)
def passed_back_twice():
    net, optimizer = nets()

    def forward(x):
        y = terra.tanh(net(x))
        return y, terra.sigmoid(y) * y

    def call(x):
        here = sys._getframe()
        optimizer.zero_grad()
        y, z = forward(x)
        z.sum().backward(retain_graph=True)
        terra.autograd.backward([y.sum(), z.sum()])
        return y, z
    call.target = forward
    return call, lambda i: (t(i, 8).reshape(2, 4),), Near(net)


@program(calls=9, captures=4)
def temporaries_of_a_recorded_step():
    net, optimizer = nets()
    kept = []

    def step(x):
        parts = [x * k for k in range(6)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        last = parts.pop()
        del part, parts
        optimizer.zero_grad()
        loss = (net(total).exp() * last.sum()).mean()
        loss.backward()
        optimizer.step()
        return total, last, loss.detach()
    return step, lambda i: (t(i, 8).reshape(2, 4),), (Seen(net), kept)


if __name__ == "__main__":
    main()
