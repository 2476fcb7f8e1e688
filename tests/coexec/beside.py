# run: --torch TERRA_EXACT=1 TERRA_RUNNER=beside
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=serial
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=inline
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=turns
"""What a program does while its graph runs beside it: looks, writes, forks, fails, ends."""
import gc
import os
import subprocess
import sys
import tempfile
import threading

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from _harness import compare, run_tests


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.body(x))


def training(steps, between=lambda step, net, optimizer, loss: None, make=lambda p: torch.optim.Adam(p, lr=0.01)):
    """Trains; what `between` returns at each step is said."""
    net = Net()
    optimizer = make(net.parameters())
    said = []
    for step in range(steps):
        x, y = torch.randn(8, 6), torch.randint(3, (8,))
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        said.append(between(step, net, optimizer, loss))
    return said + [p.detach().tolist() for p in net.parameters()]


def losses_are_kept_and_read_at_the_end():
    def program():
        losses = []
        said = training(40, lambda step, net, optimizer, loss: losses.append(loss.detach()))
        return said + [loss.item() for loss in losses]
    compare(program)


def the_loss_is_read_at_each_step():
    compare(lambda: training(40, lambda step, net, optimizer, loss: loss.item()))


def every_optimizer():
    for make in (lambda p: torch.optim.SGD(p, lr=0.1), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
                 lambda p: torch.optim.AdamW(p, lr=0.01), lambda p: torch.optim.RMSprop(p, lr=0.01),
                 lambda p: torch.optim.Adagrad(p, lr=0.1), lambda p: torch.optim.Adadelta(p),
                 lambda p: torch.optim.NAdam(p, lr=0.01), lambda p: torch.optim.Adamax(p, lr=0.01)):
        compare(lambda: training(24, make=make))


def parameters_are_looked_at():
    compare(lambda: training(40, lambda step, net, optimizer, loss: net.head.weight.detach().sum().item() if step % 3 == 0 else None))


def parameters_are_written_between_steps():
    def between(step, net, optimizer, loss):
        with torch.no_grad():
            if step % 2:
                net.head.bias.mul_(0.5)
            if step % 5 == 4:
                net.head.weight[0] = 1.0
            if step % 7 == 6:
                net.body[0].weight.data = net.body[0].weight.data.flip(0)
            if step % 11 == 10:
                net.body[0].bias.copy_(net.body[2].bias)
        return None
    compare(lambda: training(60, between))


def memory_is_shared_with_numpy():
    def program():
        seen = []

        def between(step, net, optimizer, loss):
            if step == 12:
                seen.append(net.head.bias.detach().numpy())
            if seen and step % 4 == 0:
                seen[0][...] *= 0.5
            return seen[0].tolist() if seen else None
        return training(40, between)
    compare(program)


def batches_that_the_program_fills_again():
    def program():
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        buffer = numpy.zeros((8, 6), dtype="float32")
        x = torch.from_numpy(buffer)
        held = torch.zeros(8, 6)
        for step in range(40):
            buffer[...] = step % 5
            held.copy_(x + step)
            optimizer.zero_grad()
            loss = net(x).square().mean() + net(held).square().mean()
            loss.backward()
            optimizer.step()
            held.zero_()
            buffer[...] = 99
        return [p.detach().tolist() for p in net.parameters()]
    compare(program)


def running_statistics_and_averages():
    def program():
        net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
        average = [p.detach().clone() for p in net.parameters()]
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
        for step in range(40):
            optimizer.zero_grad()
            net(torch.randn(8, 6)).square().mean().backward()
            optimizer.step()
            with torch.no_grad():
                for kept, now in zip(average, net.parameters()):
                    kept.mul_(0.9).add_(now, alpha=0.1)
        return [t.tolist() for t in (*average, *net.buffers())]
    compare(program)


def gradients_accumulate():
    def program():
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(60):
            F.cross_entropy(net(torch.randn(4, 6)), torch.randint(3, (4,))).backward()
            if step % 3 == 2:
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                optimizer.step()
                optimizer.zero_grad()
        return [p.detach().tolist() for p in net.parameters()]
    compare(program)


