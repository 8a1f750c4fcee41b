"""The names that users may rely on, and what importing them costs: nothing."""

import functools
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ragstone

PUBLIC = [
    "Chunk",
    "Comparison",
    "Dataset",
    "Diagnosis",
    "Explanation",
    "Fact",
    "Gate",
    "Judge",
    "Missing",
    "Progress",
    "Quote",
    "RagstoneError",
    "Run",
    "Sample",
    "Score",
    "Share",
    "Skip",
    "Summary",
    "Verdict",
    "Worst",
    "__version__",
    "collect",
    "compare",
    "evaluate",
    "evaluate_async",
    "evidence",
    "gate",
    "match_facts",
    "metric",
    "open_run",
    "quote",
    "read_dataset",
    "score_lists",
    "score_rankings",
    "score_row",
    "write_dataset",
]
# What nobody should have to wait for before they ask for it.
HEAVY = {
    *("numpy", "scipy", "pyarrow", "pandas", "polars", "datasets", "pydantic", "fsspec", "boto3", "rapidfuzz", "regex"),
    *("click", "rich", "httpx", "requests", "torch", "onnxruntime", "jinja2", "starlette"),
    *("asyncio", "concurrent", "logging", "json", "inspect", "dataclasses", "email", "http", "ssl", "subprocess"),
}
HEAVY_FOR_HELP = HEAVY - {"click", "inspect", "dataclasses", "subprocess"}


def modules_after(code: str) -> set[str]:
    """The top-level modules that some code loads in a fresh Python."""
    script = f"import sys; before = set(sys.modules)\n{code}\nsys.stderr.write(' '.join(set(sys.modules) - before))"
    home = str(Path(ragstone.__file__).parents[1])
    result = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": home},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return {name.split(".")[0] for name in result.stderr.split()}


def test_public_names():
    assert ragstone.__all__ == PUBLIC
    assert dir(ragstone) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there(name):
    assert getattr(ragstone, name) is not None


def test_no_subpackage_hides_a_public_name():
    """An imported subpackage becomes an attribute of its package, before `__getattr__` is asked."""
    subpackages = {info.name for info in pkgutil.iter_modules(ragstone.__path__)}
    assert not subpackages & set(PUBLIC)


@pytest.mark.parametrize(
    "code",
    [
        "import ragstone; f = ragstone.compare",
        "from ragstone import compare as f",
        "import ragstone.analysis.comparison as c, ragstone; c.compare_runs; f = ragstone.compare",
        "from ragstone.analysis.comparison import compare_runs; from ragstone import compare as f",
    ],
)
def test_compare_is_a_function(code):
    """Whatever was imported before."""
    check = "assert 'before' in str(inspect.signature(f)) and 'Is `after` better' in f.__doc__"
    call = (
        "\ntry: f(1, 2, slice='a')\nexcept TypeError as error: assert 'slices' in str(error)\nelse: raise SystemExit(1)"
    )
    modules_after(f"import inspect; {code}; {check}{call}")


def describe_api():
    """Every public name with its signature, and every public class with what it offers."""
    lines = []
    for name in PUBLIC:
        value = getattr(ragstone, name)
        if isinstance(value, str):
            continue
        lines.append(f"{name}{'' if isinstance(value, type) else signature_of(value)}")
        if isinstance(value, type):
            lines += [f"    {name}.{line}" for line in sorted(describe_class(value))]
    return "\n".join(lines) + "\n"


def describe_class(kind):
    for base in kind.__mro__:
        if base.__module__.startswith("ragstone"):
            types = {
                key: getattr(text, "__forward_arg__", text)
                for key, text in vars(base).get("__annotations__", {}).items()
            }
            yield from (f"{name}: {text}" for name, text in types.items() if name[0] != "_")
            for name, member in vars(base).items():
                if name[0] == "_":
                    continue
                if inspect.isfunction(member) or isinstance(member, classmethod):
                    yield f"{name}{signature_of(getattr(kind, name))}"
                elif isinstance(member, property | functools.cached_property):
                    getter = member.fget if isinstance(member, property) else member.func
                    yield f"{name} -> {inspect.signature(getter).return_annotation}"


def signature_of(function):
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))
    return re.sub(r"<function (\w+) at \w+>", r"\1", text)


def test_signatures_are_those_that_were_promised():
    """A change here is a change for users: see "What stays" in docs/python.md."""
    path = Path(__file__).parent / "public_api.txt"
    if os.environ.get("RAGSTONE_WRITE_API"):
        path.write_text(describe_api())
    assert describe_api() == path.read_text(), "if this is meant: RAGSTONE_WRITE_API=1 pytest tests/test_public_door.py"


def test_import_star():
    names = {}
    exec("from ragstone import *", names)
    assert set(PUBLIC) <= names.keys()


def test_public_functions_and_classes_have_a_docstring():
    assert not [name for name in PUBLIC if name != "__version__" and not getattr(ragstone, name).__doc__]


def test_unknown_attribute():
    with pytest.raises(AttributeError, match=r"^module 'ragstone' has no attribute 'evaluat'$"):
        ragstone.evaluat  # noqa: B018
    assert not hasattr(ragstone, "anything")


def test_importing_loads_nothing_heavy():
    loaded = modules_after("import ragstone; dir(ragstone)")
    assert "ragstone" in loaded
    assert not loaded & HEAVY


def test_the_decorators_load_nothing_heavy():
    """They stand at the top of users' own files."""
    loaded = modules_after("from ragstone import Skip; from ragstone.registry import evidence, metric")
    assert not loaded & {"numpy", "scipy", "pyarrow", "pandas", "click", "rich", "asyncio"}


def test_help_loads_nothing_heavy():
    code = "sys.argv = ['ragstone', '--help']\nfrom ragstone.cli import main\ntry: main()\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert "click" in loaded
    assert not loaded & HEAVY_FOR_HELP
