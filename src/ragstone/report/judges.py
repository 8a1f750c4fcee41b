"""Judge models in the terminal and as JSON: duels between systems, bias audits, effects, calibrations, exams, the local judge's card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.audit import Audit, Finding
from ragstone.agreement.audit_probes import LEAST_ITEMS, Effect
from ragstone.agreement.duels import Judged, JudgeNote, Meeting, Standing
from ragstone.agreement.judge_check import LOCAL, OWN, TOKENS, Calibrated, Examined, JudgeCheck, RowCost
from ragstone.agreement.labelled_sets import SetResult
from ragstone.models.large_judge import LargeCard
from ragstone.models.local_judge import Card
from ragstone.number_format import number, p_value, signed, signed_interval
from ragstone.report.table import TONES, Cell, Column, Table, columns
from ragstone.report.text import title
from ragstone.stats.intervals import Interval, wilson_interval
from ragstone.stats.resampled_measures import Estimate
from ragstone.tools.judge_exam import AT_CHANCE, USABLE, WEAK
from ragstone.views.phrases import counted, one_line, visible

_EFFECT_TONES = {"effect": "bad", "none seen": "green", "too few": "unsure"}
_EFFECT_MARKS = {"effect": "✗", "none seen": "✓", "too few": "?"}
METHOD = (
    "Each item is scored as it is and with one change that must not matter. Change: mean difference of the score (0 to 1). "
    "p: paired sign-flip test, corrected for all effects of the task."
)

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
            "Error of means, each domain left out in turn; covered: the interval contains the human score. Drawn sets: 60 rows of domains left "
            "out, of which people accept a tenth to all, by the share of words that claims share with their texts.",
            "",
            *_errors_table(card).markdown(),
        )
    for task, steps in card.ladder.items():
        tens = [step for step in steps if round(step[1] * 100) % 10 == 0] or steps
        accuracy = ", ".join(f"{confidence:.0%} confident: {agreement:.0%} correct" for agreement, confidence in tens)
        yield from (f"Accuracy by confidence, {task}: {accuracy}.", "")
    if card.limits:
        yield from ("Limits:", "", *(f"- {limit}" for limit in card.limits))


def large_card_lines(card: LargeCard) -> Iterator[str]:
    """The card of the large judge as Markdown: its figures and those of the small judge, their source, and limits."""
    yield from (card.what, "", f"Licence: {card.licence}. Languages: {', '.join(card.languages)}. {card.source}", "")
    table = Table([Column("data"), Column("measure"), *columns("rows", "large judge", "small judge")])
    for figure in card.figures:
        both = (number(figure[judge]) for judge in ("judge", "small"))
        table.add(figure["data"], figure["measure"], f"{figure['rows']:,}", *both)
    yield from table.markdown()
    yield from ("Limits:", "", *(f"- {limit}" for limit in card.limits))


def _errors_table(card: Card) -> Table:
    """Per kind of mean: the judge's levels, and how far its means are off with and without the correction."""
    numbers = columns("domains", "accepted", "refused", "covered", "width", "judge off by", "corrected")
    table = Table([Column("means of"), Column("metrics"), *numbers])
    for kind, part in card.error.items():
        levels = (f"{part[name]['mean']:.2f} ± {part[name]['between']:.2f}" for name in ("accepted", "refused"))
        checks = part.get("left out", {})
        metrics, domains = ", ".join(part["metrics"]), str(part["accepted"]["domains"])
        table.add(kind, metrics, domains, *levels, *_check_cells(checks.get("domains")))
        for name, check in checks.items():
            if name != "domains":
                table.add(f"– {check['checked']} drawn sets: {name}", "", "", "", "", *_check_cells(check))
    return table


def _check_cells(check: Mapping[str, Any] | None) -> list[str]:
    return [f"{check[name]:.2f}" if check else "–" for name in ("covered", "width", "judge_off", "off")]


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


def calibration_report(measured: Sequence[Calibrated]) -> RenderableType:
    """The measurements that later runs with this judge will use, one or two lines each."""
    return Group(title("calibration"), *(Text(visible(line)) for one in measured for line in _lines(one)))


