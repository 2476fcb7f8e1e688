"""Finds a pattern in a graph and puts something else in its place."""

import dataclasses
import typing

from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(typing.NamedTuple):
    anchor: Node  # where the pattern's result was found
    nodes_map: dict  # node of the pattern -> node of the graph


@dataclasses.dataclass
class ReplacedPatterns:
    anchor: Node
    nodes_map: dict
    replacements: list


def _graph_of(what):
    if isinstance(what, Graph):
        return what
    return what.graph if isinstance(what, GraphModule) else symbolic_trace(what).graph


class _Matcher:
    def __init__(self, pattern):
        self._output = pattern.output_node()
        returned = self._output.args[0]
        self._anchors = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        self._inner = [n for n in pattern.nodes if n.op not in ("placeholder", "output")]

    def match(self, node):
        """{node of the pattern: node of the graph} where the pattern's last result is `node`, or None."""
        found = {}
        if not isinstance(self._anchors[0], Node) or not self._same(self._anchors[0], node, found):
            return None
        return found if all(n in found for n in self._inner) and self._closed(found) else None

    def _closed(self, found):
        """Nothing outside uses what is going to vanish."""
        inside = {found[n] for n in self._inner}
        return all(
            user in inside for n in self._inner if n not in self._anchors for user in found[n].users
        )

    def _same(self, pattern, node, found):
        if isinstance(pattern, Node):
            if pattern in found:
                return found[pattern] is node
            if pattern.op == "placeholder":
                found[pattern] = node
                return True
            if not isinstance(node, Node) or pattern.op != node.op or pattern.target != node.target:
                return False
            found[pattern] = node
            return self._same(pattern.args, node.args, found) and self._same(pattern.kwargs, node.kwargs, found)
        if isinstance(pattern, (list, tuple)):
            same = isinstance(node, (list, tuple)) and len(pattern) == len(node)
            return same and all(self._same(p, n, found) for p, n in zip(pattern, node))
        if isinstance(pattern, dict):
            same = isinstance(node, dict) and pattern.keys() == node.keys()
            return same and all(self._same(pattern[key], node[key], found) for key in pattern)
        return type(pattern) is type(node) and pattern == node


def replace_pattern(gm, pattern, replacement):
    """Each place where the pattern is found, none overlapping another, does what the replacement does. Both are
    functions, modules or graphs with the same parameters. The matches, in the order of the graph."""
    return [Match(r.anchor, r.nodes_map) for r in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None, ignore_literals=False, **_):
    pattern, new = _graph_of(pattern), _graph_of(replacement)
    matcher = _Matcher(pattern)
    parameters = [n for n in pattern.nodes if n.op == "placeholder"]
    replaced, taken, swapped = [], set(), {}
    for node in list(gm.graph.nodes):
        found = matcher.match(node)
        if found is None:
            continue
        inner = [found[n] for n in matcher._inner]
        if any(n in taken for n in inner):
            continue
        if not all(accepts(found, gm.graph, pattern) for accepts in match_filters or ()):
            continue
        taken.update(inner)
        replaced.append(_replace(gm.graph, found, matcher, parameters, new, swapped))
    if replaced:
        for name, module in _members(replacement):
            if not any(name == known for known, _ in gm.named_modules()):
                gm.add_submodule(name, module)
        gm.recompile()
    return replaced


def _members(replacement):
    return [(n, m) for n, m in replacement.named_modules() if n] if hasattr(replacement, "named_modules") else []


def _replace(graph, found, matcher, parameters, new, swapped):
    inputs = [n for n in new.nodes if n.op == "placeholder"]
    if len(inputs) != len(parameters):
        raise AssertionError(f"the pattern has {len(parameters)} parameters and the replacement {len(inputs)}")

    def current(value):
        while isinstance(value, Node) and value in swapped:
            value = swapped[value]
        return value

    values = {there: current(found.get(here)) for there, here in zip(inputs, parameters)}
    anchors = [found[n] for n in matcher._anchors]
    before = set(graph.nodes)
    users = {user for anchor in anchors for user in anchor.users}
    first = next((n for n in graph.nodes if n in users), anchors[0])
    with graph.inserting_before(first):
        result = graph.graph_copy(new, values)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    for old, made in zip(anchors, results):
        old.replace_all_uses_with(made)
        swapped[old] = made
    for node in reversed([found[n] for n in matcher._inner]):
        if not node.users:
            graph.erase_node(node)
    return ReplacedPatterns(anchors[0], found, [n for n in graph.nodes if n not in before])
