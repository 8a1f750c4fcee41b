"""A journal of replies: kept after a stop, removed at the end, and of one work only."""

import pytest

from ragstone.errors import InterruptedRunError, StopRunError
from ragstone.truth.work_journal import open_journal


def test_replies_are_kept_until_the_work_is_finished(tmp_path):
    path, notes = tmp_path / "work.partial", []
    with open_journal(str(path), {"system": "a"}, False, notes.append) as journal:
        journal.add("one", {"answer": 1})
    assert path.exists()
    with open_journal(str(path), {"system": "a"}, True, notes.append) as journal:
        assert journal.known == {"one": {"answer": 1}}
        journal.add("two", {"answer": 2})
        journal.is_finished = True
    assert not path.exists()
    assert notes == []


def test_a_journal_of_something_else_is_started_anew(tmp_path):
    path, notes = str(tmp_path / "work.partial"), []
    with open_journal(path, {"system": "a"}, False, notes.append) as journal:
        journal.add("one", 1)
    with open_journal(path, {"system": "b"}, True, notes.append) as journal:
        assert journal.known == {}
    assert notes == ["there is nothing to resume; starting from the beginning"]


@pytest.mark.parametrize(("stop", "error"), [(KeyboardInterrupt, InterruptedRunError), (StopRunError, StopRunError)])
def test_a_stop_says_how_to_continue(tmp_path, stop, error):
    path = str(tmp_path / "work.partial")
    with (
        pytest.raises(error, match=r"work\.partial\. Repeat the command with --resume"),
        open_journal(path, {}, False, print),
    ):
        raise stop("enough")
    with pytest.raises(InterruptedRunError, match="nothing is kept"), open_journal(None, {}, False, print):
        raise KeyboardInterrupt
