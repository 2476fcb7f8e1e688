# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Stores to dicts under keys that are other ones in each call."""
import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


@program(calls=16, captures=8, recordings=5)
def text_of_the_step():
    history = {}
    def f(x, n):
        history[f"step{n}"] = n
        history["loss", n] = n * 2.0
        history[n] = x.sum().item()
        return x * 2 + 1
    return f, lambda i: (t(i), i), history


@program(calls=16, captures=8, recordings=5)
def counter_of_an_object():
    o = Bag(step=0, history={})
    def f(x):
        o.step += 1
        y = x * o.step
        o.history[o.step] = y
        return y + 1
    return f, lambda i: (t(i),), o


@program(calls=16, captures=8, recordings=5)
def in_a_dict_that_leaves():
    def f(x, n):
        return {"loss": x.sum(), f"at{n}": x * n, "last": n, "at5": x}
    return f, lambda i: (t(i), i), None


@program(calls=16, captures=8, recordings=5)
def the_same_place_is_stored_to_again():
    table = {"k3": 0, "k7": 0}
    def f(x, n):
        table["k3"] = n
        table[f"k{n}"] = n + 100
        table["k3"] = n + 200 if n > 50 else table_default
        return x * 2 + 1
    table_default = 7
    return f, lambda i: (t(i), i % 9), table


@program(calls=16, captures=8, recordings=5)
def two_keys_that_are_one_now_and_then():
    table = {}
    def f(x, n, m):
        table[f"k{n}"] = n
        table[f"k{m}"] = m + 100
        table[f"k{n}"] = n + 200
        return x * 2 + 1
    return f, lambda i: (t(i), i % 5, i % 3), table


@program(calls=16, captures=8)
def read_back_at_once():
    table = {}
    def f(x, n):
        key = f"k{n}"
        table[key] = x * n
        return table[key] + 1
    return f, lambda i: (t(i), i), table


@program(calls=24, captures=8)
def another_key_is_read():
    table = {"k3": t(0), "k1": t(1)}
    def f(x, n):
        table[f"k{n}"] = x * n
        return table["k3"] + 1, len(table)
    return f, lambda i: (t(i), i % 2 * 2 + 1), table


@program(calls=16, captures=None)
def while_it_is_walked_over():
    table = {"k0": 1, "k1": 2}
    def f(x, n):
        for key in table:
            table[f"k{n}"] = n
        return x * 2 + 1
    def called(x, n):
        try:
            return f(x, n)
        except RuntimeError as error:
            table.pop(f"k{n}", None)
            return str(error)
    called.target = f
    return called, lambda i: (t(i), i), table


if __name__ == "__main__":
    main()
