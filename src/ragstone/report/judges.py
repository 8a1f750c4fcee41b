"""Judge models in the terminal and as JSON: duels between systems, bias audits, and the card of the local judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.audit import Audit, Finding
from ragstone.agreement.duels import Judged, JudgeNote, Meeting, Standing
from ragstone.models.local_judge import Card
from ragstone.report.judge_effects import effect_dict, effects_report
from ragstone.report.table import TONES, Cell, Column, Table, columns
from ragstone.report.text import counted, number, one_line, p_value, visible
from ragstone.stats.intervals import Interval, wilson_interval
from ragstone.stats.resampled_measures import Estimate

_BAR = 40


def duels_report(judged: Judged) -> RenderableType:
    """Two systems as a bar and a sentence, or several systems as a table; then notes about the judges."""
    parts: list[RenderableType] = []
    if len(judged.systems) == 2:
        parts += _two(judged.meetings[0])
    else:
        parts += [_standings_table(judged), Text()]
        if judged.smoothed:
            parts.append(Text("A system won or lost every duel: half a win was added to each pair.", style="dim"))
    return Group(*parts, *_notes(judged))


def duels_dict(judged: Judged) -> dict[str, Any]:
    """The duels as JSON."""
    return {
        "systems": list(judged.systems),
        "questions": judged.questions,
        "left_out": judged.left_out,
        "without_reference": judged.bare,
        "meetings": [{**_fields(meeting), "winner": meeting.winner} for meeting in judged.meetings],
        "standings": [_fields(standing) for standing in judged.standings],
        "smoothed": judged.smoothed,
        "judges": [
            {**_fields(note), "first_seat": _estimate(note.first_seat), "only_seat": note.only_seat}
            for note in judged.judges
        ],
        "alpha": _estimate(judged.alpha),
        "unanimous": judged.unanimous,
        "runs": [run.path for run in judged.runs],
    }


def _fields(row: Meeting | Standing | JudgeNote | Finding) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in row.__dataclass_fields__}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {"value": estimate.value, "interval": None if estimate.interval is None else list(estimate.interval)}


def _short(value: float | None, form: str = ".2f") -> str:
    return "–" if value is None else f"{value:{form}}"


def _short_interval(interval: Interval | None, form: str = ".2f") -> str:
    return "–" if interval is None else f"{interval.low:{form}} – {interval.high:{form}}"


def _two(meeting: Meeting) -> Iterator[RenderableType]:
    decided = meeting.wins + meeting.ties + meeting.losses
    if not decided:
        yield Text("No duel was decided.", style="bold")
        return
    one, other = visible(meeting.one), visible(meeting.other)
    ahead, behind = meeting.wins > meeting.losses, meeting.losses > meeting.wins
    yield Text.assemble(
        (f"{one} wins {meeting.wins}", "green" if ahead else ""),
        (f"   ties {meeting.ties}   ", "dim"),
        (f"{other} wins {meeting.losses}", "green" if behind else ""),
    )
    left, right = (round(_BAR * part / decided) for part in (meeting.wins, meeting.losses))
    yield Text.assemble(
        ("█" * left, "green" if ahead else "blue"),
        ("░" * max(0, _BAR - left - right), "dim"),
        ("█" * right, "green" if behind else "blue"),
    )
    interval = "" if meeting.interval is None else f" (95 % interval {_short_interval(meeting.interval)})"
    p = "" if meeting.p is None else f"; p {p_value(meeting.p)} (sign test)"
    result = f"{visible(meeting.winner)} is better" if meeting.winner else "The data do not show a difference"
    share = f": {one} wins {_short(meeting.share)}{interval} of the duels, counting ties as half{p}"
    yield Text.assemble((result, "bold"), share)


def _standings_table(judged: Judged) -> Table:
    numbers = columns("duels", "won", "strength", "95 % interval")
    table = Table([Column(align="right"), Column("system", wrap="words"), *numbers])
    for rank, row in enumerate(judged.standings, start=1):
        strength, interval = _short(row.strength, "+.2f"), _short_interval(row.interval, "+.2f")
        table.add(str(rank), one_line(row.system, 40), str(row.duels), _short(row.share), strength, interval)
    return table


def _notes(judged: Judged) -> Iterator[Text]:
    for note in judged.judges:
        yield Text()
        yield Text(f"{visible(note.judge)}: {note.duels:,} duels over {judged.questions:,} questions", style="dim")
        if note.undecided:
            yield Text(f"  {note.undecided:,} not decided: {visible(note.reason or 'no reason given')}", style="yellow")
        if note.inconsistent is not None:
            share = f"{100 * note.inconsistent:.0f} %"
            kappa = "" if note.order_kappa is None else f"; kappa between the orders {_short(note.order_kappa)}"
            yield Text(f"  changes its verdict in {share} of the duels if the answers are swapped{kappa}", style="dim")
        yield from _seat(note)
    if judged.alpha is not None and judged.unanimous is not None:
        agreed = f"All judges agree in {100 * judged.unanimous:.0f} % of the duels"
        yield Text(f"\n{agreed}; Krippendorff's alpha {_short(judged.alpha.value)}.", style="dim")
    if judged.left_out:
        reason = "a system has no answer, or the questions differ"
        yield Text(f"\n{judged.left_out:,} questions left out: {reason}.", style="yellow")
    if judged.bare:
        yield Text(f"\n{judged.bare:,} questions have no reference: the judge decided without one.", style="yellow")


# At or above this share of the decided verdicts, a preference for a position is reported, even for few verdicts.
_PREFERS = 0.75


def _seat(note: JudgeNote) -> Iterator[Text]:
    """The preference for a position by counts: few duels have a wide interval, which says little in either direction."""
    first, second, ties = note.seats
    if not first + second:
        return
    counts = f"first {first:,}, second {second:,}, tie {ties:,}"
    if note.only_seat:
        words = f"chooses the {note.only_seat} answer in {max(first, second):,} of {first + second + ties:,} verdicts"
        yield Text(f"  {words}, in either order: do not trust this judge ({counts})", style="bold red")
        return
    which, most = ("first", first) if first > second else ("second", second)
    # Duels in one random order have no estimate of their own: each verdict counts.
    seat = note.first_seat.interval if note.first_seat else wilson_interval(first, first + second)
    low, high = seat or (0.0, 1.0)
    is_sure = not low <= 0.5 <= high
    if not is_sure and most < _PREFERS * (first + second):
        yield Text(f"  shows no clear preference for a position ({counts})", style="dim")
        return
    unsure = "" if is_sure else " These are few verdicts."
    counted_wins = " Only wins in both orders count." if note.first_seat else ""
    words = f"prefers the {which} position ({counts}).{unsure}{counted_wins}"
    yield Text(f"  {words}", style="yellow")


_TONES = {"biased": "bad", "fair": "green", "unclear": "unsure", "not tested": "muted", "for information": "muted"}
_MARKS = {"biased": "✗", "fair": "✓", "unclear": "?", "not tested": "–", "for information": "i"}


def audit_report(audit: Audit) -> RenderableType:
    """One row per bias, advice for the biases that were found, and the effects on verdicts and grades."""
    words, tone = audit_headline(audit)
    parts: list[RenderableType] = [Text.assemble((f"{visible(audit.judge)}: ", "bold"), (words, f"bold {tone}"))]
    parts += [Text(), _audit_table(audit)] if audit.findings else []
    advised = [finding for finding in audit.findings if finding.advice]
    if advised:
        parts.append(Text())
    for finding in advised:
        tone = _TONES[finding.verdict]
        parts.append(Text.assemble((f"{finding.name}: ", TONES.get(tone, tone)), visible(finding.advice)))
    if audit.undecided:
        verb = "was not decided:" if audit.undecided == 1 else "were not decided, most often:"
        reason = visible(audit.reason or "no reason given")
        parts.append(Text(f"\n{counted(audit.undecided, 'duel')} {verb} {reason}", style="yellow"))
    note = '"fair" means that the interval contains the fair value. A few answers cannot exclude a small bias; use -n for more.'
    if audit.findings:
        parts.append(Text(f"\n{note}", style="dim"))
    if audit.effects:
        parts.append(effects_report(audit.effects))
    return Group(*parts)


def audit_headline(audit: Audit) -> tuple[str, str]:
    """The result in a few words, and its colour."""
    biases, effects = len(audit.biased), len(audit.affected)
    if not audit.tested:
        return "no bias could be tested", "yellow"
    found = [f"{biases} bias{'es' if biases > 1 else ''}"] if biases else []
    found += [counted(effects, "effect")] if effects else []
    return (f"{' and '.join(found)} found", "red") if found else ("no bias found", "green")


def audit_dict(audit: Audit) -> dict[str, Any]:
    """The audit as JSON."""
    return {
        "judge": audit.judge,
        "biased": [finding.name for finding in audit.biased],
        "undecided": audit.undecided,
        "reason": audit.reason,
        "findings": [_fields(finding) for finding in audit.findings],
        "effects": [effect_dict(effect) for effect in audit.effects],
        "runs": [run.path for run in audit.runs],
    }


def _audit_table(audit: Audit) -> Table:
    numbers = columns("measured", "95 % interval", "fair", "n")
    table = Table([Column(), Column("bias"), *numbers, Column("how often the judge", wrap="words")])
    for finding in audit.findings:
        tone = _TONES[finding.verdict]
        table.add(
            Cell(_MARKS[finding.verdict], tone=tone),
            Cell(finding.name, tone=tone),
            _short(finding.value),
            _short_interval(finding.interval),
            f"{finding.fair:.1f}",
            str(finding.n),
            Cell(finding.words, tone="muted"),
        )
    return table


_TASKS = {
    "match": "Answer match: does the answer agree with the reference",
    "support": "Claim support: does the evidence support the claim",
    "fraction": "Support fraction: which share of a text does another text support",
}


def card_lines(card: Card) -> Iterator[str]:
    """The card as Markdown: one table per task with intervals and baselines, accuracy by confidence, and limits."""
    if card.what:
        yield from (card.what, "")
    for task, heading in _TASKS.items():
        figures = [figure for figure in card.figures if figure["task"] == task]
        if figures:
            yield from (f"{heading}.", "", *_figures_table(figures).markdown())
    if card.error:
        yield from (
            "Error of means, each domain left out in turn; covered: the interval contains what people say.",
            "",
            *_errors_table(card).markdown(),
        )
    for task, steps in card.ladder.items():
        accuracy = ", ".join(f"{confidence:.0%} confident: {agreement:.0%} correct" for agreement, confidence in steps)
        yield from (f"Accuracy by confidence, {task}: {accuracy}.", "")
    if card.limits:
        yield from ("Limits:", "", *(f"- {limit}" for limit in card.limits))


def _errors_table(card: Card) -> Table:
    """Per kind of mean: the judge's levels, and how far its means are off with and without the correction."""
    numbers = columns("domains", "accepted", "refused", "covered", "width", "judge off by", "corrected")
    table = Table([Column("means of"), Column("metrics"), *numbers])
    for kind, part in card.error.items():
        levels = (f"{part[name]['mean']:.2f} ± {part[name]['between']:.2f}" for name in ("accepted", "refused"))
        check = part.get("left out", {}).get("domains")
        found = [f"{check[name]:.2f}" for name in ("covered", "width", "judge_off", "off")] if check else ["–"] * 4
        metrics = ", ".join(part["metrics"])
        table.add(kind, metrics, str(part["accepted"]["domains"]), *levels, *found)
    return table


def _figures_table(figures: list[Mapping[str, Any]]) -> Table:
    known = {"contained": "reference contained", "overlap": "token overlap", "cosine": "cosine"}
    baselines = {
        name: title for name, title in known.items() if any(figure.get(name) is not None for figure in figures)
    }
    texts = columns("measure", "local judge (95 % interval)", align="left")
    table = Table([Column("data"), Column("rows", "right"), *texts, *columns(*baselines.values())])
    for figure in figures:
        judged = f"{figure['judge']:.3f} ({figure['low']:.3f} – {figure['high']:.3f})"
        values = ("" if figure.get(name) is None else number(figure[name]) for name in baselines)
        table.add(figure["data"], f"{figure['rows']:,}", figure["measure"], judged, *values)
    return table
