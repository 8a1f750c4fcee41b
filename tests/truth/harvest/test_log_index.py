import json
from datetime import UTC, date, datetime

import pytest

from ragstone.errors import InputError, UsageError
from ragstone.formats.log_parts import Selection
from ragstone.truth.harvest.log_index import Log, Tally
from tests.formats.fixtures import dial_row, fixture_openinference
from tests.truth.harvest.log_files import write_lines, write_log


def read(*paths, **options):
    tally = Tally()
    found = list(Log(tuple(map(str, paths)), **options).exchanges(tally))
    assert tally.exchanges == len(found)
    return found, tally


def test_lines_with_our_names(tmp_path):
    rows = [
        {
            "id": "a",
            "question": "q1",
            "answer": "x",
            "time": "2024-05-01T10:00:00Z",
            "conversation_id": 7,
            "user_id": "u",
        },
        {"question": "q2", "answer": "y", "timestamp": 1714550400, "app": "guide", "responseId": "r2"},
        {"question": "q3"},
        {"answer": "z"},
        {"question": "q4", "answer": {"no": "text"}},
    ]
    path = write_lines(tmp_path / "log.jsonl", rows)
    with open(path, "a") as stream:
        stream.write("{half a li")
    (first, second), tally = read(path)
    assert (first.sample.id, first.chat, first.user, first.day) == ("a", "7", "u", date(2024, 5, 1))
    assert first.time == datetime(2024, 5, 1, 10, tzinfo=UTC).timestamp()
    assert (second.deployment, second.response, second.day) == ("guide", "r2", date(2024, 5, 1))
    assert tally.left_out == {"rows without an answer": 1, "rows without a question": 1, "rows that cannot be read": 2}
    assert tally.rows == 6
    assert tally.parts == [path]


def test_columns_with_other_names(tmp_path):
    path = write_lines(tmp_path / "log.jsonl", [{"prompt": "q", "completion": "a"}])
    (found,), _ = read(path, renames={"question": "prompt", "answer": "completion"})
    assert (found.sample.question, found.sample.answer) == ("q", "a")


def test_spans(tmp_path):
    [path] = fixture_openinference(tmp_path)
    (first, second), _ = read(path)
    assert first.sample.question == "When does the ferry leave?"
    assert first.chat == "s1"
    assert first.day == date(2024, 5, 1)
    assert second.sample.contexts


def test_only_the_days_and_deployments_that_are_asked_for(tmp_path):
    rows = [
        {"question": f"q{n}", "answer": "a", "time": f"2024-05-0{n}T00:00:00", "deployment": name}
        for n, name in ((1, "mine"), (2, "mine"), (2, "other"), (3, "mine"))
    ]
    rows.append({"question": "when?", "answer": "a", "deployment": "mine"})
    path = write_lines(tmp_path / "log.jsonl", rows)
    found, tally = read(path, selection=Selection(("mine",), date(2024, 5, 2), date(2024, 5, 3)))
    assert [one.sample.question for one in found] == ["q2", "q3"]
    assert tally.left_out == {"rows of other days": 1, "rows of other deployments": 1, "rows without a time": 1}


def test_several_logs_are_one(tmp_path):
    one = write_log(tmp_path / "one", "app", "2024-05-01", [dial_row("r1", "q1", "a"), dial_row("r2", "q2", "a")])
    two = write_log(tmp_path / "two", "app", "2024-05-01", [dial_row("r2", "q2", "a"), dial_row("r3", "q3", "a")])
    found, tally = read(tmp_path / "one", tmp_path / "two")
    assert [exchange.sample.id for exchange in found] == ["r1", "r2", "r3"]
    assert tally.left_out == {"rows with a repeated id": 1}
    assert tally.rows == 4
    assert tally.parts == [str(one), str(two)]


def test_the_same_question_in_two_files_is_asked_twice(tmp_path):
    one = write_lines(tmp_path / "one.jsonl", [{"question": "q", "answer": "a"}])
    two = write_lines(tmp_path / "two.jsonl", [{"question": "q", "answer": "b"}])
    found, tally = read(one, two)
    ids = [exchange.sample.id for exchange in found]
    assert len(set(ids)) == 2
    assert ids[1] == f"{ids[0]}-2"
    assert tally.left_out == {}


def test_a_folder_of_lines_is_read_file_by_file(tmp_path):
    """Ids, times and deployments of lines with our names count as they do when each file is named."""
    (tmp_path / "logs").mkdir()
    row = {"answer": "x", "deployment": "guide", "time": "2024-05-01T10:00:00Z"}
    first = write_lines(tmp_path / "logs" / "a.jsonl", [{"id": "a", "question": "q1", **row}])
    second = write_lines(tmp_path / "logs" / "b.jsonl", [{"id": "b", "question": "q2", **row, "deployment": "desk"}])
    assert read(tmp_path / "logs")[0] == read(first, second)[0]
    (only,), tally = read(tmp_path / "logs", selection=Selection(("guide",)))
    assert (only.sample.id, only.deployment, only.day) == ("a", "guide", date(2024, 5, 1))
    assert tally.left_out == {"rows of other deployments": 1}


def test_one_damaged_file_among_several(tmp_path):
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1 and then nothing")
    good = write_lines(tmp_path / "good.jsonl", [{"question": "q", "answer": "a"}])
    found, tally = read(good, damaged)
    assert len(found) == 1
    assert tally.left_out.total() == 1


def test_a_log_without_anything_says_why(tmp_path):
    write_log(tmp_path / "logs", "app", "2024-05-01", [dial_row("r1", "q", None)])
    with pytest.raises(InputError, match=r"left out: rows without an answer: 1"):
        read(tmp_path / "logs")
    with pytest.raises(InputError, match=r"check the path, --deployment, --since and --until"):
        read(tmp_path / "logs", selection=Selection((), date(2025, 1, 1)))
    with pytest.raises(UsageError, match="read twice"):
        Log(("-",))
    path = tmp_path / "nothing.jsonl"
    path.write_text(json.dumps({"a": 1}))
    with pytest.raises(UsageError, match="cannot detect the format"):
        read(path)
