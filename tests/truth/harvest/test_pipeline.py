import json
from collections import Counter

import pytest

from ragstone.data.types import Chunk
from ragstone.errors import StorageError, UsageError
from ragstone.formats import reader
from ragstone.truth.harvest.log_index import Exchange, Log
from ragstone.truth.harvest.pipeline import add_cases, count, group_duplicates, make_harvest, save_harvest, survey
from ragstone.truth.harvest.signals import Weights
from ragstone.truth.model import Case
from ragstone.truth.store import TruthStore
from tests.formats.fixtures import dial_row, rating_row
from tests.truth.harvest.log_files import make_rows, write_lines, write_log

DAY = "2024-05-01"


def at(minute):
    return f"{DAY}T10:{minute:02d}:00"


def log_of(tmp_path, *rows):
    write_log(tmp_path / "logs", "app", DAY, rows)
    return Log((str(tmp_path / "logs"),))


def harvest(tmp_path, *rows, n=100, signals=(), **options):
    return make_harvest(log_of(tmp_path, *rows), signals, Weights(), n, **options)


def by_id(harvest):
    return {case.id: case for case in harvest.cases}


# What a conversation itself says


def verdicts(tmp_path, *rows):
    found = survey(log_of(tmp_path, *rows), [], Weights())
    return [found.judged.features_of(row) for row in range(len(found.index))], found.judged.derived


def test_the_next_message_speaks_of_the_answer_before(tmp_path):
    features, derived = verdicts(
        tmp_path,
        dial_row("r1", "When does it leave?", "At eight.", time=at(0)),
        dial_row("r2", "No, I wanted something else", "Sorry.", time=at(1)),
        dial_row("r3", "Thanks!", "You are welcome.", time=at(2), chat="chat-2"),
        dial_row("r4", "Where is it?", "Here.", time=at(3)),
        dial_row("r5", "Where is it?", "There.", time=at(4)),
        dial_row("r6", "Thank you", "Good bye.", time=at(5)),
    )
    # r3 stands alone in its chat; r4 was asked again; r5 was thanked for.
    assert features == [{"complaint": 1.0}, {}, {}, {"regenerate": 1.0}, {"thanks": 1.0}, {}]
    assert derived == {"regenerate": 1, "thanks": 1, "complaint": 1}


def test_the_order_is_that_of_time_and_not_of_the_file(tmp_path):
    features, _ = verdicts(
        tmp_path,
        dial_row("r2", "That's wrong.", "Sorry.", time=at(5)),
        dial_row("r1", "When does it leave?", "At eight.", time=at(1)),
    )
    assert features == [{}, {"complaint": 1.0}]


def test_what_a_deployment_asks_another_is_not_what_the_user_speaks_of(tmp_path):
    write_log(
        tmp_path / "logs",
        "app",
        DAY,
        [dial_row("r1", "When?", "At eight.", time=at(0)), dial_row("r2", "That's wrong.", "Sorry.", time=at(2))],
    )
    write_log(tmp_path / "logs", "model", DAY, [dial_row("m1", "Rewritten: when?", "At eight.", time=at(1))])
    found = survey(Log((str(tmp_path / "logs"),)), [], Weights())
    assert [found.judged.features_of(row) for row in range(3)] == [{"complaint": 1.0}, {}, {}]


def test_a_message_whose_time_is_wrong_speaks_of_nothing(tmp_path):
    features, derived = verdicts(
        tmp_path,
        dial_row("r1", "When does it leave?", "At eight.", time=at(0)),
        dial_row("r2", "That's wrong.", "Sorry.", time="1999-01-01T00:00:00"),
    )
    assert features == [{}, {}]
    assert derived == {"regenerate": 0, "thanks": 0, "complaint": 0}


