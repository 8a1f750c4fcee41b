"""CRAG with a perfect judge over HTTP: it shares the verdicts of answer match."""

import ragstone
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

ROWS = [sample.row() for sample in make_samples(28, seed=2)]


def test_crag_adds_no_call_to_answer_match(tmp_path):
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False}
        names = ["answer_match", "crag.score", "crag.accuracy", "crag.missing", "crag.hallucination_rate"]
        run = ragstone.evaluate(ROWS, names, tmp_path, **options)
    answered = [row for row in ROWS if "references" in row and row["answer"].strip()]
    assert server.replies == {"answer_match": len(answered)}
    rows = run.scores.to_pylist()
    cells = {(row["sample_id"], row["metric"]): row["value"] for row in rows}
    for row in ROWS:
        if "references" not in row:
            assert cells[row["id"], "crag.score"] is None
            continue
        match, points = cells[row["id"], "answer_match"], cells[row["id"], "crag.score"]
        declines = cells[row["id"], "crag.missing"]
        assert points == (1.0 if match else 0.0 if declines else -1.0)
        shares = [cells[row["id"], f"crag.{name}"] for name in ("accuracy", "missing", "hallucination_rate")]
        assert sum(shares) == 1.0
    assert {cells[row["id"], "crag.score"] for row in ROWS if "references" in row} == {1.0, 0.0, -1.0}


def test_crag_is_not_in_a_default_run(tmp_path):
    run = ragstone.evaluate([{"question": "q", "answer": "a", "references": ["a"]}], None, tmp_path)
    assert not any(row["metric"].startswith("crag.") for row in run.scores.to_pylist())
