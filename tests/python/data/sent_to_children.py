# run: --torch
# timeout: 120
"""Tensors among the arguments of child processes that are forked, spawned, or forked by a server; what one writes into
shared ones the other sees."""

import multiprocessing
import pathlib
import sys
from concurrent.futures import ProcessPoolExecutor

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

held = None


def hold(*given):
    global held
    held = given


def described(value):
    if isinstance(value, (list, tuple)):
        return [described(v) for v in value]
    if isinstance(value, dict):
        return {k: described(v) for k, v in value.items()}
    if isinstance(value, torch.nn.Module):
        return described(value.state_dict())
    return type(value).__name__, value.requires_grad, tuple(value.shape), value.stride(), value.sum().item()


def describe_held(_):
    return str(described(held))


def answer(queue, *given):
    queue.put(str(described(given)))


def write(shared):
    shared += 1


def main():
    torch.set_num_threads(1)
    net = torch.nn.Sequential(*(torch.nn.Linear(k + 1, 2) for k in range(20)))
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.fill_(k)
    rows = torch.arange(12.0).reshape(3, 4)
    given = (
        rows, rows[1], rows.t(), torch.nn.Parameter(rows * 2), torch.ones(2, requires_grad=True), torch.empty(0),
        torch.full((1000, 100), 0.5), torch.arange(5, dtype=torch.int16), net.state_dict(), net,
    )  # fmt: skip
    items = []
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.SimpleQueue()
        process = context.Process(target=answer, args=(queue, *given))
        process.start()
        items.append((f"{method}: argument", queue.get()))
        process.join()
        with context.Pool(1, initializer=hold, initargs=given) as pool:
            items.append((f"{method}: pool", pool.map(describe_held, [0])[0]))
        with ProcessPoolExecutor(1, mp_context=context, initializer=hold, initargs=given) as pool:
            items.append((f"{method}: executor", next(pool.map(describe_held, [0]))))
        shared = torch.zeros(3).share_memory_()
        for _ in range(2):
            process = context.Process(target=write, args=(shared,))
            process.start()
            process.join()
        items.append((f"{method}: written", (process.exitcode, shared)))
    check(items, __file__)


if __name__ == "__main__":
    main()