def _lines(one: Calibrated) -> Iterator[str]:
    labels = f"{one.pairs} labels, {one.accepted} of them yes"
    if one.fit:
        change = f"cross-validated log-loss {one.fit.before:.3f} → {one.fit.after:.3f} ({labels})"
        what = "later runs calibrate its probabilities" if one.is_mapped else "no gain, probabilities stay as they are"
        yield f"{one.what}: {change}: {what}."
    if one.error:
        levels = f"{one.error.accepted.mean:.2f} where people say yes, {one.error.refused.mean:.2f} where they say no"
        yield f"{one.what}: mean {levels} ({labels}): later runs show the estimated human score."
    else:
        yield f"{one.what}: {one.why_not} ({labels})."


def calibration_dict(one: Calibrated) -> dict[str, Any]:
    """One measurement as JSON."""
    fit, error = one.fit, one.error
    return {
        "what": one.what,
        "labels": one.pairs,
        "accepted": one.accepted,
        "log_loss_before": fit.before if fit else None,
        "log_loss_after": fit.after if fit else None,
        "calibrated": one.is_mapped,
        "map": {"slope": fit.map.slope, "intercept": fit.map.intercept} if fit and one.is_mapped else None,
        "levels": error.as_dict() if error else None,
        "why_not": one.why_not or None,
    }


def effects_report(effects: Sequence[Effect]) -> RenderableType:
    """One row per effect, with counts, and what was or was not seen."""
    parts: list[RenderableType] = []
    for task in dict.fromkeys(effect.task for effect in effects):
        mine = [effect for effect in effects if effect.task == task]
        parts += [title(f"effects on {task}"), _effects_table(mine)]
    return Group(*parts, Text(f"\n{METHOD}", style="dim"))


def _effects_table(effects: Sequence[Effect]) -> Table:
    numbers = columns("change", "95 % interval", "p", "up", "same", "down")
    table = Table([Column(), Column("effect"), *numbers, Column("result", wrap="words")])
    for effect in effects:
        tone = _EFFECT_TONES[effect.verdict]
        table.add(
            Cell(_EFFECT_MARKS[effect.verdict], tone=tone),
            Cell(effect.name, tone=tone),
            "–" if effect.value is None else signed(effect.value),
            signed_interval(*effect.interval) if effect.interval else "–",
            "–" if effect.p is None else p_value(effect.p),
            *(str(count) for count in effect.counts),
            Cell(effect_words(effect), tone="muted"),
        )
    return table


def effect_words(effect: Effect) -> str:
    """The result in words, with the size of an effect that could have been missed."""
    if effect.verdict == "too few":
        return f"{effect.words}: only {effect.n} items, at least {LEAST_ITEMS} are needed"
    if effect.verdict == "effect":
        return f"{effect.words}: {'raises' if (effect.value or 0) > 0 else 'lowers'} scores in {effect.n} items"
    possible = "" if effect.possible is None else f" (an effect below {effect.possible:.2f} is possible)"
    return f"{effect.words}: no effect seen in {effect.n} items{possible}"


def effect_dict(effect: Effect) -> dict[str, Any]:
    """The effect as JSON."""
    return {
        "task": effect.task,
        "effect": effect.name,
        "change": effect.words,
        "items": effect.n,
        **effect.counts._asdict(),
        "value": effect.value,
        "interval": list(effect.interval) if effect.interval else None,
        "p": effect.p,
        "verdict": effect.verdict,
        "possible": effect.possible,
        "words": effect_words(effect),
    }


_EXAM_TONES = {USABLE: "green", WEAK: "unsure", AT_CHANCE: "bad", "": "muted"}
_EXAM_STYLES = {USABLE: "green", WEAK: "yellow", AT_CHANCE: "red"}
_EXAM_WORDS = {
    USABLE: "usable",
    WEAK: "weak: better than chance, but it errs often",
    AT_CHANCE: "at chance: its verdicts are no better than guesses, as far as these items show",
}


def check_report(check: JudgeCheck) -> RenderableType:
    """The verdict, one table per way of asking, and which to use."""
    head = Text(f"{visible(check.judge)}: ", style="bold")
    if check.best.way == LOCAL and check.verdict == AT_CHANCE:  # Its card says more than these items.
        head.append("these items are too few and too hard to tell", "yellow")
    else:
        head.append(_EXAM_WORDS[check.verdict], _EXAM_STYLES[check.verdict])
    parts: list[RenderableType] = [head]
    for one in check.ways:
        parts += [Text(), *_way(one)]
    parts.append(Text(f"\n{_exam_advice(check)}"))
    note = "The exam has few items: it finds judges that guess, and does not rank good ones. Labels do: ragstone agree."
    return Group(*parts, Text(f"\n{note}", style="dim"))


