"""Random recursive functions, plain against captured, with their gradients:

    terra-run tests/fuzz/recursion.py [SEED [COUNT]] [-v] [--shrink]

Each program is a function that calls itself on random trees and DAGs, what a node's state is made of, and a step that
calls it on a batch, does something to the world between calls and asks for gradients in one of many ways. It runs some
dozens of times; values, gradients and logs are compared after every step, numbers with a tolerance (runs of many calls
add up in another order), all else exactly. --shrink: what remains of a program that differs when statements that don't
matter are taken away. The last line says how many runs were put off, and in how many batches they ran."""
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "semantics"))
import _terra_C as C  # noqa: E402
import terra  # noqa: E402
from _harness import final_report, look  # noqa: E402

STEPS = 24
SIZE = 3


class Node:
    def __init__(s, word, children):
        s.word, s.children, s.state = word, children, None


def grown(draw, depth, known):
    """A tree of 0 to 3 children, some of which it may have met before."""
    if known and draw.random() < 0.15:
        return draw.choice(known)
    count = draw.choice((0, 1, 2, 2, 3)) if depth else 0
    node = Node(draw.randrange(6), [grown(draw, depth - 1, known) for _ in range(count)])
    known.append(node)
    return node


class Writer:
    """`unary`, `binary`: expressions of tensors of SIZE elements, in which a, b stand for operands."""

    def __init__(s, seed):
        s.r = random.Random(seed)
        s.pair = s.r.random() < 0.4

    def unary(s, a):
        return s.r.choice([
            f"terra.tanh({a})", f"terra.sigmoid({a} @ W)", f"terra.tanh({a} @ U.t() + c)", f"({a} * c)", f"terra.relu({a})",
            f"({a} @ W + {a})", f"terra.softmax({a}, -1)", f"{a}.clamp(-1, 1)", f"terra.sqrt(terra.relu({a}))",
            f"({a} / (1 + {a}.abs()))", f"terra.where({a} > 0, {a}, c)", f"{a}.flip(0)", f"{a}.detach()",
            f"({a} * node.word)", f"({a} * (0.1 * len(kids)))", f"terra.log({a}.abs())", f"{a}.norm() * c", f"({a} - x[node.word])",
            f"({a} * V[node.word % 2])", f"E(node, {a})", f"{a}.cumsum(0)", f"terra.maximum({a}, c)", f"{a}.double().float()",
        ])  # fmt: skip

    def binary(s, a, b):
        return s.r.choice([f"({a} + {b})", f"({a} * {b})", f"({a} - {b})", f"terra.cat([{a}, {b}]) @ B", f"terra.stack([{a}, {b}]).mean(0)",
                           f"terra.maximum({a}, {b})", f"({a} @ {b}) * c"])  # fmt: skip

    def expression(s, names, depth=2):
        if depth == 0 or s.r.random() < 0.2:
            return s.r.choice(names)
        if s.r.random() < 0.5:
            return s.unary(s.expression(names, depth - 1))
        return s.binary(s.expression(names, depth - 1), s.expression(names, depth - 1))

    def returned(s, names):
        if s.pair:
            return f"({s.expression(names)}, {s.expression(names)})"
        return s.expression(names)

    def function(s):
        first = "k[0]" if s.pair else "k"
        base = ["x[node.word]", "table[node.word]", "F.embedding(ids[node.word], table)", "c * 1"]
        joined = s.r.choice([f"sum({first} for k in kids)", f"terra.stack([{first} for k in kids]).sum(0)", f"max([{first} for k in kids], key=id_of)"])
        lines = ["def enc(node, depth=0):"]
        if s.r.random() < 0.2:
            lines += ["  if node.state is not None: return node.state"]
        lines += ["  kids = []"]
        lines += [f"  leaf = {s.r.choice(base)}", "  if not node.children:", f"    return {s.returned(['leaf'])}"]
        lines += ["  for child in node.children:", "    kids.append(enc(child, depth + 1))"]
        lines += [f"  h = {joined}", f"  last = {'kids[-1][1]' if s.pair else 'kids[-1]'}"]
        for _ in range(s.r.randrange(3)):
            lines.append(s.r.choice([
                "  log.append(node.word)", "  node.state = kids[0]", "  outs.append(h)", f"  h = {s.expression(['h', 'last', 'leaf'])}",
                "  depths[depth] = depths.get(depth, 0) + 1", f"  if node.word == 3: h = {s.expression(['h', 'last'])}",
                "  if len(kids) > 2 and depth > 1: return kids[1]",
            ]))  # fmt: skip
        lines += [f"  return {s.returned(['h', 'last', 'leaf'])}"]
        return "\n".join(lines) + "\n"

    def step(s):
        head = "[0]" if s.pair else ""
        weights = "[W, U, V, B, c, table, *x]"
        loss = s.r.choice(["(h * h).sum()", "h.sum()", "h[0]", "crit(h)", "F.cross_entropy(h, ids[2] % 3)"])
        lines = ["def step(i, trees):", "  del log[:], outs[:]; depths.clear()", "  for t in trees: clear(t)"]
        between = ["pass"] * 6 + [
            "W.data.mul_(0.99)", "with terra.no_grad(): W.mul_(0.99)", "W.requires_grad_(i % 2 == 0)", "log.append(float(hs[-1].sum()))",
            "hs[-1].retain_grad() if hs[-1].requires_grad else None", "hs[-1] = hs[-1] * 2", "hs[0] = hs[0].detach()",
            "hs[-1].register_hook(lambda g: g * 2) if hs[-1].requires_grad else None", "with terra.no_grad(): hs[-1].add_(1)",
            "W.data = W.data * 0.99", "with terra.no_grad(): x[1].mul_(0.9)", "log.append(str(hs[-1].shape))",
            "with terra.no_grad(): hs.append(enc(t)HEAD)", "log.append(bool(hs[-1][0] > 0))", "hs.append(hs[-1])",
            "with terra.no_grad(): c.add_(0.01)", "outs.append(hs[-1].grad_fn is None)",
        ]  # fmt: skip
        lines += ["  hs = []", "  for t in trees:", f"    hs.append(enc(t){head})", "    " + s.r.choice(between).replace("HEAD", head)]
        lines += ["  " + s.r.choice(between).replace("HEAD", head)]
        lines += [f"  losses = [{loss} for h in hs]", f"  weights = {weights}"]
        backward = s.r.choice(["total", "total", "each", "grad", "second", "inner", "retain", "one"])
        lines += {
            "total": ["  sum(losses).backward()"],
            "each": ["  for l in losses:", "    if l.requires_grad: l.backward()"],
            "grad": ["  given = terra.autograd.grad(sum(losses), weights, allow_unused=True)", "  outs.extend(copies(given))"],
            "second": ["  given = terra.autograd.grad(sum(losses), weights, allow_unused=True, create_graph=True)", "  outs.extend(copies(given))",
                       "  more = sum((g * g).sum() for g in given if g is not None)", "  if more.requires_grad: more.backward()"],
            "inner": ["  below = [h for h in hs[:2] + outs if hasattr(h, 'requires_grad') and h.requires_grad]",
                      "  outs.extend(copies(terra.autograd.grad(sum(losses), below, allow_unused=True, retain_graph=True)))", "  sum(losses).backward()"],
            "retain": ["  sum(losses).backward(retain_graph=True)", "  losses[0].backward()"],
            "one": ["  losses[i % len(losses)].backward()", "  losses[-1].backward()"],
        }[backward]  # fmt: skip
        lines += ["  grads = [w.grad for w in weights]", "  for w in weights: w.grad = None"]
        if s.r.random() < 0.4:
            lines += ["  with terra.no_grad():", "    for w, g in zip(weights, grads):", "      if g is not None: w.sub_(0.001 * g.clamp(-1, 1))"]
        lines += ["  return losses, hs, list(outs), grads, list(log), dict(depths)"]
        return "\n".join(lines) + "\n"

    def program(s):
        return s.function() + s.step()


