"""What RGB's abilities are judged by: the answers that are needed, the error that was planted, and what the answer says of it."""

from __future__ import annotations

from typing import Any, TypedDict

from ragstone.errors import Skip
from ragstone.evidence.tools import Judge
from ragstone.registry import evidence
from ragstone.text.error_notices import find_error_notice

# Where a sample keeps them; `stress` writes them.
NEEDED = "needed_answers"
PLANTED = "fake_answer"


class JudgedStance(TypedDict):
    """What a judge says that the answer does."""

    judged_refusal: bool
    judged_error_report: bool


@evidence(either=("references", "metadata"))
def needed_answers(references: list[str] | None, metadata: dict[str, Any] | None) -> list[list[str]]:
    """What the answer must contain: of each entry one of its spellings (references are spellings of one answer)."""
    given = (metadata or {}).get(NEEDED)
    found = (
        [one if isinstance(one, list) else [one] for one in given] if isinstance(given, list) else [references or []]
    )
    spelled = [[str(spelling) for spelling in one if str(spelling).strip()] for one in found]
    if not spelled or not all(spelled):
        raise Skip("no right answer is known")
    return spelled


@evidence
def planted_answer(metadata: dict[str, Any]) -> str:
    """The wrong answer that was put into the passages."""
    found = metadata.get(PLANTED)
    if not isinstance(found, str) or not found.strip():
        raise Skip("no error was planted")
    return found


@evidence
def error_notices(answer: str) -> list[str]:
    """The words with which the answer says that its sources are wrong; empty where it does not."""
    found = find_error_notice(answer)
    return [found] if found else []


@evidence(yields=("judged_refusal", "judged_error_report"), prompts=("stance",))
async def judged_stance(question: str, answer: str, judge: Judge) -> JudgedStance:
    """Whether the answer declines, and whether it says that its sources are wrong, by a judge."""
    if not answer.strip():
        raise Skip("the answer is empty")
    found = await judge.stance(question, answer)
    return {"judged_refusal": found.declines, "judged_error_report": found.reports_errors}
