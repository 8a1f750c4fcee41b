"""Who judged a run, where that decides how far its scores can be trusted; said in every report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.compare.cases import is_local

# A language model in the signature of who was asked: `openai/gpt-4o-mini,temperature=0`.
_MODEL = re.compile(r"([^>;|,]+),temperature=")

_TRAINED = re.compile(r"trained_judge:(trained/[^#|;,]+)")


def judge_lines(info: Mapping[str, Any]) -> Iterator[str]:
    """A line about language models, about judges of one's own, about the local judge or a ladder; none where nobody judged."""
    metrics, ladder = info["metrics"], info["totals"].get("ladder")
    local = [metric for metric in metrics if is_local(metric)]
    asked = [metric for metric in metrics if _MODEL.search(metric["signature"]) and not is_local(metric)]
    models = _models(info)
    if asked:
        yield f"{_count(asked, metrics)} from the judge {models}."
    for name, mine in _trained(metrics).items():
        yield (
            f"{_count(mine, metrics)} from {name}, a judge trained on your labels. Hold it against new ones: "
            "ragstone agree RUN --human labels.csv"
        )
    if local and not ladder:
        yield (
            f"{_count(local, metrics)} from the local judge, a small model that runs here. How far to trust it: "
            "ragstone models show local-judge"
        )
    if ladder and ladder["estimated_agreement"] is not None:
        decided, passed = ladder["decided_locally"], ladder["passed_on"]
        yield (
            f"Of {decided + passed:,} verdicts the local judge was sure of {decided:,} and passed on {passed:,} to {models}: "
            f"{ladder['calls_saved']:,} calls saved, estimated agreement with asking always {ladder['estimated_agreement']:.0%}."
        )


def _trained(metrics: list[Any]) -> dict[str, list[Any]]:
    """The metrics of each judge that was trained here."""
    found: dict[str, list[Any]] = {}
    for metric in metrics:
        if name := _TRAINED.search(metric["signature"]):
            found.setdefault(name[1], []).append(metric)
    return found


def _models(info: Mapping[str, Any]) -> str:
    found = [name for signature in (info.get("judge") or {}).values() for name in _MODEL.findall(str(signature))]
    return " and ".join(dict.fromkeys(found)) or "a language model"


def _count(some: list[Any], everything: list[Any]) -> str:
    if len(some) == len(everything):
        return "All metrics come" if len(some) > 1 else "The metric comes"
    return f"{len(some)} of {len(everything)} metrics {'come' if len(some) > 1 else 'comes'}"
