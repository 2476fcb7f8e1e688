"""Writes the type stub of the package `terra` and its reference pages, from the op records and the table of reasons.

usage: terra-run stubs.py [--stub FILE] [--page FILE] [--reasons FILE]"""

import argparse
import inspect
import keyword

import _terra_C as C

TYPES = {
    "Tensor": "Tensor", "Tensor|Number": "Tensor | float", "Tensor[]": "Sequence[Tensor]", "Number": "float", "int": "int",
    "float": "float", "bool": "bool", "int[]": "int | Sequence[int]", "dtype": "dtype", "str": "str", "Generator": "Generator",
    "memory_format": "memory_format",
}  # fmt: skip
HEADER = '''"""Tensors and ops of Terra. Written by interpreter_hooks/bindings/stubs.py from the op records."""

from typing import Any, NamedTuple, Sequence

'''


def result_type(record):
    if record["result_is_list"]:
        return "tuple[Tensor, ...]"
    return f"tuple[{', '.join('Tensor' for _ in record['results'])}]" if len(record["results"]) > 1 else "Tensor"


def may_be_left_out(params, i):
    """Python wants no parameter without a default behind one with it."""
    rest = params[i:] if not params[i]["keyword_only"] else params[i : i + 1]
    return all(p["default"] or p["optional"] for p in rest if p is params[i] or not p["keyword_only"])


def parameters(record, method):
    """The parameters of a function or method as source text."""
    texts, star = [], False
    for i, p in enumerate(record["params"]):
        if method and i == 0:
            texts.append("self")
            continue
        kind = TYPES[p["type"]] + (" | None" if p["optional"] else "")
        if p["varargs"]:
            texts.append(f"*{p['name']}: int")
            star = True
            continue
        if p["keyword_only"] and not star:
            texts.append("*")
            star = True
        name = "input" if i == 0 and p["name"] == "self" else p["name"]
        name += "_" if keyword.iskeyword(name) else ""
        texts.append(f"{name}: {kind}" + (" = ..." if may_be_left_out(record["params"], i) else ""))
    return ", ".join(texts)


def in_module(name, record):
    """Whether the op is a function of a module of ops, such as terra.linalg, under that name."""
    return bool(record["module"]) and name.startswith(record["module"] + "_")


def callables(records, where):
    """(name, record) of everything that is found in one place, overloads and in-place forms included."""
    by_name = {r["name"]: r for r in records}
    overloads = C.op_overloads()
    for name, overload in overloads.items():
        for op in overload["ops"]:
            if op in by_name and overload[where] and not in_module(name, by_name[op]):
                yield name, by_name[op]
    for record in records:
        names = [record["name"], *(a.strip() for a in record["aliases"].split(",") if a.strip())]
        for name in names:
            if record[where] and name not in overloads and not in_module(name, record):
                yield name, record
            if where == "method" and record["in_place"]:
                yield name + "_", record


def functions(records, where, indent, method):
    seen = {}
    for name, record in callables(records, where):
        if name.isidentifier():
            seen.setdefault(name, []).append(record)
    for name in sorted(seen):
        for record in seen[name]:
            overload = f"{indent}@overload\n" if len(seen[name]) > 1 else ""
            yield f"{overload}{indent}def {name}({parameters(record, method)}) -> {result_type(record)}: ..."


def stub():
    records = C.op_records()
    lines = [HEADER.replace("Any, NamedTuple, Sequence", "Any, Sequence, overload")]
    for kind in ("dtype", "device", "layout", "memory_format", "Generator"):
        lines.append(f"class {kind}: ...")
    lines += [f"{name}: dtype" for name in sorted(vars(C)) if isinstance(getattr(C, name), C.dtype)]
    lines.append("class Size(tuple[int, ...]):\n    def numel(self) -> int: ...")
    lines.append("class Tensor:")
    for name, attribute in sorted(vars(C.Tensor).items()):
        if inspect.isgetsetdescriptor(attribute) and not name.startswith("__"):
            lines.append(f"    {name}: Any")
        elif inspect.ismethoddescriptor(attribute) and not isinstance(attribute, C.OpMethod) and name.isidentifier():
            lines.append(f"    def {name}(self, *args: Any, **kwargs: Any) -> Any: ...")
    lines += functions(records, "method", "    ", True)
    lines += functions(records, "function", "", False)
    for name, value in sorted(vars(C).items()):
        if inspect.isbuiltin(value) and not name.startswith("_") and not isinstance(value, C.OpFunction):
            lines.append(f"def {name}(*args: Any, **kwargs: Any) -> Any: ...")
    return "\n".join(lines) + "\n"


def page():
    lines = ["# Ops", ""]
    for record in sorted(C.op_records(), key=lambda r: r["name"]):
        where = [("terra", "function"), ("Tensor", "method"), ("nn.functional", "functional")]
        places = [p for p, flag in where if record[flag] and (record["aliases"] or not record["module"])]
        if record["module"] and record["function"]:
            places.insert(0, f"terra.{record['module']} as `{record['name'].removeprefix(record['module'] + '_')}`")
        if not places and not record["property"]:
            continue
        lines += [f"## {record['name']}", "", f"`{record['name']}{record['signature']}`", "", record["doc"], ""]
        lines.append("In " + ", ".join(places or ["Tensor (attribute)"]) + ("; in place as `" + record["name"] + "_`." if record["in_place"] else "."))
        if record["aliases"]:
            lines.append(f"Also called {record['aliases']}.")
        if record["example"]:
            lines += ["", "```python", record["example"], "```"]
        lines.append("")
    return "\n".join(lines)


def reasons():
    """Why frames are not captured, by the number that reports give."""
    lines = ["# Reasons", "", "The numbers that `terra-run --explain` and `--report` give, and what they say of a frame.", ""]
    for number, sentence, hint, example in C.capture_reasons():
        lines += [f"## {number}: {sentence}", ""]
        lines += [hint[0].upper() + hint[1:] + ".", ""] if hint else []
        lines += ["```python", example, "```", ""] if example != "-" else []
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stub", help="file to write the type stub to")
    parser.add_argument("--page", help="file to write the reference page to")
    parser.add_argument("--reasons", help="file to write the table of reasons to")
    options = parser.parse_args()
    for path, text in ((options.stub, stub), (options.page, page), (options.reasons, reasons)):
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text())


if __name__ == "__main__":
    main()