def states_are_saved_on_the_way():
    def program():
        path = os.path.join(tempfile.mkdtemp(), "state.pt")
        states = []

        def between(step, net, optimizer, loss):
            if step % 10 == 9:
                torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, path)
                states.append(torch.load(path))
            if step == 25:
                net.load_state_dict(states[0]["net"])
                optimizer.load_state_dict(states[0]["optimizer"])
        return training(50, between) + [{k: v.tolist() for k, v in s["net"].items()} for s in states]
    compare(program)


def an_exception_leaves_the_state_of_its_line():
    def program():
        said = []

        def between(step, net, optimizer, loss):
            if step == 30:
                said.append([p.detach().clone() for p in net.parameters()])
                raise KeyError(step)
        try:
            training(60, between)
        except KeyError as error:
            said.append(repr(error))
        return [t.tolist() for t in said[0]] + said[1:]
    compare(program)


def shapes_that_do_not_fit_are_refused_where_they_are():
    def between(step, net, optimizer, loss):
        if step % 9 != 8:
            return None
        try:
            return net(torch.randn(8, 5)).sum().item()
        except RuntimeError as error:
            return str(error)
    compare(lambda: training(40, between))


def a_process_that_forks():
    def between(step, net, optimizer, loss):
        if step % 10 != 9:
            return None
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                optimizer.zero_grad()
                for _ in range(3):
                    F.cross_entropy(net(torch.ones(8, 6)), torch.zeros(8, dtype=torch.int64)).backward()
                    optimizer.step()
                os.write(writer, repr(net.head.bias.tolist()).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as told:
            text = told.read()
        os.waitpid(child, 0)
        return text
    compare(lambda: training(40, between))


def another_thread_uses_tensors():
    def program():
        sums = []

        def work(start):
            t = torch.full((64,), float(start))
            for _ in range(200):
                t = (t * 0.5).sin() + start
            sums.append((start, t.sum().item()))
        threads = []

        def between(step, net, optimizer, loss):
            if step % 5 == 0:
                threads.append(threading.Thread(target=work, args=(step,)))
                threads[-1].start()
        said = training(40, between)
        for thread in threads:
            thread.join()
        return said + sorted(sums)
    compare(program)


def tensors_die_at_once():
    def program():
        def between(step, net, optimizer, loss):
            kept = [loss * 2 for _ in range(5)]
            del kept
            if step % 8 == 0:
                gc.collect()
        return training(40, between)
    compare(program)


def dropout_draws_the_same_numbers():
    def program():
        net = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.3), nn.ReLU(), nn.Linear(16, 3))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(40):
            optimizer.zero_grad()
            net(torch.randn(8, 6)).square().mean().backward()
            optimizer.step()
        return [p.detach().tolist() for p in net.parameters()] + [torch.rand(2).tolist()]
    compare(program)


PROGRAM = """
import sys, torch
net = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 64))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(200):
    optimizer.zero_grad()
    net(torch.randn(256, 64)).square().mean().backward()
    optimizer.step()
    if step == 150:
        {end}
print("end")
"""


def programs_that_end_while_the_graph_runs():
    for end, status, said in (("pass", 0, "end\n"), ("sys.exit(3)", 3, ""), ("raise SystemExit", 0, ""),
                              ("import os; os._exit(4)", 4, ""), ("1 / 0", 1, ""),
                              ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", None, "")):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(PROGRAM.format(end=end))
            file.flush()
            run = subprocess.run([sys.executable, "--torch", "--capture=coexec", file.name], capture_output=True,
                                 text=True, timeout=60)
        assert status is None or run.returncode == status, (end, run)
        assert run.returncode not in (-6, -11), (end, run)
        assert run.stdout == said, (end, run)


run_tests([value for name, value in list(globals().items())
           if callable(value) and getattr(value, "__module__", "") == "__main__" and not isinstance(value, type)
           and name not in ("training",)])
