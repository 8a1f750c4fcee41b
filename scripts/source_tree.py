"""Parses `src` and answers questions about it: imports, cycles, references, commands."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
# The line number of a reference that is a name in `__all__`.
EXPORTED = 0


@dataclass
class Module:
    """A parsed source file."""

    name: str
    path: Path
    shown: str
    lines: int
    imports_by_name: bool
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__.py` of a package."""
        return self.path.name == "__init__.py"

    def functions(self) -> list[Function]:
        """Its public module-level functions."""
        found = [node for node in self.tree.body if isinstance(node, Function)]
        return [node for node in found if not node.name.startswith("_")]


def read_modules(root: Path) -> dict[str, Module]:
    """All modules under `root/src` by dotted name."""
    source = root / "src"
    modules = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        shown = path.relative_to(root).as_posix()
        by_name = "import_module(" in text
        modules[name] = Module(name, path, shown, text.count("\n"), by_name, ast.parse(text, str(path)))
    return modules


def is_type_checking(node: ast.AST) -> bool:
    """Whether a node is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING"


def last_name(node: ast.AST) -> str:
    """The `c` of `a.b.c` or `a.b.c(...)`."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def statements(tree: ast.AST, *, type_checking: bool = True) -> Iterator[ast.AST]:
    """All statements of a tree, nested ones included; `if TYPE_CHECKING:` blocks only if asked for."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        skipped = not type_checking and is_type_checking(node)
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, ())
            if isinstance(inner, list) and not (skipped and name == "body"):
                pending.extend(inner)


def source_module(module: Module, node: ast.ImportFrom) -> str:
    """The absolute name after `from`."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    base = parts[: len(parts) - node.level + module.is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


def bindings(module: Module, node: ast.AST) -> dict[str, str]:
    """The local names that an import statement binds, with the dotted name of what they stand for."""
    if isinstance(node, ast.ImportFrom):
        origin = source_module(module, node)
        return {alias.asname or alias.name: f"{origin}.{alias.name}" for alias in node.names}
    if isinstance(node, ast.Import):
        return {a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names}
    return {}


# Import cycles


def import_targets(module: Module) -> Iterator[str]:
    """The dotted names that a module imports when it runs."""
    for node in statements(module.tree, type_checking=False):
        if isinstance(node, ast.ImportFrom):
            yield from bindings(module, node).values()
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
    if module.imports_by_name:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and last_name(node) == "import_module":
                yield from (arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant))


def import_graph(modules: dict[str, Module]) -> dict[str, set[str]]:
    """The modules that each module imports."""
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for module in modules.values():
        for target in import_targets(module):
            imported = target if target in modules else target.rpartition(".")[0]
            if imported in modules:
                graph[module.name].add(imported)
    return graph


