"""A user's function as a checker: `f(claims, texts)` returns one row per claim with one value per text.

A value is a probability of support, a word such as `entailment`, or a `Verdict`. Two attributes of the function are read:
`version`, which replaces the hash of its code in signatures, and `batch_size`: such a function gets two lists of equal length,
at most that many pairs of claim and text from several rows, and returns one value per pair.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragstone.data.verdict import DECIDED, ENTAILMENT, NEUTRAL, UNSURE, Verdict
from ragstone.errors import Skip, UsageError
from ragstone.llm.base import LLM, LLMError
from ragstone.llm.concurrency import gather_then_raise, run_in_thread
from ragstone.llm.embeddings import Batcher
from ragstone.llm.providers.python_function import describe_error, is_async
from ragstone.llm.reply_types import read_verdict
from ragstone.llm.user_code import load_name, split_file_name, version_of
from ragstone.tools.checkers import Matrix, TextChecker, Texts, joined, nothing, states_nothing, word_for
from ragstone.tools.local_judges import with_question

# Calls of an async function at a time. A plain function gets one call at a time, because few functions are thread-safe.
_ASYNC_AT_ONCE = 16
_WORDS = (*DECIDED, NEUTRAL)


def open_function(model: Any, dry_run: bool = False) -> FunctionChecker | None:
    """The checker of a function, or of `file.py:function`, that takes claims and texts; None for any other model."""
    name = version = None
    if isinstance(model, str) and (in_file := split_file_name(model)):
        loaded = load_name(*in_file, "checker")
        model, name, version = loaded.value, f"function/{loaded.label}", loaded.version
    if isinstance(model, str | LLM) or not callable(model) or not _takes_texts(model):
        return None
    return FunctionChecker(model, name, version, dry_run)


def _takes_texts(function: Callable[..., Any]) -> bool:
    """Whether a function has two parameters without defaults. A function of prompts has one."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in positional and one.default is one.empty for one in parameters) == 2


class MatrixChecker(TextChecker):
    """A checker that reads pairs of claim and text. `passages` of `_ask` are the chunks of each text."""

    # No prompt is asked in place of those that evidence functions declare.
    prompts: Mapping[str, tuple[str, ...]] = dict.fromkeys(("verdicts", "context_verdicts", "nuggets"), ())

    async def in_text(self, question: str, claims: Sequence[str], text: str) -> list[Verdict]:
        """One verdict per claim; a fragment is read together with its question."""
        if states_nothing(text):
            return nothing(len(claims))
        return [row[0] for row in await self._ask(question, claims, [(with_question(question, text),)])]

    async def in_chunks(self, question: str, claims: Sequence[str], texts: Texts) -> Matrix:
        """Claims by chunks, then the claims that no chunk supports by all chunks as one text."""
        chunks = [*texts.chunks, *([texts.earlier] if texts.earlier else ())]
        rows = await self._ask(question, claims, [(chunk,) for chunk in chunks])
        count = len(texts.chunks)
        together = [joined(row[:count]) for row in rows]
        unsupported = [at for at, row in enumerate(rows) if ENTAILMENT not in row[:count]]
        if texts.joint and count > 1 and unsupported:
            joint = await self._ask(question, [claims[at] for at in unsupported], [tuple(texts.chunks)])
            for at, [verdict] in zip(unsupported, joint, strict=True):
                if verdict in (ENTAILMENT, UNSURE):
                    together[at] = verdict
        return [texts.row(row[:count], one, row[count:]) for row, one in zip(rows, together, strict=True)]

    async def _ask(self, question: str, claims: Sequence[str], passages: Sequence[tuple[str, ...]]) -> Matrix:
        raise NotImplementedError


