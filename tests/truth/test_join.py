"""Stored runs against new ground truth: nobody is asked, what is still true is used, what is not says so."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest

import ragstone
from ragstone.data.types import Fact
from ragstone.engine.rescore import StoredReader, rescore
from ragstone.engine.stored_evidence import NEVER_MADE, OUT_OF_DATE
from ragstone.errors import UnknownNameError, UsageError
from ragstone.formats import open_reader, read_dataset
from ragstone.registry import metric
from ragstone.text.matchers import CitationMatcher
from ragstone.truth.join import (
    CaseMatcher,
    TruthReader,
    count_outdated,
    mean_before,
    read_with_truth,
    rescore_with_truth,
)
from ragstone.truth.model import Case, TruthFact, case_from_sample
from ragstone.truth.store import TruthStore
from tests.e2e.judged import cells, judging, rows
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

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
    [note] = report.notes
    assert "ragstone truth estimate RUN" in note
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
        "1 of 2 cases of harbour@1 have no sample: depth",
    ]


def test_data_about_something_else_is_refused(tmp_path, version):
    rows = [{"id": "x", "question": "Unknown?", "answer": "yes"}]
    with pytest.raises(UsageError, match=r"no sample of .* has a case in harbour@1"):
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
    assert "1 sample joined by id although the question differs in h@1" in list(matcher.remarks("h@1"))[-1]


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
    assert "note: 1 of 2 cases of harbour@1 have no sample: " in done.err
    assert ragstone.open_run(json.loads(done.out)["run"]).info["truth"]["version"] == 1
    quoted = cli("run", "answers.jsonl", "--truth", "harbour", "-m", "token_f1", "-o", tmp_path, "--quote", "--json")
    assert json.loads(quoted.out)["rows"] == 1
    missing = cli("run", "answers.jsonl", "--truth", "nothing", "-o", tmp_path)
    assert missing.code == 2
    assert "unknown ground truth 'nothing'" in missing.err


METRICS = ["ragchecker", "ragas", "facts", "token_f1", "bleu", "answer_match"]


@pytest.fixture(scope="module")
def server():
    with OracleServer() as running:
        yield running


@pytest.fixture(scope="module")
def world():
    return rows(make_samples(8, seed=3))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def run(server, world, root):
    return ragstone.evaluate(world, METRICS, root, name="baseline", params={"k": 3}, **judging(server))


def version_of(root, name, cases):
    store = TruthStore(str(root))
    store.save(name, cases, author="Ada")
    return store.read(name)


def cases_of(world):
    return [case_from_sample(sample) for sample in read_dataset(world)]


def compare(found, fresh, edited):
    """Every cell is that of a fresh evaluation, or says that it would have to be asked for again."""
    assert found.keys() == fresh.keys()
    outdated = {place for place, cell in found.items() if cell["reason"] == OUT_OF_DATE}
    assert {name for name, _ in outdated} <= edited
    for place in found.keys() - outdated:
        assert found[place]["status"] == fresh[place]["status"], place
        assert found[place]["reason"] == fresh[place]["reason"], place
        assert found[place]["signature"] == fresh[place]["signature"], place
        assert found[place]["value"] == pytest.approx(fresh[place]["value"], abs=1e-12), place
    return outdated


def test_with_the_same_truth_every_cell_is_the_same(run, world, root, server):
    asked = server.requests
    again = rescore_with_truth(run, version_of(root, "same", cases_of(world)))
    assert server.requests == asked
    assert compare(cells(again.path), cells(run.path), set()) == set()
    assert again.info["totals"]["calls"] == 0
    assert [row.mean for row in again.summary()] == [row.mean for row in run.summary()]
    for name in run.info["evidence"]:
        assert again.evidence(name).to_pylist() == run.evidence(name).to_pylist()


def test_edited_truth_is_scored_where_no_model_is_needed(run, world, root, server):
    cases = cases_of(world)
    asked = server.requests
    edited = [
        replace(cases[0], references=[cases[1].references[0]]),
        replace(cases[1], facts=[*cases[1].facts[:1], TruthFact("Nobody said that 77 gulls live here")]),
        replace(cases[2], references=[]),
        *cases[3:-1],
    ]
    version = version_of(root, "edited", edited)
    again = rescore_with_truth(run, version)
    assert server.requests == asked
    found = cells(again.path)
    fresh = ragstone.evaluate(TruthReader(open_reader(world), version), METRICS, root, **judging(server))
    outdated = compare(found, cells(fresh.path), {cases[0].id, cases[2].id, cases[-1].id})
    # Whether a chunk is useful was asked with the reference; without one it would be asked with the answer.
    assert {name for row, name in outdated if row != cases[0].id} == {"ragas.context_precision"}
    metrics = {item["metric"] for item in run.info["metrics"]}
    kept = {name for name in metrics if (cases[0].id, name) not in outdated}
    assert {"fact_recall", "token_f1", "bleu", "ragas.faithfulness", "ragchecker.faithfulness"} <= kept
    assert {"ragchecker.precision", "ragchecker.recall", "answer_match"} <= metrics - kept
    # Facts are found again at once.
    assert found[cases[1].id, "fact_recall"]["value"] <= 0.5
    # What was removed is absent, not out of date.
    assert "no references" in found[cases[2].id, "token_f1"]["reason"]
    assert "no references" in found[cases[-1].id, "token_f1"]["reason"]
    assert again.summary()["ragchecker.precision"].n_skipped > 0


def test_earlier_means_are_of_the_rows_that_still_count(run, world, root):
    """What is out of date is in neither mean: a wrong edit cannot look like a gain by taking rows away."""
    cases = cases_of(world)
    cases[0] = replace(cases[0], references=["Something else was built by nobody."])
    again = rescore_with_truth(run, version_of(root, "elsewhere", cases))
    old, new = cells(run.path), cells(again.path)
    outdated = count_outdated(again)
    assert "ragchecker.recall" in outdated
    means = mean_before(run, again, outdated)
    for name in outdated:
        kept = [old[place]["value"] for place in old if place[1] == name and new[place]["status"] == "ok"]
        assert means[name] == pytest.approx(sum(kept) / len(kept))
        assert means[name] == pytest.approx(again.summary()[name].mean)


def test_the_new_run_says_where_it_came_from(run, world, root):
    version = version_of(root, "origin", cases_of(world))
    again = rescore_with_truth(run, version)
    assert again.info["rescored"] == {"run": run.id, "name": "baseline", "path": run.path}
    assert (again.info["truth"]["name"], again.info["truth"]["version"]) == ("origin", 1)
    assert again.name == "baseline on origin@1"
    assert again.info["params"] == {"k": 3}
    assert again.info["judge"] == run.info["judge"]
    assert again.id > run.id
    assert rescore_with_truth(again, version).name == "baseline on origin@1"
    assert not list((root / "runs" / again.id).glob("parts"))


def test_truth_for_rows_that_had_none_makes_new_cells(world, root, server):
    bare = [{name: row[name] for name in ("id", "question", "answer", "contexts")} for row in world]
    first = ragstone.evaluate(bare, ["token_f1", "fact_recall", "ragchecker"], root, **judging(server))
    assert "token_f1" in first.info["skipped"]
    asked = server.requests
    again = rescore_with_truth(first, version_of(root, "late", cases_of(world)))
    assert server.requests == asked
    fresh = ragstone.evaluate(world, ["token_f1", "fact_recall"])
    assert again.summary()["token_f1"].mean == fresh.summary()["token_f1"].mean
    assert again.summary()["fact_recall"].mean == fresh.summary()["fact_recall"].mean
    # The answer's claims were there, those of the references never were.
    assert cells(again.path)[world[0]["id"], "ragchecker.recall"]["reason"] == NEVER_MADE
    assert again.summary()["ragchecker.faithfulness"].mean == first.summary()["ragchecker.faithfulness"].mean


def test_given_evidence_about_other_references_is_out_of_date(root):
    row = {
        "question": "How long is the pier?",
        "answer": "It is 300 metres long.",
        "references": ["300 metres"],
        "answer_claims": [{"text": "It is 300 metres long."}],
        "answer_claims_in_reference": ["entailment"],
    }
    given = [{**row, "id": "a"}, {**row, "id": "b"}]
    first = ragstone.evaluate(given, "ragchecker.precision", root)
    cases = cases_of(given)
    again = rescore_with_truth(
        first, version_of(root, "given", [cases[0], replace(cases[1], references=["310 metres"])])
    )
    told = {name: (cell["status"], cell["value"], cell["reason"]) for (name, _), cell in cells(again.path).items()}
    assert told == {"a": ("ok", 1.0, None), "b": ("skipped", None, OUT_OF_DATE)}


class ModelMatcher(CitationMatcher):
    """Stands for a matcher that asks a model: it has a name that no plain one has."""

    name = "modelled"
    signature = "modelled/1"


def test_facts_that_a_model_matched_are_kept_or_out_of_date(root):
    row = {"question": "How deep?", "answer": "12", "contexts": ["It is old.", "The basin is 12 metres deep."]}
    data = [{**row, "id": name, "facts": ["12 metres deep", "it is old"]} for name in "ab"]
    first = ragstone.evaluate(data, "facts", root, matcher=ModelMatcher())
    cases = cases_of(data)
    again = rescore_with_truth(
        first, version_of(root, "matched", [cases[0], replace(cases[1], facts=cases[1].facts[:1])])
    )
    found, before = cells(again.path), cells(first.path)
    for name in ("fact_recall", "fact_precision", "fact_mrr", "fact_ndcg"):
        assert found["a", name]["value"] == before["a", name]["value"]
        assert found["b", name]["reason"] == OUT_OF_DATE


def test_other_metrics_from_the_same_evidence(run, server):
    asked = server.requests
    more = rescore(run, metrics=["ragchecker.hallucination", "token_precision", "fact_recall@1"])
    assert server.requests == asked
    assert [item["metric"] for item in more.info["metrics"]] == [
        "ragchecker.hallucination",
        "token_precision",
        "fact_recall@1",
    ]
    assert more.summary()["ragchecker.hallucination"].mean == run.summary()["ragchecker.hallucination"].mean
    assert more.name == "baseline, rescored"


def test_a_metric_that_is_not_defined_here_is_told(root, catalogue):
    @metric("shouting", family="own")
    def shouting(answer: str) -> float:
        """Whether the answer is in capitals."""
        return float(answer.isupper())

    first = ragstone.evaluate([{"id": "a", "question": "?", "answer": "YES"}], ["shouting", "token_f1"], root)
    del catalogue._metrics["shouting"]
    again = rescore(first)
    assert "--metrics-file" in again.info["skipped"]["shouting"]


def test_only_the_same_samples_can_be_rescored(run, root, world):
    before = sorted((root / "runs").iterdir())
    with pytest.raises(UsageError, match="not those of run"):
        rescore(run, open_reader(world[1:]))
    assert sorted((root / "runs").iterdir()) == before


def test_stored_samples_read_as_they_were(run, world):
    assert [batch.num_rows for batch in StoredReader(run).batches()] == [len(world)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "roles", [{"extractor": "local", "checker": "openai/oracle"}, {"extractor": "openai/oracle", "checker": "local"}]
)
def test_judges_with_and_without_prompts_side_by_side(world, root, server, monkeypatch, roles):
    pytest.importorskip("onnxruntime", reason="the local judge needs it: pip install 'ragstone[local]'")
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    first = ragstone.evaluate(world[:3], "ragchecker", root, base_url=server.base_url, **roles)
    again = rescore_with_truth(first, version_of(root, f"mixed-{roles['checker'].partition('/')[0]}", cases_of(world)))
    assert compare(cells(again.path), cells(first.path), set()) == set()


def test_on_a_bucket(bucket, world):
    version = version_of(bucket.url, "harbour", cases_of(world))
    rows_without = [{name: row[name] for name in ("id", "question", "answer")} for row in world]
    first = ragstone.evaluate(TruthReader(open_reader(rows_without), version), "token_f1", bucket.url)
    again = rescore_with_truth(ragstone.open_run(first.path), version)
    assert again.path.startswith(f"{bucket.url}/runs/")
    assert again.summary()["token_f1"].mean == first.summary()["token_f1"].mean
    assert ragstone.open_run(again.path).info["truth"]["name"] == "harbour"
