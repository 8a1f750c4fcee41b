"""RGB's four abilities (Chen et al. 2024): noise robustness, negative rejection, information integration, counterfactual robustness.

`ragstone stress` builds the samples for these metrics. They are computed only if named, as they mean little elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.text.lexicon import late_pattern
from ragstone.text.refusals import RGB_WORDS
from ragstone.tools.protocols import Judge

_RGB = "RGB (Chen et al. 2024)"
_REFUSING = ("insufficient information", "信息不足")
_COMMON: dict[str, Any] = {"family": "rgb", "judges": "answer", "slow": True}
_LETTERS = "A denial that names the answer counts as right, another spelling as wrong."
# `rgb`: only RGB's own phrases; `any`: all known phrases.
Words = Literal["any", "rgb"]


# Metadata keys of a sample, written by `ragstone stress`.
NEEDED = "needed_answers"
PLANTED = "fake_answer"

_SOURCES = r"(?:documents?|passages?|contexts?|texts?|sources?|articles?|information|statements?|claims?|snippets?)"
_WRONG = (
    r"(?:factual(?:ly)? (?:errors?|mistakes?|inaccura\w+|incorrect|wrong|inaccurate)|incorrect\w*|inaccurate\w*|"
    r"erroneous\w*|wrong\w*|mistaken\w*|false|misinformation|errors?|mistakes?|not (?:true|correct|accurate|right))"
)
_ENGLISH = late_pattern(
    rf"\bfactual(?:ly)? (?:errors?|mistakes?|inaccura\w+|incorrect|wrong)|"
    rf"\b{_SOURCES}\b[^.;!?\n]{{0,80}}\b{_WRONG}\b|"
    rf"\b{_WRONG}\b[^.;!?\n]{{0,40}}\b(?:in|of|from) the (?:\w+ ){{0,2}}{_SOURCES}\b|"
    rf"\b(?:contrary to|contradicts?) (?:what )?the (?:\w+ ){{0,2}}{_SOURCES}\b",
    re.IGNORECASE,
)
_CHINESE = late_pattern(
    r"事实(?:性|上)?(?:的)?错误|"
    r"(?:文档|文件|资料|材料|文中|文章|段落|信息|内容)[^。；！？\n]{0,30}(?:有误|错误|不正确|不准确|不属实|不符合事实|与事实不符)"
)
_DENIED_BEFORE = late_pattern(
    r"\b(?:no|not|without|any|never|free of|n't)\b[^.;!?\n]{0,25}$|(?:没有|无|未发现|不存在)[^。；！？\n]{0,10}$", re.I
)
_DENIED_WITHIN = late_pattern(
    r"\b(?:no|not|n't|never|without|free of)\b(?! (?:true|correct|accurate|right))|(?:没有|未发现|不存在|并无)", re.I
)


class JudgedStance(TypedDict):
    """A judge's verdict on the answer."""

    judged_refusal: bool
    judged_error_report: bool


@evidence(either=("references", "metadata"))
def needed_answers(references: list[str] | None, metadata: dict[str, Any] | None) -> list[list[str]]:
    """The texts that the answer must contain: one spelling per entry; references are spellings of one answer."""
    entries = (metadata or {}).get(NEEDED)
    if not isinstance(entries, list):
        entries = [references or []]
    lists = [entry if isinstance(entry, list) else [entry] for entry in entries]
    needed = [[str(spelling) for spelling in spellings if str(spelling).strip()] for spellings in lists]
    if not needed or not all(needed):
        raise Skip("no right answer is known")
    return needed


@evidence
def planted_answer(metadata: dict[str, Any]) -> str:
    """The wrong answer that was planted in the passages."""
    planted = metadata.get(PLANTED)
    if not isinstance(planted, str) or not planted.strip():
        raise Skip("no error was planted")
    return planted


@evidence
def error_notices(answer: str) -> list[str]:
    """The words with which the answer calls its sources wrong; empty if it does not."""
    notice = find_error_notice(answer)
    return [notice] if notice else []


@evidence(yields=("judged_refusal", "judged_error_report"), prompts=("stance",))
async def judged_stance(question: str, answer: str, judge: Judge) -> JudgedStance:
    """Whether the answer declines, and whether it calls its sources wrong, by a judge."""
    if not answer.strip():
        raise Skip("the answer is empty")
    stance = await judge.stance(question, answer)
    return {"judged_refusal": stance.declines, "judged_error_report": stance.reports_errors}


@metric("rgb.accuracy", **_COMMON, against="references", source=f"accuracy, {_RGB}", misleads=_LETTERS)
def accuracy(answer: str, needed_answers: Sequence[Sequence[str]]) -> float:
    """Whether the answer contains every needed answer.

    A spelling of each needed answer is a substring of the answer, ignoring case. References are spellings of
    one answer; `metadata.needed_answers` may list several, each a text or a list of spellings.
    """
    return float(_contains(answer, needed_answers))