def test_signals_are_joined_to_their_answers(tmp_path):
    rows = [
        {"response_id": "r1", "kind": "copy"},
        {"response_id": "r2", "kind": "like"},
        {"response_id": "nobody", "kind": "like"},
        {"response_id": "r2", "kind": "reading_time", "value": 0.1},
        {"response_id": "r2", "kind": "dislike", "time": "2001-01-01T00:00:00"},
    ]
    path = write_lines(tmp_path / "signals.jsonl", rows)
    log = log_of(tmp_path, *(dial_row(f"r{n}", f"q{n}", "a", chat=f"c{n}") for n in range(3)), rating_row("r0", False))
    found = survey(log, [path], Weights())
    assert [found.judged.features_of(row) for row in range(3)] == [
        {"dislike": 1.0},
        {"copy": 1.0},
        {"like": 1.0, "reading_time": -1.0},
    ]
    counts = count(found)
    assert counts["signals"] == {"copy": 1, "like": 2, "reading_time": 1, "dislike": 2}
    assert counts["signals_of_unknown_answers"] == 1
    assert counts["signals_left_out"] == {"signals from before their answer": 1}
    assert (counts["good"], counts["bad"], counts["unclear"]) == (1, 1, 1)
    assert (counts["rows"], counts["exchanges"], counts["answers_with_signal"]) == (4, 3, 3)


# Cases


def test_good_answers_become_references_that_a_person_must_accept(tmp_path):
    rows = [
        dial_row("good", "When does it leave?", "At eight.", ["It leaves at eight.", ""], chat="a"),
        rating_row("good", True),
        dial_row("bad", "Where is the pier?", "At sea.", ["The pier is in town."], chat="b"),
        rating_row("bad", False),
        dial_row("silent", "Who is the captain?", "Nobody knows.", chat="c"),
    ]
    made = harvest(tmp_path, *rows)
    good, bad, silent = (by_id(made)[name] for name in ("good", "bad", "silent"))
    assert good.references == ["At eight."]
    assert good.standing == "proposed"
    assert good.as_sample().references is None
    assert good.passages == [Chunk("It leaves at eight.", source="guide.md#0")]
    assert good.documents == ["guide.md"]
    assert good.provenance == "harvested"
    assert good.metadata["signal"] == "good"
    assert good.metadata["probability"] == pytest.approx(0.9526)
    assert good.metadata["why"] == ["the user liked it"]
    assert (good.metadata["deployment"], good.metadata["day"]) == ("app", DAY)
    assert "logged_answer" not in good.metadata
    assert bad.references == []
    assert bad.metadata["logged_answer"] == "At sea."
    assert silent.metadata["signal"] == "unclear"
    assert silent.metadata["why"] == []
    assert [case.weight for case in made.cases] == [1.0, 1.0, 1.0]
    # Who decides on a bad answer sees it as proposed.
    [waiting] = made.review
    assert (waiting.id, waiting.references, waiting.standing) == ("bad", ["At sea."], "proposed")
    accepted = by_id(harvest(tmp_path, *rows, accept=True))
    assert accepted["good"].as_sample().references == ["At eight."]
    assert accepted["bad"].standing == "proposed"


def test_who_asked_is_not_kept(tmp_path):
    made = harvest(tmp_path, dial_row("r", "q", "a", user="anna@example.org", chat="chat-of-anna"))
    assert "anna" not in json.dumps([case.metadata for case in made.cases])


def test_thanks_and_complaints_are_no_questions(tmp_path):
    made = harvest(
        tmp_path,
        dial_row("r1", "When does it leave?", "At eight.", time=at(0)),
        dial_row("r2", "No, I wanted something else", "Sorry.", time=at(1)),
        dial_row("r3", "Thanks, and what does a child pay on Sunday?", "Five.", time=at(2)),
    )
    assert set(by_id(made)) == {"r1", "r3"}
    assert made.counts["remarks"] == 1
    with pytest.raises(UsageError, match="no question"):
        harvest(tmp_path, dial_row("r1", "Thanks", "You are welcome."))


def test_a_question_asked_again_is_one_case_that_stands_for_both(tmp_path):
    rows = [
        dial_row("r1", "When does the ferry leave?", "At eight.", chat="a"),
        dial_row("r2", "when does the  ferry LEAVE", "At nine.", chat="b"),
        dial_row("r3", "When does the ferry leav?", "At ten.", chat="c"),
        dial_row("r4", "Where is the pier?", "In town.", chat="d"),
        rating_row("r2", True),
    ]
    made = harvest(tmp_path, *rows)
    assert made.counts["drawn"] == 4
    assert made.counts["duplicates_among_drawn"] == 2
    assert made.counts["repeated_questions"] == 1
    [case] = [case for case in made.cases if "ferry" in case.question.lower()]
    assert (case.id, case.references, case.weight) == ("r2", ["At nine."], 3.0)
    assert Counter(draw["stratum"].split(" · ")[0] for draw in case.metadata["draws"]) == {"good": 1, "unclear": 1}
    assert sum(draw["times"] * draw["weight"] for draw in case.metadata["draws"]) == 3.0


