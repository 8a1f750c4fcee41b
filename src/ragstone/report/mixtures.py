"""A fitted mixture of scores, in the terminal and as JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.mixture import Gain, MixtureFit
from ragstone.metrics.mixed import FAMILY
from ragstone.report.agreement import COEFFICIENT
from ragstone.report.table import Column, Table, columns
from ragstone.report.text import number, signed, signed_interval, title, visible
from ragstone.stats.correlation import Coefficient


def mixture_report(fit: MixtureFit, coefficient: Coefficient, path: str) -> RenderableType:
    """The weights, the cross-validated gains and the verdict."""
    name = f"{FAMILY}.{fit.mixture.name}"
    table = Table([Column("score", wrap="name"), *columns(COEFFICIENT[coefficient], "gain", "95% interval")])
    table.add("best single score", number(fit.single_agreement), "", "")
    for label, gain in ((name, fit.fitted), ("equal weights", fit.equal)):
        interval = signed_interval(*gain.interval) if gain.interval else "–"
        table.add(label, number(gain.agreement), signed(gain.difference), interval)
    return Group(
        title(f"mixture {name}"),
        Text(f"{visible(formula(fit))}\n"),
        table,
        Text(f"\n{visible(mixture_verdict(fit))}", style="bold"),
        Text(f"\n{_method(fit)} Saved in {visible(path)}.", style="dim"),
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


def _method(fit: MixtureFit) -> str:
    return (
        f"{fit.rows} labelled answers to {fit.inputs} inputs. Cross-validated by input: weights and the best single score "
        f"(mostly {fit.single}, in {fit.folds[0]} of {fit.folds[1]} folds) are chosen without the rows that they score."
    )


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
