# run: --torch TERRA_EXACT=1
"""Training loops: forward, backward and update, with what programs do in between."""
import torch
from torch import nn
from torch.nn import functional as F

from _harness import compare, run_tests


def data(steps, shape=(8, 6), classes=3):
    generator = torch.Generator().manual_seed(3)
    for _ in range(steps):
        yield torch.randn(shape, generator=generator), torch.randint(classes, (shape[0],), generator=generator)


def perceptron():
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))


def weights(model):
    return [p.detach().tolist() for p in model.parameters()]


def trained(make_optimizer, model=None, steps=20, every=1):
    model = model or perceptron()
    optimizer = make_optimizer(model.parameters())
    said = []
    for step, (x, y) in enumerate(data(steps)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % every == 0:
            said.append(loss.item())
    return said + weights(model)


def sgd():
    compare(lambda: trained(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)))


def adam():
    compare(lambda: trained(lambda p: torch.optim.Adam(p, lr=0.01)))


def loss_is_read_now_and_then():
    compare(lambda: trained(lambda p: torch.optim.SGD(p, lr=0.1), steps=30, every=7))


def squared_error_and_a_schedule():
    def program():
        model = perceptron()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        losses = []
        for x, _ in data(20):
            loss = ((model(x) - x[:, :3]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss)
        return [loss.item() for loss in losses] + weights(model)

    compare(program)


def batch_loop_in_a_function_of_epochs():
    def program():
        model, said = perceptron(), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def train():
            for x, y in data(6):
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()

        def accuracy():
            right = 0
            with torch.no_grad():
                for x, y in data(4):
                    right += (model(x).argmax(1) == y).sum().item()
            return right

        for _ in range(5):
            train()
            said.append(accuracy())
        return said + weights(model)

    compare(program)


def accumulated_gradients_are_clipped():
    def program():
        model = perceptron()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        said = []
        for step, (x, y) in enumerate(data(24)):
            (F.cross_entropy(model(x), y) / 3).backward()
            if step % 3 == 2:
                norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
                optimizer.zero_grad()
                said.append(float(norm))
        return said + weights(model)

    compare(program)


def dropout_and_normalisation():
    def program():
        model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 3))
        return trained(lambda p: torch.optim.SGD(p, lr=0.1), model) + [model[1].running_mean.tolist()]

    compare(program)


def convolutions():
    def program():
        model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        said = []
        for x, y in data(12, (4, 1, 8, 8)):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            said.append(loss.item())
        return said + weights(model)

    compare(program)


def a_gradient_of_a_gradient():
    def program():
        model, said = perceptron(), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for x, _ in data(15):
            x.requires_grad_(True)
            out = torch.tanh(model(x)).sum()
            (slope,) = torch.autograd.grad(out, x, create_graph=True)
            loss = ((slope.norm(dim=1) - 1) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            said.append(loss.item())
        return said + weights(model)

    compare(program)


def a_recursion_deeper_than_places():
    """Ops far down the stack are in no place; those around them are followed all the same."""

    def program():
        layer, said = nn.Linear(3, 3), []
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)

        def down(depth, h):
            return torch.tanh(layer(h)) if depth == 0 else down(depth - 1, h + 0.001)

        for x, _ in data(12, (4, 3)):
            loss = down(400, x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            said.append(loss.item())
        return said

    compare(program)


run_tests([sgd, adam, loss_is_read_now_and_then, squared_error_and_a_schedule, batch_loop_in_a_function_of_epochs,
           accumulated_gradients_are_clipped, dropout_and_normalisation, convolutions, a_gradient_of_a_gradient,
           a_recursion_deeper_than_places])
