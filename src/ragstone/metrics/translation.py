"""Metrics of machine translation: BLEU, chrF and TER as in sacrebleu (Post 2018), divided by 100.

Each row stores counts. They give the sentence score of the row and, summed, the score of the run. Texts are normalised to
NFC. sacrebleu's default tokenisers split at spaces only. Rows with Chinese, Japanese, Thai, Lao, Burmese or Khmer are
therefore split as in its `zh`, plus single characters for the scripts that `zh` does not split. English runs equal
sacrebleu's `13a`, Chinese ones its `zh`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragstone.data.columns import Rows
from ragstone.errors import MissingExtraError, Skip
from ragstone.registry import Corpus, evidence, metric
from ragstone.text.edit_rate import count_edits
from ragstone.text.lexicon import late_pattern

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF


Order = Literal["full", "effective"]
_ORDERS = 4  # n-grams of 1 to 4 words in BLEU
_BETA = 2  # chrF weights recall this many times as much as precision
_COMMON: dict[str, Any] = {
    "family": "lexical",
    "judges": "answer",
    "against": "references",
    "sets": ("traditional",),
    "columnar": True,
    "slow": True,
}


# Thai and Lao, Burmese, Khmer, hiragana and katakana, and rare Chinese: sacrebleu's `zh` does not split these.
_LEFT_TOGETHER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\U00020000-\U0003ffff"
_UNSPACED = late_pattern(f"[{_LEFT_TOGETHER}\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SET_APART = late_pattern(f"([{_LEFT_TOGETHER}])")
# Beyond this limit the search for moved blocks takes minutes and gigabytes.
_MOST_WORDS = 10_000


def _signed(settings: str) -> Callable[[], str]:
    """The settings for signatures, in sacrebleu's notation."""
    return lambda: f"{settings},form:nfc,sacrebleu:{version('sacrebleu') if find_spec('sacrebleu') else 'none'}"


@evidence(signature=_signed("case:mixed,eff:rows,tok:13a+zh,smooth:exp"))
def bleu_statistics(answer: str, references: list[str]) -> list[float]:
    """Words of the answer and of the reference closest in length, then matched and total n-grams of 1 to 4 words."""
    _check_installed()
    unspaced, (said, *expected) = _prepare(answer, references)
    score = _bleu("zh" if unspaced else "13a").sentence_score(said, expected)
    _forget()
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


@evidence(signature=_signed("case:mixed,eff:yes,nc:6,nw:0,space:no"))
def chrf_statistics(answer: str, references: list[str]) -> list[float]:
    """The number of n-grams of 1 to 6 characters in the answer, in the best reference and in both."""
    _check_installed()
    said, *expected = _one_form([answer, *references])
    # The only access to sacrebleu's counts; its own significance tests use it too.
    (counts,) = _chrf()._extract_corpus_statistics([said], [[reference] for reference in expected])  # noqa: SLF001
    return list(counts)


@evidence(signature=_signed("case:lc,tok:tercom,norm:unspaced,punct:yes,asian:unspaced"))
def ter_statistics(answer: str, references: list[str]) -> list[float]:
    """The fewest edits that turn the answer into a reference, and the mean length of the references in words."""
    _check_installed()
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer  # noqa: PLC0415  (takes half a second)

    unspaced, texts = _prepare(answer, references)
    tokenise = TercomTokenizer(normalized=unspaced, asian_support=unspaced)
    said, *expected = (tokenise(text.rstrip()).split() for text in texts)
    _forget()
    longest = max(map(len, (said, *expected)))
    if longest > _MOST_WORDS:
        raise Skip(f"a text has {longest:,} words; the limit for TER is {_MOST_WORDS:,}")
    edits = min(count_edits(said, words) for words in expected)
    return [edits, sum(map(len, expected)) / len(expected)]


@cache
def _check_installed() -> None:
    if find_spec("sacrebleu") is None:
        raise Skip(str(MissingExtraError("sacrebleu, which counts for BLEU, chrF and TER,", "metrics")))


