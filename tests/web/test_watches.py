"""The watches under a root."""

import os
import time
from dataclasses import replace

import pytest

from ragstone.storage.places import open_place
from ragstone.web.navigation import NotFoundError
from ragstone.web.watches import WatchLibrary
from tests.watch.made_watch import ferry, make_watch  # noqa: F401  (a fixture)


def library(path):
    return WatchLibrary(open_place(path))


def test_the_root_itself_or_its_folders(ferry, tmp_path):  # noqa: F811
    inside, above = library(ferry.place.path), library(os.path.dirname(ferry.place.path))
    assert (inside.is_watch, inside.names(), inside.any()) == (True, [], True)
    assert (above.is_watch, above.names(), above.any()) == (False, ["ferry"], True)
    assert not library(tmp_path).any()


@pytest.mark.parametrize("name", ["nothing", "..", "../ferry", "a/b", ".hidden", ""])
def test_other_names_are_not_found(tmp_path, name):
    with pytest.raises(NotFoundError):
        library(tmp_path).store(name)


def test_a_link_out_of_the_root_is_not_followed(ferry, tmp_path):  # noqa: F811
    os.symlink(ferry.place.path, tmp_path / "linked")
    assert library(tmp_path).names() == []
    with pytest.raises(NotFoundError):
        library(tmp_path).store("linked")


def test_a_series_is_estimated_again_if_a_period_changes(tmp_path):
    store = make_watch(tmp_path, [0.9, 0.9], draws=4)
    found = library(tmp_path)

    def wait():
        while (series := found.series()) is None:
            time.sleep(0.05)
        return series

    first = wait()
    assert wait() is first
    record = store.periods()[1]
    store.write_period(replace(record, seen={"up": 1000, "down": 10}))
    assert wait().periods[1].requests == 1010


def test_the_worst_have_their_questions(ferry):  # noqa: F811
    found = library(ferry.place.path)
    record = ferry.periods()[7]
    worst = found.worst("", record, 4)
    assert len(worst) == 4
    assert all(question.startswith("From which pier") for _, question in worst)
    found.close()
