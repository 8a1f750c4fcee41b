"""A verdict on a claim, its stored form, and the one table of words, signs, tones and phrases."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any, NamedTuple, Self

ENTAILMENT, CONTRADICTION, NEUTRAL = "entailment", "contradiction", "neutral"
# A judge with probabilities, between its two thresholds.
UNSURE = "unsure"
# How far an answer contains a nugget.
SUPPORT, PARTIAL, NOT = "support", "partial_support", "not_support"


class Word(NamedTuple):
    """How a verdict is shown: its sign, its tone (a CSS class), what the claim is, and what the text does with it."""

    sign: str
    tone: str
    phrase: str
    verb: str = ""


WORDS = {
    ENTAILMENT: Word("✓", "good", "supported", "supports"),
    CONTRADICTION: Word("✗", "bad", "contradicted", "contradicts"),
    UNSURE: Word("?", "unsure", "unsure", "perhaps supports"),
    NEUTRAL: Word("·", "silent", "not mentioned", "does not mention"),
    SUPPORT: Word("✓", "good", "in the answer"),
    PARTIAL: Word("◐", "unsure", "partly in the answer"),
    NOT: Word("·", "bad", "not in the answer"),
    # Items of checklists.
    "yes": Word("✓", "good", "yes"),
    "no": Word("✗", "bad", "no"),
    "not_applicable": Word("–", "silent", "not applicable"),
}
# The verdicts on claims that state something, the strongest first.
DECIDED = (ENTAILMENT, CONTRADICTION, UNSURE)
SIGNS = {WORDS[word].tone: WORDS[word].sign for word in (*DECIDED, NEUTRAL)}


class Verdict(str):
    """A verdict on a claim: its word and, if the judge gives them, the probabilities of support and contradiction.

    It equals its word. `counted` is what a share counts: the expected value of support, by default `support`. `reason` is the
    judge's, `source` names what decided, and `agreement` is the share of repeats with this verdict. `words` are those that the
    claim takes from its text, if shares weigh it by them. It is stored as `word support contradiction counted words`, then the reason and
    the source on a line each; unknown probabilities and words are left out. `agreement` is not stored.
    """

    __slots__ = ("agreement", "contradiction", "counted", "reason", "source", "support", "words")
    support: float | None
    contradiction: float | None
    counted: float | None
    reason: str | None
    source: str | None
    agreement: float | None
    words: int | None

    def __new__(
        cls,
        word: str,
        support: float | None = None,
        contradiction: float | None = None,
        reason: str | None = None,
        source: str | None = None,
        *,
        counted: float | None = None,
        agreement: float | None = None,
        words: int | None = None,
    ) -> Self:
        """Probabilities are rounded as they are stored, so that stored verdicts give the same scores."""
        verdict = super().__new__(cls, word)
        numbers: tuple[float | None, ...] = (None, None, None)
        if support is not None:
            expected = support if counted is None else counted
            numbers = round(support, 4), round(contradiction or 0.0, 4), round(expected, 4)
        # Each is stored on a line of its own.
        texts = _in_one_line(reason), _in_one_line(source)
        for name, value in zip(_FIELDS, (*numbers, *texts, agreement, words), strict=True):
            object.__setattr__(verdict, name, value)
        return verdict

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a verdict is immutable: cannot set {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (str(self), *(getattr(self, name) for name in _FIELDS))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A stored verdict, with or without numbers, reason and source."""
        return text if isinstance(text, cls) else cls._read(text)

    @classmethod
    @lru_cache(1 << 16)  # few verdicts differ within a run, and they are immutable
    def _read(cls, text: str) -> Self:
        line, _, rest = text.partition("\n")
        reason, _, source = rest.partition("\n")
        word, *numbers = line.split(" ")
        count = int(numbers.pop()) if len(numbers) in (1, _NUMBERS + 1) and numbers[-1].isdecimal() else None
        if numbers and len(numbers) != _NUMBERS:
            return cls(line, reason=reason, source=source)
        support, contradiction, counted = map(float, numbers) if numbers else (None, None, None)
        return cls(word, support, contradiction, reason, source, counted=counted, words=count)

    def standing_for(self, words: int | None) -> Self:
        """The same verdict on a claim with this many words of its text."""
        values = {name: getattr(self, name) for name in _FIELDS} | {"words": words}
        return type(self)(str(self), **values)

    def to_text(self) -> str:
        """The verdict as it is stored."""
        numbers = f" {self.support:.4f} {self.contradiction:.4f} {self.counted:.4f}" if self.support is not None else ""
        numbers += "" if self.words is None else f" {self.words}"
        reason = f"\n{self.reason or ''}" if self.reason or self.source else ""
        return f"{self}{numbers}{reason}" + (f"\n{self.source}" if self.source else "")

    def as_dict(self) -> dict[str, Any]:
        """Word and numbers for JSON."""
        numbers = {"supported": self.support, "contradicted": self.contradiction, "counted": self.counted}
        known = {name: text for name, text in (("reason", self.reason), ("source", self.source)) if text}
        return {"verdict": str(self), **numbers, **known}


_NUMBERS = 3
_FIELDS = ("support", "contradiction", "counted", "reason", "source", "agreement", "words")


def _in_one_line(text: str | None) -> str | None:
    return " ".join(text.splitlines()) or None if text else None


def _restore(word: str, *values: Any) -> Verdict:
    known = dict(zip(_FIELDS, values, strict=True))
    return Verdict(word, **known)


def probability_of(verdict: str | None) -> float | None:
    """The probability of support; None if the judge gave a word alone."""
    return getattr(verdict, "support", None)


def strongest(verdicts: Collection[str]) -> str:
    """Entailment if it is among the verdicts, else contradiction, else unsure, else neutral."""
    return next((word for word in DECIDED if word in verdicts), NEUTRAL)
