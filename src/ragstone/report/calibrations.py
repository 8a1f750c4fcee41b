"""The calibration of a judge, in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.judge_calibration import Calibrated
from ragstone.report.text import title, visible


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
        yield f"{one.what}: mean {levels} ({labels}): later runs show what people would probably say."
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
