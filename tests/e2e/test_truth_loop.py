"""The whole loop as it is typed: logs on a server and what users did, to ground truth that people looked over, to two systems compared.

Logs are real Parquet files on a server that speaks S3, the judge is the oracle over HTTP, and every count is known beforehand.
"""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.truth.model import TruthFact
from ragstone.truth.store import TruthStore
from tests.formats.fixtures import dial_row, rating_row
from tests.oracle.language import join, say
from tests.oracle.server import OracleServer
from tests.oracle.world import _other_value, make_samples, truth

COUNT = 12
LIKED, DISLIKED = range(8), range(8, 10)


@pytest.fixture(scope="module")
def world():
    """Questions about ships with the whole truth, an answer that has it, and one that has it wrong."""
    found = []
    seen = set()
    for sample in make_samples(60, seed=11, languages=("en",)):
        right = [truth("en", sample.subject, name) for name in sample.asked]
        if sample.question not in seen and len(found) < COUNT:
            seen.add(sample.question)
            found.append(
                {
                    "question": sample.question,
                    "right": join("en", [say("en", meaning) for meaning in right]),
                    "wrong": join("en", [say("en", _other_value("en", meaning)) for meaning in right]),
                    "sentences": [say("en", meaning).text for meaning in right],
                }
            )
    return found


def write_logs(bucket, world, tmp_path):
    """A day of logs of two deployments, of which only one may be read, and a table of signals."""
    rows = []
    for number, item in enumerate(world):
        answer = item["wrong"] if number in DISLIKED else item["right"]
        rows.append(
            dial_row(
                f"r{number}",
                item["question"],
                answer,
                item["sentences"],
                time=f"2024-05-01T10:{number:02d}:00",
                chat=f"c{number}",
            )
        )
    rows.append(dial_row("r99", "A question without an answer?", None, [], time="2024-05-01T11:00:00", chat="c99"))
    rows += [rating_row(f"r{number}", True, time=f"2024-05-01T12:{number:02d}:00") for number in LIKED]
    rows += [rating_row(f"r{number}", False, time=f"2024-05-01T12:{number:02d}:00") for number in DISLIKED]
    path = tmp_path / "part-0.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    bucket.write("logs/helpdesk/2024-05-01/part-0.parquet", path.read_bytes())
    bucket.write("logs/helpdesk/2024-05-01/part-1.parquet", path.read_bytes()[:200])
    bucket.write("logs/secret/2024-05-01/part-0.parquet", b"not for us")
    return f"{bucket.url}/logs"


RAG = """
import json
WORLD = {{item["question"]: item for item in json.loads({world!r})}}

def good(question):
    item = WORLD[question]
    return {{"answer": item["right"], "contexts": item["sentences"]}}

def poor(question):
    item = WORLD[question]
    return {{"answer": item["wrong"], "contexts": item["sentences"][:1] + ["The weather is fine."]}}
"""


