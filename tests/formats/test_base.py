"""A format with one row per sample."""

from ragstone.formats.base import RowFormat
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.values import Unfit

FORMAT = RowFormat(
    "mine", "mine", {"prompt": "question", "metadata": "metadata"}, [frozenset({"prompt"})], names={"answer": "reply"}
)


def test_names_become_ours_and_other_columns_metadata():
    assert FORMAT.rename({"prompt": "q", "lang": "en", "empty": None}) == {"question": "q", "metadata": {"lang": "en"}}
    assert FORMAT.rename({"prompt": "q", "lang": "en", "metadata": {"a": 1}})["metadata"] == {"lang": "en", "a": 1}


def test_a_mapped_column_is_the_field():
    assert FORMAT.rename({"prompt": "p", "question": "q"}, ["question"]) == {
        "question": "q",
        "metadata": {"prompt": "p"},
    }


def test_a_column_that_is_also_in_the_metadata_is_a_problem():
    assert isinstance(FORMAT.rename({"lang": "en", "metadata": {"lang": "de"}})["metadata"], Unfit)


def test_drafts_know_the_names_of_the_file():
    [draft] = FORMAT.read([Source([{"prompt": "q"}])], Report())
    assert draft.names == {"answer": "reply", "question": "prompt"}
    assert draft.where == "row 1"


def test_recognised_by_marks():
    assert FORMAT.recognises([Source([{"prompt": "q"}])])
    assert not FORMAT.recognises([Source([{"question": "q"}])])
    assert not FORMAT.recognises([Source([{"prompt": "q"}]), Source([{"prompt": "q"}])])
