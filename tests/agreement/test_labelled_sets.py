"""Judges side by side on the labelled sets: figures of judges whose quality is known."""

import json
from collections import Counter

import pytest

from ragstone.agreement.labelled_sets import SETS, compare_judges, load_set, parse_sets, quote_sets, sets_dict
from ragstone.data.verdict import Verdict
from ragstone.errors import StopRunError, UnknownNameError, UsageError
from ragstone.report.judges import sets_report, sets_table
from tests.agreement.planted_judge import PlantedJudge
from tests.http.loopback import completion, loopback
from tests.models.tiny_checkers import encoder_folder, installed
from tests.oracle.server import OracleServer

__all__ = ["loopback"]


@pytest.fixture(autouse=True)
def models(monkeypatch, tmp_path):
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))


def labels(name):
    return {
        (claim, text): label
        for group in load_set(name)
        for claim, label in zip(group.claims, group.labels, strict=True)
        for text in (*group.texts, "\n".join(group.texts))
    }


def oracle(name):
    """A checker that knows the labels of a set."""
    known = labels(name)
    words = {"supported": ("entailment", 0.97, 0.01), "contradicted": ("contradiction", 0.02, 0.9)}

    def check(claims, texts):
        return [
            [Verdict(*words.get(known[claim, text], ("neutral", 0.03, 0.02))) for text in texts] for claim in claims
        ]

    return check


def constant(claims, texts):
    return [[0.6 for _ in texts] for _ in claims]


def test_the_sets_are_what_they_are_said_to_be():
    counts = {name: Counter(label for group in load_set(name) for label in group.labels) for name in SETS}
    sizes = {name: sum(count.values()) for name, count in counts.items()}
    assert sizes == {"claims": 480, "answers": 90, "rag": 250, "long": 1_072, "languages": 80, "tables": 83}
    for name in ("claims", "answers", "languages", "tables"):
        good = counts[name]["supported"] + counts[name]["match"]
        assert 0.4 < good / sizes[name] < 0.6, name
    assert set(counts["languages"]) == set(counts["tables"]) == {"supported", "contradicted", "not_stated"}
    for name in SETS:
        assert all(group.claims and all(group.texts) and all(group.claims) for group in load_set(name))
        assert SETS[name].startswith(f"{sizes[name]:,} ")


def test_sets_share_no_domain():
    domains = {name: {group.domain for group in load_set(name)} for name in ("claims", "languages", "tables", "rag")}
    names = list(domains)
    assert not any(domains[a] & domains[b] for at, a in enumerate(names) for b in names[at + 1 :])


def test_a_judge_that_knows_and_one_that_guesses():
    found = {one.judge: one for one in compare_judges([], [oracle("tables"), constant], ["tables"])}
    good, bad = found.values()
    assert (good.auc, good.accuracy, good.three_way, good.judged, good.calls) == (1.0, 1.0, 1.0, 83, 0)
    assert good.calibration_error == pytest.approx(0.03, abs=0.01)
    assert good.pairs_per_s > 0
    assert bad.auc == 0.5
    assert bad.accuracy == pytest.approx(38 / 83)
    assert bad.calibration_error == pytest.approx(0.6 - 38 / 83)


def test_claims_against_several_chunks_are_read_together():
    [found] = compare_judges([], [oracle("rag")], ["rag"])
    assert (found.auc, found.judged, found.three_way) == (1.0, 250, None)


def test_a_checker_is_not_asked_about_answers():
    [found] = compare_judges([], [constant], ["answers"])
    assert (found.judged, found.auc, found.why_not) == (0, None, "it only checks claims")


def test_a_limit_takes_groups_from_all_over_the_set():
    assert sum(len(group.claims) for group in load_set("claims", 25)) == 25
    assert load_set("long", 10) == load_set("long", 10)
    assert len({group.domain for group in load_set("claims", 60)}) > 2
    assert sum(len(group.claims) for group in load_set("tables", 10_000)) == 83


def test_names_of_sets():
    assert parse_sets("all") == list(SETS)
    assert parse_sets("tables, claims,tables") == ["tables", "claims"]
    for wrong in ("local", "", "claims,nothing"):
        with pytest.raises(UnknownNameError, match=r"Choose from: all, claims, .* Name judges with --judge"):
            parse_sets(wrong)


def test_one_of_the_fields_checkers_by_name(tmp_path):
    encoder_folder(tmp_path / "made", 3)
    installed(tmp_path / "models", tmp_path / "made", "nli-deberta-v3-base")
    by_judge, by_checker = compare_judges(["nli-deberta-v3-base"], ["nli-deberta-v3-base"], ["tables"], limit=8)
    assert (by_judge.judged, by_judge.auc) == (8, by_checker.auc)
    assert by_judge.three_way is not None
    with pytest.raises(UsageError, match="ragstone models pull factcg"):
        compare_judges(["factcg"], (), ["tables"], limit=1)


