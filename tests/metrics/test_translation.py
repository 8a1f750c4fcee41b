"""The counts under BLEU, chrF and TER: what is counted, how texts are cut, what is signed.

BLEU, chrF and TER: values by hand, edges, laws. The numbers of sacrebleu are in tests/golden.
"""

import subprocess
import sys

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from ragstone.data.types import Sample, Score
from ragstone.engine.plan import make_plan
from ragstone.errors import Skip
from ragstone.metrics.translation import (
    _check_installed,
    bleu_of,
    bleu_statistics,
    chrf_of,
    chrf_statistics,
    ter_of,
    ter_statistics,
)
from ragstone.registry import parse_metric
from tests.metrics.scoring import cell, score


def test_counts():
    answer, references = "A cat sat here.", ["The cat sat.", "A cat sat there today, I think."]
    # 5 words; 4 (the nearer length); matched 1-grams A cat sat . and 2-, 3-grams; all n-grams.
    assert bleu_statistics(answer, references) == [5, 4, 4, 2, 1, 0, 5, 4, 3, 2]
    assert chrf_statistics("abc", ["xyz", "abd"])[:6] == [3, 3, 2, 2, 2, 1]
    # To "the cat sat." from "a cat sat here.": three words to replace or drop; the mean of 3 and 7 words.
    assert ter_statistics(answer, references) == [3, 5]


@pytest.mark.parametrize(
    ("answer", "references", "words"),
    [
        ("It costs 9,50 €.", ["x"], 5),
        ("東京タワー2020年。", ["x"], 8),
        ("ราคา 5 บาท", ["x"], 8),
        ("Lionel Messi是球员", ["Lionel Messi"], 5),
        ("Lionel “Messi”", ["球员"], 4),
        ("Lionel “Messi”", ["player"], 2),
        ("한국어 말", ["x"], 2),
    ],
)
def test_how_texts_are_cut(answer, references, words):
    """By the scripts of the whole row, so that both sides are cut the same way."""
    assert bleu_statistics(answer, references)[0] == words


@pytest.mark.parametrize("count", [bleu_statistics, chrf_statistics, ter_statistics])
@pytest.mark.parametrize("answer", ["", " ", "\x00", "…", "😀", "\u202e", "\u0301"])
def test_odd_texts(count, answer):
    for references in ([""], [answer], ["words, words", answer]):
        assert all(number >= 0 for number in count(answer, references))


def test_ter_gives_up_on_very_long_texts():
    with pytest.raises(Skip, match=r"10,001 words.*10,000"):
        ter_statistics("x", ["w " * 10_001])


def test_sacrebleu_keeps_none_of_our_texts():
    bleu_statistics("x" * 1000, ["y"])
    ter_statistics("x" * 1000, ["y"])
    assert Tokenizer13a.__call__.cache_info().currsize == 0


@pytest.mark.parametrize(
    ("metric", "settings"),
    [
        ("bleu", "case:mixed,eff:rows,tok:13a+zh,smooth:exp"),
        ("chrf", "case:mixed,eff:yes,nc:6,nw:0,space:no"),
        ("ter", "case:lc,tok:tercom,norm:unspaced,punct:yes,asian:unspaced"),
    ],
)
def test_signature(metric, settings):
    plan = make_plan([parse_metric(metric)], ("answer", "references"), {})
    expected = f"{metric}|v1|{metric}_statistics/1({settings},form:nfc,sacrebleu:{sacrebleu.__version__})"
    assert plan.metrics[0].signature == expected


def test_others_do_not_pay_for_sacrebleu():
    code = "import sys, ragstone.engine.evaluate; print('sacrebleu' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


METRICS = ("bleu", "chrf", "ter")
texts = st.text("ab .9東ไ", max_size=15)


def values(answer, references):
    row = Sample("1", answer=answer, references=references)
    return [cells[0].value for cells in score([row], *METRICS).values()]


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("Blue Lantern", ["Blue Lantern"], (1, 1, 0)),
        ("Blue Lantern", ["Red", "Blue Lantern"], (1, 1, 0)),
        ("😀", ["😀"], (1, 1, 0)),
        ("ab", ["xy"], (0, 0, 1)),
        ("", ["xy z"], (0, 0, 1)),
        ("", [""], (0, 0, 0)),
        ("x y", [""], (0, 0, 1)),
        ("a b c d e f", ["x y"], (0, 0, 3)),
        # Both words, not the pair: the pair counts as half of one. Characters: 4 of 4, 2 of 3, none of 2 and 1.
        ("aa bb", ["bb aa"], (0.5**0.5, (1 + 2 / 3) / 4, 1 / 2)),
        # Two of three words and one of two pairs match, no triple does (half a match); as long as the reference.
        ("a b c", ["a b d"], ((2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3), (2 / 3 + 1 / 2) / 3, 1 / 3)),
        # Every word is right, half of them are missing: the brevity penalty is e^(1 - 4/2); chrF recall (2/4 + 1/3) / 2.
        ("a b", ["a b c d"], (np.exp(-1), 25 / 53, 1 / 2)),
    ],
)
def test_by_hand(answer, references, expected):
    assert values(answer, references) == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (Sample("1", answer="x"), "no references"),
        (Sample("1", answer="x", references=[]), "no references"),
        (Sample("1", references=["x"]), "no answer"),
    ],
)
def test_skipped(name, row, reason):
    assert cell(row, name) == Score(None, "skipped", reason)


def test_a_very_long_answer():
    row = Sample("1", answer="word " * 20_000, references=["word"])
    assert cell(row, "ter").status == "skipped"
    assert cell(row, "bleu").value < 0.01


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_laws(answer, references):
    bleu, chrf, ter = values(answer, references)
    assert 0 <= bleu <= 1
    assert 0 <= chrf <= 1
    assert ter >= 0
    assert values(answer, references[::-1]) == pytest.approx([bleu, chrf, ter])
    same = values(answer, [answer])
    assert same == pytest.approx([1, 1, 0] if answer.strip() else [0, 0, 0])


@given(texts, st.lists(texts, min_size=1, max_size=3), texts)
def test_another_reference_never_lowers_chrf(answer, references, other):
    assert values(answer, [*references, other])[1] >= values(answer, references)[1] - 1e-12


@pytest.mark.parametrize(("score_of", "size"), [(bleu_of, 10), (chrf_of, 18), (ter_of, 2)])
def test_sums_are_scored_one_by_one_or_many_at_once(score_of, size):
    """A bootstrap scores a thousand sums at once."""
    numbers = np.random.default_rng(1).integers(0, 5, (50, size)).astype(float)
    assert score_of(numbers).tolist() == [float(score_of(row)) for row in numbers]
    assert float(score_of(np.zeros(size))) == 0


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_without_sacrebleu_the_cell_names_the_install_line(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    _check_installed.cache_clear()
    found = cell(Sample(id="1", question="q", answer="a", references=["a"]), name)
    assert (found.status, "pip install 'ragstone[metrics]'" in found.reason) == ("skipped", True)
