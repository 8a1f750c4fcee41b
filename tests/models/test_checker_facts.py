"""The facts about the field's checkers: names, templates, windows."""

import re
from pathlib import Path

import pytest

from ragstone.errors import DefinitionError, UsageError
from ragstone.models import checker_facts
from ragstone.models.checker_facts import CHAT, CHECKERS, recognise


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("factcg", "factcg"),
        ("yaxili96/FactCG-DeBERTa-v3-Large", "factcg"),
        ("hf/yaxili96/FactCG-DeBERTa-v3-Large@0a1b2c", "factcg"),
        ("cross-encoder/nli-deberta-v3-base:onnx/model.onnx", "nli-deberta-v3-base"),
        ("local/nli-deberta-v3-xsmall", "nli-deberta-v3-xsmall"),
        ("lytang/MiniCheck-RoBERTa-Large@refs/pr/1", "minicheck-roberta"),
        ("lytang/MiniCheck-DeBERTa-v3-Large", "minicheck-deberta"),
        ("lytang/MiniCheck-Flan-T5-Large", "minicheck-flan-t5"),
        ("vectara/hallucination_evaluation_model", "hhem-2.1-open"),
        ("KRLabsOrg/lettucedect-base-modernbert-en-v1", "lettucedetect-base"),
        ("lettucedect-v2-mmbert-base", "lettucedetect-v2"),
        ("google/t5_xxl_true_nli_mixture", "true-nli"),
        ("yzha/AlignScore", "alignscore"),
        ("ollama/bespoke-minicheck", "bespoke-minicheck"),
        ("ollama/bespoke-minicheck:7b-q3_K_L", "bespoke-minicheck"),
        ("vllm/bespokelabs/Bespoke-MiniCheck-7B", "bespoke-minicheck"),
        ("llama//models/Bespoke-MiniCheck-7B.Q4_K_M.gguf", "bespoke-minicheck"),
        ("ollama/ibm/granite3.3-guardian:8b", "granite-guardian-3.3"),
        ("vllm/ibm-granite/granite-guardian-3.3-8b", "granite-guardian-3.3"),
        ("llamacpp/granite-guardian-4.1-8b-GGUF", "granite-guardian-4.1"),
        ("vllm/PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct-v1.1", "lynx"),
        ("ollama/hf.co/PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct-v1.1-GGUF:Q4_K_M", "lynx"),
    ],
)
def test_every_spelling_of_a_name_is_recognised(spelled, name):
    assert recognise(spelled).name == name


def test_every_checker_is_recognised_by_its_name_and_its_repository():
    for checker in CHECKERS.values():
        assert recognise(checker.name) is checker
        assert recognise(checker.repository) is checker, f"spelled of {checker.name} must match its repository's name"
        assert recognise(checker.repository.partition("@")[0].partition(":")[0].upper()) is checker


@pytest.mark.parametrize(
    "other",
    [
        "openai/gpt-4o-mini",
        "ollama/llama3.1",
        "vllm/my-judge",
        "judge.py:check",
        "local",
        "trained/minicheck",
        "lynxlike",
    ],
)
def test_other_models_are_not(other):
    assert recognise(other) is None


@pytest.mark.parametrize("other", ["ollama/granite3-guardian:8b", "KRLabsOrg/lettucedect-210m-eurobert-de-v1"])
def test_an_unknown_member_of_a_family_with_its_own_form_is_refused(other):
    """A guardian says yes to what is not grounded: asked as any model, it would be read the wrong way round."""
    with pytest.raises(UsageError, match="form of its own that Ragstone does not know"):
        recognise(other)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "factcg",
            'TEXT\n\nChoose your answer: based on the paragraph above can we conclude that "CLAIM"?'
            "\n\nOPTIONS:\n- Yes\n- No\nI think the answer is ",
        ),
        ("minicheck-flan-t5", "predict: TEXT</s>CLAIM"),
        ("minicheck-roberta", "TEXT</s>CLAIM"),
        ("minicheck-deberta", "TEXT[SEP]CLAIM"),
        (
            "hhem-2.1-open",
            "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: TEXT\n\nHypothesis: CLAIM",
        ),
        ("true-nli", "premise: TEXT hypothesis: CLAIM"),
        ("bespoke-minicheck", "Document: TEXT\nClaim: CLAIM"),
    ],
)
def test_templates(name, expected):
    assert CHECKERS[name].fill("", "CLAIM", "TEXT") == expected


