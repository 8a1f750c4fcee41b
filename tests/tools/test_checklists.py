"""Checklists of files and of metadata, and what is wrong with some."""

import pytest

from ragstone.errors import Skip, UsageError
from ragstone.tools.aspects import read_aspects
from ragstone.tools.checklists import MOST_ITEMS, Checklist, as_items, read_checklists

FILE = """
[polite]
pass = "a customer would feel well treated"

[reply]
checklist = ["Does it greet?", " Does it name a date? ", "Does it greet?"]
shows = ["question", "contexts"]
reason = true
"""


def test_a_file_may_have_aspects_and_checklists(tmp_path):
    file = tmp_path / "ours.toml"
    file.write_text(FILE)
    assert read_checklists(file) == {
        "reply": Checklist("reply", ("Does it greet?", "Does it name a date?"), ("question", "contexts"), True)
    }
    aspect = read_aspects(file)["polite"]
    assert aspect.is_binary
    assert aspect.opposite == "everything else"
    assert not aspect.reasons


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[A]\nchecklist=['x']", "lower-case letters"),
        ("[a]\nchecklist=[]", "list of 1 to 50 texts"),
        ("[a]\nchecklist='x'", "list of 1 to 50 texts"),
        ("[a]\nchecklist=['x']\nitems=['y']", "unknown key 'items'"),
        ("[a]\nchecklist=['x']\nshows=['facts']", "cannot have 'facts'"),
        ("[a]\nchecklist=['x']\nreason='yes'", "'reason' must be true or false"),
        ("[a]\npass=''", "'pass' must be a text"),
        ("[a]\npass='x'\nrubric=['y', 'z']", "unknown key 'rubric'"),
    ],
)
def test_mistakes_are_named(tmp_path, text, words):
    file = tmp_path / "ours.toml"
    file.write_text(text)
    read = read_checklists if "checklist" in text else read_aspects
    with pytest.raises(UsageError, match=words):
        read(file)


def test_the_wording_decides_the_hash():
    one = Checklist("a", ("x",))
    assert one.hash == Checklist("a", ("x",)).hash
    assert len({one.hash, Checklist("a", ("y",)).hash, Checklist("a", ("x",), reasons=True).hash}) == 3


def test_metadata_may_have_a_checklist():
    assert Checklist.from_metadata({"checklist": ["x", ""]}).items == ("x",)
    with pytest.raises(Skip):
        Checklist.from_metadata({})
    with pytest.raises(ValueError, match="list of 1 to 50"):
        Checklist.from_metadata({"checklist": {"x": 1}})
    assert as_items(["x"] * 60) == ("x",)
    assert as_items(list(map(str, range(MOST_ITEMS + 1)))) is None
