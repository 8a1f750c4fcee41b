"""A toy RAG system over the documents of the example: word search over chunks, and the best sentence as the answer.

It has no language model, so that a sweep of its settings runs in seconds. `ragstone demo sweep` sweeps it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

_DOCUMENTS = Path(__file__).parent / "documents"
_WORD = re.compile(r"[a-z0-9]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_STOP = frozenset(
    _WORD.findall("a an and are at be by can do for from how i if in is it my of on or the to what when with")
)
# What a small hosted model would charge for the passages, so that the sweep has a price to weigh.
_USD_PER_WORD = 2e-7


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP]


@cache
def _chunks(chunk_words: int) -> list[tuple[str, str, str]]:
    """Id, document and text of each chunk: whole sentences up to a number of words."""
    found = []
    for path in sorted(_DOCUMENTS.glob("*.md")):
        parts: list[str] = []
        number = 0
        for sentence in [*_SENTENCE.split(path.read_text(encoding="utf-8")), ""]:
            if parts and (not sentence or len(" ".join([*parts, sentence]).split()) > chunk_words):
                number += 1
                found.append((f"{path.stem}-{number}", path.name, " ".join(parts)))
                parts = []
            if sentence.strip():
                parts.append(sentence.strip())
        if parts:
            found.append((f"{path.stem}-{number + 1}", path.name, " ".join(parts)))
    return found


@cache
def _index(chunk_words: int, index: str) -> tuple[list[Counter[str]], dict[str, float], float]:
    """Word counts of each chunk or of the title of its document, the weight of each word, and the mean length."""
    if index not in ("text", "titles"):
        raise ValueError(f"index is text or titles, not {index}")
    titles = {path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in _DOCUMENTS.glob("*.md")}
    chunks = _chunks(chunk_words)
    counts = [Counter(_words(text if index == "text" else titles[source])) for _, source, text in chunks]
    within = Counter(word for count in counts for word in count)
    weights = {word: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for word, n in within.items()}
    return counts, weights, sum(count.total() for count in counts) / len(counts)


def _rank(question: str, chunk_words: int, index: str) -> list[tuple[float, int]]:
    """BM25 with its usual constants; best first."""
    counts, weights, mean = _index(chunk_words, index)
    asked = _words(question)
    scores = []
    for number, count in enumerate(counts):
        length = 1.2 * (0.25 + 0.75 * count.total() / mean)
        score = sum(weights.get(word, 0.0) * count[word] * 2.2 / (count[word] + length) for word in asked)
        scores.append((score, number))
    return sorted(scores, key=lambda item: (-item[0], item[1]))


def best_sentence(question: str, contexts: list[str]) -> str:
    """The sentence that shares most words with the question."""
    asked = set(_words(question))
    sentences = [sentence for text in contexts for sentence in _SENTENCE.split(text)]
    return max(sentences, key=lambda text: len(asked & set(_words(text))), default="I do not know.")


def answer(question: str, chunk_words: int = 60, top_k: int = 3, index: str = "text") -> dict[str, Any]:
    """The sentence of the retrieved chunks that shares most with the question, and the chunks."""
    chunks = _chunks(chunk_words)
    found = [(score, *chunks[number]) for score, number in _rank(question, chunk_words, index)[:top_k] if score > 0]
    read = sum(len(text.split()) for *_, text in found)
    return {
        "answer": best_sentence(question, [text for *_, text in found]),
        "contexts": [
            {"text": text, "id": name, "score": round(score, 3), "source": source}
            for score, name, source, text in found
        ],
        "input_tokens": read,
        "cost_usd": round(read * _USD_PER_WORD, 9),
    }
