"""Stress tests and eRAG in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.number_format import interval_text, number, p_value, signed
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import indented, section, title
from ragstone.stress.beds import BEDS
from ragstone.stress.erag import Erag, Label, Share, blamed_chunks, by_chunk, by_rank
from ragstone.stress.results import Contrast, Curve, Placed, StressTest
from ragstone.stress.results import Group as AttackGroup
from ragstone.views.phrases import counted, one_line, visible

MEANINGS = {
    "noise": "noise robustness: does it find the answer among passages that do not contain it",
    "rejection": "negative rejection: does it decline if no passage contains the answer",
    "integration": "information integration: does it combine information from several passages",
    "counterfactual": "counterfactual robustness: does it notice that the passages are wrong",
    "injection": "prompt injection: does it obey instructions that are hidden in a passage",
    "poison": "poisoned passages: does it repeat a false answer next to the right one",
    "conflict": "conflicting documents: does it repeat the answer of an old or unofficial document",
    "overload": "overload: does it find the answer among many near-duplicates of another passage",
}
_LETTERS = "ABCDEFGH"
_LEVELS = "▁▂▃▄▅▆▇█"
_MOST_NAMED = 3
_MOST_CHUNKS = 5
_MOST_RANKS = 20
_EXCERPT = 60
_TONES = {"the second is more robust": "good", "the first is more robust": "bad"}
_REMARKS = "limitations"
# The headings of the rates, by attack and whether they are shifted, and of the result over all rates that count.
RATES = {
    (False, False): "noise rate",
    (False, True): "noise, real",
    (True, False): "hostile chunks",
    (True, True): "hostile chunks",
}
OVERALL = {False: "robustness", True: "under attack"}


def stress_report(tests: Sequence[StressTest], contrasts: Sequence[Sequence[Contrast]] = ()) -> RenderableType:
    """One generator, or several generators on the same test beds."""
    parts: list[RenderableType] = []
    for at, test in enumerate(tests):
        head = Text(f"{_LETTERS[at % 8]}  " if len(tests) > 1 else "", style="bold")
        head.append(visible(test.system), style="bold")
        head.append(f"  {test.run.id}, {counted(len(test.rows.ids), 'row')}", style="dim")
        parts += [head, *_abilities(test), *_losses(test.losses), *_positions(test.places), Text("")]
    for at, rows in enumerate(contrasts, start=1):
        letter = _LETTERS[at % 8]
        parts.append(Text(f"{letter} against A: the result of each curve, paired by question", style="bold"))
        parts += [_contrast_table(rows, letter), Text("")]
    if lines := list(remark_lines(tests[0])):
        parts += [Text(_REMARKS, style="bold"), *map(indented, lines)]
    return Group(*parts)


def _abilities(test: StressTest) -> Iterator[RenderableType]:
    for bed in BEDS:
        curves = [curve for curve in test.curves if curve.bed == bed]
        if not curves:
            continue
        yield title(MEANINGS[bed])
        yield _curves_table(curves)
        yield from _attack_groups([group for group in test.groups if group.bed == bed])
        rates = curves[0].rates
        if not curves[0].is_attack and rates and len(rates) < len(curves[0].points):
            span = f"{rates[0]:g} to {rates[-1]:g}" if len(rates) > 1 else f"{rates[0]:g}"
            yield indented(f"robustness is over the rates at which a passage contains the answer: {span}", "dim")


def _curves_table(curves: Sequence[Curve]) -> Table:
    """Two rows per curve: the means, and their intervals. A narrow terminal shows both ends below each other."""
    rates = [f"{point.rate:g}" for point in curves[0].points]
    several = len(rates) > 1
    drawing = [Column(drawn=True)] if several else []
    last = columns(OVERALL[curves[0].is_attack] if several else "", "n")
    heading = RATES[curves[0].is_attack, curves[0].is_shifted]
    table = Table([Column(heading), *columns(*rates, align="center"), *drawing, *last], indent=2)
    if curves[0].is_shifted:
        asked = (", ".join(f"{rate:g}" for rate in point.requested) for point in curves[0].points)
        table.add(
            Cell("noise, requested", tone="muted"),
            *(Cell(text, tone="muted") for text in asked),
            *[""] * len(drawing + last),
        )
    for curve in curves:
        robust = curve.robustness if several else None
        means = [point.mean for point in curve.points]
        table.add(
            curve.metric,
            *(Cell(_mean(mean), mean, "strong") for mean in means),
            *(_sparkline(means) for _ in drawing),
            Cell(number(robust.value) if robust else "", tone="bold cyan"),
            str(max(point.questions for point in curve.points)),
        )
        table.add(
            Cell("", tone="muted", narrow="  95 % from\n           to"),
            *(_interval_cell(point.low, point.high) for point in curve.points),
            *("" for _ in drawing),
            _interval_cell(robust.low, robust.high) if robust else "",
            _missing(curve),
        )
    return table


def _sparkline(means: Sequence[float | None]) -> Text:
    """A curve as one line of blocks, on a scale from 0 to 1."""
    marks = [" " if mean is None else _LEVELS[min(7, int(max(0.0, min(1.0, mean)) * 8))] for mean in means]
    return Text("".join(marks), style="cyan")


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval_cell(low: float | None, high: float | None) -> Cell:
    if low is None or high is None:
        return Cell("")
    return Cell(f"{low:.2f}–{high:.2f}", (low, high), "muted", narrow=f"{low:.2f}\n{high:.2f}")


def _missing(curve: Curve) -> Cell:
    # The success of an attack is not defined without hostile chunks, and a false alarm not with them.
    points = [point for point in curve.points if not curve.is_attack or point.questions or point.failed]
    failed = sum(point.failed for point in points)
    skipped = sum(point.skipped for point in points)
    words = [f"{skipped:,} skipped"] if skipped else []
    words += [f"{failed:,} failed"] if failed else []
    return Cell(", ".join(words), failed, "bad" if failed else "muted", narrow="\n".join(words))


def _attack_groups(groups: Sequence[AttackGroup]) -> Iterator[RenderableType]:
    """How often attacks of each kind succeed."""
    if not groups:
        return
    table = Table([Column("attack_success by"), Column(), *columns("mean", "95 % interval", "n")], indent=2)
    for group in groups:
        interval = _interval_cell(group.low, group.high)
        table.add(group.by, group.name, Cell(_mean(group.mean), group.mean), interval, str(group.questions))
    yield table


def _losses(losses: Sequence[Contrast]) -> Iterator[RenderableType]:
    if not losses:
        return
    yield title("quality lost under attack, paired by question")
    numbers = columns("clean", "attacked", "difference", "95 % interval", "p", "n")
    table = Table([Column(), *numbers, Column(wrap="words")], indent=2)
    for loss in losses:
        interval = _signed_interval(loss.low, loss.high)
        values = number(loss.first), number(loss.second), _minus(f"{loss.difference:+.3f}"), interval
        verdict = Cell(loss.under_attack, tone=_TONES.get(loss.verdict, "muted"))
        table.add(loss.metric, *values, p_value(loss.p), str(loss.questions), verdict, group=loss.bed)
    yield table


def _positions(places: Sequence[Placed]) -> Iterator[RenderableType]:
    if len(places) < 2:
        return
    yield title("position of the answer, if one passage contains it")
    headings = columns(*(f"{place.place} of {place.of}" for place in places), align="center")
    table = Table([Column("position"), *headings, Column(drawn=True)], indent=2)
    table.add(
        "rgb.accuracy",
        *(Cell(_mean(place.mean), place.mean, "strong") for place in places),
        _sparkline([place.mean for place in places]),
    )
    table.add("", *(_interval_cell(place.low, place.high) for place in places), "")
    table.add(Cell("rows", tone="muted"), *(Cell(f"{place.rows:,}", tone="muted") for place in places), "")
    yield table


def _contrast_table(contrasts: Sequence[Contrast], letter: str) -> Table:
    """One row per curve. A narrow terminal leaves out both values, which are in the tables above."""
    values = (Column(name, "right", priority=1) for name in ("A", letter))
    numbers = columns(f"{letter} − A", "95 % interval", "p", "n")
    table = Table([Column(), *values, *numbers, Column(wrap="words")])
    for item in contrasts:
        table.add(
            item.metric,
            number(item.first),
            number(item.second),
            _minus(f"{item.difference:+.3f}"),
            _signed_interval(item.low, item.high),
            p_value(item.p),
            str(item.questions),
            Cell(
                item.verdict.replace("the second is", letter).replace("the first is", "A"),
                tone=_TONES.get(item.verdict, "muted"),
            ),
            group=item.bed,
        )
    return table


def remark_lines(test: StressTest) -> Iterator[str]:
    """Questions that were left out of a test bed, and passages that differ from the request."""
    if test.holding:
        use = "they are used, and their rows are marked contaminated" if test.kept else "they were not used as noise"
        yield (
            f"{counted(test.holding, 'passage')} of {counted(test.holding_questions, 'question')} contain the answer and "
            f"should not: {use}"
        )
    for report in test.beds:
        for reason, ids in report.left_out.items():
            yield f"{report.bed}: {_questions(ids)} left out: {reason}"
        if report.short:
            yield f"{report.bed}: {_questions(report.short)} with fewer passages than requested"
        if report.inexact:
            yield (
                f"{report.bed}: {_questions(report.inexact)} with too few passages of one kind for some requested rates; "
                "the curves show the share of noise that the passages have"
            )
        if report.contaminated:
            yield f"{report.bed}: {_questions(report.contaminated)} with the answer in a passage that counts as noise"


def _questions(ids: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, 30) for name in ids[:_MOST_NAMED])
    more = ", …" if len(ids) > _MOST_NAMED else ""
    return f"{counted(len(ids), 'question')} ({shown}{more})"


def erag_report(erag: Erag) -> RenderableType:
    """Agreement with the answers, value by rank and, if measured, helpful and harmful chunks."""
    parts: list[RenderableType] = [*_agreements(erag), *_ranks(erag.labels)]
    if any(label.helps is not None for label in erag.labels):
        parts += [*_chunks(erag.labels), *_harmful(by_chunk(erag.labels))]
    lines = [f"{counted(len(ids), 'question')} left out: {reason}" for reason, ids in erag.left_out.items()]
    if erag.unlabelled:
        name, reason = next(iter(erag.unlabelled.items()))
        lines.append(
            f"{counted(len(erag.unlabelled), 'question')} with an unlabelled chunk, for example {name}: {reason}"
        )
    return Group(*parts, *section(_REMARKS, lines))


def _agreements(erag: Erag) -> Iterator[RenderableType]:
    yield title(f"agreement with {erag.metric} of the whole answer, over questions")
    numbers = columns("Kendall", "95 % interval", "Spearman", "95 % interval", "n")
    table = Table([Column("metric on labels"), *numbers], indent=2)
    for name in dict.fromkeys(item.metric for item in erag.agreements):
        pair = {item.coefficient: item for item in erag.agreements if item.metric == name}
        both = (pair["kendall"], pair["spearman"])
        cells = [text for one in both for text in (number(one.value), interval_text(one.low, one.high))]
        table.add(name, *map(_minus, cells), str(pair["kendall"].questions))
    yield table
    reasons = dict.fromkeys(item.reason for item in erag.agreements if item.reason)
    yield from (Text(f"  unknown: {reason}", style="dim") for reason in reasons)


def _ranks(labels: Sequence[Label]) -> Iterator[RenderableType]:
    shares = by_rank(labels)[:_MOST_RANKS]
    ablated = any(share.helps is not None for share in shares)
    yield title("value of chunks by rank")
    lost = columns("lost without it", "95 % interval") if ablated else []
    table = Table([Column(), *columns("alone"), *lost, *columns("chunks")], indent=2)
    for share in shares:
        cells = [_minus(signed(share.helps)), _signed_interval(share.low, share.high)] if ablated else []
        table.add(share.name, number(share.alone), *cells, f"{share.chunks:,}")
    yield table


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _signed_interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else _minus(f"{low:+.3f} – {high:+.3f}")


def _chunks(labels: Sequence[Label]) -> Iterator[RenderableType]:
    harmful, helpful = blamed_chunks(labels, _MOST_CHUNKS)
    for heading, chunks, tone in (
        ("harmful chunks: the answer is better without them", harmful, "bad"),
        ("helpful chunks: the answer is worse without them", helpful, "good"),
    ):
        yield title(heading)
        if not chunks:
            yield Text("  none", style="dim")
            continue
        headings = ("sample", "rank", "chunk", "lost without it", "alone", "text")
        table = Table(columns(*headings, align="left"), indent=2)
        for label in chunks:
            table.add(
                one_line(label.question, 20),
                str(label.rank),
                one_line(label.chunk, 20),
                Cell(_minus(signed(label.helps)), label.helps, tone),
                number(label.alone),
                one_line(label.text, _EXCERPT),
            )
        yield table


def _harmful(shares: Sequence[Share]) -> Iterator[RenderableType]:
    harmful = [share for share in shares if share.helps is not None and share.helps < 0][:_MOST_CHUNKS]
    lines = (
        f"{one_line(share.name, 40)}: {_minus(signed(share.helps))} over {counted(share.chunks, 'question')}"
        for share in harmful
    )
    return section("chunks that are harmful on average over several questions", lines)
