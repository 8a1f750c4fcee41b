"""Import, export, list and show versions."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.formats import formats, read_dataset
from ragstone.formats.base import WritableFormat
from ragstone.truth.model import Case, TruthFact
from tests.cli.truth.conftest import ROWS, write


def test_import_makes_the_first_version_and_then_the_next(cli, data, store):
    done = cli("truth", "import", data, "harbour", "--author", "Ada", "--note", "from the guide")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("harbour@1: 2 cases (cases: 2 added), saved under ragstone-store\n")
    assert "ragstone truth check harbour" in done.out
    first = store.read("harbour")
    assert (first.info.author, first.info.note, first.info.parent) == ("Ada", "from the guide", None)
    assert first.info.lineage.sources == [{"path": str(data), "format": "ragstone"}]
    assert first.cases[0] == Case(
        "depth",
        "How deep is the harbour?",
        ["12 metres"],
        [TruthFact("The basin is 12 metres deep")],
        ["guide.pdf"],
        weight=2.5,
        metadata={"topic": "port"},
    )
    assert "nothing changed: harbour@1" in cli("truth", "import", data, "harbour").out
    write(data, [{**ROWS[0], "references": ["13 metres"]}, {"id": "new", "question": "Who dug it?"}])
    assert "harbour@2: 3 cases (cases: 1 added, 1 changed)" in cli("truth", "import", data, "harbour").out
    assert [case.id for case in store.read("harbour").cases] == ["depth", "pier", "new"]
    replaced = cli("truth", "import", data, "harbour", "--replace")
    assert "harbour@3: 2 cases (cases: 1 removed)" in replaced.out
    assert store.read("harbour", 2).info.parent == 1


def test_import_keeps_what_the_data_has_no_place_for(cli, data, store):
    cli("truth", "import", data, "harbour")
    known = store.read("harbour").cases
    proposed = TruthFact("It was dredged in 1998", provenance="judge", standing="proposed")
    sourced = replace(known[0].facts[0], provenance="synthetic", note="checked")
    pier = replace(known[1], references=["310 metres"], standing="proposed")
    store.save("harbour", [replace(known[0], facts=[sourced, proposed]), pier], author="Ada", parent=1)
    cli("truth", "export", "harbour", "edited.jsonl")
    edited = [json.loads(line) for line in Path("edited.jsonl").read_text().splitlines()]
    edited[0]["references"] = ["13 metres"]
    edited[0]["facts"].append({"text": "A new fact"})
    write(data, edited)
    cli("truth", "import", data, "harbour")
    case = store.read("harbour").cases[0]
    assert case.references == ["13 metres"]
    assert case.weight == 2.5
    assert case.facts == [sourced, TruthFact("A new fact"), proposed]
    assert store.read("harbour").cases[1] == pier


def test_import_says_what_it_leaves_out(cli, data, tmp_path):
    write(data, [*ROWS, {"id": "odd", "answer": "yes"}])
    assert "1 sample without a question is left out, for example 'odd'" in cli("truth", "import", data, "harbour").err
    write(data, [{"id": "odd", "answer": "yes"}])
    refused = cli("truth", "import", data, "other")
    assert refused.code == 2
    assert "no sample with a question" in refused.err


def test_answers_by_id_get_their_questions_from_a_run_or_a_file(cli, data, store):
    said = [("customer", "When?"), ("bot", "Nine."), ("customer", "On Sunday?"), ("bot", "Ten.")]
    log = [{"chat": "c1", "n": n, "from": who, "body": text} for n, (who, text) in enumerate(said)]
    write(Path("log.jsonl"), log)
    Path("expected.csv").write_text("chat,turn,should_say\nc1,1,At nine.\nc1,2,At ten.\nc9,1,Never.\n")
    Path("ids.csv").write_text("id,should_say\nc1#1,At nine.\nc1#2,At ten.\n")
    given = ("--map", "references=should_say")
    refused = cli("truth", "import", "expected.csv", "shop", *given)
    assert "no sample with a question; --questions RUN|FILE reads their questions" in refused.err
    done = cli("truth", "import", "expected.csv", "shop", *given, "--questions", "log.jsonl")
    assert "1 sample without a question is left out" in done.err
    cases = [(case.id, case.question, case.references) for case in store.read("shop").cases]
    assert cases == [("c1#1", "When?", ["At nine."]), ("c1#2", "On Sunday?", ["At ten."])]
    assert cli("run", "log.jsonl", "--name", "before", "-m", "ari", "-q").code == 0
    cli("truth", "import", "ids.csv", "again", *given, "--questions", "before")
    assert [(case.id, case.question, case.references) for case in store.read("again").cases] == cases
    write(Path("other.jsonl"), [{"id": "x", "question": "Who?"}])
    assert (
        "none of its ids is in --questions"
        in cli("truth", "import", "ids.csv", "no", *given, "--questions", "other.jsonl").err
    )


@pytest.mark.parametrize("more", [(), ("--map", "id=answer_id")])
@pytest.mark.usefixtures("data")
def test_the_ids_may_be_those_of_the_messages(cli, store, more):
    said = [("customer", "When?"), ("bot", "Nine."), ("customer", "On Sunday?"), ("bot", "Ten.")]
    log = [{"chat": "c1", "n": n, "from": who, "body": text} for n, (who, text) in enumerate(said)]
    write(Path("log.jsonl"), [{**row, "answer_id": f"a{row['n']}"} if row["from"] == "bot" else row for row in log])
    Path("ids.csv").write_text("answer_id,expected_answer\na3,At ten.\na1,At nine.\n")
    refused = cli("truth", "import", "ids.csv", "shop")
    assert "--map references=expected_answer --questions RUN " in refused.err
    given = ("--map", "references=expected_answer", *more)
    done = cli("truth", "import", "ids.csv", "shop", *given, "--questions", "log.jsonl")
    assert done.code == 0, done.err
    assert "the ids are those of 'answer_id' in --questions" in done.err
    cases = [(case.id, case.question, case.references) for case in store.read("shop").cases]
    assert cases == [("c1#2", "On Sunday?", ["At ten."]), ("c1#1", "When?", ["At nine."])]


def test_every_format_that_is_written_comes_back(cli, data, store):
    cli("truth", "import", data, "harbour")
    names = {
        "ragstone": ["gt.jsonl", "gt.parquet", "gt.csv"],
        "dial": ["dial"],
        "ragchecker": ["gt.json"],
    }
    # Other formats cannot hold facts.
    assert names.keys() < {name for name, item in formats().items() if isinstance(item, WritableFormat)}
    for kind, targets in names.items():
        for target in targets:
            assert cli("truth", "export", "harbour@1", target, "--to", kind).code == 0
            assert cli("truth", "import", target, f"from-{kind}-{targets.index(target)}", "-q").code == 0
            again = store.read(f"from-{kind}-{targets.index(target)}").cases
            told = [(case.id, case.question, case.references, case.facts, case.weight) for case in again]
            assert told == [
                (case.id, case.question, case.references, case.facts, case.weight)
                for case in store.read("harbour").cases
            ], target


def test_export_writes_only_what_is_accepted(cli, data, store):
    facts = [TruthFact("In"), TruthFact("Maybe", standing="proposed"), TruthFact("Out", standing="rejected")]
    store.save("harbour", [Case("a", "How?", facts=facts)], author="Ada")
    assert cli("truth", "export", "harbour", "gt.jsonl").out.startswith("1 case of harbour@1, written to gt.jsonl\n")
    assert [fact.text for fact in read_dataset("gt.jsonl")[0].facts] == ["In"]


@pytest.mark.parametrize(("more", "file"), [((), "truth.csv"), (("-o", "mine.jsonl"), "mine.jsonl")])
def test_export_without_a_target_says_how_it_is_written(cli, data, more, file):
    done = cli("truth", "export", "harbour", *more)
    assert done.code == 2
    assert f"ragstone truth export harbour {file}" in " ".join(done.err.split())


def test_list_show_history(cli, data, store):
    assert "ragstone truth import FILE NAME" in cli("truth", "list").out
    cli("truth", "import", data, "harbour", "--author", "Ada")
    write(data, [{**ROWS[0], "facts": ["Another fact"]}])
    cli("truth", "import", data, "harbour", "--author", "Bo [red]x[/red]")
    assert [row.split()[:3] for row in cli("truth", "list").out.splitlines()[1:2]] == [["harbour", "2", "2"]]
    assert json.loads(cli("truth", "list", "--json").out)[0]["author"] == "Bo [red]x[/red]"
    told = cli("truth", "history", "harbour").out.splitlines()
    assert "facts: 1 gained, 1 lost" in told[1]
    assert "[red]x[/red]" in told[1]
    assert "cases: 2 added" in told[2]
    assert [row["changes"]["added"] for row in json.loads(cli("truth", "history", "harbour", "--json").out)] == [0, 2]
    shown = cli("truth", "show", "harbour@1").out
    assert "2 (2 accepted; 2 manual)" in shown
    assert "How long is the pier?" in shown
    assert "Another fact  [accepted, manual]" in cli("truth", "show", "harbour", "--case", "depth").out
    assert cli("truth", "show", "harbour", "depth").out == cli("truth", "show", "harbour", "--case", "depth").out
    store.save("waiting", [Case("a", "How?", ["so"], standing="proposed")], author="Ada")
    assert "  reference  so  [proposed]\n" in cli("truth", "show", "waiting", "--case", "a").out
    assert "so  [proposed]" in cli("truth", "show", "waiting").out
    assert len(json.loads(cli("truth", "show", "harbour", "--json", "-n", "1").out)["cases"]) == 1
    wrong = cli("truth", "show", "harbour", "--case", "deepth")
    assert wrong.code == 2
    assert "Did you mean depth?" in wrong.err


def test_export_counts_the_proposals_that_it_leaves_out(cli, data, store):
    cli("truth", "import", data, "harbour")
    assert "left out" not in cli("truth", "export", "harbour", "all.jsonl").err
    known = store.read("harbour").cases
    proposed = replace(known[0], standing="proposed", facts=[TruthFact("It is deep", standing="proposed")])
    store.save("harbour", [proposed, known[1]], author="Ada", parent=1)
    note = cli("truth", "export", "harbour", "some.jsonl").err
    assert (
        "2 proposed references and facts are left out: read them in `ragstone view`, or ragstone truth accept harbour --all"
        in note
    )


def test_import_of_right_answers_alone_needs_no_answer(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"HD-{n},How fast may part {n} turn?,{n} metres per second" for n in range(4)]
    for header, more in (
        ("ticket,asked,right answer", ""),
        ("ticket,asked,right answer,remark", ",ask the stage crew"),
    ):
        Path("gold.csv").write_text("\n".join([header, *(row + more for row in rows)]))
        refused = cli("truth", "import", "gold.csv", "gold")
        assert "--map question=asked --map 'references=right answer' --map id=ticket" in " ".join(refused.err.split())
        assert "answer=COLUMN" not in refused.err
    assert "next: ragstone truth import" not in refused.err


def test_import_for_ground_truth_maps_the_right_answers_to_references(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"BG-{n},How long is path {n}?,It is {n} metres long.\n" for n in range(12)]
    (tmp_path / "gold.csv").write_text("chat_no,visitor_msg,curator_says\n" + "".join(rows))
    refused = cli("truth", "import", "gold.csv", "gold")
    assert "--map references=curator_says" in refused.err
    assert "answer=curator_says" not in refused.err
    mapped = ["--map", "question=visitor_msg", "--map"]
    assert (
        "the answers count as the right ones"
        in cli("truth", "import", "gold.csv", "b", *mapped, "answer=curator_says").err
    )
    assert cli("truth", "export", "b", "b.jsonl").code == 0
    assert read_dataset("b.jsonl")[3].references == ["It is 3 metres long."]
    done = cli("truth", "import", "gold.csv", "gold", *mapped, "references=curator_says")
    assert "no case has" not in done.err
    assert "ragstone run DATA --truth gold" in done.out
    # Without facts there is no citation to check.
    assert "next: ragstone run DATA --truth gold" in cli("truth", "show", "gold").out


def test_answers_of_a_system_are_not_the_right_ones(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": str(n), "question": f"How long is path {n}?", "answer": "Long.", "contexts": ["It is long."]}
        for n in range(3)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "no case has a reference" in cli("truth", "import", "log.jsonl", "log").err
    for row in rows:
        del row["contexts"]
    (tmp_path / "plain.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in [*rows[:2], {**rows[2], "references": ["It is."]}])
    )
    assert "count as the right ones" not in cli("truth", "import", "plain.jsonl", "plain").err


def test_cases_without_right_answers_are_not_proposed_for_scoring(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "asked.jsonl", [{"id": "1", "question": "Where is the lift?"}])
    cli("truth", "import", "asked.jsonl", "desk")
    shown = cli("truth", "show", "desk")
    assert "ragstone view ragstone-store   (write the right answers: no case has one yet)" in shown.out
    assert "run DATA" not in shown.out


FERRIES = [
    {
        "conversation_id": name,
        "messages": [
            {"role": "user", "content": f"Is there a ferry to {island}?"},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "What does it cost?"},
            {"role": "assistant", "content": f"{price} crowns."},
        ],
    }
    for name, island, price in (("c1", "Runde", 40), ("c2", "Utsira", 90))
]


def test_references_of_turns_match_by_conversation_and_turn(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "chats.jsonl", FERRIES)
    (tmp_path / "right.csv").write_text(
        "conversation,turn,question,reference\nc1,2,What does it cost?,40 crowns\nc2,2,What does it cost?,90 crowns\n"
    )
    note = "note: 'c1#2' has the question of another row and another reference: it matches by id only\n"
    assert note in cli("truth", "import", "right.csv", "turns").err
    found = json.loads(cli("run", "chats.jsonl", "--truth", "turns", "-m", "token_f1", "--json").out)
    assert found["truth"]["by_id"] == 2
    assert next(row["mean"] for row in found["summary"] if row["metric"] == "token_f1") == 1.0
    # A bare question may be that of another conversation.
    (tmp_path / "bare.csv").write_text(
        "question,reference\nWhat does it cost?,40 crowns\nIs there a ferry to Runde?,Yes\n"
    )
    cli("truth", "import", "bare.csv", "bare")
    printed = cli("run", "chats.jsonl", "--truth", "bare", "-m", "token_f1", "--json")
    assert json.loads(printed.out)["truth"]["samples_without_case"] == 3
    assert "2 of them share a question with others" in printed.err
    (tmp_path / "bare.csv").write_text(
        "question,reference\nWhat does it cost?,40 crowns\nWhat does it cost?,90 crowns\n"
    )
    assert (
        "matches by id only; add a column id, or conversation and turn" in cli("truth", "import", "bare.csv", "two").err
    )
