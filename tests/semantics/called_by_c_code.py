"""Functions written in C that C code calls: nobody sees a frame, and what they do has to be done all the same."""
import collections
import functools

import terra
from _harness import main, program

X = terra.ones(3)
W = terra.ones(3, requires_grad=True)


def row(make):
    """A program of `make`, which gets a list to write to and returns the function."""
    def made():
        seen = []
        f = make(seen)
        return f, lambda i: (X + i,), seen
    made.__name__ = make.__name__
    program(calls=12, captures=0)(made)
    return make


@row
def tensor_hook(seen):
    def f(x):
        w = W * 1
        w.register_hook(seen.append)
        (x * w).sum().backward()
        W.grad = None
    return f


@row
def tensor_hook_partial(seen):
    def note(k, g): seen.append(k)
    def f(x):
        w = W * 1
        w.register_hook(functools.partial(note, 5))
        (x * w).sum().backward()
        W.grad = None
    return f


@row
def tensor_hook_callable(seen):
    class A:
        def __call__(self, g): seen.append(3)
    a = A()
    def f(x):
        w = W * 1
        w.register_hook(a)
        (x * w).sum().backward()
        W.grad = None
    return f


@row
def tensor_hook_torch(seen):
    def f(x):
        w = W * 1
        w.register_hook(terra.neg)
        (x * w).sum().backward()
        seen.append(W.grad)
        W.grad = None
    return f


@row
def decorated(seen):
    append = terra.no_grad()(seen.append)
    def f(x):
        y = x * 2
        append(4)
        return y
    return f


@row
def forward_is_c(seen):
    m = terra.nn.Module()
    m.forward = seen.append
    def f(x):
        y = x * 2
        m(y)
        return y
    return f


@row
def forward_hook(seen):
    m = terra.nn.Linear(3, 3, bias=False)
    with terra.no_grad():
        m.weight.fill_(0.5)
    m.register_forward_hook(functools.partial(lambda s, m, a, o: s.append(7), seen))
    def f(x):
        return m(x)
    return f


@row
def function_backward_c(seen):
    class F(terra.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x * 2
        @staticmethod
        def backward(ctx, g):
            seen.append(8)
            return g * 2
    def f(x):
        F.apply(x * W).sum().backward()
        W.grad = None
    return f


@row
def function_backward_partial(seen):
    class F(terra.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x * 2
        backward = functools.partial(lambda s, ctx, g: (s.append(1), g * 2)[1], seen)
    def f(x):
        F.apply(x * W).sum().backward()
        W.grad = None
    return f


@row
def post_acc(seen):
    V = terra.ones(3, requires_grad=True)
    V.register_post_accumulate_grad_hook(seen.append)
    def f(x):
        (x * V).sum().backward()
        V.grad = None
    return f


@row
def node_hook(seen):
    def f(x):
        w = W * 1
        w.grad_fn.register_prehook(seen.append)
        (x * w).sum().backward()
        W.grad = None
    return f


@row
def leaf_hook(seen):
    V = terra.ones(3, requires_grad=True)
    V.register_hook(seen.append)
    def f(x):
        (x * V).sum().backward()
        V.grad = None
    return f


@row
def mapped(seen):
    def f(x):
        y = x + 1
        list(map(seen.append, [1]))
        return y
    return f


@row
def setdefault_c(seen):
    d = collections.defaultdict(functools.partial(lambda s: s.append(1), seen))
    def f(x):
        y = x + 1
        d[len(seen)]
        return y
    return f


@row
def prop_c(seen):
    class A:
        p = property(lambda s: seen.append(1))
        q = property(functools.partial(lambda z, s: z.append(2), seen))
    a = A()
    def f(x):
        y = x + 1
        a.p, a.q
        return y
    return f


@row
def getattr_c(seen):
    class A:
        __getattr__ = functools.partial(lambda s, n: s.append(n), seen)
    a = A()
    def f(x):
        y = x + 1
        a.foo
        return y
    return f


@row
def op_c(seen):
    class A:
        __add__ = functools.partial(lambda s, n: s.append(3), seen)
        __len__ = functools.partial(lambda s: s.append(3) or 3, seen)
        __call__ = functools.partial(lambda s: s.append(3) or 3, seen)
        __bool__ = functools.partial(lambda s: bool(s.append(3)), seen)
        __getitem__ = seen.append
        __contains__ = seen.append
    a = A()
    def f(x):
        y = x + 1
        a + 1; len(a); a(); a[5]; 4 in a
        if a: y = y + 1
        return y
    return f


@row
def enter_c(seen):
    class A:
        __enter__ = functools.partial(lambda s: s.append(3), seen)
        def __exit__(self, *a): seen.append(len(a))
    a = A()
    def f(x):
        with a: y = x + 1
        return y
    return f


@row
def torch_function_c(seen):
    class T(terra.Tensor):
        __torch_function__ = functools.partial(lambda s, *a: s.append(3), seen)
    t = terra.ones(3).as_subclass(T) if hasattr(terra.Tensor,'as_subclass') else None
    def f(x):
        if t is not None: x + t
        return x + 1
    return f


@row
def partial_obj(seen):
    p = functools.partial(seen.append, 3)
    def f(x):
        y = x + 1
        p()
        return y
    return f


@row
def lru(seen):
    c = functools.lru_cache(seen.append)
    def f(x):
        y = x + 1
        c(len(seen))
        return y
    return f


@row
def cmp_key(seen):
    k = functools.cmp_to_key(lambda a, b: seen.append(1) or a - b)
    def f(x):
        y = x + 1
        sorted([3, 1, 2], key=k)
        return y
    return f


@row
def redu(seen):
    def f(x):
        y = x + 1
        functools.reduce(lambda a, b: seen.append(b) or a, [1, 2, 3])
        any(map(seen.append, (1, 2)))
        list(filter(seen.append, (1, 2)))
        return y
    return f


main()
