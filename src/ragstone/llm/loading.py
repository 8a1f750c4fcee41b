"""Names in a user's own Python files, and what tells one version of a function from the next."""

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
from ragstone.llm.hiding import hide_secrets

_IN_FILE = re.compile(r"(?P<path>.+\.py):(?P<name>[A-Za-z_]\w*)")
_SIMPLE = (str, int, float, bool, bytes, type(None))
UNKNOWN_VERSION = "unknown"
_VERSION = "__ragstone_version__"


class InFile(NamedTuple):
    """A name in a file, as in `rag.py:answer`."""

    path: str
    name: str


class Loaded(NamedTuple):
    """What a name in a file stands for, how it is called in messages, and a hash of the file."""

    value: Any
    label: str
    version: str


def split_file_name(text: str) -> InFile | None:
    """File and name of `file.py:name`; None where the text is something else."""
    found = _IN_FILE.fullmatch(text)
    return InFile(found["path"], found["name"]) if found else None


def load_name(path: str, name: str, what: str) -> Loaded:
    """What a Python file has under a name; its folder can be imported from, as if the file were run."""
    if not os.path.isfile(path):
        raise UsageError(f"there is no file '{path}' for the {what} {path}:{name}")
    with open(path, "rb") as stream:
        version = hashlib.blake2b(stream.read(), digest_size=6).hexdigest()
    module = _load_module(path, version)
    if not hasattr(module, name):
        names = [other for other, value in vars(module).items() if inspect.isfunction(value)]
        raise UsageError(f"{path} has no function '{name}'; it has {', '.join(names) or 'none'}")
    return Loaded(getattr(module, name), f"{os.path.basename(path)}:{name}", version)


def _load_module(path: str, version: str) -> Any:
    label = f"ragstone_user_{hashlib.blake2b(os.path.abspath(path).encode(), digest_size=6).hexdigest()}"
    # A file that builds an index when it is loaded does so once.
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
    except Exception as error:
        del sys.modules[label]
        words = hide_secrets(" ".join(str(error).split()))
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {words}") from error
    setattr(module, _VERSION, version)
    return module


def version_of(function: Callable[..., Any]) -> str:
    """A hash of a function's code and of the plain values that it uses from around it."""
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
