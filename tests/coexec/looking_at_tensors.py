# run: --torch TERRA_EXACT=1
"""A tensor without bytes is a tensor: whatever a program asks of one, or does to what it was made of."""
import copy
import gc
import io
import pickle
import threading
import weakref

import numpy
import torch

from _harness import compare, run_tests


def looked_at(look, steps=16):
    """look(y, x, step) is what the program does with tensors of an iteration; y was made from x and w."""

    def program():
        said = []
        w = torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_(True)
        for step in range(steps):
            x = torch.arange(6.0).reshape(2, 3) * (step + 1)
            y = torch.tanh(x * 0.1) * w
            said.append(look(y, x, step))
            said.append((y.detach() + 1).sum().item())
        return said

    return program


def metadata():
    compare(looked_at(lambda y, x, i: (y.shape, y.dtype, y.ndim, y.stride(), y.requires_grad, y.is_leaf, y.numel(),
                                       y.is_contiguous(), y._version, type(y).__name__, len(y), y.device.type)))


def text():
    compare(looked_at(lambda y, x, i: (repr(y), str(y.detach()), f"{y.sum():.3f}")))


def histories():
    def names(node, depth=4):
        return (node.name(), [names(n, depth - 1) for n, _ in node.next_functions if n and depth])

    compare(looked_at(lambda y, x, i: names((torch.exp(y).t() + 1).sum().grad_fn)))


def values():
    compare(looked_at(lambda y, x, i: (y.tolist(), y[0, 1].item(), bool(y.sum() > 0), float(y.mean()), int(x.sum()),
                                       [float(v) for v in y[1]], y.max().item())))


def arrays():
    def look(y, x, i):
        array = (x * 2 + 1).numpy()
        array[0, 0] = 100
        fed = torch.from_numpy(numpy.full(3, float(i), dtype=numpy.float32))
        out = (fed * 2).exp()
        return array.tolist(), y.detach().numpy().tolist(), numpy.asarray(out).tolist()

    compare(looked_at(look))


def a_buffer_that_is_overwritten():
    def program():
        buffer, said = numpy.zeros(4, dtype=numpy.float32), []
        shared = torch.from_numpy(buffer)
        for step in range(16):
            buffer[:] = step
            y = torch.exp(shared * 0.1) + 1
            z = torch.tanh(y) * y
            buffer[:] = -1
            said.append((y.tolist(), z.sum().item()))
        return said

    compare(program)


def what_it_was_made_of_changes():
    def look(y, x, i):
        z = torch.exp(x * 0.01)
        x.mul_(-3)
        x[0] = 7
        u = z * 2
        z.add_(1)
        v = x.view(-1)
        q = torch.neg(v)
        v.data.fill_(4)
        return z.tolist(), u.tolist(), x.tolist(), q.tolist(), v.tolist()

    compare(looked_at(look))


def a_saved_result_that_changes():
    def look(y, x, i):
        e = torch.exp(y)
        out = e.sum()
        with torch.no_grad():
            e.mul_(2)
        try:
            out.backward()
        except RuntimeError as error:
            return str(error)
        return "no error"

    compare(looked_at(look))


def gradients():
    seen = []

    def look(y, x, i):
        y.retain_grad()
        z = torch.sin(y)
        z.register_hook(lambda g: seen.append(g.tolist()) or g * 2)
        z.sum().backward()
        return y.grad.tolist(), seen[-1], y.grad_fn.name()

    compare(looked_at(look))


def identity_and_life():
    def look(y, x, i):
        same = {id(y): y}
        y.tag = i
        z = torch.exp(y)
        gone = weakref.ref(z)
        kept = [z, z.detach(), copy.copy(z.detach())]
        del z
        alive = gone() is kept[0]
        del kept
        gc.collect()
        return same[id(y)].tag, alive, gone() is None

    compare(looked_at(look))


def copies():
    def look(y, x, i):
        z = torch.exp(x) + 1
        file = io.BytesIO()
        torch.save(z, file)
        file.seek(0)
        return (copy.deepcopy(z).tolist(), pickle.loads(pickle.dumps(z)).tolist(), torch.load(file).tolist(),
                torch.nn.Parameter(x * 2).tolist(), z.clone().tolist(), torch.tensor(z.tolist()).tolist())

    compare(looked_at(look))


def memory():
    def look(y, x, i):
        z = torch.exp(x * 0.1) + 1
        z.data_ptr()
        other = torch.empty(0)
        other.set_(z)
        u = torch.tanh(x)
        u.resize_(3)
        s = x * 3
        s.data = torch.neg(x)
        t = torch.neg(s)
        s.t_()
        return other.tolist(), u.tolist(), s.tolist(), t.tolist(), z.storage_offset()

    compare(looked_at(look))


def random_numbers():
    def look(y, x, i):
        a = torch.rand(3) + x[0]
        state = torch.get_rng_state()
        b = torch.nn.functional.dropout(torch.exp(y), 0.5)
        torch.set_rng_state(state)
        return a.tolist(), b.tolist(), torch.bernoulli(torch.sigmoid(y)).tolist()

    compare(looked_at(look))


def another_thread():
    def look(y, x, i):
        z, found = torch.exp(y) + x, []
        thread = threading.Thread(target=lambda: found.append((z * 2 + y).tolist()))
        thread.start()
        thread.join()
        return found

    compare(looked_at(look))


def lists_that_are_read_at_the_end():
    def program():
        kept = []
        for step in range(20):
            x = torch.arange(5.0) + step
            y = torch.exp(x * 0.1)
            kept.append((y, y.sum()))
            if step % 2:
                kept[-1][1].item()
        return [(y.tolist(), s.item()) for y, s in kept]

    compare(program)


def several_results():
    def look(y, x, i):
        z = x * 2
        a, b = torch.split(z, [1, 2], dim=1)
        top, at = torch.max(z + y.detach(), dim=1)
        m, n = torch.var_mean(torch.exp(z * 0.01), dim=0)
        return (a + 1).tolist(), (b * b).tolist(), top.tolist(), at.tolist(), m.tolist(), n.tolist()

    compare(looked_at(look))


run_tests([metadata, text, histories, values, arrays, a_buffer_that_is_overwritten, what_it_was_made_of_changes,
           a_saved_result_that_changes, gradients, identity_and_life, copies, memory, random_numbers, another_thread,
           lists_that_are_read_at_the_end, several_results])
