"""The names that users may rely on, and what importing them costs: nothing."""

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import ragstone

PUBLIC = [
    "Chunk",
    "Dataset",
    "Fact",
    "RagstoneError",
    "Run",
    "Sample",
    "Score",
    "Skip",
    "__version__",
    "compare_runs",
    "evaluate",
    "match_facts",
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
    *("typer", "click", "rich", "httpx", "requests", "torch", "onnxruntime", "jinja2", "starlette"),
    *("asyncio", "concurrent", "logging", "json", "inspect", "dataclasses", "email", "http", "ssl", "subprocess"),
}
HEAVY_FOR_HELP = HEAVY - {"typer", "click", "inspect", "dataclasses", "subprocess"}


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
    assert not loaded & {"numpy", "scipy", "pyarrow", "pandas", "typer", "rich", "asyncio"}


def test_help_loads_nothing_heavy():
    code = "sys.argv = ['ragstone', '--help']\nfrom ragstone.cli import main\ntry: main()\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert "typer" in loaded
    assert not loaded & HEAVY_FOR_HELP