def clear(node):
    node.state = None
    for child in node.children:
        clear(child)


def weights(*sizes, seed):
    count = math.prod(sizes)
    return (terra.sin(terra.arange(float(count)) * 0.9 + seed).reshape(*sizes) * 0.7).requires_grad_()


def world():
    def crit(h):
        return (h * h * 0.3 + h).sum()

    def E(node, a):
        return a * 0.5 if node.word % 2 else a + 1

    def copies(given):
        """PyTorch promises how .grad lies in memory, not so of what autograd.grad gives, nor that no two of it are one."""
        return [None if g is None else g.clone(memory_format=terra.contiguous_format) for g in given]

    return {
        "terra": terra, "F": terra.nn.functional, "W": weights(SIZE, SIZE, seed=1), "U": weights(SIZE, SIZE, seed=2),
        "V": weights(2, SIZE, seed=3), "B": weights(2 * SIZE, SIZE, seed=4), "c": weights(SIZE, seed=5), "table": weights(6, SIZE, seed=6),
        "x": [weights(SIZE, seed=7 + k) for k in range(6)], "ids": [terra.tensor(k) for k in range(6)], "crit": crit, "E": E, "copies": copies,
        "clear": clear, "log": [], "outs": [], "depths": {}, "id_of": lambda h: int(h.shape[0]),
    }  # fmt: skip


