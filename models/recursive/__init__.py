"""Recursive networks over the trees of sentences, and the trees."""

from .child_sum_tree_lstm import ChildSumTreeLSTM
from .drawn import draw_tree, drawn_treebank
from .rntn import RNTN
from .top_down_tree_lstm import TopDownTreeLSTM
from .tree import Tree
from .tree_lstm import TreeLSTM
from .tree_rnn import TreeRNN
from .treebank import TreeFileError, read_treebank

MODELS = {
    "tree_rnn": TreeRNN,
    "rntn": RNTN,
    "tree_lstm": TreeLSTM,
    "child_sum_tree_lstm": ChildSumTreeLSTM,
    "top_down_tree_lstm": TopDownTreeLSTM,
}

__all__ = [
    "MODELS", "RNTN", "ChildSumTreeLSTM", "TopDownTreeLSTM", "Tree", "TreeFileError", "TreeLSTM", "TreeRNN", "draw_tree",
    "drawn_treebank", "read_treebank",
]  # fmt: skip
