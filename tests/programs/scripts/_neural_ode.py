"""A neural ODE: Runge-Kutta by hand, gradients by the adjoint in a custom Function, adaptive Dormand-Prince steps."""

import argparse
import time

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser("ODE demo")
parser.add_argument("--method", type=str, choices=["rk4", "midpoint"], default="rk4")
parser.add_argument("--data_size", type=int, default=60)
parser.add_argument("--batch_time", type=int, default=6)
parser.add_argument("--batch_size", type=int, default=12)
parser.add_argument("--niters", type=int, default=24)
parser.add_argument("--adjoint", action="store_true")
args = parser.parse_args()

TABLEAU = {
    "midpoint": ([[0.5]], [0.0, 1.0]),
    "rk4": ([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}  # fmt: skip


DORMAND_PRINCE = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
ERROR = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


def rk_step(func, t, dt, y, method):
    rows, weights = TABLEAU[method]
    k = [func(t, y)]
    for row in rows:
        k.append(func(t + dt * sum(row), y + dt * sum(a * each for a, each in zip(row, k) if a)))
    return y + dt * sum(b * each for b, each in zip(weights, k) if b)


def odeint(func, y0, t, method="rk4"):
    solution = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        solution.append(rk_step(func, t0, t1 - t0, solution[-1], method))
    return torch.stack(solution)


class OdeintAdjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, method, y0, t, flat):
        ctx.func, ctx.method = func, method
        with torch.no_grad():
            solution = odeint(func, y0, t, method)
        ctx.save_for_backward(solution, t, flat)
        return solution

    @staticmethod
    def backward(ctx, grad):
        solution, t, flat = ctx.saved_tensors
        parameters = tuple(ctx.func.parameters())
        adjoint, total = grad[-1], [torch.zeros_like(p) for p in parameters]

        def dynamics(time, y, a):
            with torch.enable_grad():
                y = y.detach().requires_grad_(True)
                value = ctx.func(time, y)
                da, *dp = torch.autograd.grad(value, (y, *parameters), -a, allow_unused=True)
            return value.detach(), da, [torch.zeros_like(p) if d is None else d for p, d in zip(parameters, dp)]

        for i in range(len(t) - 1, 0, -1):
            dt = t[i - 1] - t[i]
            y, a = solution[i], adjoint
            f1, a1, p1 = dynamics(t[i], y, a)
            f2, a2, p2 = dynamics(t[i] + dt / 2, y + dt / 2 * f1, a + dt / 2 * a1)
            f3, a3, p3 = dynamics(t[i] + dt / 2, y + dt / 2 * f2, a + dt / 2 * a2)
            _, a4, p4 = dynamics(t[i - 1], y + dt * f3, a + dt * a3)
            adjoint = a + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4) + grad[i - 1]
            total = [s + dt / 6 * (w + 2 * x + 2 * y + z) for s, w, x, y, z in zip(total, p1, p2, p3, p4)]
        return None, None, adjoint, None, torch.cat([each.reshape(-1) for each in total])


def odeint_adjoint(func, y0, t, method):
    return OdeintAdjoint.apply(func, method, y0, t, torch.cat([p.reshape(-1) for p in func.parameters()]))


@torch.no_grad()
def dopri5(func, y, t0, t1, rtol=1e-4, atol=1e-5):
    """Steps of its own choice; returns the end, and how many were taken and refused."""
    t, dt, taken, refused = t0, 0.1, 0, 0
    while t < t1:
        dt = min(dt, t1 - t)
        k = [func(t, y)]
        for row in DORMAND_PRINCE:
            k.append(func(t + dt * sum(row), y + dt * sum(a * each for a, each in zip(row, k))))
        following = y + dt * sum(a * each for a, each in zip(DORMAND_PRINCE[-1], k))
        error = dt * sum(e * each for e, each in zip(ERROR, k))
        ratio = (error / (atol + rtol * torch.max(y.abs(), following.abs()))).pow(2).mean().sqrt().item()
        if ratio <= 1:
            t, y, taken = t + dt, following, taken + 1
        else:
            refused += 1
        dt *= min(5.0, max(0.2, 0.9 * (ratio + 1e-10) ** -0.2))
    return y, taken, refused


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
        self.nfe = 0
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        self.nfe += 1
        return self.net(y**3)


class RunningAverageMeter:
    def __init__(self, momentum=0.9):
        self.momentum, self.val, self.avg = momentum, None, 0

    def update(self, val):
        self.avg = val if self.val is None else self.avg * self.momentum + val * (1 - self.momentum)
        self.val = val


class Spiral(nn.Module):
    def forward(self, t, y):
        return torch.mm(y**3, torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]))


def get_batch(true_y, t):
    starts = np.arange(args.data_size - args.batch_time, dtype=np.int64)
    s = torch.from_numpy(np.random.choice(starts, args.batch_size, replace=False))
    return true_y[s], t[: args.batch_time], torch.stack([true_y[s + i] for i in range(args.batch_time)], dim=0)


if __name__ == "__main__":
    true_y0, t = torch.tensor([[2.0, 0.0]]), torch.linspace(0.0, 3.0, args.data_size)
    with torch.no_grad():
        true_y = odeint(Spiral(), true_y0, t)
    for solver in (odeint, odeint_adjoint):
        np.random.seed(0)
        torch.manual_seed(0)
        func = ODEFunc()
        optimizer = torch.optim.RMSprop(func.parameters(), lr=5e-3, eps=1e-4)
        loss_meter, end = RunningAverageMeter(), time.time()
        for itr in range(1, args.niters + 1):
            optimizer.zero_grad()
            batch_y0, batch_t, batch_y = get_batch(true_y, t)
            pred_y = solver(func, batch_y0, batch_t, args.method)
            loss = torch.mean(torch.abs(pred_y - batch_y))
            loss.backward()
            optimizer.step()
            loss_meter.update(loss.item())
            if itr % 8 == 0:
                with torch.no_grad():
                    whole = torch.mean(torch.abs(odeint(func, true_y0, t, args.method) - true_y))
                numbers = f"Loss {loss_meter.avg:.5f} | Total {whole.item():.4f} | NFE {func.nfe}"
                print(f"{solver.__name__} Iter {itr:04d} | {numbers}")
        assert time.time() >= end
    y, taken, refused = dopri5(Spiral(), true_y0, 0.0, 3.0)
    print(
        "adaptive",
        [f"{v:.3f}" for v in y[0].tolist()],
        "fixed",
        [f"{v:.3f}" for v in true_y[-1, 0].tolist()],
        taken,
        refused > 0,
    )
