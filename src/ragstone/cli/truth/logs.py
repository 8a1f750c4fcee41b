"""Shared options and steps of the commands that read logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragstone.cli.options import DATA, METRICS, argument, option, parse_map
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from datetime import date

    from ragstone.truth.harvest.log_index import Log
    from ragstone.truth.harvest.signal_weights import Weights

_LOG_OPTIONS: dict[str, tuple[Any, str, str, str, str]] = {
    "signals": ([], "--signals", "Table of user signals, or DIAL's ratings. Repeatable.", DATA, "FILE"),
    "deployment": ([], "--deployment", "Only this deployment. Repeatable.", DATA, "NAME"),
    "since": (None, "--since", "First day, for example 2024-05-01.", DATA, "DAY"),
    "until": (None, "--until", "Last day.", DATA, "DAY"),
    "weights": (None, "--weights", "Weights of the signals; the default ones otherwise.", METRICS, "FILE.toml"),
}


def logs_argument() -> Any:
    """The logs of a command."""
    return argument("LOGS...", "Folder of DIAL's parsed logs, JSON lines with questions and answers, or spans.")


def log_option(name: str) -> Any:
    """An option of the commands that read logs."""
    default, flag, text, panel, metavar = _LOG_OPTIONS[name]
    return option(default, flag, text, panel, metavar=metavar)


def open_log(
    logs: list[str], deployments: list[str], first: str | None, last: str | None, format: str | None, map: list[str]
) -> Log:
    """The log of the options."""
    from ragstone.formats.log_parts import Selection
    from ragstone.truth.harvest.log_index import Log

    selection = Selection(tuple(deployments), _day("--since", first), _day("--until", last))
    return Log(tuple(logs), selection, format, parse_map(map))


def read_weights(path: str | None) -> Weights:
    """The weights of a file, or the default weights."""
    from ragstone.truth.harvest.signal_weights import Weights, load_weights

    return load_weights(path) if path else Weights()


def _day(option: str, text: str | None) -> date | None:
    from datetime import date

    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text}: write the day as 2024-05-01") from None
