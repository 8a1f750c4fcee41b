"""The command line: one file per command. Heavy packages are imported when a command runs."""

from __future__ import annotations

import atexit
import codecs
import errno
import gc
import io
import os
import re
import sys

from ragstone.errors import RagstoneError, UnknownColumnsError, UsageError


def main() -> None:
    """Runs the command line. Errors of Ragstone are printed as one line, without a traceback."""
    from ragstone.cli.app import app

    # Otherwise Python searches all objects for garbage before it exits, which takes 0.1 s.
    atexit.register(gc.freeze)
    # Python has no stream if the shell closed it (`>&-`): printed text is discarded, and nothing can be read.
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    # Used until the end: the descriptors stay open.
    sys.stdout = sys.stdout or open(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)  # noqa: SIM115
    # Prints a simpler sign or a question mark for characters that the encoding of the terminal or file lacks.
    codecs.register_error("ragstone", _simplify)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="ragstone")
    try:
        try:
            os.getcwd()
        except FileNotFoundError:
            raise UsageError("the current folder was deleted. Change to another one: cd") from None
        app()
    except RagstoneError as error:
        _print_error(f"error: {error}")
        _print_mapped_command(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _print_error("stopped")
        sys.exit(130)
    except BrokenPipeError:
        # The program that reads our output (head, less) has ended: this is not an error.
        _drop_output()
        sys.exit(0)
    except Exception as error:
        if os.environ.get("RAGSTONE_DEBUG"):
            raise
        _exit_if_unprintable(error)
        _print_error(
            f"internal error: {type(error).__name__}: {error}\nThis is a bug in Ragstone. RAGSTONE_DEBUG=1 shows where."
        )
        sys.exit(1)


# One character for one, so that tables stay aligned.
_SIMPLER = str.maketrans("✓✗→←↑↓−‐‑≈≤≥●━─│├└█▲▼▁·–—…×“”‘’", "+x><^v---~<>o--|||#^v_.--.x\"\"''")


def _simplify(error: UnicodeError) -> tuple[str, int]:
    """The error handler of the standard streams."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    simpler = error.object[error.start : error.end].translate(_SIMPLER)
    return simpler.encode("ascii", "replace").decode(), error.end


def _print_mapped_command(error: RagstoneError) -> None:
    """Prints the same command with the columns mapped, if the error says how."""
    if isinstance(error, UnknownColumnsError) and error.options:
        from ragstone.cli.output import command_line, next_steps

        line = command_line(*sys.argv[1:], *error.options)
        next_steps((line, "the same with these columns, if the guess is right"), err=True)


def _exit_if_unprintable(error: Exception) -> None:
    """Exits if the output cannot be printed."""
    if isinstance(error, OSError) and error.errno == errno.EINVAL and sys.platform == "win32":
        _drop_output()  # a broken pipe of Windows
        sys.exit(0)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        _drop_output()
        _print_error(f"error: cannot print the result: {error.strerror}")
        sys.exit(1)


def _drop_output() -> None:
    """Discards the rest of the output; otherwise Python fails to print it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(text: str) -> None:
    """Prints an error; long values from data are cut, and control characters are shown as codes."""
    from ragstone.views.phrases import visible

    text = re.sub(r"\S{500,}", lambda word: f"{word[0][:100]}…", text)
    sys.stderr.write(visible(re.sub(r"(.{4000}).+", r"\1…", text)) + "\n")
