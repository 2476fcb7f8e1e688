# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@3
"""Tensors of changing sizes, and integers that decide sizes and indices: one entry serves them."""
import math

import terra
import terra.nn.functional as F
from _harness import Bag, main, program
from terra import nn

SIZES = [4, 6, 3, 5, 4, 7, 2, 6, 9, 3, 4, 8]


def t(*sizes, start=0.0):
    n = math.prod(sizes)
    return (terra.arange(float(n)) * 0.25 - n / 8 + start).view(*sizes)


def size(i):
    return SIZES[i % len(SIZES)]


class State:
    """Shows the state of modules to the harness, gradients included, without their hooks and such."""
    def __init__(self, *modules):
        self.modules = modules
    @property
    def __dict__(self):
        return {"state": [({k: v.tolist() for k, v in m.state_dict().items()},
                           {k: None if p.grad is None else p.grad.tolist() for k, p in m.named_parameters()})
                          for m in self.modules]}


# ---- batches and lengths ----

@program(calls=12, captures=9)
def any_batch():
    def f(x):
        return (x * 2 + 1).sum(0), x.relu()
    return f, lambda i: (t(size(i), 3),), None


@program(calls=12, captures=9)
def last_batch_is_smaller():
    terra.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    def f(x):
        with terra.no_grad():
            return net(x).softmax(-1)
    return f, lambda i: (t(8 if i % 4 else 3, 3),), None


@program(calls=12, captures=9)
def two_inputs_of_one_length():
    def f(x, y):
        return (x * y).sum(), x.shape == y.shape
    return f, lambda i: (t(size(i), 2), t(size(i), 2, start=1)), None


@program(calls=12, captures=5)
def two_inputs_sometimes_broadcast():
    def f(x, y):
        return x * y
    return f, lambda i: (t(size(i), 2), t(1 if i % 3 == 2 else size(i), 2, start=1)), None


@program(calls=12, captures=6)
def one_against_many():
    def f(x):
        return x.squeeze() * 2, x.shape
    return f, lambda i: (t(size(i) if i % 3 else 1, 4),), None


@program(calls=12, captures=6)
def empty_batches():
    def f(x):
        return x.sum(0), x * 3, len(x)
    return f, lambda i: (t(size(i), 2) if i % 3 else terra.zeros(0, 2),), None


@program(calls=12, captures=9)
def ragged_sequences_in_a_list():
    def f(xs):
        return [x.cumsum(0) for x in xs]
    return f, lambda i: ([t(size(i)), t(size(i + 1)), t(size(i + 2))],), None


@program(calls=12, captures=6)
def rank_changes_too():
    def f(x):
        return x.sum(-1), x.dim()
    return f, lambda i: (t(size(i), 3) if i % 2 else t(2, size(i), 3),), None


@program(calls=12, captures=8)
def not_contiguous():
    def f(x):
        return x.reshape(-1) * 2, x.t() + 1, x.is_contiguous()
    return f, lambda i: (t(size(i), 5).t(),), None


@program(calls=12, captures=9)
def prefix_of_a_buffer():
    buffer = t(16, 4)
    def f(x):
        return x.sum(1) + x[0, 0]
    return f, lambda i: (buffer[:size(i)],), None


@program(calls=12, captures=10)
def rows_anywhere_in_a_dataset():
    data = t(40, 3)
    def f(x):
        y = x * 2
        return y, x[1:], x.storage_offset() if False else 0
    return f, lambda i: (data[3 * i:3 * i + 3],), None


@program(calls=12, captures=8)
def writes_into_rows_of_a_dataset():
    data = t(40, 3)
    def f(x):
        x.mul_(2)
        x[0] = 7.0
        return x[1]
    return f, lambda i: (data[3 * i:3 * i + 3],), data


