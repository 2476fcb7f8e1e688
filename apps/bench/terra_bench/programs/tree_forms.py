"""The loss of a mini-batch of trees in other forms than plain recursion: by the binary TreeLSTM; by the top-down one, written as
a SubGraph."""


class Iterative:
    """A loop over the nodes of a tree, children first, with a stack of states."""

    def __init__(self, torch, model):
        self.torch, self.model = torch, model

    def __call__(self, examples):
        return sum(self.loss(tree, labels) for tree, labels in examples)

    def loss(self, tree, labels):
        model, stack, states = self.model, [], []
        for node in tree.visit():
            if node.is_leaf:
                state = model.at_leaf(node)
            else:
                right, left = stack.pop(), stack.pop()
                state = model.at_node(left, right)
            stack.append(state)
            states.append(state[0])
        scores = model.classify(model.dropout(self.torch.cat(states)))
        return self.torch.nn.functional.cross_entropy(scores, labels, reduction="sum")


class Unrolled(Iterative):
    """A straight program for each tree, as people generate them: one line for each node, nothing to decide."""

    def __init__(self, torch, model):
        super().__init__(torch, model)
        self.programs = {}

    def loss(self, tree, labels):
        program = self.programs.get(tree) or self.programs.setdefault(tree, self.program(tree))
        scores = self.model.classify(self.model.dropout(self.torch.cat(program(self.model))))
        return self.torch.nn.functional.cross_entropy(scores, labels, reduction="sum")

    @staticmethod
    def program(tree):
        nodes = list(tree.visit())
        names = {node: f"s{k}" for k, node in enumerate(nodes)}
        lines = [
            f"    {names[node]} = model.at_leaf(leaves[{k}])"
            if node.is_leaf
            else f"    {names[node]} = model.at_node({names[node.left]}, {names[node.right]})"
            for k, node in enumerate(nodes)
        ]
        result = ", ".join(f"{name}[0]" for name in names.values())
        scope = {"leaves": nodes}
        exec("\n".join(["def program(model):", *lines, f"    return [{result}]"]), scope)
        return scope["program"]


class ByLevel:
    """Batched by hand: all nodes of the mini-batch that are equally deep at once, the deepest first.

    Children of a level are all in the level below it, so that only one level of states is kept for the next. Leaves are
    one product for all trees, the classifier another."""

    def __init__(self, torch, model):
        self.torch, self.model = torch, model

    def __call__(self, examples):
        torch, model = self.torch, self.model
        levels = Levels(torch, [tree for tree, _ in examples])
        i, o, u = model.leaf(model.words(levels.words)).chunk(3, 1)
        c = torch.sigmoid(i) * torch.tanh(u)
        leaf_h = (torch.sigmoid(o) * torch.tanh(c)).split(levels.leaf_counts)
        leaf_c = c.split(levels.leaf_counts)
        h, c = leaf_h[-1], leaf_c[-1]
        states = [h]
        for depth in reversed(range(len(levels.children))):
            rows, count = levels.children[depth], levels.inner_counts[depth]
            below = h.index_select(0, rows).view(count, -1)
            cl, cr = c.index_select(0, rows).view(count, -1).chunk(2, 1)
            i, fl, fr, o, u = model.gates(below).chunk(5, 1)
            c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
            h = torch.cat([torch.sigmoid(o) * torch.tanh(c), leaf_h[depth]])
            c = torch.cat([c, leaf_c[depth]])
            states.append(h)
        scores = model.classify(model.dropout(torch.cat(states[::-1])))
        return torch.nn.functional.cross_entropy(scores, levels.labels, reduction="sum")


class Levels:
    """The shape of a mini-batch: by depth, inner nodes before leaves."""

    def __init__(self, torch, trees):
        levels = self._levels(trees)
        leaves = [[node for node in level if node.is_leaf] for level in levels]
        inner = [[node for node in level if not node.is_leaf] for level in levels]
        self.words = torch.tensor([node.word for level in leaves for node in level])
        self.leaf_counts = [len(level) for level in leaves]
        self.inner_counts = [len(level) for level in inner]
        self.labels = torch.tensor([node.label for pair in zip(inner, leaves) for level in pair for node in level])
        self.children = []  # by level: rows of the level below
        for above, nodes, words in zip(inner, inner[1:], leaves[1:]):
            rows = {node: row for row, node in enumerate(nodes + words)}
            self.children.append(torch.tensor([rows[child] for node in above for child in node.children]))

    @staticmethod
    def _levels(trees):
        level, levels = trees, []
        while level:
            levels.append(level)
            level = [child for node in level for child in node.children]
        return levels


class SubGraphForm:
    """The top-down TreeLSTM as a graph that calls itself (terra.recursive). The network decides where a tree ends: all trees of
    the mini-batch advance together."""

    def __init__(self, torch, model):
        from terra.recursive import HostRead, InvokeOp, SubGraph, cond

        self.model, hidden = model, model.expand.in_features
        functional = torch.nn.functional
        is_leaf, label = HostRead(lambda node: node.is_leaf, bool), HostRead(lambda node: node.label, int)
        is_inner = HostRead(lambda node: float(not node.is_leaf), float)
        children = [HostRead(lambda node: node.children[0]), HostRead(lambda node: node.children[1])]
        self.grow = grow = SubGraph("grow")
        node, h, c = grow.handle("node"), grow.input((1, hidden)), grow.input((1, hidden))
        grow.output((1,))

        @grow.define
        def body():
            wish = model.expand(h).reshape(1)
            scores = functional.log_softmax(model.classify(model.dropout(h)), 1)
            of_label = -scores.index_select(1, label(node).as_tensor().reshape(1)).reshape(1)
            inner = is_inner(node).as_tensor().to(h.dtype).reshape(1)
            own = of_label + functional.binary_cross_entropy_with_logits(wish, inner, reduction="none")

            def on():
                loss = own
                for child, gates in zip(children, model.gates(h).chunk(2, 1)):
                    i, f, o, u = gates.chunk(4, 1)
                    child_c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f) * c
                    loss = loss + InvokeOp(grow)(child(node), torch.sigmoid(o) * torch.tanh(child_c), child_c)[0]
                return loss

            return cond(is_leaf(node), lambda: own, lambda: cond(wish >= 0, on, lambda: own))

    def __call__(self, examples):
        return sum(loss for (loss,) in self.grow.map([(tree, *self.model.start(tree)) for tree, _ in examples])).sum()


FORMS = {
    "tree_lstm": {"iterative": Iterative, "unrolled": Unrolled, "by_level": ByLevel},
    "top_down_tree_lstm": {"sub_graph": SubGraphForm},
}
