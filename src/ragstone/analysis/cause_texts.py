"""The wording of a diagnosis: how many samples fail, and why, in the same words in terminal, browser, report and Python."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.analysis.cause_names import Outcome, Status
from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.row_status import word_of

# In place of a cause: verdicts are missing, so it is unknown whether the sample fails.
NOT_EXAMINED = "not examined"
LOOK = "look"


class RowLabel(str):
    """The main cause of a row, `not examined` or empty, with the probability that the row is wrong, and who labelled it."""

    __slots__ = ("judged_wrong", "labelled_by", "wrong")
    wrong: float | None
    labelled_by: str
    judged_wrong: float | None

    def __new__(
        cls, text: str, wrong: float | None = None, labelled_by: str = "", judged_wrong: float | None = None
    ) -> RowLabel:
        """The label of a row; `judged_wrong` is the probability without labels of people."""
        label = super().__new__(cls, text)
        label.wrong, label.labelled_by, label.judged_wrong = wrong, labelled_by, judged_wrong
        return label

    @property
    def status(self) -> Status:
        """The word for the probability."""
        return word_of(self.wrong)


def cause_label(diagnosis: Diagnosis, outcome: Outcome) -> RowLabel:
    """The main cause, `look`, `not examined`, or empty for a sample without a fault, or if no sample was examined."""
    missing = NOT_EXAMINED if outcome.undecided and diagnosis.decided else ""
    name = outcome.cause.name if outcome.cause else LOOK if outcome.status == LOOK else missing
    return RowLabel(name, outcome.wrong, people_text(outcome.labelled_by), outcome.judged_wrong)


def status_text(outcome: Outcome) -> str:
    """`wrong (92 %)`, `look (wrong: 45 %)`, `fine (wrong: 6 %)`, `wrong (labelled by Ana)` or `no judgement`."""
    if outcome.labelled_by:
        return f"{outcome.status} ({people_text(outcome.labelled_by)})"
    return f"{outcome.status}{wrong_text(outcome.status, outcome.wrong)}"


def wrong_text(status: str, wrong: float | None) -> str:
    """` (92 %)` after the status wrong, ` (wrong: 6 %)` after others; empty if unknown."""
    return "" if wrong is None else f" ({'' if status == 'wrong' else 'wrong: '}{100 * wrong:.0f} %)"


def people_text(names: Sequence[str]) -> str:
    """`labelled by Ana`, `labelled by Ana and Bo`, `labelled by 3 people`; empty without any."""
    if not names:
        return ""
    return f"labelled by {' and '.join(names) if len(names) < 3 else f'{len(names)} people'}"


def seems(diagnosis: Diagnosis) -> bool:
    """Whether a judge that may be wrong decided."""
    guessed = any(count.probability is not None for count in diagnosis.causes)
    return diagnosis.by_local_judge or diagnosis.by_doubted_judge or guessed


def samples_text(diagnosis: Diagnosis) -> str:
    """`14 samples`, or `the first 2,000 of 9,000 samples`."""
    if diagnosis.looked_at < diagnosis.samples:
        return f"the first {diagnosis.looked_at:,} of {diagnosis.samples:,} samples"
    return f"{diagnosis.samples:,} sample{'s' if diagnosis.samples != 1 else ''}"


def failing_text(diagnosis: Diagnosis) -> str:
    """`7 of 14 samples seem wrong, 3 need a look (2 not examined)`."""
    wrong, look = diagnosis.failing, diagnosis.statuses[LOOK]
    rest = f" ({diagnosis.undecided.total():,} not examined)" if diagnosis.undecided else ""
    need = "needs" if look == 1 else "need"
    if look and not wrong:
        none = "seems" if seems(diagnosis) else "is"
        return f"{look:,} of {samples_text(diagnosis)} {need} a look, none {none} wrong{rest}"
    one = ("seems" if wrong == 1 else "seem") if seems(diagnosis) else ("is" if wrong == 1 else "are")
    more = f", {look:,} {need} a look" if look else ""
    return f"{wrong:,} of {samples_text(diagnosis)} {one} wrong{more}{rest}"


def causes_text(diagnosis: Diagnosis) -> str:
    """The main causes with their samples; those of samples that only need a look come last, as possible causes."""
    names = [count.cause.name for count in diagnosis.causes]
    firm, possible = (
        ", ".join(f"{number:,} {name}" for number, name in zip(numbers, names, strict=True) if number)
        for numbers in ([one.wrong for one in diagnosis.causes], [one.look for one in diagnosis.causes])
    )
    return "; ".join(filter(None, [firm, possible and f"possibly {possible}"]))
