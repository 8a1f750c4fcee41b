"""Measures the structure of `src` and, with `--check`, enforces the limits below.

    python scripts/structure.py              print the measurements
    python scripts/structure.py --check      exit with 1 and name the offenders if a limit is exceeded
    python scripts/structure.py --worst 20   also list the 20 worst of each kind

Definitions:

- Lines are newline characters, as `cat | wc -l` counts them. A package is a folder in `src/ragstone` with all below it.
- The length of a function runs from its `def` line to its last line. For a command in a package called `cli`
  only the body counts, because its signature is the list of its options. A command is a function that is decorated
  with `.command()` or `.callback()`, that a module which calls `.command()` imports from the `cli` package, or that has
  the name of its module.
- An import edge is any import of a module in `src`, including imports inside functions and
  `import_module("literal")`, excluding `if TYPE_CHECKING:` blocks. `from package import module` is an edge to the
  module only. A cycle is a strongly connected component of two or more modules, or a module that imports itself.
- A one-caller function is a public module-level function whose only reference in `src` is one place in one other
  file. A reference is a use of its name, called or not. Import statements and uses inside its own body do not count.
  Commands, functions with a decorator from REGISTERS and names in the `__all__` of an `__init__.py` are reached by
  other means and are never one-caller functions. The share is taken of all public module-level functions, those
  included.
- The mirror test of `src/<package>/a/b.py` is `tests/a/test_b.py`. `__init__.py` and `__main__.py` need none.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from source_tree import (
    EXPORTED,
    Function,
    Module,
    components,
    decorators,
    find_commands,
    find_references,
    import_graph,
    read_modules,
    shortest_cycle,
    statements,
)

# Lines per package; packages joined by " + " share a budget, "root" are the modules next to the packages. Budgets fall
# with the code; only a new capability raises that of its own package, and its commit says what it is worth.
BUDGETS = {
    "assistants": 485,
    "cli": 7_498,
    "web": 6_883,
    "report + views": 9_929,
    "api": 706,
    "notify": 842,
    "watch": 2_323,
    "sweep": 1_473,
    "analysis": 6_339,
    "truth": 7_243,
    "stress": 1_967,
    "agreement": 3_573,
    "engine": 4_639,
    "metrics + evidence_functions": 6_685,
    "tools": 5_684,
    "llm": 7_257,
    "models": 3_505,
    "formats": 8_260,
    "platforms": 824,
    "storage": 2_278,
    "http": 313,
    "registry": 1_198,
    "data": 2_101,
    "stats": 3_156,
    "text": 6_175,
    "examples": 120,
    "root": 694,
}
# Over all packages; 95,549 before attacks and leaks, simulated users, acceptance criteria, coding assistants and schemas; 101,930 before
# technical names, the memory of the local judge, word pieces without a package, and sentences before code.
MAX_LINES = 102_150
MAX_FILES = 578
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MAX_CYCLES = 0
MAX_ONE_CALLER_PERCENT = 20
MIN_MIRROR_PERCENT = 80.0
MAX_GERUNDS = 0
GERUNDS_ALLOWED = {"ranking.py", "testing.py"}
PRINTED_IN_FULL = {"package budgets", "functions over 60 lines", "import cycles", "repeated names"}  # Without --check.
REGISTERS = {"metric", "evidence", "command", "callback", "fixture", "hookimpl", "overload"}


@dataclass
class Measure:
    """One measurement: the printed value, the limit and the offenders."""

    title: str
    value: str
    limit: str = ""
    passes: bool = True
    offenders: list[str] = field(default_factory=list)
    worst: list[str] = field(default_factory=list)


def measure_packages(modules: dict[str, Module]) -> Measure:
    """Lines per package. A package without a budget has a budget of 0 lines."""
    budget_of = {package: name for name in BUDGETS for package in name.split(" + ")}
    lines, files = Counter[str](), Counter[str]()
    for module in modules.values():
        _, _, package, *inner = module.shown.split("/")
        name = budget_of.get(package, package) if inner else "root"
        lines[name] += module.lines
        files[name] += 1
    names = sorted(lines, key=lambda name: -lines[name])
    over = [name for name in names if lines[name] > BUDGETS.get(name, 0)]
    table = [f"{'':5}{'package':30}{'lines':>7}{'budget':>8}{'files':>7}"]
    table += [
        f"{'FAIL' if name in over else '':5}{name:30}{lines[name]:7}{BUDGETS.get(name, 0):8}{files[name]:7}"
        for name in names
    ]
    table += [_raise(f'BUDGETS["{name}"]', lines[name]) for name in over]
    return Measure("package budgets", f"{len(over)} exceeded", "0", not over, table)


def _raise(limit: str, value: int) -> str:
    """What a contributor may do."""
    return f"shorten other code, or set {limit} to {value:_} in scripts/structure.py and say in the commit message what it buys"


def measure_sizes(modules: dict[str, Module], worst: int) -> list[Measure]:
    """Number of files, lines and the longest file."""
    files = sorted(modules.values(), key=lambda module: -module.lines)
    total = sum(module.lines for module in files)
    longest = files[0].lines if files else 0
    shown = [f"{module.shown}: {module.lines}" for module in files]
    too_long = [text for text, module in zip(shown, files, strict=True) if module.lines > MAX_FILE_LINES]
    more = [_raise("MAX_FILES", len(files)), _raise("MAX_LINES", total)]
    return [
        Measure("files", f"{len(files)}", f"<= {MAX_FILES}", len(files) <= MAX_FILES, more[:1]),
        Measure("lines", f"{total}", f"<= {MAX_LINES}", total <= MAX_LINES, more[1:]),
        Measure("longest file", f"{longest}", f"<= {MAX_FILE_LINES}", not too_long, too_long, shown[:worst]),
    ]


def measure_functions(modules: dict[str, Module], commands: set[str], worst: int) -> Measure:
    """Functions over the limit."""
    found = []
    for module in modules.values():
        for node in statements(module.tree):
            if isinstance(node, Function):
                is_command = f"{module.name}.{node.name}" in commands
                first = node.body[0].lineno if is_command else node.lineno
                found.append(((node.end_lineno or first) - first + 1, f"{module.shown}:{node.lineno} {node.name}"))
    found.sort(key=lambda item: (-item[0], item[1]))
    long = [f"{place}: {lines}" for lines, place in found if lines > MAX_FUNCTION_LINES]
    title = f"functions over {MAX_FUNCTION_LINES} lines"
    return Measure(title, f"{len(long)}", "0", not long, long, [f"{place}: {lines}" for lines, place in found[:worst]])


def measure_cycles(modules: dict[str, Module]) -> Measure:
    """Import cycles, late imports included."""
    graph = import_graph(modules)
    found = components(graph)
    shown = []
    for members in found:
        shown.append(f"{len(members)} modules: {', '.join(members)}")
        shown.append(f"    shortest: {' > '.join(shortest_cycle(members, graph))}")
    return Measure("import cycles", f"{len(found)}", f"<= {MAX_CYCLES}", len(found) <= MAX_CYCLES, shown)


def measure_one_callers(modules: dict[str, Module], commands: set[str], worst: int) -> Measure:
    """Public functions with one reference, which is in another file."""
    references = find_references(modules)
    total, grouped = 0, defaultdict(list)
    for module in modules.values():
        for function in module.functions():
            total += 1
            name = f"{module.name}.{function.name}"
            places = references.get(name, [])
            registered = name in commands or decorators(function) & REGISTERS
            if len(places) == 1 and not registered:
                [(caller, line)] = places
                if caller != module.name and line != EXPORTED:
                    grouped[module.shown].append(f"{function.name} (from {modules[caller].shown}:{line})")
    count = sum(map(len, grouped.values()))
    percent = 100 * count / max(total, 1)
    order = sorted(grouped, key=lambda shown: (-len(grouped[shown]), shown))
    listed = [f"{shown}: {', '.join(grouped[shown])}" for shown in order]
    return Measure(
        "one-caller functions",
        f"{percent:.1f} % ({count} of {total})",
        f"<= {MAX_ONE_CALLER_PERCENT:g} %",
        percent <= MAX_ONE_CALLER_PERCENT,
        listed,
        listed[:worst],
    )


def measure_mirrors(root: Path, modules: dict[str, Module], worst: int) -> Measure:
    """Modules with a mirror test."""
    named = [module for module in modules.values() if module.path.name not in {"__init__.py", "__main__.py"}]
    missing = []
    for module in named:
        folders = module.path.relative_to(root / "src").parts[1:-1]
        test = Path("tests", *folders, f"test_{module.path.name}")
        if not (root / test).exists():
            missing.append(f"{module.shown} (no {test.as_posix()})")
    count = len(named) - len(missing)
    percent = 100 * count / max(len(named), 1)
    return Measure(
        "modules with a mirror test",
        f"{percent:.1f} % ({count} of {len(named)})",
        f">= {MIN_MIRROR_PERCENT:g} %",
        not named or percent >= MIN_MIRROR_PERCENT,
        missing,
        missing[:worst],
    )


def measure_names(modules: dict[str, Module]) -> list[Measure]:
    """Gerunds and repeated names among the modules."""
    named = [module for module in modules.values() if not module.path.name.startswith("__")]
    gerunds = [
        f"{module.shown}: a noun does not end in -ing"
        for module in named
        if module.path.stem.endswith("ing") and module.path.name not in GERUNDS_ALLOWED
    ]
    counts = Counter(module.path.name for module in named)
    repeated = [f"{name} ({count})" for name, count in counts.most_common() if count > 1]
    return [
        Measure("gerund names", f"{len(gerunds)}", f"<= {MAX_GERUNDS}", len(gerunds) <= MAX_GERUNDS, gerunds),
        Measure("repeated names", f"{len(repeated)}", offenders=[", ".join(repeated)] if repeated else []),
    ]


def measure(root: Path, worst: int) -> list[Measure]:
    """All measurements of a repository."""
    modules = read_modules(root)
    commands = find_commands(modules)
    return [
        *measure_sizes(modules, worst),
        measure_packages(modules),
        measure_functions(modules, commands, worst),
        measure_cycles(modules),
        measure_one_callers(modules, commands, worst),
        measure_mirrors(root, modules, worst),
        *measure_names(modules),
    ]


def main(argv: list[str] | None = None) -> int:
    """Print the measurements and return the exit code."""
    parser = argparse.ArgumentParser(description="Measure the structure of src.")
    parser.add_argument("--check", action="store_true", help="fail if a limit is exceeded and name the offenders")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="list the N worst of each kind")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the repository")
    options = parser.parse_args(argv)
    measures = measure(options.root, options.worst)
    lines = [f"{'' if m.passes else 'FAIL':5}{m.title:28}{m.value:24}{m.limit}".rstrip() for m in measures]
    for one in measures:
        in_full = not one.passes if options.check else one.title in PRINTED_IN_FULL
        if details := one.offenders if in_full else one.worst:
            lines += ["", f"{one.title}:", *(f"  {text}" for text in details)]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(options.check and not all(one.passes for one in measures))


if __name__ == "__main__":
    sys.exit(main())
