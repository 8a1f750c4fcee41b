"""The command line: one file per command; what is heavy is imported when a command runs."""

from __future__ import annotations

import errno
import io
import os
import sys

from ragstone.errors import RagstoneError


def main() -> None:
    """Run the command line; our own errors are a line of text, not a traceback."""
    from ragstone.cli.app import app

    _replace_unprintable_letters()
    try:
        app()
    except RagstoneError as error:
        _complain(f"error: {error}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _complain("stopped")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is no error.
        _drop_output()
        sys.exit(0)
    except Exception as error:
        if os.environ.get("RAGSTONE_DEBUG"):
            raise
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _drop_output()
            _complain(f"error: cannot print the result: {error.strerror}")
            sys.exit(1)
        _complain(
            f"internal error: {type(error).__name__}: {error}\nThis is a bug in Ragstone. RAGSTONE_DEBUG=1 shows where."
        )
        sys.exit(1)


def _replace_unprintable_letters() -> None:
    """A terminal or file of an old encoding shows a question mark for what it lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """Python would try to print the rest at exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    sys.stderr.write(f"{text}\n")
