"""RAGChecker's flags against a model on loopback that knows the truth: inputs in, that tool's numbers and file out."""

import json

import pytest

from tests.oracle.expected import SKIPPED, expected
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

SAMPLES = [sample for sample in make_samples(30, seed=11) if sample.reference]
# That tool has 0 for what stands in no chunk where there is no chunk.
ZERO_WITHOUT_CHUNKS = ("ragchecker.hallucination", "ragchecker.self_knowledge")


def inputs():
    rows = [sample.row() for sample in SAMPLES]
    return [
        {
            "query_id": row["id"],
            "query": row["question"],
            "gt_answer": row["references"][0],
            "response": row["answer"],
            "retrieved_context": [{"doc_id": str(rank), "text": text} for rank, text in enumerate(row["contexts"])],
        }
        for row in rows
    ]


def values_there(sample):
    """The values of a sample as that tool has them."""
    values = {name: value for name, value in expected(sample).items() if name.startswith("ragchecker.")}
    if not sample.chunks:
        values |= dict.fromkeys(ZERO_WITHOUT_CHUNKS, 0.0)
    return {name.partition(".")[2]: 0.0 if value == SKIPPED else value for name, value in values.items()}


@pytest.fixture(scope="module")
def oracle():
    with OracleServer() as server:
        yield server


@pytest.fixture
def done(shell, home, oracle):
    (home / "in.json").write_text(json.dumps({"results": inputs()}))
    models = ["--extractor_name=oracle", "--checker_name=oracle", f"--extractor_api_base={oracle.base_url}"]
    keys = {"OPENAI_API_KEY": "sk-of-nobody", "RAGSTONE_CACHE": str(home / "cache")}
    finished = shell("ragchecker", "--input_path=in.json", "--output_path=out.json", *models, env=keys)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout), json.loads((home / "out.json").read_text())


def test_from_inputs_to_that_tools_numbers(done, shell, home, oracle):
    printed, written = done
    right = [values_there(sample) for sample in SAMPLES]
    assert [result["metrics"] for result in written["results"]] == [pytest.approx(values) for values in right]
    means = {name: value for group in printed.values() for name, value in group.items()}
    assert len(means) == 11
    for name, mean in means.items():
        assert mean == pytest.approx(sum(values[name] for values in right) / len(right) * 100, abs=0.0501)
    assert {f"{group}_metrics": values for group, values in written["metrics"].items()} == printed
    assert all(len(claim) == 3 for result in written["results"] for claim in result["response_claims"])
    assert not oracle.problems

    asked = oracle.requests
    again = shell("ragchecker", "--input_path=out.json", "--output_path=again.json", "-q")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == printed
    assert json.loads((home / "again.json").read_text()) == written
    assert oracle.requests == asked
