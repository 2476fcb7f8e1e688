"""The names below some packages that a Python file uses, by its text: imports, chains of attributes, aliases."""

import ast
import dataclasses

GUARDS = {"ImportError", "ModuleNotFoundError", "AttributeError", "NotImplementedError", "Exception", "BaseException"}
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclasses.dataclass(frozen=True)
class Use:
    name: str  # "torch.nn.Linear"
    line: int
    guarded: bool  # the program is prepared for its absence
    imported: bool  # by an import line


@dataclasses.dataclass(frozen=True)
class Import:
    """A module that a file imports: `level` dots in front, and the names that are taken from it."""

    module: str
    level: int
    names: tuple


class Reader(ast.NodeVisitor):
    """Collects the uses and the imports of one file."""

    def __init__(self, roots):
        self._roots = roots
        self._aliases = [{}]  # per scope: what a name stands for, None for something else
        self._guarded = 0
        self.uses, self.imports = [], []

    # ---- scopes: a name that a function assigns is its own ----

    def _meaning(self, name):
        for scope in reversed(self._aliases):
            if name in scope:
                return scope[name]
        return None

    def _bind(self, name, meaning):
        self._aliases[-1][name] = meaning

    def _function(self, node):
        for part in (*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for argument in arguments:
            if argument is not None and argument.annotation is not None:
                self.visit(argument.annotation)
        if getattr(node, "returns", None) is not None:
            self.visit(node.returns)
        body = node.body if isinstance(node.body, list) else [node.body]
        self._aliases.append({name: None for name in _stored(body)} | {a.arg: None for a in arguments if a is not None})
        for statement in body:
            self.visit(statement)
        self._aliases.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node):
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._aliases.append({})
        for statement in node.body:
            self.visit(statement)
        self._aliases.pop()

    # ---- what a name stands for ----

    def visit_Import(self, node):
        for alias in node.names:
            self.imports.append(Import(alias.name, 0, ()))
            root = alias.name.partition(".")[0]
            if root in self._roots:
                self._note(alias.name, node, imported=True)
                self._bind(alias.asname or root, alias.name if alias.asname else root)
            else:
                self._bind(alias.asname or root, None)

    def visit_ImportFrom(self, node):
        module = node.module or ""
        self.imports.append(Import(module, node.level, tuple(alias.name for alias in node.names)))
        ours = node.level == 0 and module.partition(".")[0] in self._roots
        if ours:
            self._note(module, node, imported=True)
        for alias in node.names:
            if ours and alias.name != "*":
                self._note(f"{module}.{alias.name}", node, imported=True)
            self._bind(alias.asname or alias.name, f"{module}.{alias.name}" if ours else None)

    def visit_Assign(self, node):
        self.visit(node.value)
        chain = self._chain(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._bind(target.id, chain)
            else:
                self.visit(target)

    # ---- uses ----

    def _chain(self, node):
        """'torch.nn.Linear' for `nn.Linear`; None where it starts with something else."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        meaning = self._meaning(node.id) if isinstance(node, ast.Name) else None
        return None if meaning is None else ".".join([meaning, *reversed(parts)])

    def _note(self, name, node, imported=False):
        self.uses.append(Use(name, node.lineno, self._guarded > 0, imported))

    def visit_Attribute(self, node):
        chain = self._chain(node)
        if chain is None:
            self.generic_visit(node)
        else:
            self._note(chain, node)

    def visit_Name(self, node):
        meaning = self._meaning(node.id)
        if isinstance(node.ctx, ast.Load) and meaning is not None and "." in meaning:
            self._note(meaning, node)

    def visit_Call(self, node):
        """getattr(torch, "name") uses it; with a default, and in hasattr, the program is prepared for its absence."""
        function = node.func.id if isinstance(node.func, ast.Name) else None
        if function in ("getattr", "hasattr") and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            chain = self._chain(node.args[0])
            if chain is not None:
                careful = function == "hasattr" or len(node.args) > 2
                self.uses.append(Use(f"{chain}.{node.args[1].value}", node.lineno, careful or self._guarded > 0, False))
                return
        self.generic_visit(node)

    # ---- what a program is prepared for ----

    def _visit_guarded(self, statements, guarded):
        self._guarded += guarded
        for statement in statements:
            self.visit(statement)
        self._guarded -= guarded

    def visit_Try(self, node):
        self._visit_guarded(node.body, any(map(_catches_absence, node.handlers)))
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def visit_If(self, node):
        self.visit(node.test)
        asks = any(isinstance(n, ast.Call) and getattr(n.func, "id", "") == "hasattr" for n in ast.walk(node.test))
        typing_only = isinstance(node.test, (ast.Name, ast.Attribute)) and "TYPE_CHECKING" in ast.unparse(node.test)
        self._visit_guarded(node.body, asks or typing_only)
        self._visit_guarded(node.orelse, asks)


def _catches_absence(handler):
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or ast.unparse(kind).rpartition(".")[2] in GUARDS for kind in kinds)


def _stored(statements):
    """Names that the statements assign, scopes inside them aside."""
    waiting, found = list(statements), set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def read(text, path, roots):
    """(uses, imports) of a file. Of a chain the longest part is a use: torch.nn.Linear, not torch.nn."""
    reader = Reader(roots)
    reader.visit(ast.parse(text, path))
    return reader.uses, reader.imports
