"""Aspects from TOML files, and the scales of grades."""

import pytest

from ragstone.errors import UnknownNameError, UsageError
from ragstone.tools import aspects
from ragstone.tools.aspects import Aspect, find_aspect, packaged_aspects, read_aspects
from ragstone.tools.llm_rater import SCALES, find_scale

POLITE = """
[politeness]
task = "how polite it is"
opposite = "rude"
instruction = "Look at the tone."
rubric = ["rude", "neutral", "polite"]

[[politeness.examples]]
question = "Where?"
answer = "Over there, please."
share = 1.0
reasoning = "It says please."
"""


@pytest.fixture(autouse=True)
def no_user_aspects(monkeypatch):
    monkeypatch.setattr(aspects, "_USERS", {})


def write(folder, text):
    path = folder / "aspects.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_aspects(tmp_path):
    aspect = read_aspects(write(tmp_path, POLITE))["politeness"]
    assert aspect is find_aspect("politeness")
    assert (aspect.task, aspect.shows, aspect.rubric) == (
        "how polite it is",
        ("question",),
        ("rude", "neutral", "polite"),
    )
    assert aspect.examples[0].share == 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("opposite =", "contrary ="), "unknown key 'contrary'"),
        (('opposite = "rude"', ""), "'opposite' is missing"),
        (("share = 1.0", "share = 2"), "from 0 to 1"),
        (('"rude", "neutral", "polite"', '"rude"'), "two steps"),
        (("politeness", next(iter(packaged_aspects()))), "another name"),
    ],
)
def test_mistakes_name_the_file_and_the_key(tmp_path, change, words):
    with pytest.raises(UsageError, match=words) as caught:
        read_aspects(write(tmp_path, POLITE.replace(*change)))
    assert "aspects.toml" in str(caught.value)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match=r"Choose from: .*quality"):
        find_aspect("qualty")
    with pytest.raises(UnknownNameError, match="points, stars, ten"):
        find_scale("percent")


def test_the_hash_depends_on_the_wording():
    aspect = Aspect("politeness", "task", "rude", "Look.")
    assert aspect.hash == Aspect("politeness", "task", "rude", "Look.").hash
    assert aspect.hash != Aspect("politeness", "task", "rude", "Look again.").hash


def test_scales():
    stars = SCALES["stars"]
    assert [stars.grade(share) for share in (0.0, 0.5, 1.0)] == [1, 3, 5]
    assert stars.share(4) == 0.75
    assert stars.check(4) is None
    assert "whole number" in stars.check(4.5)
    assert "scale from 1 to 5" in stars.check(6)
    assert SCALES["points"].check(55.5) is None
