"""Options that say whom to tell about a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.notify.telling import Listeners
    from ragstone.storage.runs import Run

WebhookUrl = Annotated[
    str | None,
    typer.Option(
        "--webhook",
        metavar="URL",
        help="Post the numbers of the finished run there as JSON; signed if RAGSTONE_WEBHOOK_SECRET is set.",
        show_default=False,
    ),
]
WebhookFormat = Annotated[
    str, typer.Option("--webhook-format", metavar="FORM", help="json, or slack for a text that chats show.")
]
Otel = Annotated[bool, typer.Option("--otel", help="Emit each score as an OpenTelemetry event by OTLP (extra: otel).")]
Mlflow = Annotated[bool, typer.Option("--mlflow", help="Log the means and files of the run to MLflow (extra: mlflow).")]


def read_listeners(webhook: str | None, format: str, otel: bool, mlflow: bool) -> Listeners | None:
    """Whom to tell, checked before the run begins; None where nobody is."""
    if webhook is None and not otel and not mlflow:
        return None
    from ragstone.notify.telling import Listeners, check_listeners
    from ragstone.notify.webhook import read_webhook

    listeners = Listeners(None if webhook is None else read_webhook(webhook, format), otel, mlflow)
    check_listeners(listeners)
    return listeners


def tell_listeners(run: Run, listeners: Listeners | None, quiet: bool) -> None:
    """Tell them; what goes wrong is said on standard error and written down, and changes nothing else."""
    if listeners is None:
        return
    from ragstone.cli.screen import remark
    from ragstone.notify.telling import tell

    tell(run, listeners, (lambda _: None) if quiet else remark)
