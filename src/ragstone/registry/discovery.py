"""Find what is registered: every module of a package, and a user's own file."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterable
from pathlib import Path

from ragstone.errors import DefinitionError, RagstoneError, UsageError


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that a new file is registered by being there."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def import_metrics_file(path: str | Path) -> None:
    """Import a user's Python file; its decorated functions register themselves."""
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"metrics file '{path}' does not exist")
    name = f"ragstone_user_{file.resolve().stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"metrics file '{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # typing.get_type_hints looks the module up by name
    try:
        spec.loader.exec_module(module)
    except RagstoneError:
        raise
    except Exception as error:
        line = _line_in(error, spec.origin or "")
        raise DefinitionError(f"metrics file '{path}'{line}: {type(error).__name__}: {error}") from error


def _line_in(error: Exception, file: str) -> str:
    """The last line of the user's own file that the error passed through."""
    lines = []
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == file:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        lines.append(error.lineno)
    return f", line {lines[-1]}" if lines else ""
