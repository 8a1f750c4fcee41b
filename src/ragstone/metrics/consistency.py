"""Does the judge agree with itself: the same question asked several times."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.errors import Skip
from ragstone.registry import metric


@metric(
    "self_consistency",
    family="consistency",
    judges="answer",
    against="contexts",
    source="self-consistency (Wang et al. 2023), for verdicts",
    misleads="A judge can be wrong every time in the same way. At temperature 0 agreement comes cheap.",
    # It needs every verdict several times, and has nothing to say otherwise.
    slow=True,
)
def self_consistency(verdict_agreement: Sequence[float]) -> float:
    """How often the judge gives the same verdict when it is asked again: how far the claim metrics can be trusted.

    Mean over the claims of the share of verdicts that agree. Skipped when each verdict was asked once or there are no claims.
    """
    if not verdict_agreement:
        raise Skip("there are no claims to give verdicts on")
    return sum(verdict_agreement) / len(verdict_agreement)
