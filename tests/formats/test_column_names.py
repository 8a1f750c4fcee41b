"""What the name of a column says."""

import pytest

from ragstone.formats.column_names import LIKELY, SURE, fold, read_name


@pytest.mark.parametrize(
    ("name", "field"),
    [
        *(("prompt", "question"), ("user_input", "question"), ("Kundenfrage", "question"), ("用户问题", "question")),
        *(("completion", "answer"), ("modelResponse", "answer"), ("KI-Antwort", "answer"), ("Réponse", "answer")),
        *(("gold", "references"), ("ground_truth", "references"), ("Musterantwort", "references")),
        *(("expected answer", "references"), ("参考答案", "references"), ("reference", "references")),
        *(("docs", "contexts"), ("retrieved_passages", "contexts"), ("Fundstellen", "contexts")),
        *(("gold_context", "reference_contexts"), ("question_id", "id"), ("Lfd. Nr.", "id")),
        *(("answer_score", ""), ("context_length", ""), ("comment", ""), ("doc_ids", "")),
    ],
)
def test_names(name, field):
    assert read_name(name) == (field, SURE)


def test_a_misspelt_name_is_likely_and_an_unknown_one_says_nothing():
    assert read_name("qestion") == ("question", LIKELY)
    assert read_name("c17") is None
    assert read_name("") is None


def test_names_are_folded():
    assert fold("UserInput ") == fold("user_input") == fold("User-Input") == "user input"
    assert fold("Réponse") == "reponse"