@metric(
    "rgb.rejection_rate",
    **_COMMON,
    against="answerable",
    source=f"negative rejection, {_RGB}",
    misleads="Refusals are found by their phrases; `rgb.rejection_rate.judged` uses a judge.",
)
def rejection_rate(answer: str, declining_words: Sequence[str], answerable: bool, by: Words = "any") -> float:
    """Whether the answer declines if no passage contains the answer.

    1 if it contains "insufficient information" or 信息不足 (`by=rgb`: only these) or is a `refusal`, else 0. Skipped if the
    passages contain the answer, or the answer is empty.
    """
    _check_unanswerable(answerable)
    folded = answer.casefold()
    return float(any(words in folded for words in _REFUSING) or (by == "any" and bool(declining_words)))


@metric(
    "rgb.rejection_rate.judged",
    **_COMMON,
    against="answerable",
    source=f"negative rejection by a judge, {_RGB}",
    misleads="It depends on the judge.",
)
def judged_rejection_rate(judged_refusal: bool, answerable: bool) -> float:
    """Whether the answer declines if no passage contains the answer, by a judge.

    1 if it does, else 0. Skipped if the passages contain the answer.
    """
    _check_unanswerable(answerable)
    return float(judged_refusal)


@metric(
    "rgb.error_detection_rate",
    **_COMMON,
    against="metadata",
    source=f"counterfactual robustness, {_RGB}",
    misleads="Error reports are found by English and Chinese phrases, also in a copied passage; `rgb.error_detection_rate.judged` uses a judge.",
)
def error_detection_rate(
    answer: str,
    error_notices: Sequence[str],
    planted_answer: str,  # noqa: ARG001  (rows without one are skipped)
    by: Words = "any",
) -> float:
    """Whether the answer reports that the passages are wrong, if an error was planted in them.

    1 if it mentions factual errors or 事实性错误 (`by=rgb`: only these) or calls the documents wrong in other words, else 0.
    Skipped if no error was planted (`metadata.fake_answer`).
    """
    return float(_detects(answer, error_notices, by))


@metric(
    "rgb.error_detection_rate.judged",
    **_COMMON,
    against="metadata",
    source=f"counterfactual robustness by a judge, {_RGB}",
    misleads="It depends on the judge.",
)
def judged_error_detection_rate(judged_error_report: bool, planted_answer: str) -> float:  # noqa: ARG001
    """Whether the answer reports that the passages are wrong, if an error was planted in them, by a judge.

    1 if it does, else 0. Skipped if no error was planted.
    """
    return float(judged_error_report)


@metric(
    "rgb.error_correction_rate",
    **_COMMON,
    against="references",
    source=f"counterfactual robustness, {_RGB}",
    misleads=f"{_LETTERS} Few detected errors leave few rows.",
)
def error_correction_rate(
    answer: str,
    error_notices: Sequence[str],
    planted_answer: str,  # noqa: ARG001  (rows without one are skipped)
    needed_answers: Sequence[Sequence[str]],
    by: Words = "any",
) -> float:
    """Whether the answer is right, among the answers that detect the planted error.

    1 if it contains every needed answer, else 0. Skipped if the error is not detected.
    """
    if not _detects(answer, error_notices, by):
        raise Skip("the error was not detected")
    return float(_contains(answer, needed_answers))


@metric(
    "rgb.error_correction_rate.judged",
    **_COMMON,
    against="references",
    source=f"counterfactual robustness by a judge, {_RGB}",
    misleads="Few detected errors leave few rows.",
)
def judged_error_correction_rate(
    judged_error_report: bool,
    planted_answer: str,  # noqa: ARG001  (rows without one are skipped)
    reference_matches: Sequence[float],
) -> float:
    """Whether the answer matches a reference, among the answers that detect the planted error, by a judge.

    As `answer_match`. Skipped if the error is not detected.
    """
    if not judged_error_report:
        raise Skip("the error was not detected")
    return max(reference_matches)


def _contains(answer: str, needed: Sequence[Sequence[str]]) -> bool:
    folded = answer.casefold()
    return all(any(spelling.casefold() in folded for spelling in spellings) for spellings in needed)


def _detects(answer: str, error_notices: Sequence[str], by: Words) -> bool:
    folded = answer.casefold()
    return any(words in folded for words in RGB_WORDS) if by == "rgb" else bool(error_notices)


def _check_unanswerable(answerable: bool) -> None:
    if answerable:
        raise Skip("the passages contain the answer")


def find_error_notice(answer: str) -> str | None:
    """The words that report an error in the sources, or None; "there are no factual errors" does not count."""
    for pattern in (_ENGLISH, _CHINESE):
        for match in pattern.finditer(answer):
            if not _DENIED_BEFORE.search(answer[: match.start()]) and not _DENIED_WITHIN.search(match[0]):
                return match[0]
    return None
