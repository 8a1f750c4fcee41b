"""ragstone run: evaluate a file of answers."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.config import find_config, find_criteria
from ragstone.cli.evaluation import evaluate_data, fail_if_too_few_scored, show_next, show_run, write_ragchecker_results
from ragstone.cli.options import (
    DATA,
    EVERY_MODEL_OPTION,
    METRICS,
    OUTPUT,
    Reading,
    data_argument,
    load_aspects,
    load_metrics_files,
    model_options,
    option,
    parse_pairs,
    reading_options,
    shared,
    sources,
)
from ragstone.cli.output import (
    command_line,
    console,
    next_steps,
    noting,
    print_json,
    remark,
    run_word,
    showing_progress,
)
from ragstone.errors import UnknownNameError, UsageError
from ragstone.tools.model_options import ModelOptions

if TYPE_CHECKING:
    from ragstone.analysis.acceptance import Criterion
    from ragstone.notify.notify import Listeners
    from ragstone.storage.runs import Run

_MAIN_FIELDS = ("answer", "contexts", "references")
_RUNS_LOOKED_AT = 5
_MOST_ALIGNED = 20_000
_RESULT_FORMATS = ("dial", "ragchecker")


def run(
    data: list[str] = data_argument(help="File, folder or URL; - is standard input. DIAL tables and TREC: two files."),
    metrics: list[str] = shared("metrics"),
    out: str = shared("out"),
    truth: str | None = shared("truth"),
    facts: bool = option(
        False, "--facts", "Find the facts that references need, accept the sure ones, and score against them.", DATA
    ),
    reading: Reading = reading_options("split_contexts", "encoding"),
    name: str = shared("name"),
    branch: str = option("", "--branch", "Git branch to store; detected by default.", OUTPUT, metavar="NAME"),
    param: list[str] = option(
        [], "--param", "Setting of the system: --param chunk_size=256. Repeatable.", DATA, metavar="NAME=VALUE"
    ),
    matcher: str = option(
        "citation", "--matcher", "How facts are found in chunks: citation, fuzzy, exact, semantic or judge.", METRICS
    ),
    metrics_file: list[str] = shared("metrics_file"),
    concurrency: int = shared("concurrency"),
    resume: bool = shared("resume"),
    backend: str = shared("backend"),
    workers: int | None = shared("workers"),
    write_as: str | None = option(None, "--as", "Also write results as dial or ragchecker.", OUTPUT, metavar="FORMAT"),
    models: ModelOptions = model_options(*EVERY_MODEL_OPTION, "batch_folder"),
    quote: bool = shared("quote"),
    aspects: list[str] = shared("aspects"),
    max_failed: float = shared("max_failed"),
    webhook: str | None = shared("webhook"),
    webhook_format: str = shared("webhook_format"),
    otel: bool = option(False, "--otel", "Send scores as OpenTelemetry events (extra: otel).", OUTPUT),
    mlflow: bool = option(False, "--mlflow", "Log means and files to MLflow (extra: mlflow).", OUTPUT),
    full: bool = shared("full"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Evaluate retrieved chunks and answers, and store the run.

    By default all fast metrics that the data allows. `-m all` adds the slow ones.
    """
    load_metrics_files(metrics_file)
    load_aspects(aspects)
    options: dict[str, Any] = {**reading._asdict(), "matcher": matcher, "concurrency": concurrency, **models.keywords()}
    source: Any = sources(data)
    if facts and quote:
        remark("not counted: with --judge, --facts makes one call per row with a reference")
    if facts and not quote:
        source = _read_with_facts(source, truth, out, reading, models, concurrency, quiet, json)
    elif truth is not None:
        from ragstone.truth.join import read_with_truth

        source = read_with_truth(source, truth, out, *reading)
    if quote:
        _show_quote(source, metrics, options, json, full)
        return
    options |= {"name": name, "resume": resume, "params": _read_params(param), "backend": backend, "workers": workers}
    options |= {"command": resume_command(sys.argv), "branch": branch}
    if write_as not in (None, *_RESULT_FORMATS):
        raise UnknownNameError("format of results", write_as, _RESULT_FORMATS, "Choose from: dial, ragchecker.")
    listeners = _read_listeners(webhook, webhook_format, otel, mlflow)
    criteria = find_criteria(find_config(click.get_current_context().params.get("config")))
    if write_as == "ragchecker":
        metrics = metrics or ["ragchecker"]
    finished = evaluate_data(source, metrics, out, options, quiet, json)
    scored = any(row.n_ok for row in finished.summary())
    is_shown = json or (write_as != "ragchecker" and (scored or full or finished.failed_share > 0))
    diagnosis = show_run(finished, out, json, full, quiet, bool(metrics), max_failed) if is_shown else None
    if is_shown and not json:
        _show_acceptance(finished, criteria)
    _export(finished, write_as, json, quiet)
    if listeners is not None:
        from ragstone.notify.notify import send_notifications

        send_notifications(finished, listeners, noting(quiet))
    if is_shown and not json:
        steps = [] if quiet or not scored else [*_compare_step(finished, out, metrics_file)]
        show_next(finished, diagnosis, out, *steps, quiet=quiet or not scored)
    fail_if_too_few_scored(finished, max_failed)


def _read_with_facts(
    data: Any,
    truth: str | None,
    out: str,
    reading: Reading,
    models: ModelOptions,
    concurrency: int,
    quiet: bool,
    json: bool,
) -> Any:
    """The data with facts that are found now, and accepted if they are sure."""
    from ragstone.formats import open_reader
    from ragstone.truth.llm_tasks import Work
    from ragstone.truth.needed_facts import FactsRequest, read_with_facts
    from ragstone.truth.store import TruthStore

    if "-" in ([data] if isinstance(data, str) else data):
        raise UsageError("--facts reads the data twice: pass a file, not standard input")
    work = Work(models.judge, models, concurrency)
    with showing_progress(quiet or json) as progress:
        request = FactsRequest(work, TruthStore(out), truth, report=progress)
        source, found = read_with_facts(lambda: open_reader(data, *reading), request)
    if not json:
        click.echo(found.sentence)
    return source


