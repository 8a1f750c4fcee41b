"""Labels of people: stored one by one, by several people at once, on disks and in buckets; what is damaged is reported."""

import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace

import pytest

import ragstone
from ragstone.analysis.label_use import sample_key
from ragstone.analysis.sample_evidence import read_cases
from ragstone.errors import UsageError
from ragstone.storage.human_labels import (
    HumanLabel,
    answer_key,
    answer_labels,
    labels_of,
    mean_label,
    read_human_labels,
    remove_label,
    store_of,
    write_label,
)
from ragstone.storage.places import open_place
from ragstone.storage.runs import open_run

ROWS = [{"id": str(n), "question": f"q{n}", "answer": f"a{n}", "references": ["one"]} for n in range(4)]


def label(number=0, author="Ana", value="right", **more):
    return HumanLabel(answer_key(f"q{number}", f"a{number}"), "answer", author, value, **more)


def test_labels_of_two_people_and_of_every_run(tmp_path):
    first, second = (ragstone.evaluate(ROWS, metric, str(tmp_path)) for metric in ("token_f1", "rougel"))
    root = open_place(tmp_path)
    stored = write_label(root, label(2, note="see page 4", run=first.id))
    write_label(root, label(2, author="Bo", value="wrong"))
    assert stored.time.endswith("+00:00")
    for run in (first, second):
        found = answer_labels(open_run(run.path))
        assert [(one.author, one.value) for one in found[2]] == [("Ana", "right"), ("Bo", "wrong")]
        assert list(found) == [2]
        assert mean_label(found[2]) == 0.5


def test_a_new_label_replaces_the_old_one_at_once(tmp_path):
    root = open_place(tmp_path)
    # The same size, and perhaps the same time of change.
    for value in ("right", "wrong", "right", "wrong"):
        write_label(root, label(value=value))
        [found] = read_human_labels(root).labels
        assert found.value == value
    stamp = read_human_labels(root).stamp
    remove_label(root, "ana", label().key)
    assert read_human_labels(root).labels == ()
    assert read_human_labels(root).stamp != stamp


def test_another_process_replaces_a_label_that_was_read_before(tmp_path):
    root = open_place(tmp_path)
    write_label(root, label())
    [file] = (tmp_path / "labels").rglob("*.json")
    os.utime(file, (1_000, 1_000))
    assert read_human_labels(root).labels[0].value == "right"
    file.write_text(file.read_text().replace("right", "wrong"))
    assert read_human_labels(root).labels[0].value == "wrong"


def test_a_skip_is_kept_but_is_no_label(tmp_path):
    run = ragstone.evaluate(ROWS, "token_f1", str(tmp_path))
    write_label(open_place(tmp_path), label(1, value="skipped"))
    assert answer_labels(open_run(run.path)) == {}
    assert labels_of(open_run(run.path)).labels[0].value == "skipped"


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "<b>x</b>", "Ana\\..\\x", ".", "Zoë Ünal", "名前", "CON"])
def test_hostile_names_stay_inside(tmp_path, name):
    root = open_place(tmp_path / "store")
    write_label(root, label(author=name))
    assert read_human_labels(root).labels[0].author == name
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.parent.parent for path in files] == [tmp_path / "store" / "labels"]
    assert files[0].stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "why"),
    [("", "needs the name"), (" \t", "needs the name"), ("x" * 10_000, "10,000 characters"), ("a\u202eb", "control")],
)
def test_bad_names_are_refused(tmp_path, name, why):
    with pytest.raises(UsageError, match=why):
        write_label(open_place(tmp_path), label(author=name))
    assert not (tmp_path / "labels").exists()


def test_other_things_that_are_refused(tmp_path):
    root = open_place(tmp_path)
    with pytest.raises(UsageError, match=r"10,000 characters; at most 2,000"):
        write_label(root, label(note="x" * 10_000))
    with pytest.raises(UsageError, match=r"'great' is not a label\. Choose from: right, partly"):
        write_label(root, label(value="great"))
    with pytest.raises(UsageError, match="key"):
        write_label(root, replace(label(), key="../x"))


def test_names_in_another_case_are_one_person_and_similar_names_are_not(tmp_path):
    root = open_place(tmp_path)
    for name in ("Ana", "ANA", "Ana.", "Ana!"):
        write_label(root, label(author=name))
    assert sorted(one.author for one in read_human_labels(root).labels) == ["ANA", "Ana!", "Ana."]


