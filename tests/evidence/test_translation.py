"""The counts under BLEU, chrF and TER: what is counted, how texts are cut, what is signed."""

import subprocess
import sys

import pytest
import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from ragstone.engine.planning import make_plan
from ragstone.errors import Skip
from ragstone.evidence.translation import bleu_statistics, chrf_statistics, ter_statistics
from ragstone.registry import parse_metric


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
    with pytest.raises(Skip, match=r"a text has 10,001 words; TER takes at most 10,000"):
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
    code = "import sys, ragstone.engine.evaluation; print('sacrebleu' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
