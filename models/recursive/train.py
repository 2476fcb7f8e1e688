"""Recursive networks that tell what a sentence feels like: ordinary PyTorch code.

    terra-run --torch models/recursive/train.py [--model NAME] [--data FOLDER] [--epochs N] [--seed N] [--save FILE]

Without --data it trains on trees that it draws itself, with it on a treebank: train.txt, dev.txt and test.txt in FOLDER,
one tree a line. Prints the share of sentences whose class is found, for each epoch, and at its end that of the test
sentences after the epoch that was best for the dev sentences."""

import argparse
import copy
import pathlib
import random
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from recursive import MODELS, TreeFileError, drawn_treebank, read_treebank  # noqa: E402
from recursive.progress import Progress  # noqa: E402
from recursive.training import OPTIMIZERS, TreeOptimizer, root_accuracy, train_step  # noqa: E402


def train_epoch(model, optimizer, examples, batch, title):
    """The loss of a tree on average. The examples are shuffled."""
    examples = random.sample(examples, len(examples))
    batches = [examples[i : i + batch] for i in range(0, len(examples), batch)]
    total = 0.0
    with Progress(title, len(batches)) as progress:
        for done, some in enumerate(batches, 1):
            total += train_step(model, optimizer, some).item()
            progress.advance(f"loss {total / done:.3f}")
    return total / len(batches)


def train(model, optimizer, bank, epochs, batch):
    """Leaves the model as it was after the best epoch."""
    best, best_state = -1.0, None
    for epoch in range(1, epochs + 1):
        begin = time.perf_counter()
        loss = train_epoch(model, optimizer, bank.train, batch, f"epoch {epoch}/{epochs}")
        seconds = time.perf_counter() - begin
        share = root_accuracy(model, bank.dev)
        print(
            f"epoch {epoch}/{epochs}: loss {loss:.4f} a tree, dev accuracy {100 * share:.2f} %, "
            f"{len(bank.train) / seconds:.0f} trees/s in training",
            flush=True,
        )
        if share > best:
            best, best_state = share, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"should be a whole number above 0, not {text!r}")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description="Trains a recursive network on trees of sentences.")
    parser.add_argument("--model", choices=MODELS, default="tree_lstm")
    parser.add_argument("--data", help="folder with train.txt, dev.txt and test.txt (default: drawn trees)")
    parser.add_argument("--epochs", type=positive, default=8)
    parser.add_argument("--batch", type=positive, default=25)
    parser.add_argument("--embedding", type=positive, default=300)
    parser.add_argument("--hidden", type=positive, help="size of a state (default: the model's own)")
    parser.add_argument("--dropout", type=float, help="before the classifier (default: the model's own)")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adagrad")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--word-lr", type=float, default=0.05)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    parser.add_argument("--least-count", type=positive, default=2, help="rarer words of the training trees are <unk>")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the trained parameters")
    arguments = parser.parse_args()

    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    try:
        bank = read_treebank(arguments.data, arguments.least_count) if arguments.data else drawn_treebank()
    except (OSError, TreeFileError) as error:
        sys.exit(f"train.py: {error}")
    parts = f"{len(bank.train)} training, {len(bank.dev)} dev and {len(bank.test)} test trees"
    print(f"{parts}, {len(bank.vocabulary)} words, from {arguments.data or 'the program itself'}", flush=True)

    sizes = {name: vars(arguments)[name] for name in ("hidden", "dropout") if vars(arguments)[name] is not None}
    model = MODELS[arguments.model](len(bank.vocabulary), arguments.embedding, **sizes)
    optimizer = TreeOptimizer(model, arguments.optimizer, arguments.lr, arguments.word_lr, arguments.weight_decay)
    train(model, optimizer, bank, arguments.epochs, arguments.batch)
    print(f"test accuracy: {100 * root_accuracy(model, bank.test):.2f} %")
    if arguments.save:
        torch.save(model.state_dict(), arguments.save)


if __name__ == "__main__":
    main()
