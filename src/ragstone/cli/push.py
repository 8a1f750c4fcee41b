"""ragstone push: scores of a run onto the traces of Langfuse, Phoenix or LangSmith."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragstone.cli.options import RUN, argument, option, shared

if TYPE_CHECKING:
    from ragstone.notify.push import Pushed


def push(
    run: str = argument("RUN", RUN),
    to: str = option(..., "--platform --to", "langfuse, phoenix or langsmith.", metavar="PLATFORM"),
    metrics: list[str] = shared("metrics"),
    root: str = shared("out"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write scores onto traces of Langfuse, Phoenix or LangSmith.

    The samples must come from `ragstone pull` or an export of the platform. A second push replaces the scores of the
    first. Skipped and failed cells are not written.
    """
    from ragstone.cli.find_run import find_run
    from ragstone.cli.screen import every_few_seconds, noting, remark
    from ragstone.engine.execute import run_to_end
    from ragstone.errors import ServiceError
    from ragstone.notify.push import push as write_scores
    from ragstone.notify.push import push_metrics

    stored = find_run(run, root)
    chosen = push_metrics(stored, metrics)

    report = every_few_seconds(noting(quiet))

    def note(state: Pushed) -> None:
        report(f"{state.written:,} scores")

    done = run_to_end(write_scores(stored, to, chosen, note, noting(quiet)))
    if not quiet:
        names = ", ".join(metric.metric for metric in chosen)
        typer.echo(f"{done.written:,} scores of run {stored.name} written to {to}: {names}")
        if done.without_value:
            remark(f"{done.without_value:,} skipped or failed cells were not written")
        if done.foreign:
            remark(f"{len(done.foreign):,} samples are not traces of {to}, for example {done.foreign[0]!r}")
    if done.refused:
        listed = "; ".join(f"{count:,} × {error}" for error, count in done.refused.most_common(3))
        raise ServiceError(f"{sum(done.refused.values()):,} scores were not taken by {to}: {listed}")
