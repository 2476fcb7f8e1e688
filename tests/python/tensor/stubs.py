"""The generated stub is Python, and names what the module has; every record can be described."""
import ast
import importlib.util
import os

import _terra_C as C

path = os.path.join(os.path.dirname(__file__), "../../../interpreter_hooks/bindings/stubs.py")
spec = importlib.util.spec_from_file_location("stubs", path)
stubs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stubs)

tree = ast.parse(stubs.stub())
functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
assert {"add", "max", "zeros", "tensor", "from_numpy"} <= functions
methods = {n.name for c in tree.body if isinstance(c, ast.ClassDef) and c.name == "Tensor" for n in c.body if isinstance(n, ast.FunctionDef)}
assert {"add", "add_", "item", "backward"} <= methods
for name in functions:
    assert hasattr(C, name), name
for name in methods:
    assert hasattr(C.Tensor, name), name
assert "## add" in stubs.page()
assert "## 14: resumes a generator" in stubs.reasons()
