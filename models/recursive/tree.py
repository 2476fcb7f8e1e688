"""A labelled tree over a sentence."""


class Tree:
    """A node and what is below it. A leaf has a word, the number of its row in the table of words; others have children.

    `label` is the class of the phrase that the node spans."""

    def __init__(self, label, word=None, children=()):
        self.label = label
        self.word = word
        self.children = children
        self.is_leaf = not children
        if len(children) == 2:
            self.left, self.right = children

    def visit(self):
        """All nodes, children before their parent, from left to right: the root comes last."""
        for child in self.children:
            yield from child.visit()
        yield self

    def labels(self):
        return [node.label for node in self.visit()]

    def words(self):
        """The sentence."""
        return [node.word for node in self.visit() if node.is_leaf]