def test_a_question_with_a_good_and_a_bad_answer_waits_for_a_person(tmp_path):
    rows = [
        dial_row("r1", "When does the ferry leave?", "At eight.", chat="a"),
        dial_row("r2", "When does the ferry leave?", "At nine.", chat="b"),
        rating_row("r1", False),
        rating_row("r2", True),
    ]
    made = harvest(tmp_path, *rows, accept=True)
    [case] = made.cases
    assert (case.references, case.standing) == (["At nine."], "proposed")
    assert case.metadata["disputed"] == "another answer to this question was bad"
    assert [waiting.id for waiting in made.review] == ["r2"]


def exchange(question, deployment="app", documents=None):
    from ragstone.data.types import Sample

    return Exchange(Sample("x", question, "a", documents=documents), None, None, None, None, deployment, None)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (exchange("What are the fares of 2023?"), exchange("What are the fares of 2024?"), False),
        (exchange("What are the fares?"), exchange("what are the fares"), True),
        (exchange("What are the fares for children today?"), exchange("What are the fares for childrn today?"), True),
        (exchange("Who is Anna?"), exchange("Who is Anne?"), False),
        (
            exchange("May dogs travel in the cabin of the boat?"),
            exchange("May cats travel in the cabin of the boat?"),
            False,
        ),
        (exchange("What are the fares?"), exchange("What are the fares?", "other"), False),
        (exchange("What is it?", documents=["a.md"]), exchange("What is it?", documents=["b.md"]), False),
        (exchange("What is it?", documents=["a.md"]), exchange("What is it?", documents=["b.md", "a.md"]), True),
        (exchange("What is it?", documents=["a.md"]), exchange("What is it?"), True),
        (exchange("?!"), exchange("…"), True),
    ],
)
def test_which_questions_are_the_same(one, other, same):
    assert len(group_duplicates([one, other])) == (1 if same else 2)


# Personal data


def test_personal_data_is_masked_everywhere_with_the_same_placeholder(tmp_path):
    secret = "anna.meier@example.org"
    rows = [
        dial_row(
            "r1",
            f"Why was {secret} charged on 4111 1111 1111 1111?",
            f"{secret} bought a ticket.",
            [f"Buyer: {secret}, +49 30 901820"],
        ),
        rating_row("r1", True),
    ]
    plain, masked = harvest(tmp_path, *rows), harvest(tmp_path, *rows, mask=True)
    assert secret in plain.cases[0].question
    [case] = masked.cases
    assert case.question == "Why was [e-mail 1] charged on [card 1]?"
    assert case.references == ["[e-mail 1] bought a ticket."]
    assert case.passages[0].text == "Buyer: [e-mail 1], [phone 1]"
    assert masked.counts["masked"] == {"e-mail": 3, "card": 1, "phone": 1}
    assert plain.counts["masked"] == {}
    assert secret not in json.dumps([c.metadata for c in masked.cases] + [c.metadata for c in masked.review])


def test_a_masked_queue_has_no_personal_data_either(tmp_path):
    rows = [dial_row("r1", "Who?", "Write to jo@example.org"), rating_row("r1", False)]
    made = harvest(tmp_path, *rows, mask=True)
    assert made.review[0].references == ["Write to [e-mail 1]"]
    assert made.cases[0].metadata["logged_answer"] == "Write to [e-mail 1]"


# Draws


@pytest.mark.slow
def test_the_same_seed_gives_the_same_cases_and_another_others(tmp_path):
    rows, _ = make_rows(300)
    first, again, other = (harvest(tmp_path, *rows, n=40, seed=seed) for seed in (1, 1, 2))
    assert first.cases == again.cases
    assert set(by_id(first)) != set(by_id(other))


def test_weights_stand_for_all_questions_of_the_log(tmp_path):
    rows, _ = make_rows(500)
    made = harvest(tmp_path, *rows, n=60)
    questions = made.counts["exchanges"] - made.counts["remarks"]
    assert questions == 500
    assert sum(case.weight for case in made.cases) == pytest.approx(questions)
    assert made.counts["drawn"] == 60
    assert sum(made.counts["cases"].values()) == len(made.cases)
    assert made.counts["cases"]["good"] >= 14
    assert made.counts["cases"]["bad"] >= 14