def test_braces_in_texts_are_plain_text():
    assert CHECKERS["minicheck-roberta"].fill("", "{text}", "a {claim} {0}") == "a {claim} {0}</s>{text}"


def words(text):
    return len(text.split())


def test_windows_hold_whole_sentences_and_lose_nothing():
    lines = [f"Sentence number {n} has exactly seven words. Another one follows here." for n in range(120)]
    for checker in CHECKERS.values():
        parts = checker.windows("\n".join(lines), words)
        assert " ".join(" ".join(parts).split()) == " ".join(lines), checker.name
        if checker.window and checker.window.size <= 550 and not checker.window.equal:
            assert len(parts) > 1
            assert all(part.endswith(".") for part in parts)
            assert max(map(words, parts)) <= checker.window.size


def test_factcg_puts_a_line_break_between_sentences_and_minicheck_a_space():
    text = "The pool opens at six. It closes at nine.\n\nTickets cost four euros."
    assert CHECKERS["factcg"].windows(text, words) == [
        "The pool opens at six.\nIt closes at nine.\nTickets cost four euros."
    ]
    [one] = CHECKERS["minicheck-flan-t5"].windows(
        "The pool opens at six. It closes at nine.\nTickets cost four.", words
    )
    assert one == "The pool opens at six. It closes at nine.\nTickets cost four."


def test_a_sentence_longer_than_a_window_is_cut_between_words():
    """Otherwise the end of the input, with the claim, would be cut off."""
    text = " ".join(f"w{number}" for number in range(3_000))
    parts = CHECKERS["minicheck-roberta"].windows(text, words)
    assert " ".join(parts) == text
    assert max(map(words, parts)) <= 400


def test_alignscore_divides_sentences_evenly():
    text = " ".join(f"The number {n} is an ordinary number." for n in range(100))
    parts = CHECKERS["alignscore"].windows(text, words)
    # 700 words: 3 groups of 33 sentences, and the rest.
    assert [part.count("number.") for part in parts] == [33, 33, 33, 1]


def test_empty_texts_have_one_window():
    for checker in CHECKERS.values():
        assert checker.windows("", words) == [""]


def test_licences_are_stated():
    closed = {name for name, checker in CHECKERS.items() if not checker.is_commercial}
    assert closed == {"bespoke-minicheck", "lynx"}
    assert all("no commercial use" in CHECKERS[name].licence for name in closed)
    assert all(checker.how_to_get for checker in CHECKERS.values() if checker.runner == CHAT)
    assert all(re.fullmatch(r"[a-z0-9.-]+", name) for name in CHECKERS)


def test_every_checker_is_in_the_documentation():
    [row_names] = re.findall(
        r"\n\|---.*?\n(.*?)\n\n", (Path(__file__).parents[2] / "docs/checkers.md").read_text(), re.DOTALL
    )[:1]
    first = [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in row_names.splitlines()]
    named = {name if not name.startswith("-") else row[0].rpartition("-")[0] + name for row in first for name in row}
    assert {name for name in CHECKERS if recognise(name)} - named == set()


@pytest.mark.parametrize(
    ("change", "said"),
    [({"abuot": "x"}, "unexpected keyword argument 'abuot'"), ({"licence": None}, "missing .* argument: 'licence'")],
)
def test_an_unknown_and_a_missing_field_are_named(monkeypatch, change, said):
    whole = {"runner": "chat", "repository": "a/b", "spelled": "b", "licence": "MIT", "size_bytes": 1, "about": "x"}
    facts = {name: value for name, value in (whole | change).items() if value is not None}
    monkeypatch.setattr(checker_facts.tomllib, "loads", lambda text: {"mine": facts})
    with pytest.raises(DefinitionError, match=f"mine: .*{said}"):
        list(checker_facts._load())


def test_the_runners_are_known():
    known = (checker_facts.CLASSIFIER, checker_facts.SPANS, checker_facts.T5, checker_facts.CHAT)
    assert {name: one.runner for name, one in CHECKERS.items() if one.runner not in known} == {}
