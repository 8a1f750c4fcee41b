"""ragstone gate: may this run pass?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.compare import Cluster
from ragstone.cli.options import DEFAULT_ROOT, Json, MetricsFile, Quiet, Root
from ragstone.cli.stored import RunName, find_folder, find_run
from ragstone.errors import StorageError, UsageError

if TYPE_CHECKING:
    from ragstone.compare.conditions import Check
    from ragstone.compare.gates import Gate

SETTINGS_FILE = "ragstone.toml"
Conditions = list[str]


def _conditions(flag: str, help: str) -> Any:
    return typer.Option(flag, metavar="METRIC=VALUE", help=help, show_default=False)


def gate(
    run: RunName,
    least: Annotated[Conditions, _conditions("--min", "The mean must be at least this. Repeatable.")] = [],  # noqa: B006
    most: Annotated[Conditions, _conditions("--max", "The mean must be at most this. Repeatable.")] = [],  # noqa: B006
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="RUN", help="The baseline of --max-drop.", show_default=False),
    ] = None,
    max_drop: Annotated[
        Conditions,
        _conditions(
            "--max-drop",
            "A metric may be at most this much worse than the baseline; a bare number is for the headline metrics from 0 to 1. Repeatable.",
        ),
    ] = [],  # noqa: B006
    cluster: Cluster = None,
    max_failed: Annotated[
        float,
        typer.Option(
            "--max-failed",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="With more failed cells than this nothing can be told.",
        ),
    ] = 0.05,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Use the rows so far, of an unfinished run too; the verdict holds however often one looks.",
        ),
    ] = False,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help=f"A file with a [gate] table; {SETTINGS_FILE} of this folder by default, if no condition is given.",
            show_default=False,
        ),
    ] = None,
    metrics_file: MetricsFile = [],  # noqa: B006
    out: Root = DEFAULT_ROOT,
    markdown: Annotated[
        str | None, typer.Option("--markdown", metavar="FILE", help="Write Markdown too.", show_default=False)
    ] = None,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML too.", show_default=False)
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Pass (exit 0) or fail (exit 3) a run by its intervals; exit 4 if the rows do not tell."""
    from ragstone.cli.options import load_metrics_files
    from ragstone.compare.conditions import parse_checks

    load_metrics_files(metrics_file)
    checks = [*parse_checks("min", least), *parse_checks("max", most), *parse_checks("max-drop", max_drop)]
    if config or (not checks and Path(SETTINGS_FILE).exists()):
        more, baseline = _read_settings(config or SETTINGS_FILE)
        checks, against = [*checks, *more], against or baseline
    found = _decide(run, checks, against, cluster, max_failed, sequential, out)
    _write(found, markdown, junit)
    _show(found, json, quiet)
    raise typer.Exit(found.exit_code)


def _decide(
    run: str,
    checks: list[Check],
    against: str | None,
    cluster: str | None,
    most_failed: float,
    sequential: bool,
    out: str,
) -> Gate:
    from ragstone.compare.differences import Settings
    from ragstone.compare.early import check_so_far
    from ragstone.compare.gates import check_gate

    baseline = find_run(against, out) if against else None
    if sequential:
        if cluster:
            raise UsageError("--sequential cannot take clusters")
        return check_so_far(find_folder(run, out), checks, baseline, most_failed)
    return check_gate(find_run(run, out), checks, baseline, Settings(cluster=cluster), most_failed)


def _read_settings(path: str) -> tuple[list[Check], str | None]:
    import tomllib

    from ragstone.compare.conditions import read_checks

    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("gate")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from error
    if not isinstance(table, dict):
        raise UsageError(f"{path} has no [gate] table")
    baseline = table.get("against")
    if baseline is not None and not isinstance(baseline, str):
        raise UsageError(f"{path}: [gate] against must be the name of a run, got {baseline!r}")
    return read_checks(table, path), baseline


def _write(found: Gate, markdown: str | None, junit: str | None) -> None:
    from ragstone.report.gates import gate_junit
    from ragstone.report.markdown import gate_markdown

    for path, text in ((markdown, gate_markdown), (junit, gate_junit)):
        if path:
            try:
                Path(path).write_text(text(found), encoding="utf-8")
            except OSError as error:
                raise StorageError(f"cannot write {path}: {error.strerror}") from error


def _show(found: Gate, json: bool, quiet: bool) -> None:
    from ragstone.cli.screen import console
    from ragstone.report.gates import gate_dict, gate_report
    from ragstone.report.plain import to_json

    if json:
        typer.echo(to_json(gate_dict(found)))
    elif not quiet:
        console().print(gate_report(found))
