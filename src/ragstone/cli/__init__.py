"""The command line: one file per command; what is heavy is imported when a command runs."""

from __future__ import annotations

import os
import sys

from ragstone.errors import RagstoneError


def main() -> None:
    """Run the command line; our own errors are a line of text, not a traceback."""
    from ragstone.cli.app import app

    try:
        app()
    except RagstoneError as error:
        _complain(f"error: {error}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _complain("stopped")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is no error. Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("RAGSTONE_DEBUG"):
            raise
        _complain(
            f"internal error: {type(error).__name__}: {error}\nThis is a bug in Ragstone. RAGSTONE_DEBUG=1 shows where."
        )
        sys.exit(1)


def _complain(text: str) -> None:
    sys.stderr.write(f"{text}\n")
