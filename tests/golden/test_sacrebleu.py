"""Against sacrebleu itself: every row as its sentence scores, the run as its corpus scores, to 1e-9.

Two differences are on purpose and have tests of their own: texts are put into one Unicode form first, and scripts without
spaces are cut into characters (sacrebleu's `zh` and `char`) where its default would see one long word.
"""

import random
import unicodedata

import pytest
import sacrebleu

import ragstone
from ragstone.data.dataset import Dataset
from ragstone.data.types import Sample
from tests.metrics.scoring import score

ENGLISH = [
    "the",
    "ferry",
    "leaves",
    "from",
    "quay",
    "at",
    "9.30",
    "and",
    "“takes”",
    "1,200",
    "cars,",
    "dogs;",
    "don't-stop",
    "(see",
    "p.",
    "4)",
    "it's",
    "Ünal's",
    "café",
    "—",
    "naïve",
    "&amp;",
    "&quot;so",
    "on&quot;",
    "<b>",
    "50%",
    "of",
    "3-4",
    "%s",
    "!?",
    "...",
    "$5",
    "#1",
    "a/b",
    "a_b\ttab\nline",
    "😀",
    "Fee",
    "straße",
    "İstanbul",
    "ﬁne",
]
CHINESE = [*"文档信息不足因此我无法回答该问题，。！？“”《三国》2022年", "GPT-4", "3.5", " ", "km/h", "，"]
KANA_AND_THAI = [*"ひらがなカタカナーราคาตั๋วเรือผู้ใหญ่"]
JOINED = {"english": " ", "chinese": "", "kana and thai": ""}


def corpus(words, join, rows=40, most_references=3):
    """Answers and ragged references that share some of their words: short and long, a few empty, a few the same."""
    pick = random.Random(7)
    answers, references = [], []
    for row in range(rows):
        base = pick.choices(words, k=pick.choice([1, 2, 4, 9, 25]))
        answers.append(_text(base if row % 13 else [], join))
        changed = [_changed(base, words, pick) for _ in range(pick.randint(1, most_references))]
        references.append([_text(reference, join) for reference in changed])
    return answers, references


def _text(words, join):
    return unicodedata.normalize("NFC", join.join(words))


def _changed(base, words, pick):
    kept = [word if pick.random() < 0.7 else pick.choice(words) for word in base if pick.random() < 0.9]
    cut = pick.randint(0, len(kept))
    return kept[cut:] + kept[:cut] if pick.random() < 0.3 else kept


def streams(references):
    """References as sacrebleu wants them: a list a reference, None where a row has fewer."""
    most = max(map(len, references))
    return [[row[at] if at < len(row) else None for row in references] for at in range(most)]


def ours(answers, references, metric):
    rows = [
        Sample(str(row), answer=a, references=r) for row, (a, r) in enumerate(zip(answers, references, strict=True))
    ]
    (cells,) = score(rows, metric).values()
    (summary,) = ragstone.evaluate(Dataset.from_samples(rows), [metric]).summary()
    assert summary.n_ok == len(rows)
    return [cell.value for cell in cells], summary


def check(answers, references, metric, of_row, of_corpus):
    rows, summary = ours(answers, references, metric)
    expected = [of_row(answer, refs).score / 100 for answer, refs in zip(answers, references, strict=True)]
    assert rows == pytest.approx(expected, abs=1e-9)
    assert summary.mean == pytest.approx(of_corpus(answers, streams(references)).score / 100, abs=1e-9)
    assert summary.ci_low <= summary.mean <= summary.ci_high


@pytest.mark.parametrize(
    ("language", "words", "tokenise"),
    [("english", ENGLISH, "13a"), ("chinese", CHINESE, "zh"), ("kana and thai", KANA_AND_THAI, "char")],
)
def test_bleu(language, words, tokenise):
    answers, references = corpus(words, JOINED[language])
    if tokenise != "13a":
        # In every row there is something by which its script is known.
        answers = [f"{words[0]}{answer}" for answer in answers]
    scorer = sacrebleu.BLEU(tokenize=tokenise, effective_order=True)
    check(
        answers,
        references,
        "bleu",
        scorer.sentence_score,
        lambda hyps, refs: sacrebleu.corpus_bleu(hyps, refs, tokenize=tokenise),
    )
    effective = scorer.corpus_score(answers, streams(references)).score / 100
    assert ours(answers, references, "bleu(order=effective)")[1].mean == pytest.approx(effective, abs=1e-9)


@pytest.mark.parametrize(
    ("language", "words"), [("english", ENGLISH), ("chinese", CHINESE), ("kana and thai", KANA_AND_THAI)]
)
def test_chrf(language, words):
    check(*corpus(words, JOINED[language]), "chrf", sacrebleu.sentence_chrf, sacrebleu.corpus_chrf)


def test_ter():
    check(*corpus(ENGLISH, " "), "ter", sacrebleu.sentence_ter, sacrebleu.corpus_ter)


def test_ter_of_chinese():
    answers, references = corpus(CHINESE, "")
    answers = [f"文{answer}" for answer in answers]
    scorer = sacrebleu.TER(normalized=True, asian_support=True)
    check(answers, references, "ter", scorer.sentence_score, scorer.corpus_score)


def test_a_run_of_short_answers():
    """sacrebleu gives 0 where no answer has four words; in effective order it does not."""
    answers, references = ["Blue Lantern", "36"], [["Blue Lantern"], ["36"]]
    assert sacrebleu.corpus_bleu(answers, streams(references)).score == 0
    rows, summary = ours(answers, references, "bleu")
    assert (rows, summary.mean) == ([1, 1], 0)
    assert ours(answers, references, "unitxt.normalized_sacrebleu")[1].mean == 1


def test_one_unicode_form():
    composed, decomposed = "München liegt südlich von Nürnberg", "Mu\u0308nchen liegt su\u0308dlich von Nu\u0308rnberg"
    assert sacrebleu.sentence_chrf(decomposed, [composed]).score < 90
    for metric, same in (("bleu", 1), ("chrf", 1), ("ter", 0)):
        assert ours([decomposed], [[composed]], metric)[0] == pytest.approx([same], abs=1e-12)
