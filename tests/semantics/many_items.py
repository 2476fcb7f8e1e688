# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 HARNESS_MODE=auto
"""Numbers beyond 256, of which Python makes a new object each time: lengths, sizes, counts and positions in what has many items."""
import math

import terra
from _harness import main, program

EXPRESSIONS = """
len(x)                  x.size(0)                   x.shape[0] + x.size()[0]   x.numel()
x.shape.numel()         x.nelement() - x.dim()      x.stride(0)                len(x.shape) + len(x)
len(items)              min(bound, len(items))      max(len(x), len(items))    len(items) - len(x) + 1
len(pair)               len(pair[0])                len(range(len(items)))     len(text)
len(keys)               len(keys.keys())            len(keys.items())          len(set(items))
sum(items)              min(items)                  max(items)                 items[len(items) - 1]
items.count(1000)       items.index(1299)           items[-1] + items[299]     text.count("a")
text.find("b")          math.prod(items[:2])        abs(-len(items))           divmod(len(x), 7)[0]
len(sorted(items))      len(list(items))            len(tuple(items))          len(list(zip(items, items)))
len(items + items)      len(items * 2)              len(list(enumerate(x)))    int(float(len(x)))
hash(len(items))        round(len(x) / 3)           len(x) // 1                len([v for v in items])
len(x.view(-1, 1))      len(x.T) + len(x[0:299])    x.t().shape[1]             len(x.unbind(0))
len(terra.cat([x, x]))  (x * 2).shape[0]            len(x + 1)                 terra.numel(x)
""".split("\n")


def expressions():
    for line in EXPRESSIONS:
        yield from (text.strip() for text in line.split("  ") if text.strip())


def given(count):
    items = list(range(1000, 1000 + count))
    keys, text = dict.fromkeys(items, 1), "a" * count + "b"
    return terra.arange(3.0 * count).view(count, 3), items, (items, 1), keys, text, 700


for number, text in enumerate(expressions()):
    def fixed(text=text):
        return eval(f"lambda x, items, pair, keys, text, bound: x * ({text})", globals()), lambda i: given(300), None

    def changing(text=text):
        return eval(f"lambda x, items, pair, keys, text, bound: x * ({text})", globals()), lambda i: given(300 + 2 * i), None

    fixed.__name__, changing.__name__ = f"fixed_{number}", f"changing_{number}"
    program(calls=10, captures=4)(fixed)
    program(calls=10, captures=0)(changing)

main()
