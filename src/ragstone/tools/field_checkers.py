"""The field's checkers as tools: models in this process, and chat models asked in the form that they were trained on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.data.verdict import Verdict
from ragstone.errors import UsageError
from ragstone.llm.base import LLM, LLMReplyError, Message, Reply, Request
from ragstone.llm.concurrency import gather_then_raise
from ragstone.models.checker_facts import CHAT, FieldChecker, split_server
from ragstone.tools.checkers import Matrix, nothing, word_for
from ragstone.tools.function_checker import MatrixChecker

# Goes up if another form of asking or reading comes out.
_FORM = 1
__all__ = ["CHAT", "ChatFieldChecker", "LocalFieldChecker", "check_server", "open_in_process"]
# Families with a form of their own: any other is asked with its template and replies one of its words.
_GUARDIAN, _LYNX = "granite-guardian", "lynx"
# Tokens of a reply: a word, yes or no in one token, or reasons and a score.
_YES_NO, _WORD, _REASONS = 1, 8, 2_048
_SCORE = re.compile(r"<score>\s*(yes|no)\s*</score>", re.IGNORECASE)
_PASS = re.compile(r"""["']?SCORE["']?\s*:\s*["'\[]*\s*(PASS|FAIL)""", re.IGNORECASE)
_MOST = 0.5
_MARKS = " \t\n\"'.,▁Ġ"


def open_in_process(facts: FieldChecker, model: str, dry_run: bool) -> LocalFieldChecker:
    """The checker with its weights from the store."""
    from ragstone.models.checker_models import open_checker_model  # noqa: PLC0415  (slow import)

    server, spelled = split_server(model)
    if server:
        raise UsageError(f"{facts.name} is not a chat model: it runs in this process. Write --checker {facts.name}")
    return LocalFieldChecker(open_checker_model(facts, spelled), dry_run)


def check_server(facts: FieldChecker, model: str) -> None:
    """Raise if a chat model is named without a server, or with one that cannot get the evidence as the model reads it."""
    server, _ = split_server(model)
    if not server:
        raise UsageError(f"{facts.name} needs a server: {facts.how_to_get}")
    if facts.name == f"{_GUARDIAN}-4.1" and server == "ollama":
        raise UsageError(
            "Granite Guardian 4.1 reads documents through the chat template, which Ollama does not pass on. Use vllm/ or llamacpp/"
        )


class _FieldChecker(MatrixChecker):
    """Common parts: which checker it is, and how many calls a check needs."""

    def __init__(self, facts: FieldChecker, signature: str) -> None:
        self.facts = facts
        self.name, self.signature = facts.name, signature
        # It cannot say that a text contradicts a claim.
        self.two_way = facts.contradiction is None

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of pairs of claims and chunks."""
        return claims * chunks


class LocalFieldChecker(_FieldChecker):
    """A checker in this process. Pairs are read once each, in micro-batches."""

    def __init__(self, model: Any, dry_run: bool = False) -> None:
        from ragstone.models.runtime import Gatherer  # noqa: PLC0415  (slow import)

        super().__init__(model.facts, model.signature)
        self._dry_run = dry_run
        self._pairs: Gatherer[tuple[str, ...], Any] = Gatherer(model.read_all, most=16, letters=20_000)

    async def _ask(self, question: str, claims: Sequence[str], passages: Sequence[tuple[str, ...]]) -> Matrix:
        # Only some checkers are asked with the question; for the others all rows share a pair.
        asked = question if "{question}" in self.facts.template else ""
        pairs = [(asked, claim, *text) for claim in claims for text in passages if claim.strip() and any(text)]
        read = {} if self._dry_run else dict(zip(pairs, await self._pairs.submit(pairs), strict=True))

        def verdict(*pair: str) -> Verdict:
            found = read.get(pair)
            return nothing(1)[0] if found is None else Verdict(word_for(*found), *found)

        return [[verdict(asked, claim, *text) for text in passages] for claim in claims]


class ChatFieldChecker(_FieldChecker):
    """A chat model in the form that it was trained on."""

    def __init__(self, facts: FieldChecker, model: str, llm: LLM) -> None:
        super().__init__(facts, f"{llm.signature},temperature=0;form={facts.name}/{_FORM}")
        self._llm = llm
        self._server, _ = split_server(model)

    async def _ask(self, question: str, claims: Sequence[str], passages: Sequence[tuple[str, ...]]) -> Matrix:
        cells = [self._verdict(question, claim, "\n".join(text)) for claim in claims for text in passages]
        found = iter(await gather_then_raise(cells))
        return [[next(found) for _ in passages] for _ in claims]

    async def _verdict(self, question: str, claim: str, text: str) -> Verdict:
        """The least support of a sentence of the claim; for each, the best of the windows."""
        if not claim.strip() or not text.strip():
            return nothing(1)[0]
        # In long windows, words are counted instead of tokens.
        windows = self.facts.windows(text, lambda part: len(part.split()))
        sentences = self.facts.claim_parts(claim)
        asked = [self._support(question, sentence, window) for sentence in sentences for window in windows]
        values = await gather_then_raise(asked)
        best = [max(values[at : at + len(windows)]) for at in range(0, len(values), len(windows))]
        return Verdict(word_for(min(best)), min(best))

    async def _support(self, question: str, claim: str, text: str) -> float:
        reply = await self._llm.complete(self.request(question, claim, text))
        if reply.quoted:
            return 1.0
        read = _READERS.get(_family(self.facts))
        support = read(reply) if read else _read_word(reply, self.facts.words)
        if support is None:
            raise LLMReplyError(
                f"{self._llm.name} was asked as {self.facts.name} and returned no verdict: {reply.text[:80]!r}",
                reply.text,
            )
        return support

    def request(self, question: str, claim: str, text: str) -> Request:
        """The request for one claim and one text."""
        filled = self.facts.fill(question, claim, text)
        family = _family(self.facts)
        if family not in (_GUARDIAN, _LYNX):
            system = [Message("system", self.facts.system)] if self.facts.system else []
            guess = max(self.facts.words, key=self.facts.words.__getitem__).capitalize()
            return self._request([*system, Message("user", filled)], guess, _YES_NO if guess == "Yes" else _WORD)
        if family == _LYNX:
            return self._request([Message("user", filled)], '{"REASONING": [""], "SCORE": "PASS"}', _REASONS)
        guess = "<think>\n</think>\n<score> no </score>"
        if self._server == "ollama":
            names = [Message("system", "groundedness"), Message("document", text), Message("assistant", claim)]
            return self._request(names, guess, _REASONS)
        messages = [Message("assistant", claim)]
        template: dict[str, Any] = {"documents": [{"doc_id": "0", "text": text}]}
        if self.facts.name == f"{_GUARDIAN}-4.1":
            messages.append(Message("user", filled))
        else:
            template |= {"guardian_config": {"criteria_id": "groundedness"}, "think": False}
        return self._request(messages, guess, _REASONS, template)

    def _request(
        self, messages: Sequence[Message], guess: str, most: int, template: dict[str, Any] | None = None
    ) -> Request:
        # The reasons of Lynx come first, so that the probability of its verdict says nothing.
        logprobs = _family(self.facts) != _LYNX
        asked = (tuple(messages), self.facts.name, str(_FORM))
        return Request(*asked, max_tokens=most, logprobs=logprobs, template=template, guess=guess)


def _family(facts: FieldChecker) -> str:
    return _GUARDIAN if facts.name.startswith(_GUARDIAN) else facts.name


def _read_word(reply: Reply, words: Mapping[str, float]) -> float | None:
    """The support by the probabilities of the words as first token; that of the first word if they are not most of it."""
    shares = {word: _share(reply, 0, word) for word in words} if reply.alternatives else {}
    if math.fsum(shares.values()) >= _MOST:
        return min(math.fsum(words[word] * share for word, share in shares.items()), 1.0)
    said = re.match(r"\W*(\w+)", reply.text)
    return words.get(said[1].casefold()) if said else None


def _read_guardian(reply: Reply) -> float | None:
    """The probability of no in the score: yes means that the claim is not grounded. 1 or 0 without probabilities."""
    scores = _SCORE.findall(reply.text)
    if not scores:
        return None
    text = ""
    for at, (token, _) in enumerate(reply.logprobs or ()):
        word = token.strip(_MARKS).casefold()
        if text.rstrip().endswith("<score>") and word in ("yes", "no") and reply.alternatives:
            yes, no = (_share(reply, at, one) for one in ("yes", "no"))
            return no / (yes + no) if yes + no else None
        text += token
    return float(scores[-1].casefold() == "no")


def _share(reply: Reply, at: int, word: str) -> float:
    """The probability of a word, in all spellings, as the token at a position."""
    alternatives = reply.alternatives[at] if reply.alternatives and at < len(reply.alternatives) else ()
    known = dict((*(reply.logprobs or ())[at : at + 1], *alternatives))
    return math.fsum(math.exp(value) for token, value in known.items() if token.strip(_MARKS).casefold() == word)


def _read_lynx(reply: Reply) -> float | None:
    """The last score of the reply. The JSON around it is often not valid, so only the score is read."""
    found: list[str] = _PASS.findall(reply.text)
    return float(found[-1].upper() == "PASS") if found else None


_READERS = {_GUARDIAN: _read_guardian, _LYNX: _read_lynx}