def _show_acceptance(finished: Run, criteria: list[Criterion]) -> None:
    """Prints the outcomes of [accept] in ragstone.toml; `ragstone gate` makes them an exit code."""
    if not criteria:
        return
    from ragstone.analysis.acceptance import with_acceptance
    from ragstone.analysis.gates import Gate
    from ragstone.report.gates import acceptance_report

    try:
        gate = with_acceptance(Gate(finished.name, finished.path, None, ()), finished, criteria)
    except UsageError as error:
        remark(str(error))  # the run is stored; `ragstone gate` refuses it
        return
    console().print("", acceptance_report(gate), sep="\n")


def resume_command(arguments: Sequence[str]) -> str:
    """The command line that resumes this run, without secrets; empty if another program called us."""
    program, *rest = arguments
    if not re.fullmatch(r"ragstone(\.exe)?|__main__\.py", os.path.basename(program)):
        return ""
    # The address of a webhook is a secret, and so is the user in a URL.
    text = re.sub(r"--webhook[\0=][^\0]*(\0|$)|--resume(\0|$)|(?<=://)[^/@\s\0]+@", "", "\0".join(rest))
    return shlex.join(["ragstone", *filter(None, text.split("\0")), "--resume"])


def _read_params(pairs: list[str]) -> dict[str, str | int | float]:
    """`chunk_size=256` texts as a dict; texts that are numbers become numbers."""
    params = parse_pairs("--param", "NAME=VALUE", "chunk_size=256", pairs)
    return {name.strip(): _number_or_text(text.strip()) for name, text in params.items()}


def _number_or_text(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # JSON has neither nan nor infinity.
        return value if abs(value) < float("inf") else text
    return text


def _read_listeners(webhook: str | None, format: str, otel: bool, mlflow: bool) -> Listeners | None:
    """The receivers of notifications, checked before the run begins; None if there are none."""
    if webhook is None and not otel and not mlflow:
        return None
    from ragstone.notify.notify import Listeners, check_listeners
    from ragstone.notify.webhook import read_webhook

    listeners = Listeners(None if webhook is None else read_webhook(webhook, format), otel, mlflow)
    check_listeners(listeners)
    return listeners


def _export(finished: Run, write_as: str | None, json: bool, quiet: bool) -> None:
    if write_as == "ragchecker":
        write_ragchecker_results(finished, f"{finished.path}/ragchecker/checking_outputs.json", not json, quiet)
    if write_as == "dial":
        from ragstone.report.exports import write_dial_table

        table = write_dial_table(finished, finished.folder.place.as_shared() / "dial")
        if not json and not quiet:
            click.echo(f"DIAL's table in {table}")


def _show_quote(data: Any, metrics: list[str], options: dict[str, Any], json: bool, full: bool) -> None:
    from dataclasses import asdict

    from ragstone.engine.quote import quote
    from ragstone.report.quote import quote_report

    estimate = quote(data, metrics or None, **options)
    if json:
        print_json(asdict(estimate))
    else:
        console().print(quote_report(estimate, full))
        again = shlex.split(resume_command([word for word in sys.argv if word != "--quote"]))[1:-1] or ["run", "DATA"]
        limit = "" if any(word.startswith("--budget") for word in again) else "AMOUNT"
        next_steps((command_line(*again, budget=limit), "the same command without --quote, with a limit"))


def _compare_step(finished: Run, out: str, metrics_file: list[str]) -> Iterator[tuple[str, str]]:
    """Prints what one more column would add; the command that compares with an earlier run, if there is one."""
    if column := _missing_column(finished):
        click.echo(f"\nmore: {column}")
    if (before := _run_of_same_questions(finished, out)) is not None:
        runs = (run_word(before, out), run_word(finished, out))
        yield command_line("compare", *runs, out=out, metrics_file=metrics_file), "compare with the run before"


def _missing_column(finished: Run) -> str:
    """The gain of one more column, if the data lacks one of the fields that most metrics need."""
    from ragstone.engine.catalogue import more_columns
    from ragstone.engine.ingest import Profile

    profile = Profile(**finished.info["dataset"])
    wanted = [name for name in _MAIN_FIELDS if name not in profile.present]
    found = more_columns(profile, wanted) if wanted else []
    return found[0].text if found else ""


def _has_facts(run: Run) -> bool:
    return "facts" in (run.info["dataset"].get("present") or {})


def _run_of_same_questions(finished: Run, out: str) -> Run | None:
    """The newest other run with most of the questions of this run and judged alike, among the newest ones."""
    from itertools import islice

    from ragstone.analysis.alignment import align
    from ragstone.analysis.row_moves import unlike_judgements
    from ragstone.errors import RagstoneError
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import finished_runs

    runs = finished_runs(open_place(out))
    others = (run for run in runs if run.id != finished.id and not unlike_judgements(run, finished))
    # Facts of one side only would be compared with claims.
    others = (run for run in others if _has_facts(run) == _has_facts(finished))
    for other in islice(others, _RUNS_LOOKED_AT):
        sizes = other.info.rows, finished.info.rows
        try:
            # Reading many questions would take too long.
            same = len(align(other, finished)) if max(sizes) <= _MOST_ALIGNED else sizes[0] * (sizes[0] == sizes[1])
        except RagstoneError:
            continue
        if 2 * same >= min(sizes):
            return other
    return None
