"""ragstone runs, show, diagnose and explain: the stored runs, one of them, what limits it, and one sample in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.evaluation import show_next, show_run
from ragstone.cli.options import DATA, RUN, argument, load_metrics_files, option, shared
from ragstone.cli.output import command_line, console, find_run, next_steps, print_json, print_table, run_word
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.analysis.sample_evidence import Case
    from ragstone.storage.runs import Run

_MOST_RUNS = 20
_MOST_COUNTED = 500  # Rows, of the newest runs: a second.


def explain(
    run: str = argument("RUN", RUN),
    sample: str = argument("SAMPLE", "Id of a sample, or its row number."),
    metric: str | None = argument("[METRIC]", "Metric of the run to explain.", None),
    full: bool = shared("full"),
    reasons: bool = option(
        False, "--reasons", "Ask the large judge's base model why claims of the answer are not supported by the chunks."
    ),
    metrics_file: list[str] = shared("metrics_file"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Show one sample with the evidence behind its scores."""
    from ragstone.analysis.explain import explain_sample
    from ragstone.report.explain import explanation_dict, explanation_report
    from ragstone.text.questions import MADE_ID
    from ragstone.views.phrases import visible

    load_metrics_files(metrics_file)
    explanation = explain_sample(find_run(run, out), sample, metric)
    written = _write_reasons(explanation.case) if reasons else {}
    if json:
        print_json({**explanation_dict(explanation), **({"written_reasons": written} if reasons else {})})
        return
    console().print(explanation_report(explanation, full))
    for claim, reason in written.items():
        click.echo(f"\n{visible(claim)}\n  {visible(reason)}")
    if reasons:
        by_model = "(reasons written by the base model of judge-1.5b: not checked)"
        click.echo(f"\n{by_model if written else 'no claim to explain'}")
    if metric is None:
        name = explanation.case.sample.id
        word = str(explanation.row + 1) if MADE_ID.fullmatch(name) else name
        step = command_line("explain", run, word, "METRIC" if full else "--full", out=out, metrics_file=metrics_file)
        other = "everything; with a METRIC instead: how that score was computed"
        next_steps((step, "how one score was computed" if full else other))
    else:
        next_steps(_next_of_metric(run, explanation.case.sample.id, metric, out, metrics_file))


def _write_reasons(case: Case) -> dict[str, str]:
    """By claim of the answer that the chunks do not support, as it is shown: why."""
    from ragstone.data.verdict import ENTAILMENT, strongest
    from ragstone.engine.execute import run_to_end
    from ragstone.tools.large_judges import Doubt, write_reasons
    from ragstone.views.judged_items import shown_claims

    texts = [chunk.text for chunk in case.sample.contexts or ()]
    by_chunk = map(strongest, case.matrix("answer_claims_in_contexts"))
    verdicts = case.verdicts("answer_claims_in_all_contexts") or by_chunk
    pairs = zip(case.claims("answer"), shown_claims(case, "answer"), verdicts, strict=False)
    doubts = {shown: Doubt(claim.text, texts) for claim, shown, verdict in pairs if verdict != ENTAILMENT}
    found = run_to_end(write_reasons([*doubts.values()])) if doubts else []
    return dict(zip(doubts, found, strict=True))


def _next_of_metric(run: str, sample: str, metric: str, out: str, metrics_file: list[str]) -> tuple[str, str]:
    """The command for the meaning of a metric. A metric of a file that was not named here has no entry; its family may."""
    from ragstone.engine.metric_choice import find_metric

    for name in (metric.split("@", maxsplit=1)[0], metric.partition(".")[0]):
        if find_metric(name):
            return command_line("metrics", name, metrics_file=metrics_file), "what the metric means"
    return command_line("explain", run, sample, out=out, metrics_file=metrics_file), "the whole sample"


