"""The shipped judge as a user meets it: the demo without a key, its card, and as the first rung under the oracle."""

import json
import socket
import sys

import pytest

import ragstone
from ragstone.models.store import Store
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
pytestmark = pytest.mark.skipif(Store().find("local-judge") is None, reason="the weights are not here")


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")


@pytest.fixture
def no_network(monkeypatch):
    def refuse(self, address):
        raise AssertionError(f"somebody wants to reach {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


# What the local judge gives, and which of the two systems of the example must have more of it.
BETTER = (
    *(
        "ragchecker.precision",
        "ragchecker.recall",
        "ragchecker.f1",
        "ragchecker.claim_recall",
        "ragchecker.faithfulness",
    ),
    *("ragas.faithfulness", "ragas.context_recall", "ragas.context_precision"),
    *("answer_match", "support_precision", "support_recall", "support_f1"),
)
WORSE = ("ragchecker.hallucination",)


@pytest.mark.slow
def test_the_demo_without_key_and_network_tells_the_better_system(cli, tmp_path, no_network):
    means = {}
    for system in ("better", "worse"):
        done = cli("demo", system, "-o", tmp_path)
        assert done.code == 0
        run = max((tmp_path / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        assert ragstone.open_run(run).info.uses_local_judge
        means[system] = {row.metric: row.mean for row in ragstone.open_run(run).summary()}
    for name in BETTER:
        assert means["better"][name] > means["worse"][name], name
    for name in WORSE:
        assert means["better"][name] < means["worse"][name], name


def test_obvious_things(no_network):
    claims = {
        "The Eiffel Tower is in Paris.": 1.0,
        "The Eiffel Tower is 330 metres tall.": 1.0,
        "The Eiffel Tower is in Rome.": 0.0,
        "Gustave Eiffel was born in Dijon.": 0.0,
    }
    context = (
        "The Eiffel Tower is a wrought-iron lattice tower in Paris, France. It is 330 metres tall and was finished in 1889. "
        "It is named after the engineer Gustave Eiffel, whose company designed and built the tower."
    )
    rows = [
        {"id": claim, "question": "What is known about the Eiffel Tower?", "answer": claim, "contexts": [context]}
        for claim in claims
    ]
    run = ragstone.evaluate(rows, "ragchecker.faithfulness", judge="local")
    values = {row["sample_id"]: row["value"] for row in run.scores.to_pylist()}
    assert values == {claim: pytest.approx(value, abs=0.45) for claim, value in claims.items()}


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("It was finished in 1889.", True),
        ("Based on the provided context, the tower was completed in 1889.", True),
        ("1889", True),
        ("It was finished in 1925.", False),
        ("I do not know.", False),
    ],
)
def test_obvious_answers(answer, right):
    row = {"question": "When was the Eiffel Tower finished?", "answer": answer, "references": ["1889"]}
    [score] = ragstone.evaluate([row], "answer_match", judge="local").scores.to_pylist()
    assert (score["value"] > 0.5) is right


@pytest.mark.parametrize(
    "row",
    [
        {"answer": "灯塔建于1903年。", "contexts": ["灯塔建于1903年，高30米。"], "references": ["1903年"]},
        {"answer": "", "contexts": [""], "references": [""]},
        {"answer": "…", "contexts": [], "references": ["…"]},
        {
            "answer": "It has three hundred and thirty metres.",
            "contexts": ["It is 330 m tall."],
            "references": ["330 m"],
        },
        {"answer": "a" * 100_000, "contexts": ["b" * 100_000], "references": ["[SEP] [CLS]"]},
        {"answer": "\u0000\u202e😀", "contexts": ["\u0000"], "references": ["😀"]},
    ],
)
def test_strange_rows_never_fail(row):
    run = ragstone.evaluate([{"question": "How?", **row}], ["ragchecker", "ragas", "grades"], judge="local")
    assert {row["status"] for row in run.scores.to_pylist()} <= {"ok", "skipped"}
    assert all(0 <= row["value"] <= 1 for row in run.scores.to_pylist() if row["value"] is not None)


def test_claims_in_chinese():
    answer = "灯塔建于1903年。它高30米。"
    rows = [
        {"question": "灯塔何时建成？", "answer": answer, "contexts": [text]} for text in (answer, "港口出口盐和木材。")
    ]
    run = ragstone.evaluate(rows, "ragchecker.faithfulness", judge="local")
    claims = [[claim["text"] for claim in value] for value in run.evidence("answer_claims")["value"].to_pylist()]
    assert claims == [["灯塔建于1903年。", "它高30米。"]] * 2
    assert [(cell["status"], cell["reason"]) for cell in run.scores.to_pylist()] == [
        ("skipped", "the text is not English (the local judge's only language)")
    ] * 2


def test_empty_claims_of_the_data_are_said_by_nobody(tmp_path):
    file = tmp_path / "given.json"
    context = [{"doc_id": "a", "text": "The boat is red."}, {"doc_id": "b", "text": "-"}]
    row = {"query_id": "1", "query": "What colour?", "gt_answer": "Red.", "response": "It is red."}
    row |= {"retrieved_context": context, "response_claims": ["", "The boat is red.", " "], "gt_answer_claims": []}
    file.write_text(json.dumps({"results": [row]}))
    run = ragstone.evaluate(file, "ragchecker", judge="local")
    [found] = run.evidence("answer_claims_in_contexts")["value"].to_pylist()
    words = [[verdict.split(" ")[0] for verdict in verdicts] for verdicts in found]
    assert words == [["neutral"] * 2, ["entailment", "neutral"], ["neutral"] * 2]
    assert "failed" not in {cell["status"] for cell in run.scores.to_pylist()}


@pytest.mark.slow
def test_a_hundred_thousand_words_of_evidence():
    filler = "Vessels carry crates of salt to the harbour every week, and come back with timber. "
    row = {
        "question": "Who kept the light?",
        "answer": "The light was kept by Ada Moor.",
        "contexts": [filler * 4000 + "For thirty years the light was kept by Ada Moor. " + filler * 4000],
    }
    [score] = ragstone.evaluate([row], "ragas.faithfulness", judge="local").scores.to_pylist()
    assert score["value"] > 0.9


def test_its_card_is_shown(cli):
    done = cli("models", "show", "local-judge")
    assert done.code == 0
    assert "Claim support: does the evidence support the claim." in done.out
    assert "| token overlap |" in done.out
    [told] = json.loads(cli("models", "show", "local-judge", "--json").out)
    assert "Limits:" in told["card"]


def test_on_a_ladder_the_oracle_is_asked_only_about_the_rest(tmp_path):
    with OracleServer() as server:
        options = {"base_url": server.base_url, "cache": False}
        rows = [
            {
                "id": "plain",
                "question": "Where was the Orlando built?",
                "answer": "The Orlando was built in Bremen.",
                "contexts": ["The Orlando was built in Bremen."],
                "references": ["The Orlando was built in Bremen."],
            }
        ]
        run = ragstone.evaluate(
            rows, ["ragchecker.precision", "answer_match"], tmp_path, judge="local>openai/oracle", **options
        )
        assert server.calls == 0, "word for word the same: it is sure"
        assert run.info["totals"]["ladder"]["calls_saved"] == 2
        assert run.info["totals"]["ladder"]["passed_on"] == 0


@pytest.mark.slow
def test_a_ladder_saves_calls_and_changes_little():
    samples = [sample for sample in make_samples(24) if sample.language == "en"]
    metrics = ["ragchecker.precision", "ragchecker.faithfulness"]
    values, calls = {}, {}
    for checker in ("openai/oracle", "local>openai/oracle"):
        with OracleServer() as server:
            options = {"extractor": "openai/oracle", "base_url": server.base_url, "cache": False}
            run = ragstone.evaluate([sample.row() for sample in samples], metrics, checker=checker, **options)
            assert server.problems == []
            calls[checker] = server.replies["verdicts"] + server.replies["context_verdicts"]
            values[checker] = [row["value"] for row in run.scores.to_pylist()]
    ladder = run.info["totals"]["ladder"]
    assert ladder["decided_locally"] > 0
    assert ladder["passed_on"] > 0
    assert ladder["calls_saved"] == calls["openai/oracle"] - calls["local>openai/oracle"]
    pairs = [pair for pair in zip(*values.values(), strict=True) if None not in pair]
    assert sum(abs(one - other) for one, other in pairs) / len(pairs) < 0.25


@pytest.mark.slow
def test_what_needs_no_judge_loads_none(tmp_path):
    import subprocess

    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"question": "q", "answer": "a b", "references": ["a"], "contexts": ["a"]}))
    code = (
        "import sys, ragstone; "
        f"ragstone.evaluate({str(data)!r}, ['token_f1', 'k_precision']); "
        "sys.exit(any(name in sys.modules for name in ('onnxruntime', 'tokenizers', 'torch', 'onnx')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


CONTRADICTED = """id,question,answer,reference,contexts
museum,Is the museum open on Mondays?,The museum is open on Mondays.,The museum is closed on Mondays.,"[""The museum is closed on Mondays. On other days it opens at ten.""]"
hostel,Are dogs allowed in the hostel?,Dogs are welcome in the hostel.,Dogs are not allowed in the hostel.,"[""Please note that pets, dogs included, are forbidden in the hostel. Bicycles can be kept in the yard.""]"
pool,Is the pool open in winter?,The pool is open in winter.,The pool is closed in winter.,"[""The pool is closed in winter. The sauna stays open."", ""Archive 2019: The pool is open in winter.""]"
library,When does the library open?,The library opens at nine.,The library opens at nine.,"[""The library opens at nine and closes at six.""]"
"""


def test_contradictions_come_through_to_the_printed_causes(cli, tmp_path, no_network):
    (tmp_path / "rows.csv").write_text(CONTRADICTED, encoding="utf-8")
    assert cli("run", tmp_path / "rows.csv", "-m", "ragchecker", "-o", tmp_path / "store").code == 0
    [run] = (tmp_path / "store" / "runs").iterdir()
    causes = {one.sample_id: one.cause and one.cause.name for one in ragstone.open_run(run).diagnose().outcomes}
    assert causes == {"museum": "misread", "hostel": "misread", "pool": "wrong passage used", "library": None}
    told = " ".join(cli("diagnose", run).out.split())
    assert "the answer contradicts the chunk that contains it" in told
    assert "wrong passage used" in told
    sample = " ".join(cli("explain", run, "pool").out.split())
    assert "chunk 2 supports it, but the reference says otherwise" in sample
    assert "✗ contradicted ✓ 2 ✗ 1" in sample
