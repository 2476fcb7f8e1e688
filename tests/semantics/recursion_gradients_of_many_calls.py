# run:
# run: HARNESS_MODE=frame
"""Calls that wait for each other share a pass backward: what a program sees of gradients is what it sees of one call."""
import terra
from _harness import main
from _recursion import parameter, recursive, table, tree

CALLS = 30


def network(leaf=None):
    """encode(tree, seen) and the weights; `seen` takes the states of inner nodes."""
    words, weights, bias = parameter(), parameter(3, 3, 1), parameter(1, 3, 2)
    leaf = leaf or (lambda word: words[word])

    def join(left, right):
        return terra.tanh((left + right) @ weights + bias[0])

    def encode(node, seen):
        if node.is_leaf:
            return leaf(node.word)
        state = join(encode(node.left, seen), encode(node.right, seen))
        seen.append(state)
        return state
    return encode, (words, weights, bias)


def taken(parameters):
    """The gradients, which are gone then."""
    grads = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    return grads


def said(f):
    """What it raises, up to where PyTorch's messages name one tensor of several."""
    try:
        return f()
    except RuntimeError as error:
        return str(error).partition("inplace operation")[0]


def trees(i):
    return tree(i), tree(i + 1), tree(i + 2)


@recursive(calls=CALLS)
def a_pass_for_each_loss():
    encode, parameters = network()

    def loss(state):
        return (state * state + state).sum()

    def f(*batch):
        losses = []
        for t in batch:
            losses.append(loss(encode(t, [])))
        for one in losses:
            one.backward()
        return losses, taken(parameters), said(losses[0].backward)
    return f, trees, None


@recursive(calls=CALLS)
def a_part_that_was_passed_is_spent():
    encode, parameters = network()

    def double(state):
        return state * state

    def f(t):
        state = encode(t, [])
        one, other = double(state).sum(), double(state * 3).sum()
        one.backward()
        return said(other.backward), taken(parameters)
    return f, lambda i: (tree(i, most=9),), None


@recursive(calls=CALLS)
def a_look_at_one_behind_a_pass_for_another():
    encode, parameters = network()

    def f(*batch):
        states = [encode(t, []) for t in batch]
        states[0].sum().backward()
        states[1].retain_grad()
        states[1].sum().backward()
        return states[1].grad, taken(parameters), said(lambda: (states[0] * 2).sum().backward())
    return f, trees, None


@recursive(calls=CALLS)
def a_state_that_is_written():
    encode, parameters = network()

    def f(t):
        seen = []
        state = encode(t, seen)
        if seen:
            with terra.no_grad():
                seen[0].add_(1.0)
        found = said((state * 2).sum().backward) or [p.grad for p in parameters]
        taken(parameters)
        return seen, found
    return f, lambda i: (tree(i),), None


@recursive(calls=CALLS)
def an_input_that_is_written():
    inputs = [terra.ones(3) * k for k in range(8)]
    scale = parameter(1, 3, 4)
    encode, parameters = network(lambda word: inputs[word] * scale[0])

    def f(t):
        state = encode(t, [])
        inputs[3].mul_(0.9)
        found = said(state.sum().backward) or [p.grad for p in (*parameters, scale)]
        taken((*parameters, scale))
        return found, state
    return f, lambda i: (tree(i),), None


@recursive(calls=CALLS)
def infinite_slopes_of_results_that_no_loss_uses():
    inputs = [terra.tensor([0.0, 1.0, float(k)]).requires_grad_() for k in range(8)]

    def encode(node):
        if node.is_leaf:
            return inputs[node.word] * 1.0, terra.log(inputs[node.word])
        (left, a), (right, b) = encode(node.left), encode(node.right)
        return left + right, terra.log(left * a) + b

    def f(*batch):
        sum(encode(t)[0].sum() for t in batch).backward()
        return taken(inputs)
    return f, trees, None


@recursive(calls=CALLS)
def states_that_are_detached():
    words, weights = parameter(), parameter(3, 3, 1)

    def encode(node):
        if node.is_leaf:
            word = words[node.word] * 2
            return terra.tanh(word).detach(), word
        (left, a), (right, b) = encode(node.left), encode(node.right)
        return terra.sqrt(left * left + right * right), (a * b) @ weights

    def f(*batch):
        states = [encode(t) for t in batch]
        loss = sum(one.sum() for one, _ in states)
        if loss.requires_grad:
            loss.backward()
        return states, taken((words, weights))
    return f, trees, None


@recursive(calls=CALLS)
def weights_that_come_from_weights():
    words, base, log = parameter(), parameter(3, 3, 1), []
    weights = None

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh((encode(node.left) + encode(node.right)) @ weights + base.sum() * words[0])

    def f(*batch):
        nonlocal weights
        weights = base * 2
        weights.register_hook(lambda g: (log.append(len(log)), g * 3)[1])
        found = terra.autograd.grad(sum(encode(t).sum() for t in batch), (words, base), create_graph=True)
        if any(g.requires_grad for g in found):
            (sum((g * g).sum() for g in found) * 1e-3).backward()
        return [g * 1e-2 for g in found], taken((words, base))
    return f, trees, log


@recursive(calls=CALLS)
def gradients_of_another_type():
    words, weights = parameter(), parameter(3, 3, 1)

    class Widened(terra.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.double()

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh((encode(node.left) + encode(node.right)) @ weights)

    def f(*batch):
        states = [encode(t) for t in batch]
        for h in states[1:]:
            h.backward(terra.full((3,), 0.5, dtype=terra.float64), retain_graph=True)
        sum(Widened.apply(h).sum() for h in states).backward()
        return taken((words, weights))
    return f, trees, None


@recursive(calls=CALLS)
def weights_with_other_data_before_the_backward():
    words, weights, spare = parameter(), parameter(3, 3, 1), [table(3, 3, k) for k in range(2)]
    round_ = 0

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh((encode(node.left) + encode(node.right)) @ weights)

    def f(*batch):
        nonlocal round_
        round_ += 1
        with terra.no_grad():
            weights.mul_(1.01)
        loss = sum(encode(t).sum() for t in batch)
        weights.data = spare[round_ % 2].clone()
        found = terra.autograd.grad(loss, (words, weights), create_graph=round_ % 3 == 0, allow_unused=True)
        return [g for g in found if g is not None]
    return f, trees, None


@recursive(calls=CALLS)
def states_that_are_written_before_the_backward():
    words, weights = parameter(), parameter(3, 3, 1)

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh((encode(node.left) + encode(node.right)) @ weights)

    def f(*batch):
        words.grad = weights.grad = None
        seen = []
        for k, t in enumerate(batch):
            h = encode(t)
            (h[:2] if k % 2 else h).mul_(2)
            try:
                h.sum().backward()
                seen.append("passed")
            except RuntimeError as error:
                seen.append(str(error)[:60])
        return seen, taken((words, weights))
    return f, trees, None


main()
