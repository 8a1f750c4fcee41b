"""Notes about the data, as log messages with the names of Python's arguments."""

from __future__ import annotations

import logging
import re

_LOGGER = logging.getLogger("ragstone")
_ARGUMENTS = {
    "--map": "columns",
    "--format": "format",
    "--split-contexts": "split_contexts",
    "--encoding": "encoding",
    "-m": "metrics",
}
_OPTION = re.compile(r"(?<![\w-])(?:--[a-z-]+|-m)(?![\w-])")


def log_note(remark: str) -> None:
    """Log a remark as a warning; without any set-up of logging, Python prints it on standard error."""
    named = dict.fromkeys(one for one in _OPTION.findall(remark) if one in _ARGUMENTS)
    translated = ", ".join(f"{option} is {_ARGUMENTS[option]}=" for option in named)
    _LOGGER.warning("note: %s%s", remark, f" (in Python, {translated})" if named else "")
