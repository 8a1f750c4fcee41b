"""Against nltk's meteor_score on the same words: without synonyms, and with those of the WordNet of this machine."""

import os
import random
import shutil
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Sample
from ragstone.metrics import meteor as alignment
from ragstone.text.wordnet import find_wordnet
from ragstone.text.words import words
from tests.metrics.scoring import score

nltk = pytest.importorskip("nltk")
LISTED = (
    "big large huge car automobile vehicle dog hound quickly fast speedy run running ran runs film movie picture the a of "
    "begin start starting started commence buy purchase bought city town metropolis fly flies flying news sky naïve 9"
)
WORDS = LISTED.split()


class NoSynonyms:
    """In place of nltk's WordNet."""

    @staticmethod
    def synsets(word):
        return []


def theirs(sample, wordnet):
    from nltk.translate.meteor_score import meteor_score

    answer, *references = ([word.text for word in words(text)] for text in (sample.answer, *sample.references))
    return meteor_score(references, answer, wordnet=wordnet)


def samples(rows=300):
    chance = random.Random(20_240_229)

    def text():
        return " ".join(chance.choices(WORDS, k=chance.choice((0, 1, 3, 8, 20, 40))))

    return [
        Sample(str(row), answer=text(), references=[text() for _ in range(chance.choice((1, 1, 3)))])
        for row in range(rows)
    ]


def ours(rows):
    return [cell.value for cell in score(rows, "meteor")["meteor"]]


def test_exact_and_stem(monkeypatch):
    monkeypatch.setattr(alignment, "find_wordnet", lambda: None)
    rows = samples()
    assert ours(rows) == pytest.approx([theirs(row, NoSynonyms) for row in rows], abs=1e-9)


@given(*[st.lists(st.sampled_from(["a", "b", "c", "run", "runs", "running"]), max_size=9).map(" ".join)] * 3)
def test_any_words(answer, reference, other):
    row = Sample("1", answer=answer, references=[reference, other])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "find_wordnet", lambda: None)
        assert ours([row]) == pytest.approx([theirs(row, NoSynonyms)], abs=1e-9)


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    """Debian's files where nltk may read them; it wants a list of names that Debian leaves out."""
    folder = Path(os.environ.get("WNSEARCHDIR", "/usr/share/wordnet"))
    if not (folder / "data.noun").exists():
        pytest.skip(f"no WordNet in {folder}: apt-get install wordnet-base wordnet-sense-index, or set WNSEARCHDIR")
    root = tmp_path_factory.mktemp("nltk_data")
    home = root / "corpora" / "wordnet"
    home.mkdir(parents=True)
    for name in ("index", "data"):
        for part in ("noun", "verb", "adj", "adv"):
            shutil.copy(folder / f"{name}.{part}", home)
    for file in (*folder.glob("*.exc"), folder / "index.sense"):
        shutil.copy(file, home)
    (home / "lexnames").write_text("".join(f"{number:02d}\tname.{number}\t0\n" for number in range(45)))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        patch.setattr(nltk.data, "path", [str(root)])
        patch.setenv("WNSEARCHDIR", str(folder))
        from nltk.corpus.reader.wordnet import WordNetCorpusReader

        yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)


def test_synonyms_of_words(wordnet):
    chance = random.Random(1)
    known = chance.sample(sorted(wordnet.all_lemma_names()), 2_000)
    forms = [word + ending for word in known for ending in ("", "s", "es", "ed", "ing", "er", "est", "men")]
    found = find_wordnet()
    for word in [*forms, *WORDS, "geese", "oxen", "went", "better", "is", "was", "mice"]:
        names = {lemma.name() for synset in wordnet.synsets(word) for lemma in synset.lemmas()}
        assert found.synonyms(word) == {name for name in names if "_" not in name}, word


def test_all_stages(wordnet):
    rows = samples()
    found = ours(rows)
    assert found == pytest.approx([theirs(row, wordnet) for row in rows], abs=1e-9)
    assert found != pytest.approx([theirs(row, NoSynonyms) for row in rows], abs=1e-9)
