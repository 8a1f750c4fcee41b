"""Every name of the table leads where it must, in any spelling, and no name runs another metric silently."""

from pathlib import Path

import pytest

import ragstone.metrics  # noqa: F401
from ragstone.errors import UnknownNameError, UsageError
from ragstone.registry import CATALOGUE, metric, parse_metric, resolve_metrics
from ragstone.registry.foreign_names import fold, look_up, read_systems

TABLE = Path(__file__).with_name("foreign_names.tsv")
UNITXT = Path(__file__).with_name("unitxt_names.txt").read_text(encoding="utf-8").split()
SETS = CATALOGUE.sets()
# Metrics that are planned: their names resolve once they exist.
RESERVED = ("distinct-n", "distinct-3", "distinct-4", "self-BLEU", "UMBRELA", "complete", "complete@5")


def read_table() -> dict[str, tuple[str, list[str]]]:
    """The kind and the targets that each name must give."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {
        name: (kind, [target for target in targets.split(" | ") if target])
        for kind, targets, names in rows
        for name in names.split(" | ")
    }


EXPECTED = read_table()


def outcome(name: str) -> tuple[str, list[str]]:
    """The kind of a name, and its metrics as runs write them."""
    head, at, cut = name.partition("@")
    head, bracket, settings = head.partition("(")
    meaning = look_up(head, CATALOGUE)
    if meaning.kind == "same" and meaning.metrics[0] not in SETS:
        return "same", [str(parse_metric(f"{head}{bracket}{settings}{at}{cut}"))]
    metrics = [target if target in SETS else str(parse_metric(target)) for target in meaning.metrics]
    return meaning.kind, [*meaning.commands, *metrics]


def spellings(name: str) -> list[str]:
    """The name in other cases and with other separators; what is after @ or in brackets stays."""
    head = name.partition("@")[0].partition("(")[0]
    if name.rpartition("_")[2] == "K":
        return [name]
    rest = name.removeprefix(head)
    spaced = head.replace("_", " ").replace("-", " ")
    return [f"{one}{rest}" for one in (head.upper(), head.lower(), spaced, spaced.replace(" ", "-"))]


def test_the_table_has_names_of_every_system():
    assert len(EXPECTED) >= 350
    folded = {fold(name) for name in EXPECTED}
    systems = read_systems()
    missing = [title for title, system in systems.items() if not folded & ({*system.names} | {*system.prefixes})]
    assert missing == []


def test_every_name_leads_where_it_must():
    wrong = {name: (outcome(name), expected) for name, expected in EXPECTED.items() if outcome(name) != expected}
    assert wrong == {}


def test_case_and_separators_do_not_matter():
    wrong = [one for name in EXPECTED for one in spellings(name) if outcome(one) != EXPECTED[name]]
    assert wrong == []


def test_only_the_same_number_is_computed():
    for name, (kind, targets) in EXPECTED.items():
        if kind == "same":
            assert resolve_metrics([name]) == resolve_metrics(targets)
            continue
        with pytest.raises(UsageError) as caught:
            resolve_metrics([name])
        assert not isinstance(caught.value, UnknownNameError)
        text = str(caught.value)
        assert all(target.partition("(")[0].partition("@")[0] in text for target in targets if kind == "command"), text


def test_the_whole_rag_catalogue_of_unitxt_is_known():
    assert len(UNITXT) == 268
    kinds = {name: look_up(name, CATALOGUE).kind for name in UNITXT}
    assert {name for name, kind in kinds.items() if kind == "same"} == {
        name
        for name in UNITXT
        if (
            name.endswith(("token_recall", "token_k_precision", "answer_reward", "mrr", ".map", "token_overlap"))
            and not name.endswith("answer_relevance.token_recall")
        )
        or name.rpartition(".")[2]
        in (
            *("answer_correctness", "context_correctness", "context_relevance", "faithfulness"),
            *("answer_faithfulness", "context_perplexity"),
        )
    }


def test_every_entry_of_the_names_is_sound():
    for title, system in read_systems().items():
        for name, meanings in system.names.items():
            *planned, last = meanings
            assert not planned or title == "any"
            assert "@" not in name
            assert "(" not in name, "a name ends before the settings"
            assert not ("*" in name and last.kind == "same"), "a pattern must not choose a metric"
            assert last.note or last.kind not in ("near", "absent"), (title, name)
            for target in last.metrics:
                assert target in SETS or parse_metric(target), (title, name)


@pytest.mark.parametrize("name", RESERVED)
def test_names_of_planned_metrics_lead_somewhere(name):
    assert outcome(name)[1]


def test_a_planned_metric_takes_its_name(catalogue):
    @metric("distinct_n")
    def distinct_n(answer: str, n: int = 2): ...

    @metric("self_bleu")
    def self_bleu(answer: str): ...

    assert str(parse_metric("Distinct-3", catalogue)) == "distinct_n(n=3)"
    assert str(parse_metric("Self-BLEU", catalogue)) == "self_bleu"


def test_a_users_metric_comes_before_the_names_of_others(catalogue):
    @metric("mine.coherence")
    def mine(answer: str): ...

    @metric("rouge")
    def rouge(answer: str): ...

    assert str(parse_metric("coherence", catalogue)) == "mine.coherence"
    assert str(parse_metric("ROUGE", catalogue)) == "rouge"


def test_a_users_metric_joins_the_choice(catalogue):
    for name in ("mine.faithfulness", "ragas.faithfulness"):

        @metric(name)
        def own(answer: str): ...

        own.__qualname__ = name
    with pytest.raises(UsageError, match=r"ragas.faithfulness.*mine.faithfulness"):
        parse_metric("faithfulness", catalogue)


@pytest.mark.parametrize(
    ("typo", "suggested"),
    [
        ("recal", "recall or "),
        ("faithfullness", "unitxt.faithfulness or ragas.faithfulness or ragchecker.faithfulness"),
        ("presicion", "precision or "),
        ("bertscor", "bert_score?"),
        ("toxic", "toxicity?"),
        ("contextual_recal", "ragas.context_recall"),
    ],
)
def test_a_misspelled_name_suggests_metrics_that_exist(typo, suggested):
    with pytest.raises(UnknownNameError) as caught:
        parse_metric(typo)
    offered = str(caught.value).partition("Did you mean ")[2].partition("?")[0].split(" or ")
    assert f"Did you mean {suggested}" in str(caught.value)
    assert all(resolve_metrics([one]) for one in offered)


@pytest.mark.parametrize("name", ["zzz", "st", "stpxz", "x" * 5_000, "--", "1", "🦆", "rouge'; drop", "a_b_c_1"])
def test_a_name_that_is_like_no_other_suggests_nothing(name):
    with pytest.raises(UsageError) as caught:
        parse_metric(name)
    assert "Did you mean" not in str(caught.value)
