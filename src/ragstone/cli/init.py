"""ragstone init: write a settings file, a tiny example and a CI file."""

from __future__ import annotations

from pathlib import Path

import typer

from ragstone.cli.options import option
from ragstone.cli.output import command_line, next_steps
from ragstone.errors import StorageError

_EXAMPLE = "answers.example.jsonl"
# Where each file goes, and what it is.
_FILES = {
    "ragstone.toml": ("ragstone.toml", "settings, with comments"),
    _EXAMPLE: (_EXAMPLE, "six questions with answers, to try it and to see the format"),
    "ragstone.yml": (".github/workflows/ragstone.yml", "evaluates and gates every pull request on GitHub"),
}


def init(
    dry_run: bool = option(False, "--dry-run", "Show what would be done; write nothing."),
) -> None:
    """Write a settings file, a tiny example and a CI file into this folder.

    Files that exist are never overwritten.
    """
    from importlib import resources

    templates = resources.files("ragstone.examples") / "start"
    width = max(len(target) for target, _ in _FILES.values())
    for source, (target, what) in _FILES.items():
        text = (templates / source).read_text(encoding="utf-8")
        done = _would_write(Path(target)) if dry_run else _write(Path(target), text)
        typer.echo(f"  {target:<{width}}  {done}: {what}")
    if dry_run:
        next_steps((command_line("init"), "write these files"))
        return
    next_steps(
        (command_line("run", _EXAMPLE, name="first"), "evaluate the example"),
        (command_line("gate", "first"), "check it against the conditions in ragstone.toml"),
        (command_line("validate", "YOUR_FILE"), "what your own file has and which metrics it allows"),
    )


def _would_write(path: Path) -> str:
    return "kept, it exists" if path.exists() or path.is_symlink() else "would be written"


def _write(path: Path, text: str) -> str:
    """Writes a new file; a file or link that is already there stays as it is."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return "kept, it exists"
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    return "written"
