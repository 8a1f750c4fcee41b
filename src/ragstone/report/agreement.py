"""Agreement of metrics with human labels, and fitted mixtures of scores, in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from ragstone.agreement.metric_agreement import ALPHA, FEW_METRICS, Agreement, Gain, MetricAgreement, MixtureFit
from ragstone.metrics.mixed import FAMILY
from ragstone.number_format import interval_text, number, p_value, signed, signed_interval
from ragstone.report.run import metric_label
from ragstone.report.table import Cell, Column, Table, columns, interval_strip
from ragstone.report.text import section, title
from ragstone.stats.correlation import COEFFICIENTS, LEVELS, Coefficient, Correlation, Level
from ragstone.stats.intervals import Interval
from ragstone.stats.ppi import LEAST_LABELS
from ragstone.stats.resampled_measures import Estimate
from ragstone.views.phrases import by_reason, counted, one_line, visible

COEFFICIENT = {"spearman": "Spearman", "pearson": "Pearson", "kendall": "Kendall", "somers": "Somers' D"}
# The metrics that are shown without --full.
MOST_METRICS = 15
_LEVEL = {
    "dataset": "all rows",
    "sample": "in inputs",
    "system": "systems",
    "partial": "in systems",
    "residual": "residuals",
    "label": "each label",
}
_LEVEL_MEANINGS = {
    "dataset": "over all rows",
    "sample": "across systems within each input, averaged",
    "system": "between the means of systems",
    "partial": "within systems",
    "residual": "of residuals given the system",
    "label": "over all labels, each on its own",
}
_MEASURES = {
    "roc_auc": "ROC-AUC",
    "accuracy": "accuracy",
    "f1": "F1",
    "macro_precision": "macro precision",
    "macro_recall": "macro recall",
    "macro_f1": "macro F1",
    "kappa": "kappa",
    "weighted_kappa": "weighted kappa",
    "calibration_error": "calibration error",
    "votes": "equal votes",
    "decided_votes": "without ties",
}
_TONES = {"best": "good", "less": "bad", "maybe": "muted"}


def headline(agreement: Agreement) -> str:
    """The metric that agrees best with people, in a sentence or two."""
    if not agreement.metrics:
        return "No metric could be compared with the labels."
    if few := few_labels(agreement):
        return few
    best = agreement.metrics[0]
    main = agreement.main(best)
    interval = f" ({interval_text(*main.interval)})" if main.interval else ""
    value = f"{COEFFICIENT[agreement.settings.coefficient]} {main.value:.3f}{interval}"
    if main.interval is not None and main.interval.low <= 0:
        return f"No metric significantly agrees with people; {best.metric} is the closest, {value}."
    if len(agreement.metrics) == 1:
        return f"{best.metric} agrees with people: {value}."
    less = sum(standing(agreement, item)[0] == "less" for item in agreement.metrics)
    rest = len(agreement.metrics) - 1 - less
    others = [f"{less} agree{'s' if less == 1 else ''} less"] if less else []
    untested = sum(item.p_best is None for item in agreement.metrics[1:])
    others += [f"{rest - untested} may be as good"] if rest > untested else []
    others += [f"{untested} could not be tested"] if untested else []
    return f"{best.metric} agrees with people most: {value}; of the other metrics {' and '.join(others)}."


def few_labels(agreement: Agreement) -> str:
    """A warning if the labels are too few to rank metrics; empty otherwise."""
    if (labels := len(agreement.joined.inputs)) >= LEAST_LABELS:
        return ""
    few = f"{counted(labels, 'label')} {'is' if labels == 1 else 'are'} too few"
    return f"{few}: {LEAST_LABELS} are needed to tell how far a metric agrees."


def standing(agreement: Agreement, item: MetricAgreement) -> tuple[str, str]:
    """A metric compared with the best one: a kind and a text; few labels do not tell."""
    if few_labels(agreement):
        return "maybe", ""
    if item is agreement.metrics[0]:
        return "best", "best" if len(agreement.metrics) > 1 else ""
    if item.p_best is None:
        return "maybe", "not tested"
    p = f"p {p_value(item.p_best)}"
    return ("less", f"▼ less, {p}") if item.p_best < ALPHA else ("maybe", f"maybe, {p}")


def agreement_dict(agreement: Agreement) -> dict[str, Any]:
    """The agreement as JSON."""
    joined, ceiling = agreement.joined, agreement.ceiling
    return {
        "headline": headline(agreement),
        "runs": [{"run": run.path, "id": run.id, "name": run.name} for run in joined.runs],
        "labelled": len(joined.inputs),
        "inputs": len(set(joined.inputs.tolist())),
        "annotators": list(joined.annotators),
        "sorted_by": {"coefficient": agreement.settings.coefficient, "level": agreement.settings.level},
        "remarks": list(joined.remarks),
        "metrics": [_metric_dict(item) for item in agreement.metrics],
        "not_measured": dict(agreement.lacking),
        **({"votes": _count_votes(agreement)} if joined.pairs else {}),
        "people": None
        if ceiling is None
        else {
            "annotators": ceiling.annotators,
            "shared_rows": ceiling.shared,
            "cohen_kappa": {
                "mean": ceiling.mean_kappa,
                "pairs": [
                    {"annotators": [joined.annotators[at] for at in pair], "rows": rows, "value": value}
                    for pair, (rows, value) in ceiling.kappas.items()
                ],
            },
            "alpha": {"scale": ceiling.scale, "value": ceiling.alpha, **_ends(ceiling.alpha_interval)},
            "one_against_others": {
                "coefficient": ceiling.coefficient,
                "value": ceiling.correlation,
                **_ends(ceiling.correlation_interval),
            },
            **{name: {**_cell_dict(vote.share), "n": vote.votes} for name, vote in ceiling.votes.items()},
        },
        "disagreements": [vars(item) for item in agreement.disagreements],
    }


def _metric_dict(item: MetricAgreement) -> dict[str, Any]:
    verdicts = item.verdicts
    return {
        "metric": item.metric,
        "better": item.better,
        "rows": item.rows,
        "p_best": item.p_best,
        "correlations": [
            {"coefficient": coefficient, "level": level, "value": cell.value, **_ends(cell.interval)}
            | {"units": cell.units, "skipped": cell.skipped, "reason": cell.reason or None}
            for (coefficient, level), cell in item.correlations.items()
        ],
        "verdicts": None
        if verdicts is None
        else {
            "threshold": verdicts.threshold,
            "evenly_split": verdicts.tied,
            **({"equal_scores": verdicts.equal_scores} if verdicts.counts else {}),
            **{
                name: _cell_dict(cell) | ({"n": verdicts.counts[name]} if verdicts.counts else {})
                for name, cell in verdicts.measures.items()
            },
        },
    }


def _cell_dict(cell: Estimate) -> dict[str, float | None]:
    return {"value": cell.value, **_ends(cell.interval)}


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}


def agreement_report(agreement: Agreement, full: bool = False, more: str = "--full") -> RenderableType:
    """The table of metrics, the agreement among people, and the largest disagreements. `more` shows all metrics."""
    return _Report(agreement, len(agreement.metrics) if full else MOST_METRICS, more)


class _Report:
    """The report; needs the width of the terminal to shorten texts."""

    def __init__(self, agreement: Agreement, most: int, more: str) -> None:
        self._agreement = agreement
        self._most = most
        self._more = more

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        agreement = self._agreement
        if few := few_labels(agreement):
            yield Text(f"{few}\n", style="bold yellow")
        yield Text(visible(_labels_line(agreement)), style="dim")
        yield Text("" if few else f"\n{visible(headline(agreement))}\n", style="bold")
        if agreement.metrics:
            yield _metrics_table(agreement, self._most)
            yield from _measures(agreement, self._most)
            if len(agreement.metrics) <= FEW_METRICS and agreement.settings.full:
                yield from _all_coefficients(agreement)
        yield from section("remarks", _remarks(agreement, self._most, self._more))
        yield from _disagreements(agreement, options.max_width)
        yield Text(f"\n{_method_line(agreement)}", style="dim")


def _labels_line(agreement: Agreement) -> str:
    joined = agreement.joined
    rows, inputs, systems = len(joined.inputs), len(set(joined.inputs.tolist())), len(set(joined.systems.tolist()))
    labels = joined.labels
    people = f", by {len(joined.annotators)} annotators" if len(joined.annotators) > 1 else ""
    if joined.pairs:
        votes = _count_votes(agreement)
        words = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in votes.items())
        return f"{counted(rows, 'pair')} of answers to {counted(inputs, 'input')}{people}; {words}"
    names = ", ".join(run.name for run in joined.runs)
    return (
        f"{names}: {counted(rows, 'labelled answer')} of {counted(systems, 'system')} to "
        f"{counted(inputs, 'input')}{people}; labels from {labels.min():g} to {labels.max():g}, mean {labels.mean():.3f}"
    )


def _count_votes(agreement: Agreement) -> dict[str, int]:
    ratings = agreement.joined.ratings
    return {
        "A_better": int((ratings < 0).sum()),
        "tie": int((ratings == 0).sum()),
        "B_better": int((ratings > 0).sum()),
    }


def _method_line(agreement: Agreement) -> str:
    settings = agreement.settings
    pairs = " Scores are those of B minus those of A; positive labels prefer B." if agreement.joined.pairs else ""
    return (
        f"Sorted by {COEFFICIENT[settings.coefficient]} {_LEVEL_MEANINGS[settings.level]}. The sign is inverted for "
        f"metrics with ↓ (lower is better). Intervals: {settings.confidence:.0%} bootstrap over inputs; ± is half the "
        "width. p: probability under the hypothesis that the metric is the best one, tested against all others together."
        + pairs
    )


def _metrics_table(agreement: Agreement, most: int) -> Table:
    settings = agreement.settings
    mains = [agreement.main(item) for item in agreement.metrics]
    negative = any((main.interval.low if main.interval else main.value or 0.0) < 0 for main in mains)
    scale = (-1.0 if negative else 0.0, 1.0)
    levels = _other_levels(agreement)
    table = Table(
        [
            Column("metric", wrap="name"),
            *columns(COEFFICIENT[settings.coefficient], f"{settings.confidence:.0%} interval"),
            Column(f"{scale[0]:<12g}{1:>12}", priority=2, drawn=True),
            *(Column(_LEVEL[level], "right", priority=1) for level in levels),
            Column("rows", "right"),
            Column("vs. the best"),
        ]
    )
    for item, main in zip(agreement.metrics[:most], mains, strict=False):
        kind, words = standing(agreement, item)
        values = (item.correlations[settings.coefficient, level].value for level in levels)
        table.add(
            metric_label(item.metric, item.better),
            number(main.value),
            interval_text(*(main.interval or (None, None))),
            _strip(main.value, main.interval, scale, kind),
            *map(number, values),
            Cell(f"{item.rows:,}", item.rows, "unsure" if item.rows < len(agreement.joined.inputs) else ""),
            Cell(words, tone=_TONES[kind]),
        )
    ceiling = agreement.ceiling
    if ceiling and ceiling.correlation is not None:
        table.add(
            Text("one person", style="italic"),
            number(ceiling.correlation),
            interval_text(*(ceiling.correlation_interval or (None, None))),
            _strip(ceiling.correlation, ceiling.correlation_interval, scale, "maybe"),
            *("" for _ in levels),
            f"{ceiling.shared:,}",
            Cell("with the others", tone="muted"),
        )
    return table


def _other_levels(agreement: Agreement) -> list[Level]:
    """The levels with a value, except the one that the table is sorted by; residuals only if it is sorted by them."""
    chosen = agreement.settings
    return [
        level
        for level in LEVELS
        if level not in (chosen.level, "residual", *(() if agreement.joined.pairs else ("label",)))
        and any(item.correlations[chosen.coefficient, level].value is not None for item in agreement.metrics)
    ]


def _strip(value: float | None, interval: Interval | None, scale: tuple[float, float], kind: str) -> Text:
    if value is None:
        return Text()
    return interval_strip(value, interval, scale, "green" if kind == "best" else "cyan")


def _measures(agreement: Agreement, most: int) -> Iterator[RenderableType]:
    """Agreement with labels that are yes or no, or steps of the metric."""
    judged = [(item, item.verdicts) for item in agreement.metrics[:most] if item.verdicts]
    names = [name for name in _MEASURES if any(name in verdicts.measures for _, verdicts in judged)]
    if not judged:
        return
    steps = "labels of yes and no" if "roc_auc" in names else "labels in steps"
    yield title("accuracy on decided pairs, and agreement with single votes" if agreement.joined.pairs else steps)
    thresholds = ["yes from"] if "f1" in names else []
    measures = [Column(_MEASURES[name], "right", priority=at) for at, name in enumerate(names)]
    table = Table([Column("metric", wrap="name"), *measures, *columns(*thresholds)])
    for item, verdicts in judged:
        threshold = "–" if verdicts.threshold is None else f"{verdicts.threshold:g}"
        cells = (_with_margin(verdicts.measures.get(name)) for name in names)
        table.add(metric_label(item.metric, item.better), *cells, *(threshold for _ in thresholds))
    yield table


def _with_margin(cell: Estimate | Correlation | None) -> str:
    if cell is None or cell.interval is None:
        return number(None if cell is None else cell.value)
    return f"{number(cell.value)} ±{(cell.interval.high - cell.interval.low) / 2:.2f}"


def _all_coefficients(agreement: Agreement) -> Iterator[RenderableType]:
    """Every coefficient at every level, one table per metric."""
    for item in agreement.metrics:
        yield title(f"{item.metric}, all coefficients")
        table = Table([Column(), *columns(*(_LEVEL[level] for level in LEVELS))])
        for coefficient in COEFFICIENTS:
            cells = (_with_margin(item.correlations[coefficient, level]) for level in LEVELS)
            table.add(COEFFICIENT[coefficient], *cells)
        yield table


def _remarks(agreement: Agreement, most: int, more: str) -> Iterator[str]:
    hidden = len(agreement.metrics) - most
    if hidden > 0:
        yield f"{counted(hidden, 'more metric')} with a lower coefficient: {more}"
    yield from agreement.joined.remarks
    for item in agreement.metrics[:1]:
        cells = [cell for (_, level), cell in item.correlations.items() if level == "sample"]
        if cells and cells[0].skipped and cells[0].units:
            yield (
                f"within inputs, {item.metric}: {cells[0].units:,} inputs, {cells[0].skipped:,} skipped because scores or "
                "labels are constant there"
            )
    for item in agreement.metrics[:1] if agreement.joined.pairs else ():
        if item.verdicts:
            yield (
                f"accuracy is of the {counted(item.verdicts.counts['accuracy'], 'pair')} that people decided; "
                f"{counted(item.verdicts.tied, 'tie')} left out; equal scores count half ({item.metric}: {item.verdicts.equal_scores})"
            )
    for reason, names in by_reason(agreement.lacking.items()).items():
        yield f"not compared with labels: {', '.join(names)}: {reason}"
    ceiling = agreement.ceiling
    if ceiling and ceiling.alpha is not None:
        yield (
            f"{ceiling.annotators} annotators, {ceiling.shared:,} rows labelled by two or more: Krippendorff's alpha "
            f"({ceiling.scale}) {number(ceiling.alpha)} ({interval_text(*(ceiling.alpha_interval or (None, None)))})"
        )
    if ceiling and ceiling.votes:
        shares = [f"{number(vote.share.value)} of {vote.votes:,}" for vote in ceiling.votes.values()]
        yield f"equal votes of two annotators: {shares[0]}; without ties {shares[1]}"
    if ceiling and ceiling.kappas:
        yield (
            f"Cohen's kappa between annotators: mean {number(ceiling.mean_kappa)} over "
            f"{counted(len(ceiling.kappas), 'pair')}; --json lists them"
        )


def _disagreements(agreement: Agreement, width: int) -> Iterator[RenderableType]:
    if agreement.disagreements:
        yield title(f"largest disagreements between {agreement.disagreements[0].metric} and people")
    for item in agreement.disagreements:
        head = Text(f"  people {item.label:.2f}, {visible(item.metric)} {item.score:.2f}")
        head.append(f"   {one_line(item.sample_id, 20)} of {one_line(item.system, 40)}", style="dim")
        yield head
        for name, text in (("question", item.question), ("answer", item.answer)):
            if text:
                yield Text(f"    {name:<9}{one_line(text, max(20, width - 14))}", style="dim")


def mixture_report(fit: MixtureFit, coefficient: Coefficient, path: str) -> RenderableType:
    """The weights, the cross-validated gains and the verdict."""
    name = f"{FAMILY}.{fit.mixture.name}"
    table = Table([Column("score", wrap="name"), *columns(COEFFICIENT[coefficient], "gain", "95% interval")])
    table.add("best single score", number(fit.single_agreement), "", "")
    for label, gain in ((name, fit.fitted), ("equal weights", fit.equal)):
        interval = signed_interval(*gain.interval) if gain.interval else "–"
        table.add(label, number(gain.agreement), signed(gain.difference), interval)
    method = (
        f"{fit.rows} labelled answers to {fit.inputs} inputs. Cross-validated by input: weights and the best single score "
        f"(mostly {fit.single}, in {fit.folds[0]} of {fit.folds[1]} folds) are chosen without the rows that they score."
    )
    return Group(
        title(f"mixture {name}"),
        Text(f"{visible(formula(fit))}\n"),
        table,
        Text(f"\n{visible(mixture_verdict(fit))}", style="bold"),
        Text(f"\n{method} Saved in {visible(path)}.", style="dim"),
    )


def formula(fit: MixtureFit) -> str:
    """The weights as a sum."""
    return " + ".join(f"{weight:.2f} {part}" for part, weight in fit.mixture.weights.items())


def mixture_verdict(fit: MixtureFit) -> str:
    """Whether the mixture is worth using."""
    name = f"{FAMILY}.{fit.mixture.name}"
    for label, gain in ((name, fit.fitted), ("The mixture with equal weights", fit.equal)):
        if gain.shown:
            return f"{label} agrees with people better than {fit.single}: {_words(gain)}."
    if fit.fitted.interval is not None and fit.fitted.interval.high < 0:
        return f"{name} agrees with people less than {fit.single}: {_words(fit.fitted)}. Use that score."
    return (
        f"No gain is shown: the interval of {name} includes 0 ({_words(fit.fitted)}). "
        f"Use {fit.single}, or label more rows."
    )


def _words(gain: Gain) -> str:
    interval = f", 95 % interval {signed_interval(*gain.interval)}" if gain.interval else ""
    return f"{signed(gain.difference)}{interval}"


def mixture_dict(fit: MixtureFit, path: str) -> dict[str, Any]:
    """The mixture as JSON."""
    return {
        "metric": f"{FAMILY}.{fit.mixture.name}",
        "path": path,
        "weights": dict(fit.mixture.weights),
        "single": fit.single,
        "single_agreement": fit.single_agreement,
        "gain": _gain_dict(fit.fitted),
        "gain_equal_weights": _gain_dict(fit.equal),
        "rows": fit.rows,
        "inputs": fit.inputs,
        "verdict": mixture_verdict(fit),
    }


def _gain_dict(gain: Gain) -> dict[str, Any]:
    low, high = gain.interval or (None, None)
    return {"agreement": gain.agreement, "difference": gain.difference, "low": low, "high": high, "shown": gain.shown}
