"""A treebank that the program draws itself: trees of the sizes that sentences have, with labels that can be learned."""

import random

from .tree import Tree
from .treebank import CLASSES, UNKNOWN, TreeBank, example

WORDS = 2000
COUNTS = {"train": 1000, "dev": 200, "test": 400}
MEAN_LENGTH, SPREAD, LONGEST = 19.1, 9.3, 56  # of the sentences of movie reviews
NEGATION, EMPHASIS = 1, 2  # the first words turn round and double what stands to their right


def drawn_treebank(seed=0, counts=COUNTS, words=WORDS):
    """The same trees everywhere for the same seed."""
    draw = random.Random(seed)
    feelings = word_feelings(draw, words)
    parts = [[example(draw_tree(draw, feelings)) for _ in range(count)] for count in counts.values()]
    return TreeBank(*parts, [UNKNOWN, *(f"word{row}" for row in range(1, words))])


def draw_tree(draw, feelings, shape="natural", length=None):
    """A tree over a sentence. `shape` is natural (cut at random places), balanced (in the middle) or linear (after the
    first word)."""
    length = length or _length(draw)
    sentence = [draw.randrange(1, len(feelings)) for _ in range(length)]
    return _span(draw, sentence, feelings, _CUTS[shape])[0]


def _length(draw):
    return min(LONGEST, max(2, round(draw.gauss(MEAN_LENGTH, SPREAD))))


_CUTS = {
    "natural": lambda draw, length: draw.randrange(1, length),
    "balanced": lambda draw, length: length // 2,
    "linear": lambda draw, length: 1,
}


def word_feelings(draw, words):
    """What each word says: mostly nothing, else something good or bad."""
    return [draw.choice((-1, 0, 0, 0, 1)) if row > EMPHASIS else 0 for row in range(words)]


def _span(draw, words, feelings, cut):
    """(the tree over the words, how good they are)"""
    if len(words) == 1:
        feeling = feelings[words[0]]
        return Tree(_label(feeling), words[0]), feeling
    at = cut(draw, len(words))
    left, a = _span(draw, words[:at], feelings, cut)
    right, b = _span(draw, words[at:], feelings, cut)
    feeling = {NEGATION: -b, EMPHASIS: 2 * b}.get(left.word, a + b)
    return Tree(_label(feeling), None, [left, right]), feeling


def _label(feeling):
    return min(CLASSES - 1, max(0, feeling + CLASSES // 2))