def components(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components that contain a cycle (Kosaraju's algorithm)."""
    order: list[str] = []
    seen: set[str] = set()
    for start in graph:
        _visit(start, graph, seen, order)
    backwards: dict[str, set[str]] = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backwards[target].add(name)
    seen.clear()
    found = []
    for start in reversed(order):
        members: list[str] = []
        _visit(start, backwards, seen, members)
        if len(members) > 1 or any(name in graph[name] for name in members):
            found.append(sorted(members))
    return sorted(found, key=len, reverse=True)


def _visit(start: str, graph: dict[str, set[str]], seen: set[str], order: list[str]) -> None:
    """Append everything reachable from `start` to `order`, in postorder."""
    pending = [(start, False)]
    while pending:
        name, done = pending.pop()
        if done:
            order.append(name)
        elif name not in seen:
            seen.add(name)
            pending.append((name, True))
            pending.extend((target, False) for target in sorted(graph[name]) if target not in seen)


def shortest_cycle(members: list[str], graph: dict[str, set[str]]) -> list[str]:
    """The shortest cycle through any member of a component; its first name is also its last."""
    best: list[str] = []
    for start in members:
        paths, pending = {start: [start]}, [start]
        for name in pending:
            if start in graph[name]:
                cycle = [*paths[name], start]
                best = cycle if not best or len(cycle) < len(best) else best
                break
            for target in sorted(graph[name] & set(members) - set(paths)):
                paths[target] = [*paths[name], target]
                pending.append(target)
    return best


# References to functions


class Scope:
    """The names that a module, function, lambda or class binds, and the dotted names that it uses."""

    def __init__(self, module: Module, node: ast.AST, outer: Scope | None = None) -> None:
        self.module = module
        self.outer = outer
        self.names: dict[str, str] = {}
        self.uses: list[tuple[str, int]] = []
        self.inner: list[Scope] = []
        # A module-level function may mention itself: that is not a use.
        is_top = isinstance(node, Function) and outer is not None and outer.outer is None
        self.function = f"{module.name}.{node.name}" if is_top else outer.function if outer else ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            self.names = {argument.arg: "" for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        self._scan(node)
        if isinstance(node, ast.ClassDef):
            self.names = {}

    def _scan(self, top: ast.AST) -> None:
        pending = children(top)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name | ast.Attribute):
                self._add_name(node, pending)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.names.update(bindings(self.module, node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                if not isinstance(node, ast.Lambda):
                    self.names[node.name] = "" if self.outer else f"{self.module.name}.{node.name}"
                self.inner.append(Scope(self.module, node, self))
            else:
                pending.extend(children(node))

    def _add_name(self, node: ast.Name | ast.Attribute, pending: list[ast.AST]) -> None:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.names[node.id] = ""
            return
        parts, owner = [], node
        while isinstance(owner, ast.Attribute):
            parts.append(owner.attr)
            owner = owner.value
        if isinstance(owner, ast.Name):
            self.uses.append((".".join([owner.id, *reversed(parts)]), node.lineno))
        else:
            pending.append(owner)

    def resolved(self) -> Iterator[tuple[str, int]]:
        """The uses of names that a module binds, as (absolute dotted name, line), inner scopes included."""
        for name, line in self.uses:
            head, _, tail = name.partition(".")
            target = self._find(head)
            if target and target != self.function:
                yield (f"{target}.{tail}" if tail else target), line
        for scope in self.inner:
            yield from scope.resolved()

    def _find(self, name: str) -> str:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return ""


def children(node: ast.AST) -> list[ast.AST]:
    """The child nodes that may contain a name."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found.extend(item for item in value if isinstance(item, ast.AST))
        elif isinstance(value, ast.AST) and name not in {"ctx", "op"}:
            found.append(value)
    return found


def exported(tree: ast.Module) -> list[str]:
    """The names in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [last_name(target) for target in node.targets] == ["__all__"]:
            return [item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)]
    return []


def uses(module: Module) -> Iterator[tuple[str, int]]:
    """Where a module uses a name of its own or of another module; a name in the `__all__` of a package counts."""
    yield from Scope(module, module.tree).resolved()
    if module.is_package:
        yield from ((f"{module.name}.{name}", EXPORTED) for name in exported(module.tree))


def find_references(modules: dict[str, Module]) -> dict[str, list[tuple[str, int]]]:
    """For each dotted name, the places that use it; names imported through a package lead to their definition."""
    aliases = {}
    for module in modules.values():
        for node in module.tree.body:
            inner = node.body if is_type_checking(node) else [node]
            for statement in inner:
                for name, target in bindings(module, statement).items():
                    aliases[f"{module.name}.{name}"] = target
    places = defaultdict(list)
    for module in modules.values():
        for name, line in uses(module):
            target, seen = name, {name}
            while target in aliases and aliases[target] not in seen:
                target = aliases[target]
                seen.add(target)
            places[target].append((module.name, line))
    return places


def _assigned(node: ast.stmt) -> list[str]:
    """The names that a statement assigns to."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def find_commands(modules: dict[str, Module]) -> set[str]:
    """The dotted names of the functions that are commands of the command line."""
    found = set()
    for module in modules.values():
        if "cli" not in module.name.split("."):
            continue
        for function in module.functions():
            # `ragstone.cli.app` loads the function `run` of the module `run` by name; its defaults declare its options.
            declared = {last_name(node) for node in function.args.defaults if isinstance(node, ast.Call)}
            is_named = function.name == module.name.rsplit(".", 1)[-1] or bool(declared & {"argument", "shared"})
            if {"command", "callback"} & decorators(function) or is_named:
                found.add(f"{module.name}.{function.name}")
        calls = any(isinstance(node, ast.Call) and last_name(node) == "command" for node in ast.walk(module.tree))
        if calls or "COMMANDS" in {name for node in module.tree.body for name in _assigned(node)}:
            targets = [target for node in module.tree.body for target in bindings(module, node).values()]
            found.update(target for target in targets if "cli" in target.split("."))
    return found


def decorators(function: Function) -> set[str]:
    """The last parts of the names of a function's decorators."""
    return {last_name(node) for node in function.decorator_list}
