"""The parts of a log by deployment and day."""

from datetime import date

import pytest

from ragstone.errors import UsageError
from ragstone.formats.log_parts import Selection, find_parts
from ragstone.storage.places import open_place

PATHS = [
    "chat/parsed_logs/2024/05/01/a.parquet",
    "chat/parsed_logs/2024/06/02/b.parquet",
    "search/2024-05-01/part-0.jsonl",
    "search/2024-05-01/notes.txt",
]


@pytest.fixture
def logs(tmp_path):
    for path in PATHS:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return open_place(str(tmp_path))


def find(logs, **selection):
    return sorted((part.deployment, part.day) for part in find_parts(logs, Selection(**selection)))


def test_both_layouts(logs):
    first, second = date(2024, 5, 1), date(2024, 6, 2)
    assert find(logs) == [("chat", first), ("chat", second), ("search", first)]
    assert find(logs, deployments=("search",)) == [("search", first)]
    assert find(logs, first=date(2024, 6, 1)) == [("chat", second)]
    assert find(logs, last=date(2024, 5, 31)) == [("chat", first), ("search", first)]


def test_a_deployment_without_a_folder(logs):
    with pytest.raises(UsageError, match="--deployment"):
        find(logs, deployments=("mail",))


def test_the_first_day_is_before_the_last():
    with pytest.raises(UsageError, match="--since"):
        Selection(first=date(2024, 2, 1), last=date(2024, 1, 1))


def test_unknown_days_and_deployments():
    selection = Selection(("chat",), date(2024, 1, 1))
    assert selection.has_day(None)
    assert not selection.has_deployment(None)
    assert selection.may_hold((2024,))
    assert not selection.may_hold((2023, 12))