def _prepare(answer: str, references: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether the row has a script without spaces, and its texts with spaces around the characters of that script."""
    texts = _one_form([answer, *references])
    unspaced = any(_UNSPACED.search(text) for text in texts)
    return unspaced, [_SET_APART.sub(r" \1 ", text) for text in texts] if unspaced else texts


def _one_form(texts: Sequence[str]) -> list[str]:
    return [unicodedata.normalize("NFC", text) for text in texts]


@cache
def _bleu(tokenise: str) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415

    return BLEU(tokenize=tokenise, force=True, effective_order=True)


@cache
def _chrf() -> CHRF:
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

    return CHRF()


def _forget() -> None:
    """Empty sacrebleu's caches, which keep the last 65,536 texts: each text is scored only once."""
    for cached in _cached():
        cached.cache_clear()


@cache
def _cached() -> list[Any]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # noqa: PLC0415
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer  # noqa: PLC0415
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh  # noqa: PLC0415

    return [vars(kind)["__call__"] for kind in (Tokenizer13a, TokenizerRegexp, TercomTokenizer, TokenizerZh)]


def bleu_of(statistics: np.ndarray, order: Order = "full") -> np.ndarray:
    """BLEU of summed counts along the last axis."""
    said, expected = statistics[..., 0], statistics[..., 1]
    matched, total = statistics[..., 2 : 2 + _ORDERS], statistics[..., 2 + _ORDERS :]
    known = total > 0
    # "exp" smoothing: the first order without a match counts as 1/2 match, the next as 1/4, and so on.
    missed = known & (matched == 0)
    counted = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matched)
    logs = np.log(np.divide(counted, total, out=np.ones_like(total), where=known))
    orders = known.sum(axis=-1)
    brevity = 1 - np.divide(expected, said, out=np.full_like(said, np.inf), where=said > 0)
    score = np.exp(np.minimum(brevity, 0) + logs.sum(axis=-1) / np.maximum(orders, 1))
    if order == "full":
        score = np.where(orders == _ORDERS, score, 0.0)
    return np.where(matched.any(axis=-1), score, 0.0)


def chrf_of(statistics: np.ndarray) -> np.ndarray:
    """F-score of the mean precision and recall over the orders that both sides have, along the last axis."""
    said, expected, matched = np.moveaxis(statistics.reshape(*statistics.shape[:-1], -1, 3), -1, 0)
    known = (said > 0) & (expected > 0)
    orders = np.maximum(known.sum(axis=-1), 1)
    precision = np.divide(matched, said, out=np.zeros_like(said), where=known).sum(axis=-1) / orders
    recall = np.divide(matched, expected, out=np.zeros_like(said), where=known).sum(axis=-1) / orders
    weighed = _BETA**2 * precision + recall
    score: np.ndarray = np.divide(
        (1 + _BETA**2) * precision * recall, weighed, out=np.zeros_like(weighed), where=weighed > 0
    )
    return score


def ter_of(statistics: np.ndarray) -> np.ndarray:
    """Edits per word of the references along the last axis; without words, 1 if there are edits."""
    edits, words = statistics[..., 0], statistics[..., 1]
    return np.where(words > 0, edits / np.where(words > 0, words, 1), edits > 0)


@metric(
    "bleu",
    **_COMMON,
    source="Papineni et al. 2002; sacrebleu (Post 2018)",
    misleads=(
        "A right answer in other words scores low. A run whose answers all have fewer than four words scores 0 "
        "unless order=effective."
    ),
    aliases={
        "sacrebleu": {},
        "sacrebleu.bleu": {},
        "unitxt.sacrebleu": {},
        "unitxt.normalized_sacrebleu": {"order": "effective"},
    },
    corpus=Corpus("bleu_statistics", bleu_of),
)
def bleu(bleu_statistics: Rows, order: Order = "full") -> np.ndarray:  # noqa: ARG001  (for the run's score)
    """Runs of one to four words that the answer shares with the references, with a penalty for short answers.

    Geometric mean of the n-gram precisions × brevity penalty, with "exp" smoothing. A row is sacrebleu's
    sentence_bleu (effective order), the run its corpus_bleu (`order=effective`: in effective order). 13a tokens,
    characters for scripts without spaces; case-sensitive. Answer without words: 0.
    Needs `pip install 'ragstone[metrics]'`.
    """
    return bleu_of(_table(bleu_statistics), "effective")


@metric(
    "chrf",
    **_COMMON,
    source="Popović 2015; sacrebleu (Post 2018)",
    misleads="Long answers gain, and names and numbers weigh no more than word endings.",
    aliases=("chrf2", "sacrebleu.chrf"),
    corpus=Corpus("chrf_statistics", chrf_of),
)
def chrf(chrf_statistics: Rows) -> np.ndarray:
    """Runs of one to six characters that answer and reference share; best over references.

    F-score of the mean precision and recall over the lengths, with double weight on recall (chrF2). White space is
    ignored; case-sensitive. It suits every script. Either side empty: 0.
    Needs `pip install 'ragstone[metrics]'`.
    """
    return chrf_of(_table(chrf_statistics))


@metric(
    "ter",
    **_COMMON,
    bounds=(0.0, None),
    better="lower",
    source="Snover et al. 2006; sacrebleu (Post 2018)",
    misleads="A right but long answer to a short reference exceeds 1.",
    aliases=("sacrebleu.ter", "translation_edit_rate"),
    corpus=Corpus("ter_statistics", ter_of),
)
def ter(ter_statistics: Rows) -> np.ndarray:
    """Edits per reference word that turn the answer into a reference.

    Edits insert, delete or replace a word or move a block of words. Fewest edits over references / mean length of the
    references. Case-insensitive, with punctuation. References without words: 1, or 0 if the answer has none either.
    Skipped if a text has more than 10,000 words. Needs `pip install 'ragstone[metrics]'`.
    """
    return ter_of(_table(ter_statistics))


def _table(statistics: Rows) -> np.ndarray:
    return np.array(list(statistics), dtype=np.float64)
