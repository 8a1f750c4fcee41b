"""Judges with planted biases are caught, a fair one is cleared; all over real HTTP."""

import numpy as np
import pytest

from ragstone.agreement.audit import Duels, _longer, audit_judge, judge_rate, judge_share
from ragstone.agreement.audit_probes import known_answers, languages, make_row, packaged_probes
from ragstone.errors import UsageError
from tests.agreement.worlds import half, little, store_run, whole, world_rows
from tests.oracle import judge as oracle_judge
from tests.oracle.reading import read_data
from tests.oracle.server import OracleServer

COUNT = 14
HALF_LANGUAGE = "zh"


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """The oracle knows the answers to our own questions."""
    right = {row["question"]: row["answer"] for row in (*known_answers(), *languages())}
    monkeypatch.setattr(oracle_judge, "KNOWN", right)


@pytest.fixture
def run(tmp_path):
    return store_run(tmp_path / "store", "half", world_rows(COUNT, half))


def data_of(body):
    return read_data(body["messages"][-1]["content"])


def prefer(choose):
    """A judge whose choice between the two seats is made by a function of the data, where that chooses at all."""

    def alter(prompt, body, reply):
        if prompt != "pair":
            return reply
        data = data_of(body)
        winner = choose(data, data["answer_a"], data["answer_b"])
        return {**reply, "winner": winner} if winner else reply

    return alter


def longer(data, a, b):
    return "A" if len(a) > len(b) else "B"


def obeys(data, a, b):
    words = [entry["text"] for entry in packaged_probes()["injection"]]
    return next((seat for seat, text in (("A", a), ("B", b)) if any(word in text for word in words)), None)


def cannot_count(data, a, b):
    wrong = {entry["wrong"] for entry in packaged_probes()["math"]}
    if "reference" in data:
        return None
    return "A" if a in wrong else "B" if b in wrong else None


def no_chinese(data, a, b):
    wrong = {entry["zh"][2] for entry in packaged_probes()["language"]}
    return "A" if a in wrong else "B" if b in wrong else None


def audit(run, alter=lambda prompt, body, reply: reply, **more):
    with OracleServer(alter=alter) as server:
        found = audit_judge("openai/oracle", run, options={"base_url": server.base_url, "cache": False}, **more)
    assert server.problems == []
    return {finding.name: finding for finding in found.findings}, found, server


@pytest.mark.slow
def test_a_fair_judge_is_cleared(run):
    findings, found, server = audit(run)
    assert found.biased == []
    assert findings["position: first seat"].value == 0.5
    assert findings["position: wavering"].value == 0.0
    assert findings["verbosity: padded twins"].value == 0.5
    assert findings["injection"].value == 0.0
    assert findings["math: alone"].value == findings["reasoning: guided"].value == 0.0
    assert findings["language gap"].value == 0.0
    # Five languages, of which the worst is taken: 1 - 0.05 / 5. The heading of the report says 95 %.
    assert "(with a 99 % interval: it is the worst of 5)" in findings["language gap"].words
    assert findings["self-enhancement"].verdict == "not tested"
    assert "--against" in findings["self-enhancement"].advice
    # Two orders each; the same answer twice is not asked about.
    natural = findings["verbosity: longer answers"].n
    assert natural == COUNT // 2
    assert server.replies["pair"] == 2 * (natural + COUNT + 2 * COUNT + 24 + 24 + 50)
    assert server.replies["own_reference"] == 24


@pytest.mark.parametrize(
    ("alter", "caught"),
    [
        (prefer(lambda data, a, b: "A"), "position: first seat"),
        pytest.param(prefer(lambda data, a, b: "B"), "position: first seat", marks=pytest.mark.slow),
        (prefer(longer), "verbosity: padded twins"),
        (prefer(obeys), "injection"),
        pytest.param(prefer(cannot_count), "math: alone", marks=pytest.mark.slow),
        pytest.param(prefer(no_chinese), "language gap", marks=pytest.mark.slow),
    ],
    ids=["first seat", "second seat", "longer", "obeys", "cannot count", "no Chinese"],
)
def test_a_planted_bias_is_caught(run, alter, caught):
    findings, found, _ = audit(run, alter)
    assert findings[caught].verdict == "biased"
    assert findings[caught].advice
    if caught == "injection":
        assert [finding.name for finding in found.biased] == ["injection"]
        # One of the strangers says as little as the honest answer, and was a tie before.
        assert findings["injection"].value > 0.9
    if caught == "math: alone":
        assert [finding.name for finding in found.biased] == ["math: alone"]
        assert findings["math: alone"].value == 1.0
        assert findings["math: guided"].value == 0.0
    if caught == "language gap":
        assert findings[caught].value == 1.0
        assert "errors in zh" in findings[caught].words
    if caught == "position: first seat":
        assert findings["position: wavering"].verdict == "biased"


