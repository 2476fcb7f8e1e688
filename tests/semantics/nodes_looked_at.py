# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Programs that look at the nodes of what captured frames return: at names and edges down to the leaves, at what nodes keep,
and that put hooks there. A node of a captured frame shows its last call, and those before it behind it."""
import sys

import terra
import terra.nn.functional as F
from _gradients import Net, Seen, leaf, t
from _harness import main, program


def tree(node, depth=8):
    if node is None or depth == 0:
        return node and "..."
    return [node.name()] + [(index, tree(n, depth - 1)) for n, index in node.next_functions]


def looking(forward, look, *weights):
    """A frame `forward` that captures, and a caller that never does and looks at what came."""
    def f(*args):
        here = sys._getframe()
        for w in weights:
            w.grad = None
        terra.manual_seed(1)
        return look(*forward(*args))
    f.target = forward
    return f


def one(i):
    return (t(i),)


@program(calls=12, captures=8)
def edges_before_and_after_backward():
    w = leaf(1)
    def forward(x):
        return [(terra.exp(w * x) * w).sum()]
    def look(y):
        before = tree(y.grad_fn)
        y.backward()
        return before, tree(y.grad_fn), y.grad_fn == y.grad_fn, y.grad_fn.name()
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def leaves_at_the_ends():
    net = Net()
    def forward(x):
        return [net(x)]
    def look(y):
        y.sum().backward()
        bias = y.grad_fn.next_functions[0][0].variable
        tanh = y.grad_fn.next_functions[1][0]
        return bias is net.b.bias, tanh.name(), tree(y.grad_fn)
    return looking(forward, look, *net.parameters()), lambda i: (t(i, 8).reshape(2, 4),), Seen(net)


@program(calls=12, captures=8)
def hooks_of_a_node():
    w, v = leaf(1), leaf(2)
    def forward(x):
        return [(w * x).sin() * v]
    def look(y):
        seen = []
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append(("after", inputs, outputs)))
        y.grad_fn.register_prehook(lambda outputs: seen.append(("before", outputs)))
        y.sum().backward()
        return seen
    return looking(forward, look, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def what_is_kept_with_a_node():
    w, v = leaf(1), leaf(2)
    def forward(x):
        return [(w * x).sin() * v]
    def look(y):
        y.grad_fn.metadata["last"] = 1
        y.grad_fn.next_functions[0][0].metadata["first"] = 2
        y.sum().backward()
        inner = y.grad_fn.next_functions[0][0]
        return y.grad_fn.metadata, inner.metadata, inner.next_functions[0][0].metadata
    return looking(forward, look, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def hooks_that_replace():
    w, v = leaf(1), leaf(2)
    def forward(x):
        return [(w * x).sin() * v]
    def look(y):
        y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 3,))
        y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 5, inputs[1] * 7))
        inner = y.grad_fn.next_functions[0][0]
        inner.register_hook(lambda inputs, outputs: (inputs[0] * 2,))
        handle = inner.register_hook(lambda inputs, outputs: (inputs[0] * 100,))
        handle.remove()
        y.sum().backward()
    return looking(forward, look, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def hooks_of_tensors_and_nodes():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x), terra.tanh(w + x)
    def look(y, z):
        seen = []
        y.register_hook(lambda g: seen.append(("tensor", g.clone())) or g * 2)
        y.retain_grad()
        y.grad_fn.register_prehook(lambda outputs: seen.append(("node", outputs)))
        z.grad_fn.register_hook(lambda inputs, outputs: seen.append(("other", inputs, outputs)))
        y.register_hook(lambda g: seen.append(("tensor again", g.clone())) or g * 3)
        (y.sum() + z.sum()).backward()
        return seen, y.grad
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def results_that_follow_from_each_other():
    w, v = leaf(1), leaf(2)
    def forward(x):
        c = terra.tanh(w * x)
        return c, terra.exp(c * v), c * c
    def look(c, h, s):
        seen = []
        c.register_hook(lambda g: seen.append(g.clone()) or g * 2)
        h.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
        trees = tree(c.grad_fn), tree(h.grad_fn), tree(s.grad_fn)
        same = h.grad_fn.next_functions[0][0].next_functions[0][0] == c.grad_fn
        (h.sum() + s.sum() + c.sum()).backward()
        return seen, trees, same
    return looking(forward, look, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def one_frame_behind_another():
    w = leaf(1)
    def forward(x):
        return [terra.exp(w * x)]
    def second(y):
        return terra.sin(y) * y
    def look(y):
        z = second(y)
        same = z.grad_fn.next_functions[1][0] == y.grad_fn
        seen = []
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
        whole = tree(z.sum().grad_fn)
        z.sum().backward()
        return whole, same, seen
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def kept_by_a_node():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x), terra.sin(w + x)
    def look(y, z):
        product = y.grad_fn.next_functions[0][0]
        kept = y.grad_fn._saved_result, z.grad_fn._saved_self, product._saved_self
        (y + z).sum().backward()
        try:
            y.grad_fn._saved_result
        except RuntimeError as error:
            return kept, str(error)
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def passed_again_and_once_too_often():
    w = leaf(1)
    def forward(x):
        return [terra.exp(w * x)]
    def look(y):
        seen = []
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs))
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        try:
            y.sum().backward()
        except RuntimeError as error:
            return seen, str(error)[:40]
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def looked_at_and_then_written():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x), w * x
    def look(y, z):
        edges = tree(y.grad_fn), tree(z.grad_fn)
        z.add_(1)
        z.sum().backward(retain_graph=True)
        y.add_(1)
        try:
            y.sum().backward()
        except RuntimeError as error:
            return edges, str(error)[:80]
        return edges
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def second_derivatives_behind_a_look():
    w = leaf(1)
    def forward(x):
        return [terra.exp(w * x) * w]
    def look(y):
        edges = tree(y.grad_fn)
        g, = terra.autograd.grad(y.sum(), w, create_graph=True)
        h, = terra.autograd.grad(g.sum(), w)
        return edges, g.detach(), h
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def drawn_once():
    w = leaf(1)
    def forward(x):
        return [F.dropout(terra.exp(w * x), 0.5, True)]
    def look(y):
        seen = []
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs))
        y.sum().backward()
        return y.detach(), seen, terra.rand(2)
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def one_of_several_passed():
    w, v = leaf(1), leaf(2)
    def forward(x):
        return (w * x).exp(), (v * x).exp()
    def look(y, z):
        y.sum().backward()
        try:
            y.sum().backward()
        except RuntimeError as error:
            text = str(error)[:40]
        z.sum().backward()
        return text, tree(z.grad_fn), tree(y.grad_fn)
    return looking(forward, look, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def parts_of_one_call():
    w = leaf(1, 6)
    def forward(x):
        a, b, c = (w * x).exp().chunk(3)
        return a, b, c
    def look(a, b, c):
        trees = tree(a.grad_fn), tree(b.grad_fn), tree(c.grad_fn)
        (a.sum() + 2 * b.sum()).backward()
        return trees
    return looking(forward, look, w), lambda i: (t(i, 6),), Seen(w)


@program(calls=12, captures=8)
def rounds_and_ways():
    w = leaf(1)
    def forward(x, n):
        y = x
        for _ in range(n):
            y = terra.sin(y * w)
        return [y]
    def look(y):
        edges = tree(y.grad_fn, 20)
        y.sum().backward()
        return edges, tree(y.grad_fn, 20)
    return looking(forward, look, w), lambda i: (t(i), 2 + i % 3), Seen(w)


@program(calls=12, captures=8)
def looked_at_by_hooks():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x), terra.sin(w * x)
    def look(y, z):
        seen = []
        (y * z).sum().register_hook(lambda g: seen.append(y.grad_fn.name()))
        y.register_hook(lambda g: seen.append(z.grad_fn.name()))
        (y * z).sum().backward()
        return seen
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def looked_at_where_what_is_saved_is_packed():
    w = leaf(1)
    def forward(x):
        return [terra.exp(w * x) * w]
    def look(y):
        packed = []
        with terra.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.detach()) or t, lambda t: t):
            edges = tree(y.grad_fn)
            z = y * w
        z.sum().backward()
        return edges, packed
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def views_of_what_stays_inside():
    w, v = leaf(1), leaf(2)
    def forward(x):
        a, b = (w * x).split([1, 2])
        return w.expand(2, 3) * v, (w * x).expand(2, 3), a * b, a
    def look(*results):
        seen = []
        for k, y in enumerate(results):
            y.grad_fn.register_hook(lambda inputs, outputs, k=k: seen.append((k, inputs, outputs)))
        trees = [tree(y.grad_fn) for y in results]
        sum(y.sum() for y in results).backward()
        return trees, seen
    return looking(forward, look, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def written_through_a_view():
    """What comes to the view passes the base, whose history knows of the write."""
    w, v = leaf(1), leaf(2)
    def forward(x):
        y = w * x
        z = y[1:]
        z.mul_(v[1:])
        return y, z, z * 2
    def look(*results):
        seen = []
        for k, y in enumerate(results):
            y.register_hook(lambda g, k=k: seen.append((k, g.clone())))
        trees = [tree(y.grad_fn) for y in results]
        sum((k + 1) * y.sum() for k, y in enumerate(results)).backward()
        return trees, seen
    return looking(forward, look, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def hooks_on_a_base_and_on_the_view_that_wrote_it():
    w, v = leaf(1), leaf(2)
    def forward(x):
        y = w * x
        z = y[1:]
        z.mul_(v[1:])
        return y, z
    def look(y, z):
        seen = []
        y.register_hook(lambda g: seen.append(("whole", g.clone())) or g * 2)
        z.register_hook(lambda g: seen.append(("part", g.clone())) or g * 3)
        (y.sum() + 2 * z.sum()).backward()
        return seen
    return looking(forward, look, w, v), one, Seen(w, v)


class Square(terra.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * g * x


@program(calls=12, captures=8)
def around_a_function_of_the_program():
    w, v = leaf(1), leaf(2)
    def forward(x):
        a = (w * x).sin()
        b = Square.apply(a.exp())
        return b * v, b.exp(), a
    def look(*results):
        seen = []
        for k, y in enumerate(results):
            y.grad_fn.register_hook(lambda inputs, outputs, k=k: seen.append((k, inputs, outputs)))
        trees = [tree(y.grad_fn) for y in results]
        function = results[0].grad_fn.next_functions[0][0]
        function.register_prehook(lambda outputs: seen.append(("function", outputs)))
        sum(y.sum() for y in results).backward()
        return trees, function.name(), seen, [tree(y.grad_fn) for y in results]
    return looking(forward, look, w, v), one, Seen(w, v)


def looked_at_twice(y):
    """Before its backward and behind it."""
    before = tree(y.grad_fn)
    y.backward(retain_graph=True)
    y.backward()
    return before, tree(y.grad_fn)


@program(calls=12, captures=8)
def behind_writes_to_a_buffer():
    w = leaf(1)
    buffer = terra.zeros(3)
    def forward(x):
        buffer.mul_(0.5).add_(x)
        return [(buffer.clone() * w).tanh().sum()]
    return looking(forward, looked_at_twice, w), one, Seen(w, buffer)


@program(calls=12, captures=8)
def behind_a_normalization():
    norm, net = terra.nn.BatchNorm1d(5), Net()
    def forward(x):
        return [norm(net.a(x)).relu().sum()]
    return looking(forward, looked_at_twice, *net.parameters(), *norm.parameters()), \
        lambda i: (t(i, 8).reshape(2, 4),), Seen(net, norm, norm.running_mean)


@program(calls=12, captures=8)
def behind_a_write_to_what_came():
    """Hooks there are met, and what was saved by calls is watched."""
    w, v = leaf(1), leaf(2)
    def forward(h):
        h.mul_(v)
        return [(h.exp() + v).sum(), h]
    def f(x, write):
        here = sys._getframe()
        w.grad = v.grad = None
        seen = []
        y, h = forward(w * x)
        node = y.grad_fn.next_functions[0][0]
        node.register_hook(lambda inputs, outputs: seen.append((node.name(), inputs)))
        trees = tree(y.grad_fn), tree(h.grad_fn)
        if write:
            h.add_(1)
        y.backward()
        return trees, seen
    f.target = forward
    return f, lambda i: (t(i), i % 3 == 2), Seen(w, v)


@program(calls=12, captures=8)
def behind_gradients_taken_inside():
    w, v = leaf(1), leaf(2)
    def forward(x):
        y = (w * x).sin().sum()
        g, = terra.autograd.grad(y, w, create_graph=True)
        return [(g * g * v).sum() + y]
    return looking(forward, looked_at_twice, w, v), one, Seen(w, v)


@program(calls=12, captures=8)
def hooked_behind_gradients_taken_inside():
    w = leaf(1)
    def forward(x):
        y = (w * x).sin().sum()
        g, = terra.autograd.grad(y, w, create_graph=True)
        return [(g * g).sum()]
    def look(y):
        seen = []
        w.register_hook(lambda g: seen.append("leaf"))
        node = y.grad_fn.next_functions[0][0]
        node.register_hook(lambda inputs, outputs: seen.append((len(inputs), outputs)))
        y.backward()
        return seen[-3:]
    return looking(forward, look, w), one, Seen(w)


@program(calls=12, captures=8)
def behind_a_backward_and_a_number():
    """What was freed shows the calls that there were."""
    w = leaf(1)
    def forward(x):
        y = w * x
        if y.sum() > -100:
            y = y.sin()
        return [(y * (y.sum().item() * 0 + 2)).sum()]
    def look(y):
        y.backward()
        return tree(y.grad_fn)
    return looking(forward, look, w), one, Seen(w)


if __name__ == "__main__":
    main()
