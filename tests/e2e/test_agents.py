"""Steps and pooled labels end to end, with a judge that is always right, over HTTP."""

import json

import pytest

import ragstone
from tests.e2e.judged import calls, judging, rows
from tests.oracle.expected import claims
from tests.oracle.server import OracleServer
from tests.oracle.verdicts import useful, verdict
from tests.oracle.world import make_samples

SAMPLES = [one for one in make_samples(40) if one.chunks and claims(one.answer) and one.reference is not None]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


def agent_rows():
    """One search per chunk, and no contexts of their own."""
    for row in rows(SAMPLES):
        chunks = row.pop("contexts")
        named = [{"id": str(rank), **(c if isinstance(c, dict) else {"text": c})} for rank, c in enumerate(chunks)]
        yield {**row, "steps": [{"tool": "search", "query": "q", "contexts": [chunk]} for chunk in named]}


@pytest.mark.slow
@pytest.mark.parametrize("verdicts", ["json", "tokens"])
def test_unused_steps_need_no_call_of_their_own(tmp_path, verdicts):
    with OracleServer() as server:
        options = judging(server, exam=False, verdicts=verdicts, cache=False)
        plain = ragstone.evaluate(list(agent_rows()), ["ragchecker.faithfulness"], tmp_path / "a", **options)
        run = ragstone.evaluate(
            list(agent_rows()), ["ragchecker.faithfulness", "steps.unused"], tmp_path / "b", **options
        )
    assert server.problems == []
    assert len(calls(run.path)) == len(calls(plain.path))
    found = {row["sample_id"]: row["value"] for row in run.scores.to_pylist() if row["metric"] == "steps.unused"}
    for sample in SAMPLES:
        used = [
            any(claim.meaning and verdict(claim.meaning, chunk) == "entailment" for claim in claims(sample.answer))
            for chunk in sample.chunks
        ]
        assert found[sample.id] == pytest.approx(1 - sum(used) / len(used)), sample.id


def test_a_pool_has_one_label_per_chunk_and_one_call_per_question(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Two systems: one found the even chunks, the other all of them in reverse.
    all_rows = list(agent_rows())
    for name, pick in (("even", slice(0, None, 2)), ("reverse", slice(None, None, -1))):
        lines = ({**row, "steps": row["steps"][pick]} for row in all_rows)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with OracleServer() as server:
        flags = ["--judge", "openai/oracle", "--base-url", server.base_url, "--no-exam", "--depth", "50"]
        done = cli("pool", "even.jsonl", "reverse.jsonl", "-o", "pool.qrels", "-q", *flags)
    assert done.code == 0, done.err
    assert server.problems == []
    assert server.calls == len(SAMPLES)
    labels = {}
    for line in (tmp_path / "pool.qrels").read_text().splitlines():
        query, _, chunk, grade = line.split()
        labels.setdefault(query, {})[int(chunk)] = grade == "1"
    for sample in SAMPLES:
        wanted = [claim.meaning for claim in claims(sample.reference) if claim.meaning]
        assert [labels[sample.id][rank] for rank in range(len(sample.chunks))] == useful(wanted, sample.chunks)
