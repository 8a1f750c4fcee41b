"""The refusal phrases: the file is complete, its fragments are filled in, and folding keeps every pattern intact."""

import re
import subprocess
import sys

import pytest

from ragstone.text.refusal_phrases import fold, refusal_patterns, refusal_phrases
from tests.each_case import each_case
from tests.text.refusal_cases import REFUSALS


def _patterns():
    for phrases in refusal_phrases().values():
        yield from (*phrases.declines, *phrases.leads, *phrases.harmless, *phrases.echoes, phrases.cues)


@each_case("pattern", _patterns())
def test_pattern(pattern):
    re.compile(fold(pattern))
    assert not re.search(r"\\[A-Z]", pattern), "folding would turn this class into its opposite"
    assert not re.search(r"\{[a-z_]+\}|\n", pattern), "a fragment or a line break is left"


def test_every_language_has_phrases():
    assert refusal_phrases().keys() == REFUSALS.keys()
    for phrases in refusal_phrases().values():
        assert phrases.cues
        assert len(phrases.declines) >= 5
        assert phrases.leads
        assert phrases.harmless


def test_scripts_cover_every_language():
    letters = {"en": "a", "ru": "я", "zh": "文", "ja": "の", "ar": "ل", "hi": "क"}
    for letter in letters.values():
        assert sum(bool(patterns.script.search(letter)) for patterns in refusal_patterns().scripts) == 1


def test_cues_are_found_as_by_one_pattern():
    clauses = [fold(answer) for answers in REFUSALS.values() for answer in answers]
    clauses += [clause.replace("not", "knot").replace("no ", "nose ") for clause in clauses] + [
        "the kiosk",
        "a ki",
        "nem",
        "k. a.",
    ]
    everything = [re.compile("|".join(map(fold, [one.cues for one in refusal_phrases().values()])))]
    found = [any(patterns.has_cue(clause) for patterns in refusal_patterns().scripts) for clause in clauses]
    assert found == [any(pattern.search(clause) for pattern in everything) for clause in clauses]
    assert len(set(found)) == 2


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Où  EST", "ou est"), ("Straße", "strasse"), ("لَا", "لا"), ("cafe\u0301", "cafe"), (" a\n b ", "a b")],
)
def test_fold(text, folded):
    assert fold(text) == folded


def test_import_does_not_read_the_file():
    code = "import ragstone, sys; sys.exit('ragstone.text.refusal_phrases' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
