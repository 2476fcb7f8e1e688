"""Trees with a label at every node, for training and for judging it; read from files or drawn."""

import collections
import pathlib

import torch

from .tree import Tree

UNKNOWN = "<unk>"
CLASSES = 5  # very negative, negative, neutral, positive, very positive

Example = collections.namedtuple("Example", "tree labels")  # the labels of all nodes, in the order of Tree.visit

TreeBank = collections.namedtuple("TreeBank", "train dev test vocabulary")  # three lists of examples; words by row


class TreeFileError(ValueError):
    """A file of trees can't be read: which line, and what is wrong with it."""


def read_treebank(folder, least_count=2):
    """The treebank in a folder with train.txt, dev.txt and test.txt, one tree a line: (3 (2 It) (4 (3 works) (2 .))).

    Words, in small letters, get a row of the vocabulary if the training trees have them at least `least_count` times.
    All others share the row of <unk>."""
    folder = pathlib.Path(folder)
    parts = [read_trees(folder / f"{part}.txt") for part in ("train", "dev", "test")]
    counts = collections.Counter(word for tree in parts[0] for word in tree.words())
    vocabulary = [UNKNOWN, *sorted(word for word, count in counts.items() if count >= least_count)]
    rows = {word: row for row, word in enumerate(vocabulary)}
    return TreeBank(*[[example(numbered(tree, rows)) for tree in part] for part in parts], vocabulary)


def example(tree):
    return Example(tree, torch.tensor(tree.labels()))


def numbered(tree, rows):
    """The tree with rows in place of words."""
    if tree.is_leaf:
        return Tree(tree.label, rows.get(tree.word, rows[UNKNOWN]))
    return Tree(tree.label, None, [numbered(child, rows) for child in tree.children])


def read_trees(path):
    """The trees of a file, whose words are still strings."""
    trees = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                if line.strip():
                    trees.append(parse(line.strip()))
            except ValueError as error:
                raise TreeFileError(f"{path}, line {number}: {error}") from None
    if not trees:
        raise TreeFileError(f"{path} holds no trees; each line should be one, like (3 (2 It) (4 (3 works) (2 .)))")
    return trees


def parse(text):
    """The tree that a text describes. Tokens are set apart by brackets and blanks; a word may hold any other character."""
    tokens = [token for token in text.replace("(", " ( ").replace(")", " ) ").split(" ") if token]
    tree, end = _node(tokens, 0)
    if end < len(tokens):
        raise ValueError(f"the tree ends before {' '.join(tokens[end:])!r}; a line should hold one tree")
    return tree


def _node(tokens, at):
    """The node that begins at a token, and where the next one begins."""
    if _token(tokens, at) != "(":
        raise ValueError(f"a node should begin with '(', not with {tokens[at]!r}")
    label = _label(_token(tokens, at + 1))
    at += 2
    if _token(tokens, at) == ")":
        raise ValueError(f"a node of label {label} has neither a word nor children")
    if tokens[at] != "(":
        if _token(tokens, at + 1) != ")":
            raise ValueError(f"')' should follow the word {tokens[at]!r}, not {tokens[at + 1]!r}")
        return Tree(label, tokens[at].lower()), at + 2
    children = []
    while _token(tokens, at) == "(":
        child, at = _node(tokens, at)
        children.append(child)
    if tokens[at] != ")":
        raise ValueError(f"a node with children can't have the word {tokens[at]!r} too")
    if len(children) != 2:
        raise ValueError(f"a node has {len(children)} children; trees should be binary")
    return Tree(label, None, children), at + 1


def _token(tokens, at):
    if at >= len(tokens):
        raise ValueError("the line ends inside of a tree; a ')' may be missing")
    return tokens[at]


def _label(token):
    if not token.isdecimal():
        raise ValueError(f"'(' should be followed by a label, not by {token!r}")
    if int(token) >= CLASSES:
        raise ValueError(f"label {token} is out of range; labels are 0 to {CLASSES - 1}")
    return int(token)
