from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import InputError
from ragstone.formats.dial_logs import Rating
from ragstone.formats.log_parts import Selection
from ragstone.truth.harvest.signals import Signal, Signals, read_signals
from tests.truth.harvest.log_files import write_lines, write_log


def read(tmp_path, *rows):
    signals = Signals()
    read_signals(write_lines(tmp_path / "signals.jsonl", rows), signals)
    return signals


def test_a_table_of_signals(tmp_path):
    rows = [
        {"response_id": "a", "kind": "like", "time": "2024-05-01T10:00:00", "user": "u"},
        {"response_id": "a", "kind": "copy", "value": 1},
        {"response_id": "a", "kind": "reading_time", "value": 3.5},
        {"response_id": "a", "kind": "reading_time", "value": 9.0},
        {"sample_id": "b", "kind": "thumbs-down"},
        {"response_id": "b", "kind": "Regenerate", "value": True},
        {"response_id": "b", "kind": "copy", "value": 0},
        {"response_id": "c", "kind": "next_message", "value": "No, I wanted something else", "time": 1714557700},
        {"response_id": "c", "kind": "next_message", "value": "Thanks", "time": 1714557800},
        {"response_id": "d", "kind": "rating", "value": False},
    ]
    signals = read(tmp_path, *rows)
    assert dict(signals.of("a", None)) == {"like": 1.0, "copy": 1.0, "reading_time": 9.0}
    assert dict(signals.of("b", None)) == {"dislike": 1.0, "regenerate": 1.0}
    assert dict(signals.of("c", None)) == {"next_message": "No, I wanted something else"}
    assert dict(signals.of("d", None)) == {"dislike": 1.0}
    assert signals.of("nobody", None) == []
    assert signals.left_out == {}
    assert signals.seen == {"like": 1, "copy": 1, "reading_time": 2, "dislike": 2, "regenerate": 1, "next_message": 2}


def test_dial_s_ratings(tmp_path):
    path = tmp_path / "ratings.parquet"
    pq.write_table(pa.table({"rate": [True, False], "responseId": ["a", "b"]}), path)
    signals = Signals()
    read_signals(str(path), signals)
    signals.add_rating(Rating("c", True, "2024-05-01T10:00:00+00:00", "u"))
    assert [dict(signals.of(name, None)) for name in "abc"] == [{"like": 1.0}, {"dislike": 1.0}, {"like": 1.0}]


def test_a_folder_of_ratings_by_deployment_and_day(tmp_path):
    for name, day, answer in (("app", "2024-05-01", "a"), ("app", "2024-05-02", "b"), ("other", "2024-05-01", "c")):
        write_log(tmp_path, name, day, [{"rate": True, "responseId": answer}])
    (tmp_path / "app/2024-05-01/part-1.parquet").write_bytes(b"PAR1 half")
    signals = Signals()
    read_signals(str(tmp_path), signals, Selection(("app",), None, date(2024, 5, 1)))
    assert set(signals.by_answer) == {"a"}
    assert signals.left_out == {"incomplete or damaged parts": 1}


def test_what_cannot_be_used_is_counted(tmp_path):
    rows = [
        {"kind": "like"},
        {"response_id": "a", "kind": "jump"},
        {"response_id": "a"},
        {"response_id": "a", "kind": "reading_time", "value": "long"},
        {"response_id": "a", "kind": "reading_time", "value": -1},
        {"response_id": "a", "kind": "reading_time"},
        {"response_id": "a", "kind": "next_message", "value": 7},
        {"response_id": "a", "kind": "rating"},
        {"response_id": "a", "kind": "like"},
    ]
    signals = read(tmp_path, *rows)
    assert signals.left_out == {
        "signals without the id of their answer": 1,
        "signals of an unknown kind: jump": 1,
        "signals of an unknown kind: None": 1,
        "invalid values of reading_time": 3,
        "invalid values of next_message": 1,
        "invalid values of rating": 1,
    }
    assert dict(signals.of("a", None)) == {"like": 1.0}
    assert signals.first["signals of an unknown kind: jump"].endswith("signals.jsonl, line 2")


def test_an_empty_table_is_a_mistake(tmp_path):
    path = tmp_path / "signals.jsonl"
    path.write_text("\n")
    with pytest.raises(InputError, match=r"signals\.jsonl"):
        read_signals(str(path), Signals())


# Two ratings of one answer


def rated(*ratings):
    signals = Signals()
    for kind, time, user in ratings:
        signals.add("a", Signal(kind, 1.0, time, user))
    return dict(signals.of("a", None)), dict(signals.left_out)


def test_the_last_word_of_a_user_counts_whatever_the_order_of_the_table():
    changed = {"ratings that the same user changed later": 1}
    assert rated(("like", 10.0, "u"), ("dislike", 20.0, "u")) == ({"dislike": 1.0}, changed)
    assert rated(("dislike", 20.0, "u"), ("like", 10.0, "u")) == ({"dislike": 1.0}, changed)
    assert rated(("like", None, None), ("dislike", None, None)) == ({"dislike": 1.0}, changed)
    repeated = {"ratings that the same user repeated later": 1}
    assert rated(("like", 10.0, "u"), ("like", 20.0, "u")) == ({"like": 1.0}, repeated)


def test_two_users_may_disagree():
    assert rated(("like", 10.0, "u"), ("dislike", 5.0, "v")) == ({"dislike": 1.0, "like": 1.0}, {})


# Clocks


def test_a_signal_from_before_its_answer_is_not_used():
    signals = Signals()
    signals.add("a", Signal("like", 1.0, 1000.0, "u"))
    assert dict(signals.of("a", 1299.0)) == {"like": 1.0}
    assert signals.of("a", 1301.0) == []
    assert signals.left_out == {"signals from before their answer": 1}