def show(
    run: str = argument("RUN", RUN),
    rows: str | None = option(
        None,
        "--rows",
        "List rows instead: statuses or causes, as in wrong,look; all; or a filter of docs/filter.md.",
        metavar="FILTER",
    ),
    full: bool = shared("full"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Print the scores of a stored run, or some of its rows."""
    stored = find_run(run, out)
    if rows is not None:
        _show_rows(stored, rows, full, out, json)
        return
    diagnosis = show_run(stored, out, json, full)
    if not json:
        show_next(stored, diagnosis, out)


def _show_rows(run: Run, wanted: str, full: bool, out: str, json: bool) -> None:
    """Prints the rows that the statuses or the filter select, the most probably wrong first; in full, a line of each."""
    from dataclasses import asdict

    from rich.console import Group

    from ragstone.analysis.acceptance import FilterColumns, statuses_filter
    from ragstone.analysis.diagnosis import diagnose as diagnose_run
    from ragstone.analysis.row_status import limits
    from ragstone.report.run import rows_part, worst_part
    from ragstone.views.phrases import counted
    from ragstone.views.worst import row_views

    found = diagnose_run(run)
    chosen = FilterColumns(run, found.outcomes).select(statuses_filter(wanted)).nonzero()[0].tolist()
    views = row_views(run, found, sorted(chosen, key=lambda row: -(found.outcomes[row].wrong or 0.0)))
    if json:
        print_json({"run": run.path, "id": run.id, "name": run.name, "rows": [asdict(view) for view in views]})
        return
    console().print(Group(*(rows_part if full else worst_part)(views)), crop=False)
    fine, wrong = (f"{100 * limit:.0f} %" for limit in limits())
    click.echo(f"{len(views):,} of {counted(len(found.outcomes), 'row')} (wrong: from {wrong}; look: from {fine})")
    for view in views[:1]:
        next_steps((command_line("explain", run_word(run, out), view.word, out=out), "one row in full"))


def runs(
    delete: str | None = option(None, "--delete", "Delete this run with all its files.", metavar="RUN"),
    full: bool = shared("full"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """List the stored runs.

    The newest come first; without `--full`, twenty of them. Names work wherever a command asks for a run.
    """
    from itertools import accumulate, islice

    from ragstone.analysis.diagnosis import count_statuses
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import find_folder, finished_runs
    from ragstone.views.phrases import visible
    from ragstone.views.run import listed_run

    if delete:
        with (folder := find_folder(delete, out)).owned():
            folder.discard()
        click.echo(f"deleted {folder.place}")
        return

    found = list(islice(finished_runs(open_place(out)), None if full or json else _MOST_RUNS))
    totals = accumulate(run.info.rows for run in found)
    counts = [count_statuses(run) if total <= _MOST_COUNTED else {} for run, total in zip(found, totals, strict=True)]
    rows: list[dict[str, Any]] = [listed_run(run) | {"statuses": one} for run, one in zip(found, counts, strict=True)]
    if json:
        print_json(rows)
    elif rows:
        judged, shown = ("wrong", "look", "fine"), ("name", "rows", "wrong", "look", "fine", "data", "finished", "id")
        for row in rows:
            row |= {name: row["statuses"].get(name, 0 if row["statuses"].keys() & judged else "–") for name in judged}
        print_table(shown, [[visible(str(row[name])) for name in shown] for row in rows], ("rows", *judged))
        next_steps((command_line("show", run_word(found[0], out), out=out), "the scores of a run"))
    else:
        click.echo(f"no finished run in {out}")
        next_steps((command_line("run", "DATA", out=out), "evaluate a file of answers"))


def diagnose(
    run: str = argument("RUN", RUN),
    chunks: str | None = option(
        None,
        "--chunks",
        "All chunks in the splitter's order, with text, id and source: separates split facts from missed chunks.",
        DATA,
        metavar="FILE.jsonl",
    ),
    documents: list[str] = shared("documents"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Find what limits quality and why samples fail."""
    from ragstone.analysis.diagnosis import diagnose as diagnose_run
    from ragstone.analysis.indexed_corpus import open_store
    from ragstone.report.diagnosis import diagnosis_dict, full_report, sample_labels

    stored = find_run(run, out)
    if chunks is None and documents:
        raise UsageError("--documents needs --chunks: a fact of a document is lost only if no chunk contains it")
    diagnosis = diagnose_run(stored, store=None if chunks is None else open_store(chunks, documents))
    if json:
        print_json({"run": stored.path, "id": stored.id, **diagnosis_dict(diagnosis)})
        return
    console().print(full_report(diagnosis, stored.name, sample_labels(stored)))
    show_next(stored, diagnosis, out)
