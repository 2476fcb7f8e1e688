# run: --torch
"""Files of trees: what is read from them, what is said of those that can't be read, and a training run on some."""

import contextlib
import io
import os
import pathlib
import runpy
import sys
import tempfile

MODELS = pathlib.Path(os.environ["TERRA_SOURCE"]) / "models"
sys.path.insert(0, str(MODELS))

from recursive import TreeFileError, read_treebank  # noqa: E402
from recursive.progress import Progress  # noqa: E402
from recursive.treebank import read_trees  # noqa: E402

MISTAKES = {
    "(3 (2 It) (4 (3 works) (2 .))": "the line ends inside of a tree; a ')' may be missing",
    "(3 (2 It) (4 works)) (2 .)": "the tree ends before '( 2 . )'; a line should hold one tree",
    "(3 (2 It) (5 works))": "label 5 is out of range; labels are 0 to 4",
    "(3 (2 It) (-1 works))": "'(' should be followed by a label, not by '-1'",
    "(3 (2 It) (works))": "'(' should be followed by a label, not by 'works'",
    "(3 (2 It) (2))": "a node of label 2 has neither a word nor children",
    "(3 (2 It works) (2 .))": "')' should follow the word 'It', not 'works'",
    "(3 (2 It) works)": "a node with children can't have the word 'works' too",
    "(3 (2 It) (3 works) (2 .))": "a node has 3 children; trees should be binary",
    "(3 (2 It))": "a node has 1 children; trees should be binary",
    "3 (2 It)": "a node should begin with '(', not with '3'",
    "(": "the line ends inside of a tree; a ')' may be missing",
}


def error_of(path):
    try:
        read_trees(path)
    except TreeFileError as error:
        return str(error)
    return None


def brackets(tree):
    """The text that a tree was read from, in small letters."""
    return f"({tree.label} {' '.join(map(brackets, tree.children)) or tree.word})"


def write(folder, **parts):
    for part, lines in parts.items():
        (folder / f"{part}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def trains(folder, *options):
    """What train.py prints on stdout and stderr, and how it ends."""
    out, err, argv = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["train.py", "--data", str(folder), "--embedding", "5", "--hidden", "4", "--batch", "2", *options]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_path(str(MODELS / "recursive" / "train.py"), run_name="__main__")
        return out.getvalue(), err.getvalue(), None
    except SystemExit as end:
        return out.getvalue(), err.getvalue(), end.code
    finally:
        sys.argv = argv


class Terminal(io.StringIO):
    def isatty(self):
        return True


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    path = folder / "train.txt"

    good = ["(3 (2 it) (4 (3 works) (2 .)))", "", "(0 (1 not) (2 it))", "(2 5\u00a03/4)"]
    write(folder, train=good, dev=["(1 (2 IT) (2 broke))"], test=["(4 it)"])
    assert [brackets(tree) for tree in read_trees(path)] == [line for line in good if line]
    for line, complaint in MISTAKES.items():
        write(folder, train=["(2 fine)", line])
        assert error_of(path) == f"{path}, line 2: {complaint}", error_of(path)
    write(folder, train=[""])
    assert error_of(path).startswith(f"{path} holds no trees"), error_of(path)

    write(folder, train=good)
    bank = read_treebank(folder, least_count=1)
    assert bank.vocabulary == ["<unk>", ".", "5\u00a03/4", "it", "not", "works"], bank.vocabulary
    assert bank.train[0].labels.tolist() == [2, 3, 2, 4, 3], bank.train[0].labels
    assert bank.dev[0].tree.words() == [3, 0], "unknown words are row 0"
    assert read_treebank(folder, least_count=2).vocabulary == ["<unk>", "it"]

    for model in "tree_lstm", "top_down_tree_lstm":
        printed, complaints, status = trains(folder, "--epochs", "2", "--model", model)
        lines = printed.splitlines()
        assert status is None and not complaints, (status, complaints)
        assert lines[0].startswith("3 training, 1 dev and 1 test trees, 2 words"), lines
        assert [line[:9] for line in lines[1:3]] == ["epoch 1/2", "epoch 2/2"] and "dev accuracy" in lines[1], lines
        assert lines[3].startswith("test accuracy: ") and len(lines) == 4, lines
    _, complaints, status = trains(folder, "--batch", "0")
    assert status == 2 and "should be a whole number above 0, not '0'" in complaints, (status, complaints)
    write(folder, dev=["(2 (7 it) (2 .))"])
    assert trains(folder)[2] == f"train.py: {folder / 'dev.txt'}, line 1: label 7 is out of range; labels are 0 to 4"
    path.unlink()
    assert "train.txt" in trains(folder)[2]

terminal = Terminal()
with Progress("epoch 1", 4, terminal) as progress:
    progress.SECONDS = 0
    for _ in range(4):
        progress.advance("loss 1.5")
drawn = terminal.getvalue().split("\r")
assert drawn[1] == "epoch 1 [#######.......................] 1/4 loss 1.5\x1b[K", drawn
assert drawn[4] == "epoch 1 [##############################] 4/4 loss 1.5\x1b[K" and drawn[5] == "\x1b[K", drawn
quiet = io.StringIO()
with Progress("epoch 1", 4, quiet) as progress:
    progress.advance()
assert quiet.getvalue() == "", "nothing is written where there is no terminal"
