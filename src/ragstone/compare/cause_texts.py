"""The wording of a diagnosis: how many samples fail, and why, in the same words in terminal, browser, report and Python."""

from __future__ import annotations

from ragstone.compare.cause_names import Outcome, how_sure
from ragstone.compare.diagnosis import CauseCount, Diagnosis

# What the numbers of one sample have to do with each other.
HOW_SURE = (
    "How sure: the judge's probabilities of the verdicts behind a cause, multiplied, and scaled down to how often such causes "
    "were true in labelled rows. It is not a share of samples."
)


# In place of a cause: verdicts are missing, so it is unknown whether the sample fails.
NOT_EXAMINED = "not examined"


def cause_label(diagnosis: Diagnosis, outcome: Outcome) -> str:
    """The main cause, `not examined`, or empty for a sample without a fault, or if no sample was examined."""
    if outcome.cause:
        return outcome.cause.name
    return NOT_EXAMINED if outcome.undecided and diagnosis.decided else ""


def fail_word(diagnosis: Diagnosis, count: int) -> str:
    """`fail`, or `seem to fail` if a judge that may be wrong decided."""
    if diagnosis.by_local_judge or diagnosis.by_doubted_judge:
        return "seems to fail" if count == 1 else "seem to fail"
    return "fails" if count == 1 else "fail"


def samples_text(diagnosis: Diagnosis) -> str:
    """`14 samples`, or `the first 2,000 of 9,000 samples`."""
    if diagnosis.looked_at < diagnosis.samples:
        return f"the first {diagnosis.looked_at:,} of {diagnosis.samples:,} samples"
    return f"{diagnosis.samples:,} sample{'s' if diagnosis.samples != 1 else ''}"


def failing_text(diagnosis: Diagnosis) -> str:
    """`7 of 14 samples seem to fail (2 not examined)`."""
    rest = f" ({diagnosis.undecided.total():,} not examined)" if diagnosis.undecided else ""
    return f"{diagnosis.failing:,} of {samples_text(diagnosis)} {fail_word(diagnosis, diagnosis.failing)}{rest}"


def causes_text(diagnosis: Diagnosis) -> str:
    """The main causes with their samples; causes that are not probable come last and are called possible."""
    main = [count for count in diagnosis.causes if count.main]
    doubtful = [count for count in main if count.is_doubtful]
    firm = ", ".join(_counted(count) for count in main if not count.is_doubtful)
    if not doubtful:
        return firm
    sure = f"the judge is {_range(doubtful)} sure"
    possible = f"possible causes, none is probable ({sure} of each)" if doubtful[1:] else f"a possible cause ({sure})"
    return f"{firm}{'; ' if firm else ''}{possible}: {', '.join(f'{one.main:,} {one.cause.name}' for one in doubtful)}"


def sure_text(count: CauseCount) -> str:
    """`The judge is 24 % sure: check it.`; empty if no judge with probabilities decided."""
    if count.probability is None:
        return ""
    words = how_sure(count.probability)
    return f"{words[0].upper()}{words[1:]}."


def percent(probability: float | None) -> str:
    """`24 %`."""
    return "–" if probability is None else f"{100 * probability:.0f} %"


def _counted(count: CauseCount) -> str:
    sure = "" if count.probability is None else f" ({how_sure(count.probability)})"
    return f"{count.main:,} {count.cause.name}{sure}"


def _range(counts: list[CauseCount]) -> str:
    known = sorted({round(100 * (count.probability or 0.0)) for count in counts})
    return f"{known[0]} %" if len(known) == 1 else f"{known[0]} – {known[-1]} %"
