"""What the ten programs share: their arguments, their log lines and their batches."""

import argparse
import pathlib
import sys
import time

import torch


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"should be a whole number above 0, not {text!r}")
    return int(text)


def parse(description, arguments, steps, data=None):
    """Reads the arguments and seeds torch. `data` says what a folder given with --data should hold; without it the
    program has no such argument."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=positive, default=steps)
    parser.add_argument("--seed", type=int, default=0)
    if data:
        parser.add_argument("--data", help=f"folder with {data} (default: drawn data)")
    parser.add_argument("--log-every", type=positive, default=20, help="steps from one log line to the next")
    parser.add_argument("--threads", type=positive, help="for torch.set_num_threads (default: as it is)")
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    if options.threads:
        torch.set_num_threads(options.threads)
    return options


def read_file(folder, name):
    """The bytes of a file of --data."""
    path = pathlib.Path(folder) / name
    try:
        return path.read_bytes()
    except OSError as error:
        sys.exit(f"can't read {path}: {error.strerror}; --data should name a folder with {name}")


class Progress:
    """Prints the loss now and then. Only then is its value read."""

    def __init__(self, options):
        self.steps, self.every = options.steps, options.log_every
        self.logged, self.logged_at = 0, None

    def step(self, step, loss):
        """Steps count from 1."""
        if step == 1 or step % self.every == 0 or step == self.steps:
            text, now = f"step {step}/{self.steps}: loss {loss.item():.4f}", time.perf_counter()
            if self.logged:
                text += f", {1e3 * (now - self.logged_at) / (step - self.logged):.1f} ms a step"
            print(text, flush=True)
            self.logged, self.logged_at = step, now


def batches(draw, size, *arrays):
    """Endless random batches of rows of equally long numpy arrays, as tensors."""
    while True:
        rows = draw.integers(len(arrays[0]), size=size)
        yield [torch.from_numpy(array[rows]) for array in arrays]


def split(held_out, *arrays):
    """The arrays without their last rows, and these."""
    return [array[:-held_out] for array in arrays], [array[-held_out:] for array in arrays]


@torch.no_grad()
def accuracy(model, inputs, labels, size=64):
    """The share of rows whose class is found."""
    model.eval()
    right = 0
    for i in range(0, len(labels), size):
        scores = model(torch.from_numpy(inputs[i : i + size]))
        right += (scores.argmax(1) == torch.from_numpy(labels[i : i + size])).sum().item()
    model.train()
    return right / len(labels)
