import json
from dataclasses import replace

import pyarrow as pa
import pytest

import ragstone
from ragstone.data.types import Fact
from ragstone.errors import UnknownNameError, UsageError
from ragstone.formats import open_reader
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.joining import CaseMatcher, TruthReader, read_with_truth
from ragstone.truth.versions import TruthStore

DEPTH = Case(
    "depth",
    "How deep is the harbour?",
    ["12 metres"],
    [
        TruthFact("The basin is 12 metres deep"),
        TruthFact("It was dredged in 1998", standing="proposed"),
        TruthFact("It is 9 metres deep", standing="rejected"),
    ],
    ["guide.pdf"],
    weight=3.0,
    metadata={"topic": "port"},
)
PIER = Case("pier", "How long is the pier?", ["300 metres"])
OLD_PIER = Case("old", "How long is the pier?", ["250 metres"], documents=["old.pdf"])


@pytest.fixture
def version(tmp_path):
    store = TruthStore(str(tmp_path))
    store.save("harbour", [DEPTH, PIER], author="Ada")
    return store.read("harbour")


def read(rows, version):
    reader = TruthReader(open_reader(rows), version)
    samples = ragstone.Dataset(pa.Table.from_batches(list(reader.batches()), schema=reader.schema))
    return list(samples), reader.report


def test_answers_meet_their_cases_by_id_and_by_question(version):
    rows = [
        {"id": "pier", "question": "How long is the  pier?", "answer": "300 m", "references": ["stale"]},
        {"id": "17", "question": "How deep is the harbour?", "documents": ["guide.pdf"], "answer": "12 m"},
    ]
    samples, report = read(rows, version)
    assert [sample.references for sample in samples] == [["300 metres"], ["12 metres"]]
    assert samples[1].id == "17"
    assert samples[1].facts == [Fact("The basin is 12 metres deep")]
    assert samples[1].metadata == {"topic": "port", "weight": 3.0}
    assert report.notes == ["cases stand for many requests each: `ragstone truth estimate RUN` weighs them"]
    assert report.info["truth"] == {
        "name": "harbour",
        "version": 1,
        "fingerprint": version.info.fingerprint,
        "cases": 2,
        "by_id": 1,
        "by_question": 1,
        "asked_otherwise": 0,
        "samples_without_case": 0,
        "cases_without_sample": 0,
    }


def test_what_only_waits_is_said(tmp_path):
    """Whoever harvests or synthesises and scores at once finds nothing scored, and should be told why."""
    fact = TruthFact("300 metres long", standing="proposed")
    waiting = [replace(PIER, standing="proposed"), Case("width", "How wide?", facts=[fact]), DEPTH]
    store = TruthStore(str(tmp_path))
    store.save("waiting", waiting, author="Ada")
    rows = [{"id": case.id, "question": case.question, "answer": "a"} for case in waiting]
    said = read(rows, store.read("waiting"))[1].notes[1]
    assert said.startswith("2 of 3 cases of waiting@1 have only proposed references or facts")
    assert "`ragstone view`" in said


def test_only_the_ground_truth_that_is_named_counts(version):
    rows = [
        {
            "id": "x",
            "question": "Unknown?",
            "answer": "yes",
            "references": ["own"],
            "facts": ["own"],
            "answerable": True,
        },
        {"id": "pier", "question": "How long is the pier?", "answer": "300 m", "facts": ["own"], "metadata": {"a": 1}},
    ]
    samples, report = read(rows, version)
    assert [(sample.references, sample.facts, sample.answerable) for sample in samples] == [
        (None, None, None),
        (["300 metres"], None, None),
    ]
    assert samples[1].metadata == {"a": 1}
    assert report.notes == [
        "1 of 2 samples have no case in harbour@1: they have no ground truth",
        "1 of 2 cases of harbour@1 have no sample",
    ]


