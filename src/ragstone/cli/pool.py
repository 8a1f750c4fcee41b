"""ragstone pool: relevance labels by a judge for the first chunks of several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.fuse import read_rankings
from ragstone.cli.options import DATA, argument, model_options, option, shared
from ragstone.cli.output import command_line, next_steps, print_json, print_table, remark
from ragstone.errors import UsageError
from ragstone.number_format import number, with_interval
from ragstone.tools.model_options import ModelOptions

if TYPE_CHECKING:
    from ragstone.agreement.estimates import Judgements, PooledScore


def pool(
    runs: list[str] = argument("RUN...", "Stored runs (id, name or folder) or files of samples, with texts and ids."),
    to: str = option(..., "-o --output", "Qrels file to write.", metavar="FILE"),
    depth: int = option(10, "--depth", "Chunks per question and run.", DATA, metavar="N", min=1),
    grades: bool = option(False, "--grades", "Grade chunks from 0 to 3 (UMBRELA); needs a language model.", DATA),
    people_qrels: str | None = option(None, "--people", "Qrels by people, for a random part.", DATA, metavar="QRELS"),
    metrics: list[str] = shared("metrics"),
    models: ModelOptions = model_options("judge", "repeats", "verdicts", "no_exam", "prompts"),
    quote: bool = shared("quote"),
    root: str = shared("root"),
    concurrency: int = shared("concurrency"),
    resume: bool = shared("resume"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Let a judge label the pooled chunks of several runs as relevant or not, or grade them from 0 to 3."""
    from ragstone.agreement.estimates import GRADED, USEFUL, make_pool, read_pool_labels, score_systems
    from ragstone.cli.evaluation import evaluate_data, show_quotes
    from ragstone.formats.trec import write_qrels
    from ragstone.storage.places import open_place

    systems = [read_rankings(name, root) for name in runs]
    if bare := next((system.name for system in systems if not system.samples), None):
        raise UsageError(f"{bare} is a TREC run without texts; pass samples or a stored run with texts")
    if grades and models.judge in (None, "local"):
        raise UsageError("--grades needs a language model as --judge: the local judge is not calibrated for grades")
    metric = GRADED if grades else USEFUL
    pooled = make_pool([system.samples for system in systems], depth, metric)
    people = _read_people(people_qrels)
    options: dict[str, Any] = {**models.keywords(), "concurrency": concurrency}
    if quote:
        show_quotes([(models.judge or "local", pooled, options)], [metric], json)
        return
    store = f"{root.rstrip('/')}/pools"
    judged = evaluate_data(pooled, [metric], store, {**options, "resume": resume}, quiet, json)
    labelled = read_pool_labels(judged, metric)
    if not labelled:
        raise UsageError(f"the judge labelled no question; `ragstone run -m {metric}` shows why")
    queries = dict.fromkeys([*labelled, *people])
    # People's labels replace the judge's.
    merged = {query: {**labelled.get(query, {}), **people.get(query, {})} for query in queries}
    lines = write_qrels(merged, open_place(to))
    ranked = {one.name: {query: [name for name, _ in found] for query, found in one.lists.items()} for one in systems}
    scores = score_systems(ranked, labelled, people, _metrics(metrics, depth, grades))
    if json:
        print_json({"qrels": to, "labels": lines, "pool": judged.path, "scores": [one.as_dict() for one in scores]})
        return
    click.echo(f"{lines:,} labels of {len(labelled):,} questions, written to {to}")
    _show(scores, labelled, people)
    if not quiet:
        next_steps((command_line("trec", to, "RUN"), "evaluate any TREC run with them"))


def _metrics(wanted: list[str], depth: int, grades: bool) -> list[str]:
    import ragstone.metrics  # noqa: F401  (fills the catalogue)
    from ragstone.registry.expression import split_metrics

    # As in TREC's tracks, 2 is the least grade that counts as relevant.
    rel = "(rel=2)" if grades else ""
    return split_metrics(wanted) or [f"{name}@{depth}" for name in (f"precision{rel}", f"recall{rel}", "ndcg")]


def _read_people(path: str | None) -> Judgements:
    from ragstone.formats.reports import Report
    from ragstone.formats.sources import Source
    from ragstone.formats.trec import detect_part, read_parts

    if path is None:
        return {}
    source, report = Source(path), Report()
    if detect_part(source) != "qrels":
        raise UsageError(f"--people {path}: it must be qrels, with lines such as `query 0 chunk-id 1`")
    people, _ = read_parts([source], report)
    report.raise_problems(path)
    return people


def _show(scores: list[PooledScore], judge: Judgements, people: Judgements) -> None:
    from ragstone.stats.ppi import LEAST_LABELS

    full = scores[0].labelled if scores else 0
    partial = sum(query in judge for query in people) - full
    if partial:
        remark(f"{partial:,} questions are labelled by people in part; they do not correct the estimates")
    if people and full < LEAST_LABELS:
        remark(f"people labelled {full} questions in full; with fewer than {LEAST_LABELS}, intervals are too narrow")
    titles = ["run", "metric", "by the judge"]
    if full:
        titles += ["corrected", "95 % interval", "by people"]
    rows = []
    for score in scores:
        row = [score.system, score.metric, number(score.judge)]
        if full:
            row += [*with_interval(score.corrected, *(score.interval or (None, None))), number(score.people)]
        rows.append(row)
    click.echo("")
    print_table(titles, rows, right=titles[2:])
