"""The real local judge on three written domains: a good system is not called bad, and a planted fault is the main cause."""

import tomllib
from pathlib import Path

import pytest

import ragstone
from ragstone.analysis.diagnosis import diagnose
from ragstone.models.store import Store
from ragstone.report.diagnosis import diagnosis_dict
from ragstone.views.diagnosis import headline

pytest.importorskip("onnxruntime")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(Store().find("local-judge") is None, reason="the weights are not here"),
]
DOMAINS = tomllib.loads((Path(__file__).parent / "planted_faults.toml").read_text(encoding="utf-8"))
REFUSAL = "I could not find this in the documents."
# The causes that describe a planted fault, and the part that is to blame.
FAULTS = {
    "missing": ({"missing chunk"}, "retriever"),
    "invented": ({"hallucinated"}, "generator"),
    "beside": ({"ignored"}, "generator"),
    "refuses": ({"wrongly refused"}, "generator"),
    "wrong": ({"misread", "hallucinated"}, "generator"),
}


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")


def rows(cases, system):
    """Four chunks per question, the right one second; of the retriever with the fault, none is right."""
    for number, case in enumerate(cases):
        first, *rest = [cases[(number + step) % len(cases)]["chunk"] for step in (3, 5, 7, 2)]
        chunks = [first, *rest] if system == "missing" else [first, case["chunk"], *rest[:2]]
        yield {
            "id": f"q{number + 1}",
            "question": case["question"],
            "references": [case["reference"]],
            "contexts": chunks,
            "answer": case.get(system, REFUSAL),
        }


def diagnosed(domain, system, tmp_path):
    return diagnose(ragstone.evaluate(list(rows(DOMAINS[domain], system)), None, tmp_path, judge="local", cache=False))


def assert_modest(found):
    """The local judge alone never makes it sure."""
    assert not found.sure
    assert "seem" in headline(found) or "not known" in headline(found)
    assert all(state in {"seems good", "seems bad", "unclear", ""} for state in found.parts.values())
    assert not any(item["sure"] for item in diagnosis_dict(found)["advice"])


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_good_system_is_not_called_bad(domain, tmp_path):
    found = diagnosed(domain, "good", tmp_path)
    assert found.limits in {"neither", "unknown"}, headline(found)
    assert not [reading for reading in found.readings if reading.state in {"bad", "seems bad"}]
    assert found.failing <= 2
    assert_modest(found)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_a_planted_fault_is_the_main_cause(domain, fault, tmp_path):
    found = diagnosed(domain, fault, tmp_path)
    causes, part = FAULTS[fault]
    assert found.causes[0].cause.name in causes, [(one.cause.name, one.main) for one in found.causes]
    assert found.causes[0].main >= 0.5 * found.samples
    assert found.limits in {part, "unknown"}
    assert found.blamed(part) >= 0.9 * found.failing
    assert_modest(found)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_finding_has_its_evidence(domain, tmp_path):
    """A chunk that is named contains the reference claim, and none is named for a missing one."""
    for outcome in diagnosed(domain, "beside", tmp_path).outcomes:
        for finding in outcome.findings:
            if finding.cause.name == "ignored":
                assert 2 in finding.chunks
                assert finding.text in {case["reference"] for case in DOMAINS[domain]}
