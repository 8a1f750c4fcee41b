"""A watch reads a log as `ragstone run` does: the same columns, the same errors; other options read again what was left out."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import InputError, UnknownColumnsError, UnknownNameError
from ragstone.formats.reader import open_reader, read_dataset
from ragstone.watch import read_logs
from ragstone.watch.state import read_state
from tests.watch.logs import request, write_lines
from tests.watch.test_watch import World

KNOWN = {"q": "prompt", "a": "output", "c": "retrieved"}
ODD = {"q": "anfrage_xy", "a": "zzz", "c": "fundstellen"}
OWN = {"q": "question", "a": "answer", "c": "contexts"}
KINDS = ("log.jsonl", "log.csv", "log.json", "log.parquet")


def rows(names, first=0, last=40, **more):
    return [
        {
            names["q"]: f"When does boat number {n} leave the harbour?",
            names["a"]: f"Boat {n} leaves at nine in the evening, as always.",
            names["c"]: [f"Passage {n} of the timetable says that the boats leave at nine in the evening."],
            "time": "2026-11-10T10:00:00Z",
            **more,
        }
        for n in range(first, last)
    ]


def write(file, content):
    file.parent.mkdir(exist_ok=True)
    if file.suffix == ".jsonl":
        write_lines(file, content)
    elif file.suffix == ".json":
        file.write_text(json.dumps(content))
    elif file.suffix == ".parquet":
        names = dict.fromkeys(name for row in content for name in row)
        pq.write_table(pa.table({name: [row.get(name) for row in content] for name in names}), file)
    else:
        with open(file, "w", newline="") as stream:
            table = csv.DictWriter(stream, list(dict.fromkeys(name for row in content for name in row)))
            table.writeheader()
            table.writerows([{k: json.dumps(v) if isinstance(v, list) else v for k, v in r.items()} for r in content])
    return file


def stored(world, period="2026-11-10"):
    samples = [sample for run in world.store.runs(period) for sample in run.samples]
    return sorted((s.question, s.answer, s.contexts[0].text if s.contexts else None) for s in samples)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_guessed_as_in_a_run(tmp_path, kind):
    file = write(tmp_path / "logs" / kind, rows(KNOWN))
    world = World(tmp_path)
    assert world.at("12T00:00").requests == 40
    expected = [(s.question, s.answer, s.contexts[0].text) for s in read_dataset(file)]
    assert stored(world) == sorted(expected)
    reader = open_reader(file)
    assert [note for note in world.notes if "read by their names" in note] == reader.sources[0].remarks


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_columns_are_the_error_of_a_run_until_they_are_mapped(tmp_path, kind):
    file = write(tmp_path / "logs" / kind, rows(ODD))
    with pytest.raises(UnknownColumnsError) as expected:
        open_reader(file)
    world = World(tmp_path)
    for _ in range(2):  # a second pass is not silent
        with pytest.raises(UnknownColumnsError) as error:
            world.at("10T12:00")
        assert str(error.value) == str(expected.value)
    mapped = World(tmp_path, columns={"question": "anfrage_xy", "answer": "zzz", "contexts": "fundstellen"})
    done = mapped.at("12T00:00")
    assert (done.requests, done.state.left_out, done.state.duplicates) == (40, {}, 0)
    assert stored(mapped)[0][0].startswith("When does boat")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [{}, {"id": "ticket"}])
def test_rows_that_were_left_out_are_read_again_and_others_are_not_counted_twice(tmp_path, kind, more):
    own = [{**row, "ticket": f"t{n}"} for n, row in enumerate(rows(OWN))]
    other = [{**row, "ticket": f"o{n}"} for n, row in enumerate(rows({"q": "q2", "a": "a2", "c": "c2"}, 40, 55))]
    write(tmp_path / "logs" / kind, [*own[:20], *other, *own[20:]])
    world = World(tmp_path)
    done = world.at("10T12:00")
    assert (done.requests, done.state.left_out) == (40, {"rows without a question": 15})
    mapped = World(tmp_path, columns={"question": "q2", "answer": "a2", "contexts": "c2", **more})
    done = mapped.at("10T13:00")
    # Now the first rows have no question, but they are known.
    assert (done.requests, done.state.duplicates) == (15, 0)
    assert done.state.left_out == {"rows without a question": 40}
    assert mapped.at("10T14:00").requests == 0
    mapped.at("12T00:00")
    assert len(set(stored(mapped))) == len(stored(mapped)) == 55


def test_lines_that_follow_are_read_with_the_new_columns(tmp_path):
    file = write(tmp_path / "logs" / "log.jsonl", [*rows(OWN, 0, 10), *rows(ODD, 10, 15)])
    assert World(tmp_path).at("10T12:00").requests == 10
    write_lines(file, rows(ODD, 15, 20))
    mapped = World(tmp_path, columns={"question": "anfrage_xy", "answer": "zzz", "contexts": "fundstellen"})
    assert mapped.at("10T13:00").requests == 10
    write_lines(file, rows(ODD, 20, 22))
    assert mapped.at("10T14:00").requests == 2
    mapped.at("12T00:00")
    assert len(set(stored(mapped))) == 22


@pytest.mark.parametrize("kind", KINDS)
def test_a_mapped_column_that_does_not_exist_is_the_error_of_a_run(tmp_path, kind):
    file = write(tmp_path / "logs" / kind, rows(KNOWN))
    with pytest.raises(UnknownNameError) as expected:
        open_reader(file, columns={"question": "promt"})
    with pytest.raises(UnknownNameError) as error:
        World(tmp_path, columns={"question": "promt"}).at("10T12:00")
    assert str(error.value) == str(expected.value)
    assert World(tmp_path, columns={"question": "prompt"}).at("10T12:00").requests == 40


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_of_which_no_row_can_be_read_is_an_error_in_every_pass(tmp_path, kind):
    empty = [{**row, "question": " "} for row in rows(OWN)]
    write(tmp_path / "logs" / kind, empty)
    world = World(tmp_path)
    for _ in range(2):
        with pytest.raises(InputError, match=r"nothing can be read: rows without a question: 40 .*--map"):
            world.at("10T12:00")
    assert world.store.periods() == []


def test_lines_that_are_not_json_are_an_error(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "app.log").write_text("GET /health 200\n" * 5)
    with pytest.raises(InputError, match="lines that are not JSON objects: 5"):
        World(tmp_path).at("10T12:00")


def test_one_unreadable_source_does_not_stop_the_others(tmp_path):
    write(tmp_path / "bad" / "log.jsonl", rows(ODD))
    write(tmp_path / "logs" / "log.jsonl", rows(KNOWN))
    world = World(tmp_path, sources=(str(tmp_path / "logs"), str(tmp_path / "bad")))
    with pytest.raises(UnknownColumnsError):
        world.at("12T00:00")
    assert len(stored(world)) == 40


def test_one_unreadable_file_of_a_source_is_noted_once(tmp_path):
    write(tmp_path / "logs" / "a.jsonl", rows(KNOWN))
    write(tmp_path / "logs" / "b.jsonl", rows(ODD))
    world = World(tmp_path)
    assert [world.at("10T12:00").requests, world.at("10T13:00").requests] == [40, 0]
    assert len([note for note in world.notes if "b.jsonl is left out until it changes" in note]) == 1


def test_a_watch_of_an_earlier_version_reads_what_it_left_out(tmp_path):
    """It did not use the columns that it had guessed."""
    file = write(tmp_path / "logs" / "log.jsonl", rows(KNOWN))
    world = World(tmp_path)
    world.watch.clean()
    place = world.store.state_file
    old = {"source": 0, "path": str(file), "position": file.stat().st_size, "format": "ragstone", "kind": "lines"}
    with pytest.MonkeyPatch.context() as patch:  # the state after a pass of version 0.1.0
        patch.setattr("ragstone.watch.read_logs._take_lines", lambda *_: None)
        world.at("10T12:00")
    entry = json.loads(place.read_bytes())["files"]["0"]
    kept = {name: entry[name] for name in ("head", "head_bytes", "tail", "looked", "gone")}
    content = {
        "version": 1,
        "generation": 2,
        "next_file": 1,
        "periods": {},
        "left_out": {"rows without a question": 40},
    }
    place.write_bytes(json.dumps({**content, "files": {"0": {**kept, **old}}}).encode())
    done = world.at("10T13:00")
    assert (done.requests, done.state.left_out) == (40, {})
    assert read_state(place).files["0"].options == {"format": None, "columns": {}}


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("moment", ["before it is read", "after it is read"])
def test_a_rotation_in_the_middle_of_a_pass(tmp_path, monkeypatch, moment, with_ids):
    """The new file is longer than the position in the old one, which must not be used for it."""
    lines = [request(number) for number in range(100)]
    for line in () if with_ids else lines:
        del line["id"]
    log = write_lines(tmp_path / "logs" / "app.jsonl", lines[:20])
    world = World(tmp_path, sources=(str(log),))
    assert world.at("10T12:00").requests == 20
    write_lines(log, lines[20:25])

    def rotate():
        if not log.with_suffix(".jsonl.1").exists():
            write_lines(log, lines[25:30])
            log.rename(log.with_suffix(".jsonl.1"))
            write_lines(log, lines[30:])

    changed_files, take_lines = read_logs.changed_files, read_logs._take_lines

    def rotated(*given):
        for found in changed_files(*given):
            rotate()
            yield found

    def taken(*given):
        rotate()
        take_lines(*given)

    if moment == "before it is read":
        monkeypatch.setattr(read_logs, "changed_files", rotated)
    else:
        monkeypatch.setattr(read_logs, "_take_lines", taken)
    world.at("10T12:01")
    world.at("10T12:02")
    assert world.store.period("2026-11-10").requests == 100
    assert read_state(world.store.state_file).left_out == {}
    assert read_state(world.store.state_file).duplicates == 0