def test_data_about_something_else_is_refused(tmp_path, version):
    rows = [{"id": "x", "question": "Unknown?", "answer": "yes"}]
    with pytest.raises(UsageError, match=r"not one sample of .* has a case in harbour@1"):
        ragstone.evaluate(TruthReader(open_reader(rows), version), "token_f1", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_question_says_more_than_an_id_that_means_something_else():
    matcher = CaseMatcher([DEPTH, PIER])
    assert matcher.find("depth", "How long is the pier?", None) is PIER
    assert matcher.find("depth", "How deep is it?", None) is DEPTH
    assert matcher.find("other", "How deep is it?", None) is None
    assert matcher.find("pier", None, None) is PIER
    counts = matcher.counts()
    assert (counts["by_question"], counts["by_id"], counts["asked_otherwise"]) == (1, 2, 1)
    assert "1 sample joined by id though the question reads otherwise in h@1" in list(matcher.remarks("h@1"))[-1]


def test_documents_decide_between_cases_of_one_question():
    new_pier = Case("new", "How long is the pier?", ["300 metres"], documents=["new.pdf", "map.pdf"])
    matcher = CaseMatcher([OLD_PIER, new_pier])
    assert matcher.find("1", "How long is the pier?", ["map.pdf", "new.pdf"]) is new_pier
    assert matcher.find("2", "How long is the pier?", ["old.pdf"]) is OLD_PIER
    # It is not known which of the two is meant.
    assert matcher.find("3", "How long is the pier?", None) is None
    assert matcher.find("4", "How long is the pier?", ["third.pdf"]) is None
    assert CaseMatcher([new_pier]).find("5", "How long is the pier?", None) is new_pier


def test_given_evidence_about_other_references_does_not_count(version):
    row = {
        "question": "How long is the pier?",
        "answer": "It is 300 metres long.",
        "answer_claims": [{"text": "It is 300 metres long."}],
        "answer_claims_in_reference": ["entailment"],
    }
    kept = {**row, "id": "pier", "references": ["300 metres"]}
    changed = {**row, "id": "1", "references": ["another"]}
    run = ragstone.evaluate(TruthReader(open_reader([kept, changed]), version), "ragchecker.precision")
    cells = {row["sample_id"]: (row["status"], row["value"]) for row in run.scores.to_pylist()}
    assert cells == {"pier": ("ok", 1.0), "1": ("skipped", None)}


def test_a_run_remembers_its_ground_truth(tmp_path, version):
    rows = [
        {"id": "depth", "question": DEPTH.question, "answer": "12 metres", "contexts": ["The basin is 12 metres deep."]}
    ]
    run = ragstone.evaluate(read_with_truth(rows, "harbour", str(tmp_path)), ["token_f1", "fact_recall"], tmp_path)
    assert run.summary()["token_f1"].mean == 1.0
    assert run.summary()["fact_recall"].mean == 1.0  # the proposed and the rejected fact are not looked for
    assert (run.info["truth"]["name"], run.info["truth"]["version"]) == ("harbour", 1)
    assert run.info["truth"]["cases_without_sample"] == 1
    with pytest.raises(UnknownNameError):
        read_with_truth(rows, "harbor", str(tmp_path))


def test_by_command(cli, tmp_path, version, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.jsonl").write_text(json.dumps({"question": PIER.question, "answer": "300 metres"}) + "\n")
    done = cli("run", "answers.jsonl", "--truth", "harbour@1", "-m", "token_f1", "-o", tmp_path, "--json")
    assert done.code == 0
    assert json.loads(done.out)["summary"][0]["mean"] == 1.0
    assert "note: 1 of 2 cases of harbour@1 have no sample" in done.err
    assert ragstone.open_run(json.loads(done.out)["run"]).info["truth"]["version"] == 1
    quoted = cli("run", "answers.jsonl", "--truth", "harbour", "-m", "token_f1", "-o", tmp_path, "--quote", "--json")
    assert json.loads(quoted.out)["rows"] == 1
    missing = cli("run", "answers.jsonl", "--truth", "nothing", "-o", tmp_path)
    assert missing.code == 2
    assert "unknown ground truth 'nothing'" in missing.err