@program(calls=12, captures=1)
def offset_is_read():
    data = t(40, 3)
    def f(x):
        return x * x.storage_offset()
    return f, lambda i: (data[3 * (i // 4):3 * (i // 4) + 3],), None


@program(calls=12, captures=8)
def two_views_of_one_storage():
    def f(a, b):
        a.add_(1)
        return b * 2
    def args(i):
        data = t(size(i) + 4)
        return data[:size(i)], data[2:]
    return f, args, None


# ---- sizes that the program reads ----

@program(calls=12, captures=9)
def flatten_by_view():
    def f(x):
        return x.view(x.size(0), -1)
    return f, lambda i: (t(size(i), 2, 3),), None


@program(calls=12, captures=9)
def size_of_what_was_made():
    terra.manual_seed(1)
    conv = nn.Conv2d(1, 2, 3)
    def f(x):
        with terra.no_grad():
            h = F.max_pool2d(conv(x), 2)
        return h.view(h.size(0), -1), h.shape
    return f, lambda i: (t(size(i), 1, 6, 8),), None


@program(calls=12, captures=9)
def images_of_other_sizes():
    terra.manual_seed(1)
    conv = nn.Conv2d(1, 2, 3, padding=1)
    def f(x):
        with terra.no_grad():
            return conv(x).relu().mean((2, 3)), x.shape[-1] * x.shape[-2]
    return f, lambda i: (t(2, 1, 4 + size(i), 5 + size(i)),), None


@program(calls=12, captures=9)
def average_by_hand():
    def f(x, seen):
        seen += x.size(0)
        return x.sum() / x.size(0), seen
    return f, lambda i: (t(size(i), 2), i * 10), None


@program(calls=12, captures=8)
def counts_what_it_saw():
    o = Bag(seen=0, total=0.0)
    def f(x):
        h = x.relu()
        o.seen += h.size(0)
        o.total = o.total + len(x) * 0.5
        return h
    return f, lambda i: (t(size(i), 2),), o


@program(calls=12, captures=8)
def arithmetic_on_sizes():
    def f(x):
        n, m = x.shape
        y = x.reshape(n * m)
        half = y.numel() // 2
        return y[:half], y[half:], x.view(m, -1) if n % m == 0 else x.view(-1), max(n, m), min(n, 4), n - m, -n, n / m
    return f, lambda i: (t(size(i) * 2, 4),), None


@program(calls=12, captures=9)
def attention():
    terra.manual_seed(3)
    qkv, out = nn.Linear(8, 24), nn.Linear(8, 8)
    def f(x):
        b, n, c = x.size()
        q, k, v = qkv(x).split(c, dim=2)
        q = q.view(b, n, 2, c // 2).transpose(1, 2)
        k = k.view(b, n, 2, c // 2).transpose(1, 2)
        v = v.view(b, n, 2, c // 2).transpose(1, 2)
        score = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        mask = terra.tril(terra.ones(n, n)).view(1, 1, n, n)
        score = score.masked_fill(mask[:, :, :n, :n] == 0, float("-inf")).softmax(-1)
        return out((score @ v).transpose(1, 2).contiguous().view(b, n, c))
    def g(x):
        with terra.no_grad():
            return f(x)
    return g, lambda i: (t(2 + i % 3, size(i), 8) * 0.1,), None


@program(calls=12, captures=9)
def positions():
    def f(x):
        p = terra.arange(x.shape[1])
        return x + p, terra.arange(0, x.size(1), 2), p.shape[0]
    return f, lambda i: (t(2, size(i)),), None


@program(calls=12, captures=9)
def mask_from_lengths():
    def f(x, lengths):
        mask = terra.arange(x.size(1))[None, :] < lengths[:, None]
        return (x * mask).sum(1) / mask.sum(1)
    return f, lambda i: (t(3, size(i)), terra.tensor([1, 2, size(i)])), None


@program(calls=12, captures=9)
def like_and_new():
    def f(x):
        z = terra.zeros(x.shape)
        o = x.new_ones(x.size(0), 2)
        return z + x, o, terra.full((x.size(1), 3), 2.0), terra.zeros_like(x), terra.eye(x.shape[0])
    return f, lambda i: (t(size(i), 3),), None


@program(calls=12, captures=9)
def expand_and_repeat():
    def f(x, y):
        n = x.size(0)
        return y.expand(n, -1) + x, y.repeat(n, 1), y.expand(n, *y.shape)
    return f, lambda i: (t(size(i), 3), t(3)), None


@program(calls=12, captures=9)
def pad_to_a_length():
    def f(x):
        return F.pad(x, (0, 12 - x.size(1)))
    return f, lambda i: (t(2, size(i)),), None


@program(calls=12, captures=9)
def growing_by_cat():
    o = Bag(kept=t(1, 3))
    def f(x):
        o.kept = terra.cat([o.kept, x])
        return o.kept.mean(0), o.kept.shape[0]
    return f, lambda i: (t(2, 3, start=i),), o


@program(calls=12, captures=9)
def last_half():
    def f(x):
        a, b = x[: x.size(0) // 2], x[x.size(0) // 2:]
        return a.sum(), b.sum(), a.shape, b.shape
    return f, lambda i: (t(size(i), 2),), None


@program(calls=12, captures=8)
def shapes_compared():
    def f(x, y):
        if x.shape == y.shape:
            return x + y
        if x.shape[0] != y.shape[0]:
            return x.sum() + y.sum()
        return x
    return f, lambda i: (t(size(i), 2), t(size(i) + (i % 2), 2)), None


@program(calls=12, captures=7)
def branch_on_a_size():
    def f(x):
        if x.shape[0] > 4:
            return x * 2
        return x - 1
    return f, lambda i: (t(size(i), 3),), None


@program(calls=12, captures=7)
def branch_on_a_size_inside():
    def f(x):
        y = x[1:] * 2
        if y.size(0) >= 4:
            return y.sum(0)
        return y.sum() + len(y)
    return f, lambda i: (t(size(i), 3),), None


@program(calls=24, captures=8)
def branch_on_a_value_at_every_size():
    def f(x, n):
        y = x[:n] * 2
        if y.sum() > 0:
            return y + x.shape[0]
        return y.sum() - n
    def args(i):
        return t(size(i), 2, start=[1.0, -1.0][i // 2 % 2]), 1 + i % 2
    return f, args, None


@program(calls=16, captures=3)
def loop_over_a_size():
    def f(x):
        h = terra.zeros(2)
        for k in range(x.size(0)):
            h = (h + x[k]).tanh()
        return h
    return f, lambda i: (t([3, 5, 3, 5][i % 4], 2),), None


@program(calls=12, captures=9)
def text_of_a_shape():
    def f(x):
        y = x * 1
        return y, f"{x.shape[0]} by {y.size(1)}", str(len(y)), tuple(y.shape), list(x.shape), x.shape[:1]
    return f, lambda i: (t(size(i), 3),), None


@program(calls=12, captures=9)
def sizes_in_a_result_object():
    class Found:
        def __init__(self, n, m, shape):
            self.n, self.m, self.shape = n, m, shape
    def f(x):
        o = Found(x.size(0), (x + 1).size(0), (x + 1).shape)
        return {"o": o, "n": o.n + 1}
    return f, lambda i: (t(size(i), 3),), None


@program(calls=12, captures=3)
def size_as_a_key():
    cache = {n: t(n) for n in set(SIZES)}
    def f(x):
        return x + cache[x.size(0)]
    return f, lambda i: (t(SIZES[i % 3]),), None


@program(calls=12, captures=8)
def metadata_that_follows_the_layout():
    def f(x):
        y = x.transpose(0, 1)
        return y.is_contiguous(), y.contiguous() * 2, y.stride() if y.shape[0] == 3 else None
    return f, lambda i: (t(size(i), 3),), None


@program(calls=12, captures=6)
def slices_down_to_one():
    def f(x, n):
        y = x[:n].t().contiguous()
        y.add_(1)
        return y, x, y.is_contiguous()
    return f, lambda i: (t(4, 3), [2, 1, 3, 1, 0, 4][i % 6]), None


# ---- integers that decide sizes and indices ----

@program(calls=12, captures=9)
def first_n():
    def f(x, n):
        return x[:n] * 2, x[n:], x[-n:]
    return f, lambda i: (t(12, 2), 1 + i % 5), None


@program(calls=12, captures=9)
def moving_index():
    def f(x, k):
        return x[k] + x[-1 - k], x[:, k % 3], x[k, 1]
    return f, lambda i: (t(12, 3), i % 6), None


@program(calls=12, captures=9)
def moving_window():
    o = Bag(at=0)
    def f(x):
        o.at += 2
        return x[o.at:o.at + 4].sum(0), x.narrow(0, o.at, 2)
    return f, lambda i: (t(40, 3),), o


@program(calls=12, captures=9)
def writes_at_a_moving_index():
    o = Bag(memory=terra.zeros(14, 2))
    def f(x, k):
        o.memory[k] = x
        o.memory[k + 1, 0] = k
        return o.memory.sum()
    return f, lambda i: (t(2, start=i), i), o


@program(calls=12, captures=9)
def index_is_used_as_a_number_too():
    def f(x, k):
        x[k] = k
        return x[:k] * k, k * 2
    return f, lambda i: (t(12), i % 7), None


@program(calls=12, captures=8)
def equal_numbers_of_different_origin():
    def f(x, n, m):
        return x[:n, :m], x.view(m, -1) if m == 4 else x[m:, n:]
    return f, lambda i: (t(12, 12), [3, 2, 2, 5, 1, 3][i % 6], [3, 3, 2, 2, 3, 1][i % 6]), None


@program(calls=12, captures=9)
def sizes_as_arguments():
    def f(n, m):
        return terra.zeros(n, m) + terra.arange(m), terra.ones((n,)), terra.eye(n)
    return f, lambda i: (2 + i % 4, size(i)), None


@program(calls=12, captures=9)
def dimensions_as_arguments():
    def f(x, d):
        return x.sum(d), x.transpose(0, d), x.unsqueeze(d), x.flip(d)
    return f, lambda i: (t(2, 3, 4), i % 3), None


@program(calls=12, captures=7)
def chunks_of_a_size():
    def f(x, n):
        parts = x.split(n)
        return [p.sum() for p in parts], len(parts)
    return f, lambda i: (t(12, 2), [3, 4, 3, 6][i % 4]), None


@program(calls=12, captures=3)
def index_taken_from_a_tensor():
    def f(x, k):
        return x[: k.item()] * 2
    return f, lambda i: (t(6), terra.tensor([2, 2, 2, 3][i % 4])), None


# ---- gradients ----

@program(calls=12, captures=8)
def training_with_a_ragged_batch():
    terra.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = terra.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss
    return step, lambda i: (t(size(i), 3) * 0.1, terra.arange(size(i)) % 2), State(net)


@program(calls=12, captures=8)
def batch_norm_with_a_ragged_batch():
    terra.manual_seed(1)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    parameters = list(net.parameters())
    def step(x):
        for p in parameters:
            p.grad = None
        loss = (net(x) ** 2).mean()
        loss.backward()
        return loss.item(), x.size(0)
    return step, lambda i: (t(size(i), 3),), State(net)


@program(calls=12, captures=9)
def forward_here_backward_there():
    terra.manual_seed(1)
    net, o = nn.Linear(3, 2), Bag(y=None)
    def f(x):
        o.y = net(x).tanh().view(-1)
        return o.y.numel()
    def args(i):
        if o.y is not None:
            (o.y * terra.arange(float(o.y.numel()))).sum().backward()
        return t(size(i), 3) * 0.1,
    return f, args, State(net)


@program(calls=12, captures=9)
def several_activations_at_once():
    terra.manual_seed(1)
    net, o = nn.Linear(3, 2), Bag(ys=[])
    def f(x):
        y = net(x).sigmoid()
        o.ys.append(y)
        return y.shape
    def args(i):
        if i % 3 == 2:
            sum(y.sum() * k for k, y in enumerate(reversed(o.ys), 1)).backward()
            o.ys.clear()
        return t(size(i), 3) * 0.1,
    return f, args, State(net)


@program(calls=12, captures=9)
def gradient_of_an_input():
    o = Bag(y=None, x=None)
    def f(x):
        o.y = (x[: x.size(0) // 2] ** 2).sum()
    def args(i):
        seen = None
        if o.y is not None:
            o.y.backward()
            seen = o.x.grad
        o.x = t(size(i), 2).requires_grad_()
        o.seen = seen
        return o.x,
    return f, args, o


@program(calls=12, captures=9)
def twice_differentiable():
    o = Bag(y=None, x=None)
    def f(x):
        o.y = (x.view(x.size(0), -1) ** 3).sum() / x.size(0)
    def args(i):
        if o.y is not None:
            (first,) = terra.autograd.grad(o.y, o.x, create_graph=True)
            o.second = terra.autograd.grad(first.sum(), o.x)[0]
        o.x = t(size(i), 2, 2).requires_grad_()
        return o.x,
    return f, args, o


@program(calls=12, captures=8)
def whole_step_over_a_ragged_sequence():
    terra.manual_seed(2)
    cell = nn.Linear(4, 2)
    parameters = list(cell.parameters())
    def step(x):
        for p in parameters:
            p.grad = None
        h = terra.zeros(x.size(1), 2)
        for part in x.unbind(0):
            h = cell(terra.cat([part, h], 1)).tanh()
        loss = h.sum()
        loss.backward()
        return loss.detach(), h.detach()
    return step, lambda i: (t(3, size(i), 2) * 0.1,), State(cell)


# ---- errors ----

@program(calls=12, captures=6)
def bad_sizes_raise_as_ever():
    def f(x, y):
        return x @ y
    def args(i):
        return t(3, size(i)), t(size(i) + (i % 4 == 3), 2)
    return f, args, None


@program(calls=12, captures=6)
def bad_view_raises_as_ever():
    def f(x):
        return x.view(-1, 4)
    return f, lambda i: (t([4, 8, 12, 6, 16, 8][i % 6], 2),), None


@program(calls=12, captures=6)
def bad_index_raises_as_ever():
    def f(x, k):
        return x[k]
    return f, lambda i: (t(5, 2), i % 7), None


@program(calls=12, captures=6)
def size_of_any_dimension():
    """Which dimension is asked for decides the number."""
    def f(x, dim):
        return x.sum(dim) / x.size(dim) + x.stride(dim)
    return f, lambda i: (t(5, 6, 7), i % 3), None


@program(calls=12, captures=6)
def size_of_a_dimension_that_is_computed():
    def f(x, dim):
        dim = dim % x.dim()
        return x * (1.0 / x.size(dim)), x.size(dim - 1)
    return f, lambda i: (t(5, 6, 7), (-1, -2, -3, 0, 1, 2)[i % 6]), None


@program(calls=12, captures=5)
def caught_inside():
    def f(x, k):
        try:
            return x[k] * 2
        except IndexError as error:
            return str(error)
    return f, lambda i: (t(size(i)), i % 5), None


if __name__ == "__main__":
    main()
