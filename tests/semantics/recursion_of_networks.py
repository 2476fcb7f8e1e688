# run: TERRA_EXACT=1
# run: TERRA_STRICT=1
# run: TERRA_STRICT=1 HARNESS_MODE=frame
# run: TERRA_BATCHES=off HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=verify
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Recursive networks: modules that call themselves, training steps, gradients of states inside, hooks, modes."""
import random

import terra
import terra.nn.functional as F
from _gradients import Near, Seen
from _harness import main
from _recursion import bushy, filled, nested, parameter, recursive, table, tree
from terra import nn


class TreeRNN(nn.Module):
    def __init__(self, size=3, words=8):
        super().__init__()
        self.words = nn.Embedding(words, size)
        self.join = nn.Linear(2 * size, size)
        self.out = nn.Linear(size, 2)

    def encode(self, node):
        if node.is_leaf:
            return self.words(terra.tensor([node.word]))
        return terra.tanh(self.join(terra.cat([self.encode(node.left), self.encode(node.right)], 1)))

    def forward(self, node):
        return self.out(self.encode(node))


class TreeLSTM(nn.Module):
    """The module calls itself; states are pairs."""

    def __init__(self, size=3):
        super().__init__()
        self.words = nn.Embedding(8, size)
        self.gates = nn.Linear(2 * size, 5 * size)

    def forward(self, node):
        if isinstance(node, int):
            h = self.words.weight[node]
            return h, h * 0.5
        (hl, cl), (hr, cr) = self(node[0]), self(node[1])
        i, fl, fr, o, u = self.gates(terra.cat([hl, hr])).chunk(5)
        c = i.sigmoid() * u.tanh() + fl.sigmoid() * cl + fr.sigmoid() * cr
        return o.sigmoid() * c.tanh(), c


class ChildSum(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.words, self.forget = nn.Embedding(8, size), nn.Linear(size, size)
        self.gates = nn.Linear(size, 3 * size)

    def forward(self, node):
        word, children = node
        x = self.words(terra.tensor(word))
        states = [self(child) for child in children]
        h = x + sum(h for h, _ in states)
        i, o, u = self.gates(h).chunk(3)
        c = i.sigmoid() * u.tanh()
        for h, below in states:
            c = c + self.forget(x + h).sigmoid() * below
        return o.sigmoid() * c.tanh(), c


class RNTN(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.words = nn.Embedding(8, size)
        self.tensor = nn.Parameter(terra.zeros(size, 2 * size, 2 * size))
        self.join = nn.Linear(2 * size, size)

    def forward(self, node):
        if node.is_leaf:
            return self.words.weight[node.word]
        both = terra.cat([self(node.left), self(node.right)])
        return terra.tanh(terra.einsum("i,kij,j->k", both, self.tensor, both) + self.join(both))


# ---- training ----

@recursive
def a_tree_rnn_is_trained():
    net = filled(TreeRNN())
    opt = terra.optim.SGD(net.parameters(), lr=0.1)

    def f(node, label):
        opt.zero_grad()
        loss = F.cross_entropy(net(node), terra.tensor([label]))
        loss.backward()
        opt.step()
        return loss.item()
    return f, lambda i: (tree(i), i % 2), Seen(net)


@recursive
def a_tree_lstm_over_batches():
    net = filled(TreeLSTM())
    opt = terra.optim.Adam(net.parameters(), lr=0.02)

    def f(shapes):
        loss = terra.zeros(())
        for shape in shapes:
            h, c = net(shape)
            loss = loss + (h * h).sum() - c.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss
    return f, lambda i: ([nested(i + k) for k in range(1 + i % 3)],), Seen(net)


@recursive
def child_sums_and_adagrad():
    net = filled(ChildSum())
    opt = terra.optim.Adagrad(net.parameters(), lr=0.05, weight_decay=1e-3)

    def f(node):
        h, c = net(node)
        opt.zero_grad()
        (h.square().sum() + c.sum()).backward()
        opt.step()
        return h, c
    return f, lambda i: (bushy(i, lambda word, children: (word, children)),), Seen(net)


@recursive
def tensors_of_an_rntn():
    net = filled(RNTN())

    def f(node):
        net.zero_grad()
        y = net(node)
        y.sum().backward()
        with terra.no_grad():
            for p in net.parameters():
                if p.grad is not None:
                    p -= 0.05 * p.grad
        return y
    return f, lambda i: (tree(i),), Seen(net)


@recursive
def a_loss_at_every_node():
    net = filled(TreeRNN())

    def encode(node, losses):
        if node.is_leaf:
            h = net.words(terra.tensor([node.word]))
        else:
            h = terra.tanh(net.join(terra.cat([encode(node.left, losses), encode(node.right, losses)], 1)))
        losses.append(F.cross_entropy(net.out(h), terra.tensor([len(losses) % 2])))
        return h

    def f(node):
        losses = []
        encode(node, losses)
        net.zero_grad()
        terra.stack(losses).sum().backward()
        return losses
    f.target = encode
    return f, lambda i: (tree(i),), Seen(net)


@recursive
def sparse_rows():
    words = nn.Embedding(8, 3, sparse=True)
    filled(words)
    opt = terra.optim.SGD(words.parameters(), lr=0.5)

    def encode(node):
        if node.is_leaf:
            return words(terra.tensor([node.word]))
        return terra.tanh(encode(node.left) - 0.5 * encode(node.right))

    def f(node):
        opt.zero_grad()
        encode(node).sum().backward()
        touched = words.weight.grad.coalesce().indices()[0].tolist()
        opt.step()
        return touched
    f.target = encode
    return f, lambda i: (tree(i),), words.weight.data


@recursive
def evaluation_between_training_steps():
    net = filled(TreeRNN())

    def f(node, learn):
        if not learn:
            with terra.no_grad():
                return net(node).argmax(1).item()
        net.zero_grad()
        net(node).sum().backward()
        return net.join.weight.grad.clone()
    return f, lambda i: (tree(i), i % 3 != 2), Seen(net)


@recursive
def weights_replaced_between_calls():
    net = filled(TreeRNN())

    def f(node):
        return net(node)

    def args(i):
        with terra.no_grad():
            if i == 5:
                net.join.weight.mul_(-1)
            if i == 8:
                net.join.weight = nn.Parameter(table(3, 6, 5))
            if i == 10:
                net.join = filled(nn.Linear(6, 3, bias=False), 3)
            if i == 12:
                net.words.weight.requires_grad_(False)
        return tree(i),
    return f, args, Seen(net)


@recursive
def a_module_inside_replaced_by_a_function():
    net = filled(TreeRNN())

    def f(node):
        return net(node)

    def args(i):
        if i == 6:
            del net.join
            net.join = lambda both: both[:, :3] - both[:, 3:]
        if i == 10:
            net.encode = lambda node: terra.ones(1, 3) if node.is_leaf else TreeRNN.encode(net, node)
        return tree(i),
    return f, args, None


# ---- gradients ----

@recursive
def gradients_of_states_inside():
    net = filled(TreeRNN())

    def encode(node, states):
        if node.is_leaf:
            h = net.words(terra.tensor([node.word]))
        else:
            h = terra.tanh(net.join(terra.cat([encode(node.left, states), encode(node.right, states)], 1)))
        states.append(h)
        return h

    def f(node):
        states = []
        y = encode(node, states).square().sum()
        # Pairs lay them out by rows, and sum in another order.
        return [(g * 1000).round().contiguous() + 0 for g in terra.autograd.grad(y, states)]
    f.target = encode
    return f, lambda i: (tree(i),), Seen(net)


@recursive
def second_derivatives():
    words, weight = parameter(), parameter(6, 3, 2)

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh(terra.cat([encode(node.left), encode(node.right)]) @ weight)

    def f(node):
        words.grad = weight.grad = None
        y = encode(node).square().sum()
        grad, = terra.autograd.grad(y, words, create_graph=True)
        (grad.square().sum() + y).backward()
        weight.grad = weight.grad if weight.grad is not None else terra.zeros(6, 3)
        return (grad.detach() * 1000).round()
    f.target = encode
    return f, lambda i: (tree(i),), Near(words, weight)


@recursive
def retained_gradients():
    words, weight = parameter(), parameter(6, 3, 2)

    def encode(node):
        if node.is_leaf:
            node.h = words[node.word] * 1
        else:
            node.h = terra.tanh(terra.cat([encode(node.left), encode(node.right)]) @ weight)
        node.h.retain_grad()
        return node.h

    def gradients(node):
        below = () if node.is_leaf else (gradients(node.left), gradients(node.right))
        grad, node.h = node.h.grad, None
        return grad, below

    def f(node):
        encode(node).sum().backward()
        return gradients(node)
    f.target = encode
    return f, lambda i: (tree(i),), Seen(words, weight)


@recursive
def hooks_on_states():
    words, log = parameter(), []

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        h = terra.tanh(encode(node.left) - encode(node.right))
        if h[0] > 0:
            h.register_hook(lambda g: log.append(g.sum().item()))
        else:
            h.register_hook(lambda g: g * 0.5)
        return h

    def f(node):
        encode(node).sum().backward()
    f.target = encode
    return f, lambda i: (tree(i),), (Seen(words), log)


@recursive
def hooks_on_modules():
    net, log = filled(TreeRNN()), []
    handles = []

    def f(node):
        return net(node)

    def args(i):
        if i == 4:
            handles.append(net.join.register_forward_hook(lambda module, given, y: log.append(y.sum().item())))
        if i == 7:
            handles.append(net.words.register_forward_pre_hook(lambda module, given: (given[0] * 0 + 1,)))
        if i == 10:
            handles[0].remove()
        return tree(i),
    return f, args, log


@recursive
def detached_inside():
    words = parameter()

    def encode(node, depth=0):
        if node.is_leaf:
            return words[node.word]
        left, right = encode(node.left, depth + 1), encode(node.right, depth + 1)
        return terra.tanh(left.detach() - right) if depth % 2 else terra.tanh(left - right.detach())

    def f(node):
        y = encode(node)
        y.sum().backward()
        return y
    f.target = encode
    return f, lambda i: (tree(i),), Seen(words)


@recursive
def without_gradients_below():
    words = parameter()

    def encode(node, depth):
        if node.is_leaf:
            return words[node.word] * 2
        with terra.set_grad_enabled(depth > 0 and terra.is_grad_enabled()):
            return terra.tanh(encode(node.left, depth - 1) - encode(node.right, depth - 1))

    def f(node, depth):
        y = encode(node, depth)
        if y.requires_grad:
            y.sum().backward()
        return y, terra.is_grad_enabled()
    f.target = encode
    return f, lambda i: (tree(i), i % 4), Seen(words)


@recursive
def gradients_through_shared_parts():
    words = parameter()

    def encode(node, memo):
        if id(node) not in memo:
            y = words[node] if isinstance(node, int) else terra.tanh(encode(node[0], memo) - 0.5 * encode(node[1], memo))
            memo[id(node)] = y
        return memo[id(node)]

    def f(node):
        words.grad = None
        y = encode(node, {})
        y.sum().backward()
        return y

    def args(i):
        part = (i % 8, (3, i % 5))
        return ((part, (part, part)) if i % 2 else ((part, 2), part)),
    f.target = encode
    return f, args, Near(words)  # parts cut at id() add up gradients in another order than single calls


@recursive
def backward_inside_each_call():
    """Every call differentiates what its children gave."""
    words = parameter()

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        y = terra.tanh(encode(node.left) - encode(node.right))
        y.sum().backward()
        return y.detach().requires_grad_()
    return encode, lambda i: (tree(i),), Seen(words)


# ---- modes and random numbers ----

@recursive
def dropout():
    net = filled(TreeRNN())
    drop = nn.Dropout(0.4)

    def encode(node):
        if node.is_leaf:
            return drop(net.words(terra.tensor([node.word])))
        return drop(terra.tanh(net.join(terra.cat([encode(node.left), encode(node.right)], 1))))

    def f(node):
        net.zero_grad()
        y = encode(node)
        y.sum().backward()
        return y, terra.rand(2)
    f.target = encode

    def args(i):
        terra.manual_seed(i // 2)
        drop.train(i % 5 != 3)
        return tree(i),
    return f, args, Seen(net)


@recursive
def noise_in_visit_order():
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[node.word] + terra.randn(3)
        return terra.tanh(encode(node.left) - encode(node.right)) * terra.rand(1)

    def args(i):
        terra.manual_seed(i % 4)
        return tree(i),
    return encode, args, None


@recursive
def dropout_behind_the_recursion():
    net = filled(TreeRNN())
    drop = nn.Dropout(0.4)

    def encode(node, states):
        if node.is_leaf:
            h = net.words(terra.tensor([node.word]))
        else:
            h = terra.tanh(net.join(terra.cat([encode(node.left, states), encode(node.right, states)], 1)))
        states.append(h)
        return h

    def f(nodes, p):
        net.zero_grad()
        drop.p = p
        total = 0
        for node in nodes:
            states = []
            encode(node, states)
            total = total + drop(terra.cat(states)).square().sum() * terra.rand(1)
        total.backward(retain_graph=True)
        total.backward()  # the same masks
        return total, terra.rand(2)
    f.target = encode

    def args(i):
        terra.manual_seed(i // 2)
        drop.train(i % 6 != 4)
        return [tree(i), tree(i + 1), tree(i)], (0.4, 0.4, 0.25)[i % 3]
    return f, args, Seen(net)


@recursive
def noise_like_states():
    words = parameter()

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        l, r = encode(node.left), encode(node.right)
        kept = terra.empty_like(l).bernoulli_(0.7)
        return terra.tanh(l * kept - r + terra.randn_like(l) * 0.1 * terra.rand_like(r))

    def f(node):
        words.grad = None
        y = encode(node)
        y.sum().backward()
        return y, words.grad, terra.rand(2)
    f.target = encode

    def args(i):
        terra.manual_seed(i % 4)
        return tree(i),
    return f, args, None


@recursive
def draws_from_states():
    """What is drawn depends on what states hold."""
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        l, r = encode(node.left), encode(node.right)
        return l * terra.bernoulli(terra.sigmoid(r)) - r

    def args(i):
        terra.manual_seed(i % 4)
        return tree(i),
    return encode, args, None


@recursive
def rows_that_are_drawn():
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[terra.randint(0, 8, (1,))] + words[node.word]
        return terra.tanh(encode(node.left) - encode(node.right))

    def args(i):
        terra.manual_seed(i % 4)
        return tree(i),
    return encode, args, None


@recursive
def draws_of_several_generators():
    words = table()
    own = terra.Generator()

    def encode(node):
        if node.is_leaf:
            return words[node.word] + terra.randn(3, generator=own)
        l, r = encode(node.left), encode(node.right)
        return terra.tanh(l - r) + terra.rand(3) * random.random()

    def f(node):
        return encode(node), terra.rand(2), terra.rand(2, generator=own), random.random()
    f.target = encode

    def args(i):
        terra.manual_seed(i % 4)
        own.manual_seed(i % 3)
        random.seed(i % 5)
        return tree(i),
    return f, args, None


@recursive
def a_word_that_the_table_lacks():
    net = filled(TreeRNN(words=7))  # word 7 has no row

    def f(node):
        try:
            return net(node)
        except IndexError as error:
            return type(error).__name__, str(error)
    f.target = TreeRNN.encode
    return f, lambda i: (tree(i),), Seen(net)


@recursive
def numbers_that_are_not_numbers():
    net = filled(TreeRNN())

    def f(node):
        net.zero_grad()
        y = net(node)
        y.sum().backward()
        grad = net.join.weight.grad
        return repr(y.tolist()), grad is not None and bool(terra.isnan(grad).any())

    def args(i):
        with terra.no_grad():
            net.words.weight[3] = float("nan") if i % 4 == 2 else float("inf") if i % 4 == 3 else 0.25
        return tree(i),
    return f, args, None


@recursive
def other_types_between_calls():
    words = {dtype: table().to(dtype) for dtype in (terra.float32, terra.float64)}

    def encode(node, words):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh(encode(node.left, words) - encode(node.right, words) * 0.5)
    return encode, lambda i: (tree(i), words[terra.float64 if i % 4 == 3 else terra.float32]), None


@recursive
def other_sizes_between_calls():
    tables = [table(8, columns) for columns in (3, 1, 5)]

    def encode(node, words):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh(encode(node.left, words) - encode(node.right, words) * 0.5)
    return encode, lambda i: (tree(i), tables[(i // 3) % 3]), None


@recursive
def sizes_that_grow_on_the_way():
    """The state of a node is as long as its sentence."""
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[node.word:node.word + 1]
        rows = terra.cat([encode(node.left), encode(node.right)])
        return terra.tanh(rows - rows.mean(0, keepdim=True))
    return encode, lambda i: (tree(i),), None


main()
