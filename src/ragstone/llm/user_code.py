"""Loads objects from a user's Python files, and computes versions of functions."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ragstone.errors import UsageError
from ragstone.llm.endpoints import hide_secrets

_IN_FILE = re.compile(r"(?P<path>.+\.py):(?P<name>[A-Za-z_]\w*)")
_SIMPLE = (str, int, float, bool, bytes, type(None))
UNKNOWN_VERSION = "unknown"
_VERSION = "__ragstone_version__"


class Loaded(NamedTuple):
    """The loaded object, its name in messages, and a hash of its file."""

    value: Any
    label: str
    version: str


def split_file_name(text: str) -> tuple[str, str] | None:
    """Split `file.py:name`; None if the text has another form."""
    match = _IN_FILE.fullmatch(text)
    return (match["path"], match["name"]) if match else None


def load_name(path: str, name: str, what: str) -> Loaded:
    """Load an object from a Python file. The folder of the file is importable, as if the file were run."""
    if not os.path.isfile(path):
        raise UsageError(f"the file '{path}' of the {what} {path}:{name} does not exist")
    with open(path, "rb") as stream:
        version = hashlib.blake2b(stream.read(), digest_size=6).hexdigest()
    module = _load_module(path, version)
    if not hasattr(module, name):
        names = [other for other, value in vars(module).items() if inspect.isfunction(value)]
        raise UsageError(f"{path} has no function '{name}'; it has {', '.join(names) or 'none'}")
    return Loaded(getattr(module, name), f"{os.path.basename(path)}:{name}", version)


def _load_module(path: str, version: str) -> Any:
    label = f"ragstone_user_{hashlib.blake2b(os.path.abspath(path).encode(), digest_size=6).hexdigest()}"
    # Loaded once, since a file may build an index when it is imported.
    if getattr(sys.modules.get(label), _VERSION, None) == version:
        return sys.modules[label]
    spec = importlib.util.spec_from_file_location(label, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[label] = module
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script may end itself; that must not end us without a word
        del sys.modules[label]
        words = hide_secrets(" ".join(str(error).split()))
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {words}") from error
    setattr(module, _VERSION, version)
    return module


def version_of(function: Callable[..., Any]) -> str:
    """Return a hash of a function's code and of the simple values that it uses from outside."""
    code = getattr(inspect.unwrap(function), "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return UNKNOWN_VERSION
    digest = hashlib.blake2b(code.co_code, digest_size=6)
    outside = inspect.getclosurevars(function) if inspect.isfunction(function) else None
    values = {**outside.nonlocals, **outside.globals} if outside else dict(vars(function))
    constants = [constant for constant in code.co_consts if isinstance(constant, _SIMPLE)]
    simple = sorted((name, value) for name, value in values.items() if isinstance(value, _SIMPLE))
    digest.update(repr((constants, code.co_names, simple)).encode())
    return digest.hexdigest()