@pytest.mark.slow
def test_from_logs_to_a_comparison(cli, bucket, world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    root = f"{bucket.url}/store"

    def said(*words, code=0):
        printed = cli(*words, "--json")
        assert printed.code == code, printed.err
        return json.loads(printed.out)

    logs = write_logs(bucket, world, tmp_path)
    with OracleServer() as server:
        judge = ("--judge", "openai/oracle", "--base-url", server.base_url, "--no-cache")

        # 1. Good answers become proposed references, bad ones a queue.
        harvested = said("truth", "harvest", logs, "--deployment", "helpdesk", "--to", "ships", "-n", 50, "-o", root)
        counts = harvested["counts"]
        assert counts["cases"] == {"good": 8, "bad": 2, "unclear": 2}
        assert {info["name"]: info["rows"] for info in harvested["saved"]} == {"ships": 12, "ships-review": 2}
        assert counts["signals"] == {"like": 8, "dislike": 2}
        # A row without an answer and a part that was cut off; the other deployment was never opened.
        assert counts["left_out"] == {"rows without an answer": 1, "incomplete or damaged parts": 1}
        store = TruthStore(root)
        cases = store.read("ships").cases
        proposed = [case for case in cases if case.references and case.standing == "proposed"]
        assert len(proposed) == 8
        assert {case.provenance for case in cases} == {"harvested"}
        # Everything was drawn, so that each case stands for one request.
        assert sum(case.weight for case in cases) == pytest.approx(12)

        # 2. A person accepts the references; the judge says what they rest on, and each citation is held against its passage.
        accepted = [replace(case, standing="accepted") for case in cases]
        store.save("ships", accepted, author="ann", note="looked over", parent=1, lineage={})
        extracted = said("truth", "extract", "ships", "--to", "ships", *judge, "-o", root)
        facts = [fact for case in store.read("ships").cases for fact in case.facts]
        liked = {case.question for case in proposed}
        wanted = sum(len(item["sentences"]) for item in world if item["question"] in liked)
        assert len(facts) == wanted
        assert {(fact.provenance, fact.standing) for fact in facts} == {("judge", "proposed")}
        assert (extracted["counts"]["kept"], extracted["counts"]["skipped"], extracted["share"]) == (wanted, 4, 1.0)
        assert server.replies["citations"] == 8
        checked = said("truth", "check", "ships", "-o", root)
        assert checked["total"] == {
            "checked": wanted,
            "stands": wanted,
            "held": wanted,
            "share": 1.0,
            "repaired": 0,
            "absent": 0,
            "invalid": 0,
        }

        # 3. A person accepts all facts but one.
        version = store.read("ships")
        edited = [
            replace(case, facts=[replace(fact, standing="accepted") for fact in case.facts]) for case in version.cases
        ]
        first = next(place for place, case in enumerate(edited) if case.facts)
        rejected = [replace(edited[first].facts[0], standing="rejected"), *edited[first].facts[1:]]
        edited[first] = replace(edited[first], facts=rejected)
        store.save("ships", edited, author="bob", note="accepted", parent=version.info.number, lineage={})
        number = store.read("ships").info.number

        # 4. Two systems answer, and are scored against it.
        (tmp_path / "rag.py").write_text(RAG.format(world=json.dumps(world)))
        for name in ("good", "poor"):
            collected = said(
                "truth", "collect", "ships", "--system", f"rag.py:{name}", "-o", f"{name}.jsonl", "--root", root
            )
            assert (collected["answered"], collected["failed"]) == (12, 0)
            metrics = "fact_recall,answer_match,ragchecker.precision"
            run = said("run", f"{name}.jsonl", "--truth", "ships", "-m", metrics, "--name", name, *judge, "-o", root)
            rows = {row["metric"]: row for row in run["summary"]}
            assert rows["answer_match"]["mean"] == (1.0 if name == "good" else 0.0)
            assert rows["answer_match"]["n_ok"] == 8
            assert rows["fact_recall"]["n_ok"] == 8
            if name == "good":
                assert rows["fact_recall"]["mean"] == 1.0
            else:
                assert 0 < rows["fact_recall"]["mean"] < 1
        compared = said("compare", "poor", "good", "-o", root)
        verdicts = {row["metric"]: row["verdict"] for row in compared["metrics"]}
        assert verdicts["answer_match"] == "better"
        assert server.problems == []
        calls = server.calls

        # 5. A fact turns out to be wrong: it is put right, and stored runs are scored again without a call.
        version = store.read("ships")
        mended = [
            replace(case, facts=[*case.facts, TruthFact("The weather is fine.")]) if case.facts else case
            for case in version.cases
        ]
        store.save("ships", mended, author="ann", note="one more", parent=number, lineage={})
        again = said("truth", "rescore", "poor", "--truth", "ships", "-o", root)
        assert server.calls == calls
        ((recall, match, _),) = (found["metrics"] for found in again)
        assert (match["before"], match["after"], match["out_of_date"]) == (0.0, 0.0, 0)
        # The poor system retrieves the new fact with every question.
        assert recall["before"] < recall["after"] < 1
    assert [info.author for info in store.versions("ships")][1] == "ann"