def test_a_language_model_and_its_cost(loopback):
    loopback.handler = lambda _: completion("<score> no </score>")
    options = {"base_url": loopback.url, "cache": False}
    [found] = compare_judges([], ["vllm/granite-guardian-4.1-8b"], ["tables"], 12, options)
    assert (found.judged, found.calls, found.auc, found.three_way) == (12, 12, 0.5, None)
    loopback.handler = lambda _: completion("I do not know.")
    [found] = compare_judges([], ["vllm/granite-guardian-4.1-8b"], ["tables"], 12, options)
    assert (found.judged, found.auc) == (0, None)
    assert "returned no verdict" in found.why_not


def test_a_judge_by_tokens_that_is_too_kind():
    judge = PlantedJudge()
    judge.supported = {pair for pair, label in labels("tables").items() if label == "supported"}
    [tables, answers] = compare_judges([judge], (), ["tables", "answers"], 60, {"verdicts": "tokens", "cache": False})
    assert tables.auc > 0.95
    assert tables.calibration_error > 0.2
    assert tables.three_way is not None
    assert (tables.judged, answers.judged) == (60, 60)


def test_replies_from_the_cache_have_no_speed(loopback):
    loopback.handler = lambda _: completion("<score> no </score>")
    options = {"base_url": loopback.url}
    first, again = (compare_judges([], ["vllm/granite-guardian-4.1-8b"], ["tables"], 12, options)[0] for _ in range(2))
    assert (first.calls, again.calls, again.judged) == (12, 0, 12)
    assert first.pairs_per_s > 0
    assert again.pairs_per_s is None


def test_a_judge_whose_replies_are_refused():
    """The oracle reads texts of its own world only."""
    with OracleServer() as server:
        options = {"base_url": server.base_url, "verdicts": "json", "cache": False}
        [found] = compare_judges(["openai/oracle"], (), ["tables"], 12, options)
    assert (found.judged, found.auc) == (0, None)
    assert "does not understand" in found.why_not


def test_a_quote_makes_no_call(loopback):
    line = quote_sets(
        [], [constant, "vllm/granite-guardian-4.1-8b"], ["tables", "answers"], 12, {"base_url": loopback.url}
    )
    assert (line.calls, loopback.asked) == (12, [])
    assert line.input_tokens > 12 * 100


def test_judges_share_a_budget(loopback):
    loopback.handler = lambda _: completion(json.dumps({"verdicts": []}))
    options = {"base_url": loopback.url, "cache": False, "budget": "0.000001usd"}
    with pytest.raises((StopRunError, UsageError)):
        compare_judges(["openai/gpt-4o-mini"], (), ["tables"], 5, options)


def test_report_and_json():
    found = compare_judges([], [oracle("tables"), constant], ["answers", "tables"], limit=30)
    assert json.loads(json.dumps(sets_dict(found)))[0]["set"] == "answers"
    lines = sets_table(found).markdown()
    assert "| tables |" in "\n".join(lines)
    assert sets_report(found)


def test_on_the_command_line(cli, tmp_path):
    (tmp_path / "mine.py").write_text("def half(claims, texts):\n    return [[0.5 for _ in texts] for _ in claims]\n")
    name = f"{tmp_path / 'mine.py'}:half"
    done = cli("judge-check", "--sets", "claims,tables", "--checker", name, "-n", "20", "--json")
    assert done.code == 0
    assert [(row["set"], row["pairs"], row["auc"]) for row in json.loads(done.out)] == [
        ("claims", 20, 0.5),
        ("tables", 20, 0.5),
    ]
    everything = cli("judge-check", "--sets", "--checker", name, "--checker", name, "-n", "6", "--json")
    assert Counter(row["set"] for row in json.loads(everything.out)) == dict.fromkeys(SETS, 2)
    assert "AUC" in cli("judge-check", "--sets", "tables", "--checker", name, "-n", "6").out
    assert all(set_name in cli("judge-check", "--help").out for set_name in SETS)
    quoted = cli("judge-check", "--sets", "tables", "--checker", name, "-n", "6", "--quote", "--json")
    assert json.loads(quoted.out)["calls"] == 0
    assert cli("judge-check", "--sets", "--checker", name, "--calibrate").code == 2
    assert cli("judge-check", "--sets", "local").code == 2
    missing = cli("judge-check")
    assert (missing.code, "name a judge" in missing.err) == (2, True)


def test_a_labelled_file_is_a_set(tmp_path):
    rows = [
        {"dataset": "x", "doc": f"Boat {n} leaves at nine.", "claim": f"Boat {n} leaves at {hour}.", "label": label}
        for n in range(3)
        for hour, label in (("nine", 1), ("ten", 0))
    ]
    path = tmp_path / "aggrefact.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert parse_sets(f"claims,{path}") == ["claims", str(path)]
    groups = load_set(str(path))
    assert [group.labels for group in groups] == [["supported", "unsupported"]] * 3

    def by_words(claims, texts):
        return [[float(claim in text) for text in texts] for claim in claims]

    [found] = compare_judges([], [by_words], [str(path)])
    assert (found.pairs, found.judged, found.accuracy, found.three_way) == (6, 6, 1.0, None)
    bare = tmp_path / "answers.jsonl"
    bare.write_text('{"id": "1", "question": "?", "answer": "a", "contexts": ["b"]}\n')
    with pytest.raises(UsageError, match="no row has a text, an answer and the label 'supported'"):
        load_set(str(bare))