def test_broken_text_of_data_is_stored(tmp_path):
    root = open_place(tmp_path)
    write_label(root, replace(label(), question="half \ud800", answer="y" * 50_000))
    [found] = read_human_labels(root).labels
    assert found.question == "half \ud800"
    assert len(found.answer) == 2_000


def test_damaged_files_are_reported(tmp_path):
    root = open_place(tmp_path)
    write_label(root, label())
    folder = next((tmp_path / "labels").iterdir())
    (folder / "half.json").write_text('{"version": 1, "ki')
    (folder / "list.json").write_text("[]")
    (folder / "other.json").write_text(json.dumps({"version": 1, "kind": "answer", "author": "x", "value": 7}))
    (folder / "large.json").write_text(" " * 200_000)
    (folder / "left.json.1234.tmp").write_text("{")
    (folder / "loop.json").symlink_to(folder / "loop.json")
    os.mkfifo(folder / "pipe.json")
    found = read_human_labels(root)
    assert [one.author for one in found.labels] == ["Ana"]
    assert len(found.damaged) == 4
    assert all(any(name in words for words in found.damaged) for name in ("half", "list", "other", "large"))


def test_a_store_without_labels_and_a_run_outside_of_one(tmp_path):
    run = ragstone.evaluate(ROWS, "token_f1", str(tmp_path / "store"))
    assert answer_labels(open_run(run.path)) == {}
    os.rename(run.path, tmp_path / "lonely")
    alone = open_run(tmp_path / "lonely")
    assert store_of(alone) is None
    assert answer_labels(alone) == {}


def test_the_same_words_after_other_turns_are_another_answer(tmp_path):
    turns = [[{"role": "user", "text": f"The ferry to {place}?"}] for place in ("Skye", "Mull")]
    rows = [{"id": str(n), "question": "On Sunday?", "answer": "Yes.", "history": turns[n]} for n in range(2)]
    run = ragstone.evaluate([*rows, {**rows[1], "id": "2"}], "distinct_1", str(tmp_path))
    key = answer_key("On Sunday?", "Yes.", ["The ferry to Mull?"])
    write_label(open_place(tmp_path), HumanLabel(key, "answer", "Ana", "wrong"))
    assert list(answer_labels(open_run(run.path))) == [1, 2]


def test_a_label_stays_if_an_earlier_answer_is_reworded(tmp_path):
    def rows(said):
        turns = [{"role": "user", "text": "Is there a ferry?"}, {"role": "assistant", "text": said}]
        return [{"question": "On Sunday?", "answer": "Yes.", "history": turns}]

    old, new = (ragstone.evaluate(rows(said), "distinct_1", str(tmp_path)) for said in ("Yes.", "There is one."))
    sample = next(iter(read_cases(open_run(old.path)))).sample
    write_label(open_place(tmp_path), HumanLabel(sample_key(sample), "answer", "Ana", "right"))
    assert [list(answer_labels(open_run(run.path))) for run in (old, new)] == [[0], [0]]


def test_a_bucket(bucket):
    url = f"{bucket.url}/prefix"
    run = ragstone.evaluate(ROWS, "token_f1", url)
    root = open_place(url)
    for author in ("Ana", "Bo"):
        for number in range(3):
            write_label(root, label(number, author))
    found = answer_labels(open_run(run.path))
    assert [len(found[row]) for row in (0, 1, 2)] == [2, 2, 2]
    write_label(root, label(0, "Bo", "wrong"))
    assert [one.value for one in answer_labels(open_run(run.path))[0]] == ["right", "wrong"]
    bucket.write("prefix/labels/x/broken.json", b"{")
    remove_label(root, "Bo", label(1).key)
    labels = read_human_labels(root)
    assert (len(labels.labels), len(labels.damaged)) == (5, 1)


def _write_forever(folder, author):
    root = open_place(folder)
    for number in range(100_000):
        write_label(root, label(number, author, ("right", "wrong")[number % 2], note="x" * 500))


def test_two_writers_that_are_killed_leave_whole_labels(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_forever, args=(str(tmp_path), name)) for name in ("Ana", "Bo")]
    for writer in writers:
        writer.start()
    root = open_place(tmp_path)
    while len({one.author for one in read_human_labels(root).labels}) < 2 or len(read_human_labels(root).labels) < 50:
        time.sleep(0.05)
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
    found = read_human_labels(root)
    assert found.damaged == ()
    for name in ("Ana", "Bo"):
        count = sum(one.author == name for one in found.labels)
        # Every label up to the last one: none is lost.
        assert {one.key for one in found.labels if one.author == name} == {label(n).key for n in range(count)}