def transcript(source, seed, mode):
    space, draw, lines = world(), random.Random(seed), []
    exec(compile(source, f"<{seed}>", "exec"), space)
    trees = [grown(draw, 4, []) for _ in range(10)]
    for i in range(STEPS):
        batch = [draw.choice(trees) for _ in range(draw.randrange(1, 5))]
        C.capture_mode(mode)
        try:
            value = space["step"](i, batch)
        except NameError:  # a program that has been cut down too far
            raise
        except Exception as error:
            value = (type(error).__name__, str(error).partition("inplace operation")[0])  # of several, one is named
        finally:
            C.capture_mode("off")
        lines.append(look(value))
        for w in space["x"] + [space[n] for n in ("W", "U", "V", "B", "c", "table")]:
            w.requires_grad_()
            w.grad = None
    return lines


def alike(a, b):
    """The same picture up to rounding, which grows with what is added up."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-4 + 2e-3 * abs(a)
    try:
        return a == b or alike(float(a), float(b))
    except (TypeError, ValueError):
        return False


def parting(a, b, path=""):
    """Where two pictures part, in words."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        return next(parting(p, q, f"{path}[{i}]") for i, (p, q) in enumerate(zip(a, b)) if not alike(p, q))
    return f"at {path}: plain {str(a)[:400]}, captured {str(b)[:400]}"


def differs(source, seed):
    """The first step in which the two part, and how, or None."""
    plain, captured = transcript(source, seed, "off"), transcript(source, seed, "auto")
    return next(((i, parting(a, b)) for i, (a, b) in enumerate(zip(plain, captured)) if not alike(a, b)), None)


def shrunk(source, seed):
    lines = source.splitlines()
    for i in range(len(lines)):
        candidate = "\n".join(lines[:i] + lines[i + 1 :]) + "\n"
        try:
            if differs(candidate, seed):
                return shrunk(candidate, seed)
        except (SyntaxError, NameError):
            pass
    return source


def main():
    numbers = [int(a) for a in sys.argv[1:] if not a.startswith("-")]
    first, count = (numbers + [0, 20][len(numbers) :])[:2]
    failed = []
    for seed in range(first, first + count):
        source = Writer(seed).program()
        found = differs(source, seed)
        if found or "-v" in sys.argv:
            print(f"---- {seed}: {'differs in step %d' % found[0] if found else 'the same'}\n{source}")
        if found:
            failed.append(seed)
            if "--shrink" in sys.argv:
                print(f"---- {seed} shrunk:\n{shrunk(source, seed)}")
            print(found[1], flush=True)
    report = final_report(failed)
    print(f"{count} programs, {report['runs']['recursive']} runs put off in {report['batches']} batches")
    sys.exit(bool(failed))


main()
