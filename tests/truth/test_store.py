import json
import multiprocessing
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import StorageError, TruthConflictError, UnknownNameError, UsageError
from ragstone.storage.places import open_place
from ragstone.truth import store as versions
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.store import Lineage, TruthStore, claiming, parse_reference

CASES = [
    Case("depth", "How deep is the harbour?", ["12 metres"], [TruthFact("The basin is 12 metres deep")]),
    Case("pier", "How long is the pier?", ["300 metres"], weight=2.5),
]


@pytest.fixture(params=["disk", "s3"])
def store(request, tmp_path):
    if request.param == "disk":
        return TruthStore(str(tmp_path))
    return TruthStore(request.getfixturevalue("bucket").url)


def test_versions_come_back_with_all_that_was_said_about_them(store):
    lineage = Lineage(["guide.pdf"], {"judge": "openai/gpt-4o-mini"}, {"extract": "a1b2"}, {"facts": 1})
    made = store.save("harbour", CASES, author="Ada", note="first", lineage=lineage)
    assert (made.number, made.rows, made.parent, made.reference) == (1, 2, None, "harbour@1")
    edited = [replace(CASES[0], references=["13 metres"])]
    store.save("harbour", edited, author="Bo", parent=1, lineage={"sources": ["a letter"]})
    assert store.names() == ["harbour"]
    first, second = store.versions("harbour")
    assert (first.author, first.note, first.rows) == ("Ada", "first", 2)
    assert first.lineage.sources == ["guide.pdf"]
    assert first.lineage.tools.keys() == {"ragstone", "judge"}
    assert first.lineage.prompts == {"extract": "a1b2"}
    assert (second.author, second.parent, second.lineage.sources) == ("Bo", 1, ["a letter"])
    assert first.fingerprint != second.fingerprint
    assert store.read("harbour").cases == edited
    assert store.read("harbour", 1).cases == CASES


def test_a_save_that_began_from_an_older_version_is_refused_and_loses_nothing(store):
    store.save("harbour", CASES, author="Ada")
    store.save("harbour", CASES[:1], author="Bo", parent=1)
    for parent in (None, 1):
        with pytest.raises(TruthConflictError, match="version 2") as caught:
            store.save("harbour", CASES, author="Cy", parent=parent)
        assert caught.value.newest == 2
    assert [info.author for info in store.versions("harbour")] == ["Ada", "Bo"]