def test_a_log_that_changes_between_the_readings_is_told(tmp_path, monkeypatch):
    log = log_of(tmp_path, *(dial_row(f"r{n}", f"question {n}", "a", chat=str(n)) for n in range(20)))
    real, readings = Log.exchanges, []

    def changing(self, tally, on_rating=None):
        readings.append(1)
        if len(readings) == 2:
            log_of(tmp_path, *(dial_row(f"s{n}", f"question {n}", "a") for n in range(20)))
        return real(self, tally, on_rating)

    monkeypatch.setattr(Log, "exchanges", changing)
    with pytest.raises(StorageError, match="changed while it was read"):
        make_harvest(log, [], Weights(), 5)


@pytest.mark.slow
def test_what_is_kept_of_a_log_does_not_grow_with_its_texts(tmp_path, monkeypatch):
    """The first reading keeps numbers: the texts of one batch are the most that is held."""
    import tracemalloc

    monkeypatch.setattr(reader, "BATCH_BYTES", 1 << 20)

    def peak(length):
        folder = tmp_path / str(length)
        for part in range(10):
            rows = [
                {"question": f"question {part} {n} {'x' * length}", "answer": "y" * length, "attachments": "[]"}
                for n in range(50)
            ]
            write_log(folder, "app", DAY, rows, part)
        tracemalloc.start()
        found = survey(Log((str(folder),)), [], Weights())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(found.index) == 500
        return most

    peak(10)  # what is loaded once
    short, long = peak(10), peak(20_000)
    # All texts together are 20 MB; those of a part are 2 MB, those of a batch 1 MB.
    assert long - short < 8 << 20


# Saving


def test_versions_with_lineage(tmp_path):
    rows, _ = make_rows(200)
    log = log_of(tmp_path, *rows)
    made = make_harvest(log, [], Weights(), 50)
    store = TruthStore(str(tmp_path / "root"))
    first, queue = save_harvest(made, log, Weights(), store, "harbour", "jo", "May")
    assert (first.reference, queue.reference) == ("harbour@1", "harbour-review@1")
    assert store.read("harbour").cases == made.cases
    assert store.read("harbour-review").cases == made.review
    assert first.lineage.counts["drawn"] == 50
    assert first.lineage.counts["seed"] == 0
    assert sum(one["drawn"] for one in first.lineage.counts["drawn_by_stratum"]) == 50
    assert first.lineage.sources[0]["parts"] == [str(tmp_path / "logs/app" / DAY / "part-0.parquet")]
    assert first.lineage.tools["signal weights"]["like"] == 3.0


def test_somebody_who_saves_at_the_same_time_loses_nothing(tmp_path, monkeypatch):
    log = log_of(tmp_path, dial_row("r1", "Where is it?", "Here."))
    made = make_harvest(log, [], Weights(), 5)
    store = TruthStore(str(tmp_path / "root"))
    real, calls = TruthStore.save, []

    def late(self, name, cases, **options):
        calls.append(name)
        if len(calls) == 1:
            real(TruthStore(str(tmp_path / "root")), name, [Case("theirs", "Why?")], author="mia")
        return real(self, name, cases, **options)

    monkeypatch.setattr(TruthStore, "save", late)
    [info] = save_harvest(made, log, Weights(), store, "harbour", "jo")
    assert info.reference == "harbour@2"
    assert [case.id for case in store.read("harbour").cases] == ["theirs", "r1"]


def test_another_harvest_adds_and_never_overwrites(tmp_path):
    from dataclasses import replace

    made = harvest(tmp_path, dial_row("r1", "Where is it?", "Here."), dial_row("r2", "When is it?", "Now.", chat="b"))
    edited = [replace(case, references=["a person's word"]) for case in made.cases]
    [known] = [replace(case, id="r9", weight=4.0) for case in made.cases if case.id == "r1"]
    fresh = replace(known, id="r10", question="Why is it?")
    added = add_cases(edited, [made.cases[1], known, fresh])
    assert added.known == 2
    assert [case.id for case in added.cases] == [*(case.id for case in edited), "r10"]
    found = {case.id: case for case in added.cases}
    assert found["r1"].references == ["a person's word"]
    assert (found["r1"].weight, found["r2"].weight) == (5.0, 1.0)
    assert len(found["r1"].metadata["draws"]) == 2
