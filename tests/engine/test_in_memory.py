"""Lists of texts to scores."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.data.types import Chunk, Fact, Sample
from ragstone.engine import in_memory as lists
from ragstone.engine.in_memory import score_lists
from ragstone.errors import UnknownNameError, UsageError
from tests.metrics.scoring import score

METRICS = ("exact_match", "token_f1", "k_precision", "rouge_l", "fact_recall", "fact_f1", "fact_mrr_mean", "recall")
texts = st.text("ab .9é東\n", max_size=10)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "answer": st.none() | texts,
            **{
                name: st.none() | st.lists(texts, max_size=3)
                for name in ("contexts", "references", "facts", "reference_contexts")
            },
        }
    ),
    min_size=1,
    max_size=7,
)


def columns(given_rows):
    return {name: [row[name] for row in given_rows] for name in given_rows[0]}


def sample(number, row):
    kinds = {"contexts": Chunk, "facts": Fact}
    fields = {
        name: [kinds[name](text) for text in value] if name in kinds and value is not None else value
        for name, value in row.items()
    }
    return Sample(str(number), **fields)


def test_scores_by_metric_in_the_order_of_the_rows():
    found = score_lists(
        ["lexical.token_f1", "exact_match"],
        answer=["at nine", "no", None],
        references=[["nine", "at  NINE."], ["x"], ["y"]],
    )
    assert found == {"token_f1": [1.0, 0.0, None], "exact_match": [1.0, 0.0, None]}


def test_it_is_a_public_name():
    assert ragstone.score_lists is score_lists


@given(rows)
def test_the_same_as_samples(given_rows):
    expected = score([sample(number, row) for number, row in enumerate(given_rows)], *METRICS)
    found = score_lists(METRICS, **columns(given_rows))
    assert found == {name: [cell.value for cell in cells] for name, cells in expected.items()}


@given(rows, st.integers(1, 3))
def test_a_row_does_not_depend_on_its_block(given_rows, size):
    whole = score_lists(METRICS, **columns(given_rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists, "_BLOCK_ROWS", size)
        assert score_lists(METRICS, **columns(given_rows)) == whole


def test_more_text_than_one_column_holds(monkeypatch):
    """Arrow then gives several chunks; here it does so for more than one row."""
    convert = lists._convert
    monkeypatch.setattr(
        lists, "_convert", lambda column, kind: convert(column, kind) if len(column) == 1 else pa.chunked_array([[]])
    )
    assert score_lists("exact_match", answer=list("abc"), references=[["a"], ["x"], ["c"]]) == {
        "exact_match": [1.0, 0.0, 1.0]
    }


def test_facts_with_a_matcher():
    given_lists = {"facts": [["opens at nine"]], "contexts": [["It opens at niné."]]}
    assert score_lists("fact_recall", **given_lists) == {"fact_recall": [0.0]}
    assert score_lists("fact_recall", **given_lists, matcher="fuzzy") == {"fact_recall": [1.0]}


def test_half_a_character():
    assert score_lists("token_f1", answer=["a b \ud800"], references=[["b \ud83d"]]) == {"token_f1": [1.0]}


def test_no_rows():
    assert score_lists("token_f1", answer=[], references=[]) == {"token_f1": []}


@pytest.mark.parametrize(
    ("given_lists", "message"),
    [
        ({"answer": ["a"], "references": ["abc"]}, r"^references must have a list of texts for each row, not a text$"),
        ({"answer": "a", "references": [["a"]]}, r"^answer must be a list with an entry for each row, got 'a'$"),
        ({"answer": iter("a"), "references": [["a"]]}, r"^answer must be a list with an entry for each row"),
        ({"answer": [1], "references": [["a"]]}, r"^answer must have texts: "),
        ({"answer": ["a"], "references": [[1]]}, r"^references must have lists of texts: "),
        ({"answer": ["a"], "references": [[None]]}, r"^references must have lists of texts, .* None"),
        ({"answer": ["a"], "references": []}, r"^the lists differ in length: 1 answer, 0 references$"),
        ({"answer": ["a"]}, r"^token_f1 cannot be computed from these lists: it needs references"),
        ({"answer": ["a"], "references": [["a"]], "answerable": ["x"]}, r"^answerable must have true or false: "),
    ],
)
def test_bad_input(given_lists, message):
    with pytest.raises(UsageError, match=message):
        score_lists("token_f1", **given_lists)


def test_unknown_names():
    with pytest.raises(UnknownNameError):
        score_lists("token_f2", answer=["a"], references=[["a"]])
    with pytest.raises(UnknownNameError):
        score_lists("token_f1", answer=["a"], references=[["a"]], matcher="citaton")
