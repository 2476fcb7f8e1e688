# run: TERRA_EXACT=1 --capture=stress
"""What recordings remember of a long list grows with its length, not with the square of it; each node counts."""
import resource

import terra

NODES = 12_000


class Node:
    def __init__(self, value, rest):
        self.value, self.rest = value, rest


def linked(count):
    first = None
    for i in range(count):
        first = Node(i, first)
    return first


def total(x, node):
    while node is not None:
        x, node = x + node.value, node.rest
    return x


def node_at(first, place):
    for _ in range(place):
        first = first.rest
    return first


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


before = resident()
long = linked(NODES)
for _ in range(4):
    sum_of_values = 0
    node = long
    while node is not None:
        sum_of_values, node = sum_of_values + node.value, node.rest
    assert sum_of_values == NODES * (NODES - 1) // 2


def values(node):
    sum_of_values = 0
    while node is not None:
        sum_of_values, node = sum_of_values + node.value, node.rest
    return terra.ones(1) * sum_of_values


for _ in range(6):
    assert values(long).item() == NODES * (NODES - 1) // 2
assert resident() - before < 300_000_000, f"{resident() - before} bytes more"

# Names of nodes further down are shortened, and still tell one from another.
short = linked(120)
X = terra.zeros(1)
for call in range(24):
    place = [5, 70, 90, 119][call % 4]
    node_at(short, place).value += 1000
    expected, node = 0, short
    while node is not None:
        expected, node = expected + node.value, node.rest
    assert total(X, short).item() == expected, (call, place)
print("3 passed")