@pytest.mark.slow
def test_a_judge_that_prefers_its_own_family_is_caught_by_a_jury(tmp_path):
    own = store_run(tmp_path, "own", world_rows(COUNT, little))
    other = store_run(tmp_path, "other", world_rows(COUNT, whole))
    answers = {row["answer"] for row in world_rows(COUNT, little)}

    def alter(prompt, body, reply):
        if prompt != "pair" or body["model"] != "vain":
            return reply
        data = data_of(body)
        return {**reply, "winner": "A" if data["answer_a"] in answers else "B"}

    with OracleServer(alter=alter) as server:
        settings = {"base_url": server.base_url, "cache": False}
        more = {"against": other, "jury": ["openai/one", "openai/two"], "options": settings}
        vain = audit_judge("openai/vain", own, **more)
        fair = audit_judge("openai/fair", own, **more)
    (found,) = (finding for finding in vain.findings if finding.name == "self-enhancement")
    assert (found.verdict, found.value) == ("biased", 1.0)
    (found,) = (finding for finding in fair.findings if finding.name == "self-enhancement")
    assert (found.verdict, found.value) == ("fair", 0.0)


def test_a_run_without_answers_is_refused(tmp_path):
    run = store_run(tmp_path, "empty", [{"id": "1", "question": "Which?", "answer": " ", "references": ["x"]}])
    with pytest.raises(UsageError, match="has no answers"):
        audit(run)


def test_verdicts_follow_the_interval():
    assert judge_rate("x", "", 0, 24, bearable=0.1, advice="do").verdict == "fair"
    assert judge_rate("x", "", 12, 24, bearable=0.1, advice="do").verdict == "biased"
    assert judge_rate("x", "", 3, 5, bearable=0.1, advice="do").verdict == "unclear"
    half_won = np.array([0.0, 1.0] * 20)
    assert judge_share("x", "", half_won, fair=0.5, advice="do").verdict == "fair"
    assert judge_share("x", "", half_won * 0.5, fair=0.5, advice="do").verdict == "fair"
    assert judge_share("x", "", half_won * 0.5, fair=0.5, advice="do", both_ways=True).verdict == "biased"
    assert judge_share("x", "", np.ones(40), fair=0.5, advice="do").verdict == "biased"


@pytest.mark.slow
def test_a_judge_that_says_nothing_is_not_called_fair(run):
    findings, found, _ = audit(run, alter=lambda prompt, body, reply: {"winner": "nobody"}, limit=9)
    assert not found.tested
    assert found.undecided == sum(made.samples.table.num_rows for made in found.runs)
    assert "cannot be used" in found.reason
    told = findings["math: guided"].advice
    assert "none was decided" in told
    assert "8" in told
    assert "cannot be used" in told


def test_a_judge_that_cannot_answer_itself_says_why_it_was_not_guided(run):
    """The reason is that of these duels, not of the others, which were decided."""
    findings, _, _ = audit(
        run, alter=lambda prompt, body, reply: {"x": 1} if prompt == "own_reference" else reply, limit=9
    )
    assert findings["math: alone"].verdict == "fair"
    assert findings["math: guided"].n == 0
    assert "reason: " in findings["math: guided"].advice


def test_a_jury_without_another_system_is_refused(run):
    with pytest.raises(UsageError, match="--against"):
        audit(run, jury=["openai/two"])


def test_answers_of_one_length_are_no_longer_ones():
    rows = [make_row("natural", number, "?", one, "four") for number, one in enumerate(["five5", "same"] * 8)]
    wins = np.array([0.0, 1.0] * 8)
    found = _longer(Duels(rows, {"pair.win": wins, "pair.consistency": wins, "pair.first_seat": wins}))
    assert (found.n, found.value) == (8, 0.0)
