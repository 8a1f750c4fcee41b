"""What BLEU, chrF and TER count in each row, through sacrebleu (Post 2018); sums of it make the scores of a whole run.

Texts are put into one Unicode form first (NFC), so that ü is ü however it was typed. sacrebleu's default tokenisers
know spaces only. A row with Chinese, Japanese, Thai, Lao, Burmese or Khmer in its answer or its references is
therefore cut as sacrebleu's `zh` does, and the characters of the scripts that `zh` leaves together are set apart as its
`char` does; every other row as its default. So a run in English is equal to sacrebleu's `13a`, one in Chinese to its `zh`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ragstone.errors import Skip
from ragstone.registry import evidence
from ragstone.text.edit_rate import count_edits

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

# Thai and Lao, Burmese, Khmer, hiragana and katakana, and rare Chinese: what sacrebleu's `zh` leaves together.
_LEFT_TOGETHER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{_LEFT_TOGETHER}\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SET_APART = partial(re.compile(f"([{_LEFT_TOGETHER}])").sub, r" \1 ")
# Beyond this the search for moved blocks takes minutes and gigabytes.
_MOST_WORDS = 10_000


def _signed(settings: str) -> Callable[[], str]:
    """What goes into signatures, in sacrebleu's own words where it has them."""
    return lambda: f"{settings},form:nfc,sacrebleu:{version('sacrebleu')}"


@evidence(signature=_signed("case:mixed,eff:rows,tok:13a+zh,smooth:exp"))
def bleu_statistics(answer: str, references: list[str]) -> list[float]:
    """Words of the answer and of the reference nearest in length, then matched and all n-grams of 1 to 4 words."""
    unspaced, (said, *expected) = _prepare(answer, references)
    score = _bleu("zh" if unspaced else "13a").sentence_score(said, expected)
    _forget()
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


@evidence(signature=_signed("case:mixed,eff:yes,nc:6,nw:0,space:no"))
def chrf_statistics(answer: str, references: list[str]) -> list[float]:
    """Of 1 to 6 characters the n-grams of the answer, of the best reference, and of both."""
    said, *expected = _one_form([answer, *references])
    # The one way to sacrebleu's counts; its own significance tests take it too.
    (counts,) = _chrf()._extract_corpus_statistics([said], [[reference] for reference in expected])  # noqa: SLF001
    return list(counts)


@evidence(signature=_signed("case:lc,tok:tercom,norm:unspaced,punct:yes,asian:unspaced"))
def ter_statistics(answer: str, references: list[str]) -> list[float]:
    """The fewest edits that make a reference of the answer, and the mean length of the references in words."""
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer  # noqa: PLC0415  (half a second, for these alone)

    unspaced, texts = _prepare(answer, references)
    tokenise = TercomTokenizer(normalized=unspaced, asian_support=unspaced)
    said, *expected = (tokenise(text.rstrip()).split() for text in texts)
    _forget()
    longest = max(map(len, (said, *expected)))
    if longest > _MOST_WORDS:
        raise Skip(f"a text has {longest:,} words; TER takes at most {_MOST_WORDS:,}")
    edits = min(count_edits(said, words) for words in expected)
    return [edits, sum(map(len, expected)) / len(expected)]


def _prepare(answer: str, references: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether the row has a script without spaces, and its texts with that script's characters set apart."""
    texts = _one_form([answer, *references])
    unspaced = any(_UNSPACED.search(text) for text in texts)
    return unspaced, [_SET_APART(text) for text in texts] if unspaced else texts


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
    """Empty sacrebleu's caches: they keep the last 65,536 texts, however long, and our texts come once."""
    for cached in _cached():
        cached.cache_clear()


@cache
def _cached() -> list[Any]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # noqa: PLC0415
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp  # noqa: PLC0415
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer  # noqa: PLC0415
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh  # noqa: PLC0415

    return [vars(kind)["__call__"] for kind in (Tokenizer13a, TokenizerRegexp, TercomTokenizer, TokenizerZh)]
