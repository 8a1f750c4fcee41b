"""Ground truth by command: in, out, told apart, merged."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.formats import formats, read_dataset
from ragstone.formats.base import WritableFormat
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.versions import TruthStore

ROWS = [
    {
        "id": "depth",
        "question": "How deep is the harbour?",
        "references": ["12 metres"],
        "facts": ["The basin is 12 metres deep"],
        "documents": ["guide.pdf"],
        "metadata": {"weight": 2.5, "topic": "port"},
    },
    {"id": "pier", "question": "How long is the pier?", "references": ["300 metres"], "facts": ["300 metres long"]},
]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "truth.jsonl", ROWS)


@pytest.fixture
def store(tmp_path):
    return TruthStore(str(tmp_path / "ragstone-store"))


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_import_makes_the_first_version_and_then_the_next(cli, data, store):
    done = cli("truth", "import", data, "harbour", "--author", "Ada", "--note", "from the guide")
    assert done == (0, "harbour@1: 2 cases (cases: 2 added), saved under ragstone-store\n", "")
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
    assert "nothing changed: harbour@1 holds" in cli("truth", "import", data, "harbour").out
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
    assert "1 sample without a question is left out: 'odd'" in cli("truth", "import", data, "harbour").err
    write(data, [{"id": "odd", "answer": "yes"}])
    refused = cli("truth", "import", data, "other")
    assert refused.code == 2
    assert "holds no question" in refused.err


def test_every_format_that_is_written_comes_back(cli, data, store):
    cli("truth", "import", data, "harbour")
    names = {
        "ragstone": ["gt.jsonl", "gt.parquet", "gt.csv"],
        "dial": ["dial"],
        "ragchecker": ["gt.json"],
    }
    assert names.keys() == {name for name, item in formats().items() if isinstance(item, WritableFormat)}
    for kind, targets in names.items():
        for target in targets:
            assert cli("truth", "export", "harbour@1", target, "--to", kind).code == 0
            assert cli("truth", "import", target, f"from-{target}", "-q").code == 0
            again = store.read(f"from-{target}").cases
            told = [(case.id, case.question, case.references, case.facts, case.weight) for case in again]
            assert told == [
                (case.id, case.question, case.references, case.facts, case.weight)
                for case in store.read("harbour").cases
            ], target


def test_export_writes_only_what_is_accepted(cli, data, store):
    facts = [TruthFact("In"), TruthFact("Maybe", standing="proposed"), TruthFact("Out", standing="rejected")]
    store.save("harbour", [Case("a", "How?", facts=facts)], author="Ada")
    assert cli("truth", "export", "harbour", "gt.jsonl").out == "1 case of harbour@1, written to gt.jsonl\n"
    assert [fact.text for fact in read_dataset("gt.jsonl")[0].facts] == ["In"]


@pytest.mark.parametrize(("more", "file"), [((), "truth.csv"), (("-o", "mine.jsonl"), "mine.jsonl")])
def test_export_without_a_target_says_how_it_is_written(cli, data, more, file):
    done = cli("truth", "export", "harbour", *more)
    assert done.code == 2
    assert f"ragstone truth export harbour {file}" in " ".join(done.err.split())


def test_list_show_history(cli, data, store):
    assert "Make one with: ragstone truth import FILE NAME" in cli("truth", "list").out
    cli("truth", "import", data, "harbour", "--author", "Ada")
    write(data, [{**ROWS[0], "facts": ["Another fact"]}])
    cli("truth", "import", data, "harbour", "--author", "Bo [red]x[/red]")
    assert [row.split()[:3] for row in cli("truth", "list").out.splitlines()[1:]] == [["harbour", "2", "2"]]
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
    store.save("waiting", [Case("a", "How?", ["so"], standing="proposed")], author="Ada")
    assert "  reference  so  [proposed]\n" in cli("truth", "show", "waiting", "--case", "a").out
    assert "so  [proposed]" in cli("truth", "show", "waiting").out
    assert len(json.loads(cli("truth", "show", "harbour", "--json", "-n", "1").out)["cases"]) == 1
    wrong = cli("truth", "show", "harbour", "--case", "deepth")
    assert wrong.code == 2
    assert "Did you mean depth?" in wrong.err


def test_diff(cli, data):
    cli("truth", "import", data, "harbour")
    write(data, [{**ROWS[0], "references": ["13 metres"], "facts": ["It is [bold]deep[/bold]"]}])
    cli("truth", "import", data, "harbour", "--replace")
    told = cli("truth", "diff", "harbour").out
    assert told == cli("truth", "diff", "harbour@1", "harbour@2").out
    assert told.splitlines() == [
        "harbour@1 → harbour@2: cases: 1 removed, 1 changed; facts: 1 gained, 1 lost",
        "",
        "- pier  How long is the pier?",
        "",
        "~ depth  How deep is the harbour?",
        "    references         - 12 metres",
        "                       + 13 metres",
        "    facts              - The basin is 12 metres deep  [accepted, manual]",
        "    facts              + It is [bold]deep[/bold]  [accepted, manual]",
    ]
    found = json.loads(cli("truth", "diff", "harbour", "--json").out)
    assert found["counts"]["removed"] == 1
    assert found["changes"][1]["after"] == ["13 metres"]
    assert cli("truth", "diff", "harbour@1").code == 2


def test_merge_refuses_to_decide_and_then_does_as_told(cli, data, store):
    cli("truth", "import", data, "harbour")
    case, other = store.read("harbour").cases
    store.save("fork", [replace(case, references=["14 metres"], answerable=True), Case("new", "Who?")], author="Bo")
    refused = cli("truth", "merge", "harbour", "fork")
    assert refused.code == 1
    assert "1 conflict; nothing was saved" in refused.err
    assert "ours    12 metres\n    theirs  14 metres" in refused.err
    assert store.newest("harbour") == 1
    # With the base it is known that only the other side changed it, and that it removed the pier.
    done = cli("truth", "merge", "harbour", "fork", "--base", "harbour@1")
    assert done.code == 0
    merged = store.read("harbour")
    assert merged.cases == [replace(case, references=["14 metres"], answerable=True), Case("new", "Who?")]
    assert merged.info.lineage.sources == ["harbour@1", "fork@1", "base harbour@1"]
    assert "nothing to merge" in cli("truth", "merge", "harbour", "fork").out
    told = json.loads(cli("truth", "merge", "harbour", "harbour@1", "--prefer", "theirs", "--json").out)
    assert [conflict["field"] for conflict in told["conflicts"]] == ["references"]
    assert store.read("harbour").cases[0].references == ["12 metres"]
    assert store.read("harbour").cases[2] == other
    assert cli("truth", "merge", "harbour", "fork", "--prefer", "mine").code == 2


def test_rescore(cli, data, store, tmp_path):
    cli("truth", "import", data, "harbour")
    answers = write(
        tmp_path / "answers.jsonl",
        [{"id": row["id"], "question": row["question"], "answer": "12 metres"} for row in ROWS],
    )
    cli("run", answers, "--truth", "harbour", "-m", "token_f1,exact_match", "--name", "base")
    write(data, [{**ROWS[0], "references": ["13 metres"]}, ROWS[1]])
    cli("truth", "import", data, "harbour")
    done = cli("truth", "rescore", "base", "--truth", "harbour")
    assert done.code == 0
    # One word of two is right, for both.
    assert "token_f1      0.750  0.500   2" in done.out
    assert "base → base on harbour@2, stored in" in done.out
    found = json.loads(cli("truth", "rescore", "base", "--truth", "harbour@1", "--json").out)
    assert [(row["metric"], row["before"], row["after"]) for row in found[0]["metrics"]] == [
        ("token_f1", 0.75, 0.75),
        ("exact_match", 0.5, 0.5),
    ]
    assert cli("truth", "rescore", "nothing", "--truth", "harbour").code == 2


def test_rescore_shows_the_headlines(cli, data, store, tmp_path):
    cli("truth", "import", data, "harbour")
    answers = write(
        tmp_path / "answers.jsonl",
        [{"id": row["id"], "question": row["question"], "answer": "12", "contexts": ["12"]} for row in ROWS],
    )
    names = "token_f1,token_recall,k_precision,refusal,exact_match,rouge_l"
    cli("run", answers, "--truth", "harbour", "-m", names, "--name", "base")
    short = cli("truth", "rescore", "base", "--truth", "harbour").out
    assert "token_recall" in short
    assert "exact_match" not in short
    assert "2 more metrics with --full" in short
    full = cli("truth", "rescore", "base", "--truth", "harbour", "--full").out
    assert all(name in full for name in names.split(","))
    assert "more metric" not in full
