"""ragstone trec: evaluate with the arguments and the output of trec_eval."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from ragstone.cli.options import argument, option
from ragstone.cli.output import command_line, next_steps, remark
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.registry import Metric

_CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# The cut-offs of a name without one, as in trec_eval.
_EXPANDED = {**dict.fromkeys(("P", "recall", "ndcg_cut", "map_cut"), _CUTS), "success": (1, 5, 10)}
_NUM_Q = "num_q"
_OFFICIAL = (_NUM_Q, "map", "Rprec", "bpref", "recip_rank", "P")
# trec_eval's sets of measures, as far as Ragstone has them; the empty name is the default.
_SETS = {
    "official": _OFFICIAL,
    "all_trec": (*_OFFICIAL, "recall", "ndcg", "ndcg_cut", "map_cut", "success", "set_P", "set_recall", "set_F"),
    "": (*_OFFICIAL, "ndcg", "ndcg_cut_10"),
}
_CUT = re.compile(r"([A-Za-z_]*[A-Za-z])[._](\d+(?:,\d+)*)")


class Measure(NamedTuple):
    """A metric and the name to print; the number of queries has no metric."""

    label: str
    metric: Metric | None


def trec(
    qrels: str = argument("QRELS", "Judgements: qid iter docid grade."),
    run: str = argument("RUN", "Results: qid Q0 docid rank score tag."),
    measures: list[str] = argument(
        "[MEASURE]...", "nDCG@10 P@5 MAP, ndcg_cut.10 P_5 map; trec_eval's main ones by default.", []
    ),
    per_query: bool = option(False, "-q", "Also print the values of each query."),
    complete: bool = option(False, "-c", "Average over all judged queries; missing ones count as 0."),
    level: float | None = option(None, "-l", "Minimum grade that counts as relevant.", metavar="GRADE"),
    judged_only: bool = option(False, "-J", "Remove documents without a judgement first (condensed lists)."),
    more: list[str] = option([], "-m", "Measure, as in trec_eval.", metavar="MEASURE"),
) -> None:
    """Evaluate a TREC run as trec_eval does; nothing is stored."""
    from ragstone.engine.in_memory import score_rankings
    from ragstone.formats.reports import Report
    from ragstone.formats.sources import Source
    from ragstone.formats.trec import read_parts

    wanted = [measure for name in [*more, *measures] or [""] for measure in _parse(name, level, judged_only)]
    report = Report()
    judged, found = read_parts([Source(qrels), Source(run)], report)
    report.raise_problems(f"{qrels} and {run}")
    queries = sorted(judged if complete else judged.keys() & found.keys())
    if not queries:
        raise UsageError(f"{qrels} and {run} have no query in common")
    not_found = judged.keys() - set(queries)
    not_judged = found.keys() - judged.keys()
    report.note_all("judged queries that the run does not have", sorted(not_found), "left out; -c counts them as 0")
    report.note_all("queries of the run without judgements", sorted(not_judged), "left out")
    for text in report.notes:
        remark(text)
    scores = score_rankings(
        [[name for name, _ in found[query].ordered()] if query in found else [] for query in queries],
        [judged[query] for query in queries],
        [str(measure.metric) for measure in wanted if measure.metric],
    )
    click.echo("\n".join(_lines(wanted, queries, scores, per_query)))
    # Standard output has trec_eval's form.
    next_steps((command_line("run", qrels, run), "store it as a run, to compare and diagnose"), err=True)


def _parse(name: str, level: float | None, judged_only: bool = False) -> Iterator[Measure]:
    """The measures of a name, also in trec_eval's spelling of cut-offs."""
    from ragstone.registry import parse_metric
    from ragstone.registry.expression import make_metric

    if name in _SETS:
        for part in _SETS[name]:
            yield from _parse(part, level, judged_only)
    elif name in _EXPANDED:
        yield from _parse(f"{name}.{','.join(map(str, _EXPANDED[name]))}", level, judged_only)
    elif cuts := _CUT.fullmatch(name):
        for cut in cuts[2].split(","):
            (measure,) = _parse(f"{cuts[1]}@{cut}", level, judged_only)
            yield measure._replace(label=f"{cuts[1]}_{cut}")
    elif name == _NUM_Q:
        yield Measure(name, None)
    else:
        import ragstone.metrics  # noqa: F401  (fills the catalogue)

        metric = parse_metric(name)
        if metric.spec.family != "retrieval":
            raise UsageError(f"'{name}' is not a measure of ranked lists; `ragstone metrics retrieval` lists them")
        if level is not None and metric.spec.parameter("rel"):
            metric = make_metric(metric.spec, **{"rel": level, **dict(metric.settings)})
        if judged_only and metric.spec.parameter("condensed"):
            metric = make_metric(metric.spec, **{**dict(metric.settings), "condensed": True})
        yield Measure(name, metric)


def _lines(
    measures: Sequence[Measure], queries: Sequence[str], scores: dict[str, list[float | None]], per_query: bool
) -> Iterator[str]:
    """One line per measure: per query if asked for, then over all. As in trec_eval, 0 if nothing is relevant."""
    values = {name: [value or 0.0 for value in column] for name, column in scores.items()}
    for number, query in enumerate(queries if per_query else ()):
        for label, metric in measures:
            if metric:
                yield _line(label, query, values[str(metric)][number])
    for label, metric in measures:
        yield _line(label, "all", sum(values[str(metric)]) / len(queries) if metric else len(queries))


def _line(label: str, query: str, value: float) -> str:
    return f"{label:<22}\t{query}\t{value if isinstance(value, int) else f'{value:6.4f}'}"
