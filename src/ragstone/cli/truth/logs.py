"""What the commands that read logs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.errors import UsageError

if TYPE_CHECKING:
    from datetime import date

    from ragstone.truth.harvest.logs import Log
    from ragstone.truth.harvest.weighing import Weights

Logs = Annotated[
    list[str],
    typer.Argument(
        metavar="LOGS...",
        help="Folder of DIAL's parsed logs, or files: DIAL's parts, JSON lines with questions and answers, spans. Local, s3:// or other URL.",
        show_default=False,
    ),
]
SignalFiles = Annotated[
    list[str],
    typer.Option(
        "--signals",
        metavar="FILE",
        help="A table of what users did: response_id, kind, value, time, user; or DIAL's ratings. Repeatable.",
        show_default=False,
    ),
]
Deployments = Annotated[
    list[str],
    typer.Option(
        "--deployment",
        metavar="NAME",
        help="Only this deployment; no other is looked at. Repeatable.",
        show_default=False,
    ),
]
First = Annotated[
    str | None, typer.Option("--since", metavar="DAY", help="The first day, as in 2024-05-01.", show_default=False)
]
Last = Annotated[str | None, typer.Option("--until", metavar="DAY", help="The last day.", show_default=False)]
WeightsFile = Annotated[
    str | None,
    typer.Option(
        "--weights", metavar="FILE.toml", help="What each signal is worth, if not the usual.", show_default=False
    ),
]


def open_log(
    logs: list[str], deployments: list[str], first: str | None, last: str | None, format: str | None, map: list[str]
) -> Log:
    """The log that the options describe."""
    from ragstone.cli.options import parse_map
    from ragstone.formats.log_parts import Selection
    from ragstone.truth.harvest.logs import Log

    selection = Selection(tuple(deployments), _day("--since", first), _day("--until", last))
    return Log(tuple(logs), selection, format, parse_map(map))


def weights_or_usual(path: str | None) -> Weights:
    """The weights of a file, or the usual ones."""
    from ragstone.truth.harvest.weighing import Weights, load_weights

    return load_weights(path) if path else Weights()


def _day(option: str, text: str | None) -> date | None:
    from datetime import date

    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text}: write a day as in 2024-05-01") from None