def sets_table(found: Sequence[SetResult]) -> Table:
    """One row per set and judge."""
    headings = ("AUC", "95 % interval", "right", "three-way", "calibration error", "pairs/s", "usd")
    table = Table([Column("set"), Column("judge"), *columns("pairs", *headings)])
    for one in sorted(found, key=lambda one: [*dict.fromkeys(other.set for other in found)].index(one.set)):
        pairs = str(one.pairs) if one.judged in (0, one.pairs) else f"{one.judged} of {one.pairs}"
        low_high = "" if one.auc_interval is None else "{:.2f} – {:.2f}".format(*one.auc_interval)
        shares = (one.auc, low_high, one.accuracy, one.three_way, one.calibration_error)
        cells = [value if isinstance(value, str) else "" if value is None else f"{value:.2f}" for value in shares]
        speed = "" if one.pairs_per_s is None else f"{one.pairs_per_s:,.1f}"
        cost = "" if one.cost_usd is None else f"{one.cost_usd:.4f}" if one.calls else "0"
        table.add(one.set, visible(one.judge), pairs, *cells, *([speed, cost] if one.judged else ["", ""]))
    return table


def sets_report(found: Sequence[SetResult]) -> RenderableType:
    """The table, and why a judge did not read a set."""
    reasons = [f"{one.judge}, {one.set}: {one.why_not}" for one in found if one.why_not]
    note = (
        "AUC: the probability that a supported pair scores higher than another one; intervals by text. Right: supported or "
        "not, at one half. Three-way: supported, contradicted, not stated."
    )
    return Group(
        sets_table(found), *(Text(visible(line), style="yellow") for line in reasons), Text(f"\n{note}", style="dim")
    )


def _way(one: Examined) -> Iterator[RenderableType]:
    if one.why_not:
        yield Text(f"{one.way}: {visible(one.why_not)}", style="dim")
        return
    first = {LOCAL: "local judge", TOKENS: "by tokens", OWN: "in its own form"}.get(one.way, "as JSON")
    table = Table([Column(first), *columns("right", "of", "95 % interval", "by chance"), Column("verdict")])
    for row in one.marks:
        tone = _EXAM_TONES[row.verdict]
        table.add(
            row.task,
            str(row.right),
            str(row.asked),
            f"{row.interval.low:.2f} – {row.interval.high:.2f}",
            "" if row.chance is None else f"{row.chance:.2f}",
            Cell(row.verdict, tone=tone),
        )
    yield table
    for pattern in one.patterns:
        yield Text(f"{pattern[0].upper()}{pattern[1:]}.", style="red")
    again = f", {one.repaired} of them after a second request" if one.repaired else ""
    yield Text(f"Usable replies: {one.usable} of {one.asked}{again}.", style="dim")
    if one.row_cost is not None:
        yield Text(_row_cost(one.row_cost), style="dim")


def _row_cost(cost: RowCost) -> str:
    """Calls, cost and time of 100 rows."""
    time = "time unknown" if cost.seconds is None else f"{cost.seconds:,.0f} s one after the other"
    rows = "100 rows of 3 claims and 3 chunks"
    if not cost.calls:
        return f"{rows}: no model calls, {time}."
    money = "cost unknown" if cost.cost_usd is None else f"{cost.cost_usd:,.4f} usd"
    tokens = f"{cost.input_tokens:,.0f} tokens in, {cost.output_tokens:,.0f} out"
    cached = " (replies came from the cache: --no-cache measures)" if cost.seconds is None else ""
    return f"Verdicts of {rows}: {cost.calls:,.0f} calls, {tokens}, {money}, {time}{cached}."


def _exam_advice(check: JudgeCheck) -> str:
    if check.best.way == LOCAL:
        return "The local judge reads English items only. Its card comes from far more rows and counts more: docs/trust.md."
    if check.verdict == AT_CHANCE:
        return "Do not trust its verdicts. Choose a larger model, or the local judge: --judge local."
    if check.best.way == OWN:
        return "Use it with --checker. More pairs: ragstone judge-check --sets --checker NAME."
    return f"Use --verdicts {check.best.way}."