class FunctionChecker(MatrixChecker):
    """Calls the function for claims and texts; a quote (`dry_run`) does not call it."""

    def __init__(
        self, function: Callable[..., Any], name: str | None = None, version: str | None = None, dry_run: bool = False
    ) -> None:
        self._function = function
        self._dry_run = dry_run
        self.name = name or f"function/{getattr(function, '__qualname__', type(function).__qualname__)}"
        self.signature = f"{self.name}#{getattr(function, 'version', None) or version or version_of(function)}"
        self._is_async = is_async(function)
        size = getattr(function, "batch_size", None)
        if size is not None and (not isinstance(size, int) or size < 1):
            raise UsageError(f"batch_size of {self.name} must be a whole number of 1 or more, got {size!r}")
        parallel = _ASYNC_AT_ONCE if self._is_async else 1
        self._matrices: Batcher[tuple[Sequence[str], Sequence[str]], Matrix]
        self._matrices = Batcher(self._ask_matrix, 1, parallel)
        self._pairs: Batcher[tuple[str, str], Verdict] | None
        self._pairs = Batcher(self._ask_pairs, size, parallel) if size else None

    def calls_for(self, claims: int, chunks: int = 1) -> int:
        """The number of calls for these numbers of claims and chunks."""
        return int(claims > 0 and chunks > 0)

    async def _ask(
        self,
        question: str,  # noqa: ARG002  (the function does not get the question)
        claims: Sequence[str],
        passages: Sequence[tuple[str, ...]],
    ) -> Matrix:
        texts = ["\n".join(chunks) for chunks in passages]
        if self._dry_run or not claims or not texts:
            return [nothing(len(texts)) for _ in claims]
        if self._pairs is None:
            return await self._matrices.submit((list(claims), list(texts)))
        pairs = [(claim, text) for claim in claims for text in texts]
        found = iter(await gather_then_raise(map(self._pairs.submit, pairs)))
        return [[next(found) for _ in texts] for _ in claims]

    async def _ask_matrix(self, asked: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Sequence[Matrix]:
        [(claims, texts)] = asked
        rows = await self._call(claims, texts)
        if not _is_list(rows) or len(rows) != len(claims) or any(not _is_list(r) or len(r) != len(texts) for r in rows):
            raise LLMError(
                f"{self.name} must return {_shape(len(claims), len(texts))} (claims × texts): "
                f"a list with one row per claim and one value per text. It returned {_shape_of(rows)}"
            )
        return [[[self._verdict(value) for value in row] for row in rows]]

    async def _ask_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        claims, texts = (list(items) for items in zip(*pairs, strict=True))
        values = await self._call(claims, texts)
        if not _is_list(values) or len(values) != len(pairs):
            raise LLMError(
                f"{self.name} has a batch_size and must return a list of {len(pairs)} values, one per pair of claim and "
                f"text. It returned {_shape_of(values)}"
            )
        return [self._verdict(value) for value in values]

    async def _call(self, claims: Sequence[str], texts: Sequence[str]) -> Any:
        call = self._function
        try:
            found = await (call(claims, texts) if self._is_async else run_in_thread(call, claims, texts))
        except Skip:
            raise
        except Exception as error:
            raise LLMError(describe_error(self.name, error)) from error
        return found.tolist() if hasattr(found, "tolist") else found

    def _verdict(self, value: Any) -> Verdict:
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, str):
            verdict = value if isinstance(value, Verdict) else Verdict(read_verdict(value))
            if verdict in _WORDS:
                return verdict
            raise LLMError(f"{self.name} returned the word {str(value)!r}. Choose from: {', '.join(_WORDS)}")
        if not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
            raise LLMError(f"{self.name} returned {value!r}: a probability of support is a number from 0 to 1")
        return Verdict(word_for(float(value)), float(value))


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _shape(rows: int, columns: int | str) -> str:
    return f"{rows} × {columns} values"


def _shape_of(value: Any) -> str:
    if not _is_list(value):
        return f"{type(value).__name__}, not a list"
    if not all(map(_is_list, value)):
        return f"a list of {len(value)} without rows"
    sizes = sorted({len(row) for row in value})
    return _shape(len(value), "/".join(map(str, sizes)) or 0)