def test_of_many_who_save_at_once_one_wins_and_the_others_are_told(store):
    store.save("harbour", CASES, author="Ada")
    outcomes = []
    barrier = threading.Barrier(6)

    def save(name):
        barrier.wait()
        try:
            outcomes.append(store.save("harbour", CASES[:1], author=name, parent=1).number)
        except TruthConflictError as conflict:
            outcomes.append(("conflict", conflict.newest))

    threads = [threading.Thread(target=save, args=(f"editor {number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["('conflict', 2)"] * 5 + ["2"]
    assert [info.number for info in store.versions("harbour")] == [1, 2]


def _save_in_process(root, start, outcome):
    start.wait(timeout=120)
    try:
        number = TruthStore(root).save("harbour", CASES, author="process").number
    except TruthConflictError as conflict:
        number = -conflict.newest
    Path(outcome).write_text(str(number))


@pytest.mark.slow
def test_two_processes_never_take_one_number(tmp_path):
    context = multiprocessing.get_context("spawn")
    outcomes = [tmp_path / f"outcome-{number}" for number in range(3)]
    start = context.Barrier(len(outcomes))
    root = str(tmp_path / "store")
    workers = [context.Process(target=_save_in_process, args=(root, start, str(file))) for file in outcomes]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=180)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert sorted(int(file.read_text()) for file in outcomes) == [-1, -1, 1]


def test_a_version_without_its_metadata_does_not_exist(store):
    store.save("harbour", CASES, author="Ada")
    home = store.root / "truth" / "harbour"
    (home / "v2" / "ground_truth.parquet").write_bytes(b"half a tab")
    assert [info.number for info in store.versions("harbour")] == [1]
    assert store.save("harbour", CASES[:1], author="Bo", parent=1).number == 2
    assert store.read("harbour").cases == CASES[:1]


def test_the_number_of_one_who_was_killed_while_saving_is_passed_over(store, monkeypatch):
    monkeypatch.setattr(versions, "PATIENCE_S", 0.3)
    store.save("harbour", CASES, author="Ada")
    with claiming(store.root / "truth" / "harbour" / "v2") as ours:
        assert ours
        made = store.save("harbour", CASES[:1], author="Bo", parent=1)
    assert (made.number, made.parent) == (3, 1)
    assert [info.number for info in store.versions("harbour")] == [1, 3]


def test_one_who_was_too_slow_is_told_so(store, monkeypatch):
    """Taken for dead, it comes back and finds a newer version: its own does not appear below that."""
    monkeypatch.setattr(versions, "PATIENCE_S", 0.0)
    store.save("harbour", CASES, author="Ada")
    slow = TruthStore(store.root)
    real, waited = slow._folder, []

    def folder(name, number):
        if number == 2 and not waited and (store.root / "truth" / "harbour" / "v2").children():
            waited.append(store.save("harbour", CASES[:1], author="Bo", parent=1).number)
        return real(name, number)

    monkeypatch.setattr(slow, "_folder", folder)
    with pytest.raises(TruthConflictError):
        slow.save("harbour", CASES, author="Cy", parent=1)
    assert waited == [3]
    assert [info.author for info in store.versions("harbour")] == ["Ada", "Bo"]


def test_claims_are_exclusive_and_leave_nothing_behind(store):
    folder = store.root / "truth" / "x" / "v1"
    with claiming(folder) as first:
        with claiming(folder) as second:
            assert (first, second) == (True, False)
        with claiming(folder) as third:
            assert third is False
    with claiming(folder) as later:
        assert later
    assert not folder.children()


def test_what_is_not_there_is_said_with_what_to_do(store):
    assert store.names() == []
    assert store.versions("harbour") == []
    with pytest.raises(UnknownNameError, match="ragstone truth import FILE harbour"):
        store.read("harbour")
    store.save("harbour", CASES, author="Ada")
    with pytest.raises(UnknownNameError, match="Did you mean harbour"):
        store.read("harbuor")
    with pytest.raises(UsageError, match="no version 7"):
        store.read("harbour", 7)
    with pytest.raises(UnknownNameError):
        store.save("pier", CASES, author="Ada", parent=3)


@pytest.mark.parametrize("name", ["", "..", "../up", "a/b", ".hidden", "a b", "a@b", "a\\b", "-x"])
def test_names_cannot_leave_the_root(tmp_path, name):
    with pytest.raises(UsageError, match="cannot name a ground truth"):
        TruthStore(str(tmp_path)).save(name, CASES, author="Ada")


def test_cases_need_ids_that_differ(tmp_path):
    with pytest.raises(UsageError, match="'depth' is there twice"):
        TruthStore(str(tmp_path)).save("harbour", [CASES[0], CASES[0]], author="Ada")


def test_another_layout_is_not_guessed_at(tmp_path):
    store = TruthStore(str(tmp_path))
    store.save("harbour", CASES, author="Ada")
    place = open_place(tmp_path / "truth" / "harbour" / "v1" / "metadata.json")
    place.write_bytes(json.dumps({**json.loads(place.read_bytes()), "layout": 99}).encode())
    with pytest.raises(StorageError, match="layout"):
        store.read("harbour")


def test_references_name_a_version():
    assert parse_reference("harbour") == ("harbour", None)
    assert parse_reference("harbour@3") == parse_reference("harbour@v3") == ("harbour", 3)
    for wrong in ("harbour@", "harbour@0", "harbour@-1", "harbour@x"):
        with pytest.raises(UsageError, match="NAME@3"):
            parse_reference(wrong)
