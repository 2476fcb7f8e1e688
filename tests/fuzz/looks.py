"""Random functions whose results follow from each other, plain against captured, and every way to look between them:

    terra-run tests/fuzz/looks.py [SEED [COUNT]] [--auto] [-v]

Each program is a straight line of ops of which several values are results. It is called some dozens of times, each time with
gradients for some of the results, and a hook on one of them, a gradient asked of one, a second pass, a pass inside a pass ...
What was seen and the gradients of the inputs are compared, numbers with a tolerance. Captured is stress, or auto."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "semantics"))
import _terra_C as C  # noqa: E402
import terra as torch  # noqa: E402
from _harness import final_report  # noqa: E402

torch.set_default_dtype(torch.float64)
USES = 24
OPS = (
    "torch.tanh({a})", "{a} * {b}", "{a} @ w", "torch.sigmoid({a}) + {b}", "{a}.t().t()", "{a} - {b}.detach()",
    "{a}.sum(1, keepdim=True) * {b}", "torch.cat([{a}, {b}])[:4]", "{a}[torch.tensor([1, 0, 3, 2])]",
    "{a}[:, torch.tensor([1, 0, 3, 2])]", "torch.where({a} > 0, {a}, {b})", "({a} @ {b}.t()) @ v",
    "{a}.view(2, 8).reshape(4, 4)", "torch.nn.functional.linear({a}, w, bias)", "{a}.chunk(2, 1)[0].repeat(1, 2)",
    "torch.softmax({a}, 1) * v", "{a}.exp().clamp(max=3.0)",
)  # fmt: skip


def program(draw):
    names, lines = ["x", "v"], ["def f(x, w, v, bias):"]
    count = draw.randint(3, 9)
    for i in range(count):
        lines.append(f"    t{i} = " + draw.choice(OPS).format(a=draw.choice(names[-3:]), b=draw.choice(names)))
        names.append(f"t{i}")
    results = sorted(draw.sample(range(count), draw.randint(2, min(5, count))))
    return "\n".join([*lines, "    return " + ", ".join(f"t{i}" for i in results)]) + "\n"


def inputs(seed):
    draws = torch.Generator().manual_seed(seed)
    sizes = [(4, 4), (4, 4), (4, 4), (4,)]
    return [torch.randn(s, generator=draws).requires_grad_(i != 2 or seed % 3 > 0) for i, s in enumerate(sizes)]


class Use:
    """One call and what is done with its results."""

    def __init__(self, f, draw, seed):
        self.f, self.draw, self.seen, self.given = f, draw, [], inputs(seed)
        self.made = f(*self.given)
        self.live = [i for i, t in enumerate(self.made) if t.requires_grad]
        some = draw.sample(range(len(self.made)), draw.randint(1, len(self.made)))
        self.some = [i for i in some if i in self.live] or self.live[:1]
        self.one = self.made[draw.choice(self.live)] if self.live else None

    def loss(self, which):
        return sum((self.made[i] * (1 + i)).pow(2).mean() + self.made[i].mean() for i in which)

    def note(self, g):
        self.seen.append(g.clone())

    def all(self):
        self.loss(self.live).backward()

    def subset(self):
        self.loss(self.some).backward()

    def hook(self):
        self.one.register_hook(lambda g: (self.note(g), g * 0.5)[1])
        self.loss(self.some).backward()

    def kept(self):
        self.one.retain_grad()
        self.loss(self.some).backward()
        self.seen.append(self.one.grad)

    def asked(self):
        self.seen += torch.autograd.grad(self.loss(self.some), [self.one, self.given[0]], allow_unused=True)

    def backward_to(self):
        self.loss(self.live).backward(inputs=[self.one, self.given[1]])
        self.seen.append(self.one.grad)

    def twice(self):
        loss = self.loss(self.some)
        loss.backward(retain_graph=True)
        loss.backward()

    def hook_between_passes(self):
        first, second = self.loss(self.some), self.loss(self.live)
        first.backward(retain_graph=True)
        self.one.register_hook(self.note)
        second.backward()

    def freed(self):
        self.loss(self.some).backward()
        self.loss(self.live).backward()

    def second_derivative(self):
        (g,) = torch.autograd.grad(self.loss(self.live), self.given[:1], create_graph=True, allow_unused=True)
        if g is not None and g.requires_grad:
            (g * g).sum().backward()

    def pass_in_a_pass(self):
        loss = self.loss(self.live)

        def hook(_):
            self.seen.extend(torch.autograd.grad(loss, [self.one], retain_graph=True))

        self.given[1].register_hook(hook)
        loss.backward(retain_graph=True)

    def hook_put_on_in_a_pass(self):
        loss = self.loss(self.live)
        loss.register_hook(lambda _: (self.one.register_hook(self.note), None)[1])
        loss.backward()

    def chain(self):
        made = self.f(self.made[self.live[0]], *self.given[1:])
        sum(t.pow(2).mean() for t in made if t.requires_grad).backward()


WAYS = [name for name in vars(Use) if name not in ("loss", "note") and not name.startswith("_")]


def transcript(source, seed, mode):
    space, draw, lines = {"torch": torch}, random.Random(seed), []
    exec(compile(source, f"<{seed}>", "exec"), space)
    for _ in range(USES):
        way, number = draw.choice(WAYS + ["all", "all", "subset"]), draw.randrange(10**6)
        C.capture_mode(mode)
        try:
            use = Use(space["f"], random.Random(number), number)
            error = None
            if use.live:
                getattr(use, way)()
        except RuntimeError as e:
            error = str(e)[:60]
        finally:
            C.capture_mode("off")
        found = [] if error else use.seen + [t.grad for t in use.given]  # how far a refused pass has come is open
        lines.append((way, error, [g if g is None else g.detach() for g in found]))
    return lines


def alike(a, b):
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True)


def same(a, b):
    return a[:2] == b[:2] and len(a[2]) == len(b[2]) and all(map(alike, a[2], b[2]))


def main():
    numbers = [int(a) for a in sys.argv[1:] if not a.startswith("-")]
    first, count = (numbers + [0, 40][len(numbers) :])[:2]
    mode, failed = "auto" if "--auto" in sys.argv else "stress", []
    for seed in range(first, first + count):
        source = program(random.Random(seed))
        plain, captured = transcript(source, seed, "off"), transcript(source, seed, mode)
        found = next((k for k, (a, b) in enumerate(zip(plain, captured)) if not same(a, b)), None)
        if found is not None or "-v" in sys.argv:
            print(f"---- {seed}: {'the same' if found is None else 'differs in use %d' % found}\n{source}")
        if found is not None:
            failed.append(seed)
            print(f"plain    {plain[found]}\ncaptured {captured[found]}", flush=True)
    report = final_report(failed)
    print(f"{count} programs, {report['replays']} replays")
    sys.exit(bool(failed))


main()
