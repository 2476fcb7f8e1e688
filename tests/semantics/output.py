# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""print where the stream refuses: what is raised goes through the frames and handlers that it would have."""
import io
import os
import traceback

import terra
from _harness import main, program


def t(i):
    return terra.arange(3.0) - i


class State:
    phase = None


class Raw(io.RawIOBase):
    """Sees how far the frame was when text came."""
    def __init__(self, state):
        self.state, self.seen = state, []

    def writable(self):
        return True

    def write(self, data):
        self.seen.append((self.state.phase, bytes(data)))
        return len(data)


class File:
    """A file for lines of text, which has no room for any from the eighth call on."""
    def __init__(self):
        self.text = open(os.devnull, "w", buffering=1)

    def lead(self, path):
        descriptor = os.open(path, os.O_WRONLY)
        os.dup2(descriptor, self.text.fileno())
        os.close(descriptor)

    def at(self, i):
        self.lead("/dev/full" if i >= 8 else os.devnull)
        return self.text

    def __del__(self):
        self.lead(os.devnull)  # what it holds back can go


@program(calls=16, captures=8)
def stream_is_closed_later():
    out, state = io.StringIO(), State()
    def f(x, out):
        state.phase = "printing"
        try:
            print("sum", x.sum().item(), file=out)
        except ValueError as e:
            return str(e)
        finally:
            state.phase = "ready"
        return x * 2
    def args(i):
        if i == 12:
            out.close()
        return t(i), out
    return f, args, state


@program(calls=12, captures=8, cut="inside of try")
def file_inside_of_try():
    file, state = File(), State()
    def f(x, out):
        y = (x * 2).relu() + 1
        state.phase = "printing"
        try:
            print("sum", 3, file=out)
        except OSError as e:
            return y, e.errno
        finally:
            state.phase = "ready"
        return y * 2
    return f, lambda i: (t(i), file.at(i)), state


@program(calls=12, captures=8)
def file_inside_of_no_grad():
    file, state = File(), State()
    def f(x, out):
        with terra.no_grad():
            state.phase = "printing"
            print("sum", 3, file=out)
            state.phase = "ready"
        return x * 2
    def g(x, out):
        try:
            return f(x, out)
        except OSError as e:
            return e.errno, state.phase, terra.is_grad_enabled()
    g.target = f
    return g, lambda i: (t(i), file.at(i)), state


@program(calls=12, captures=8)
def traceback_of_a_full_file():
    file = File()
    def report(n, out):
        print("sum",
              n, file=out)
    def f(x, out):
        y = x * 2
        report(7, out)
        return y
    def g(x, out):
        try:
            return f(x, out)
        except OSError as e:
            return [(s.name, s.lineno - f.__code__.co_firstlineno) for s in traceback.extract_tb(e.__traceback__)]
    g.target = f
    return g, lambda i: (t(i), file.at(i)), None


@program(calls=12, captures=8, cut="print to this stream")
def stream_of_the_program():
    state = State()
    raw = Raw(state)
    out = io.TextIOWrapper(io.BufferedWriter(raw), write_through=True)
    def f(x):
        state.phase = "printing"
        y = (x * 2).relu() + 1
        print("sum", 3, file=out, flush=True)
        state.phase = "ready"
        return y, raw.seen[-1]
    return f, lambda i: (t(i),), state


if __name__ == "__main__":
    main()
