"""eRAG: labels, metrics, agreement and blame of generators whose behaviour is known."""

import pytest
from scipy import stats

from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.stress.erag import check_downstream, keep_erag, list_samples, make_pieces, quote_erag, read_erag, run_erag
from tests.stress.generators import LISTS, copies, retrieved


def test_a_chunk_is_labelled_by_its_answer_alone(erag):
    labels = {(label.question, label.rank): label.alone for label in erag.labels}
    assert labels == {
        (ship, rank): float(kind == "+") for ship, kinds in LISTS.items() for rank, kind in enumerate(kinds, start=1)
    }


def test_retrieval_metrics_are_of_these_labels(erag):
    rows = {sample.id: sample for sample in erag.run.samples}
    assert rows["Corvina"].relevance == {"dock-1": 0.0, "Corvina-1": 1.0, "dock-3": 0.0}
    assert rows["Corvina"].answer == "48 metres"
    summary = {row.metric: row for row in erag.run.summary()}
    # Skipped if no chunk is relevant.
    ranks = [kinds.find("+") + 1 for kinds in LISTS.values() if "+" in kinds]
    assert summary["mrr(rel=0.5)"].mean == pytest.approx(sum(1 / rank for rank in ranks) / len(ranks))
    assert summary["precision(rel=0.5)"].mean == pytest.approx(1 / 3)
    # Nothing that was retrieved for the Heron is worth anything.
    assert (summary["ndcg"].n_ok, summary["ndcg"].n_skipped) == (6, 1)
    assert summary["contains"].mean == pytest.approx(4 / 7)


def test_agreement_is_scipys(erag):
    whole = [1, 1, 1, 0, 0, 0, 1]
    reciprocal = [1 / (kinds.find("+") + 1) if "+" in kinds else 0.0 for kinds in LISTS.values()]
    by = {(item.metric, item.coefficient): item for item in erag.agreements}
    assert by["mrr(rel=0.5)", "kendall"].value == pytest.approx(stats.kendalltau(reciprocal, whole).statistic)
    assert by["mrr(rel=0.5)", "spearman"].value == pytest.approx(stats.spearmanr(reciprocal, whole).statistic)
    assert by["ndcg", "kendall"].questions == 7


def test_pieces_are_an_ordinary_run(erag):
    pieces = {sample.id: sample for sample in erag.pieces.samples}
    assert len(pieces) == 7 + 21 + 21
    alone = pieces["Corvina|alone|2"]
    assert [one.id for one in alone.contexts] == ["Corvina-1"]
    assert alone.metadata == {"part": "alone", "question_id": "Corvina", "rank": 2, "chunk_id": "Corvina-1"}
    assert [one.id for one in pieces["Corvina|without|2"].contexts] == ["dock-1", "dock-3"]


def test_calls_are_quoted_first():
    listed = list_samples(retrieved(), None)
    assert quote_erag(listed, "openai/gpt-4o-mini", False, {"cache": False}).questions == 7 + 21
    quote = quote_erag(listed, "openai/gpt-4o-mini", True, {"cache": False})
    assert quote.questions == 7 + 21 + 21
    assert quote.cost_usd > 0


def test_graded_labels(tmp_path):
    erag = run_erag(
        list_samples(retrieved()[:3], 2),
        copies,
        tmp_path,
        metric="token_f1",
        threshold=0.9,
        system_options={"cache": False},
    )
    labels = {(label.question, label.rank): label.alone for label in erag.labels}
    assert labels == {
        ("Maren", 1): 1.0,
        ("Maren", 2): 0.0,
        ("Corvina", 1): 0.0,
        ("Corvina", 2): 1.0,
        ("Thistle", 1): 0.0,
        ("Thistle", 2): 0.0,
    }
    assert all(label.helps is None for label in erag.labels)
    assert {row.metric for row in erag.run.summary()} >= {"ndcg", "map(rel=0.9)", "token_f1"}


def test_a_chunk_whose_answer_fails_leaves_its_question_unjudged(tmp_path):
    def fails(question, contexts):
        if len(contexts) == 1 and "Corvina" in contexts[0]:
            raise ValueError("no luck")
        return copies(question, contexts)

    erag = run_erag(list_samples(retrieved(), None), fails, tmp_path, system_options={"cache": False})
    assert erag.unlabelled == {
        "Corvina": "function/test_a_chunk_whose_answer_fails_leaves_its_question_unjudged.<locals>.fails raised ValueError: no luck"
    }
    corvina = next(sample for sample in erag.run.samples if sample.id == "Corvina")
    assert corvina.relevance is None
    assert corvina.answer == "48 metres"
    assert "no luck" in corvina.metadata["system_error"]


def test_questions_without_chunks_are_told():
    odd = [
        Sample("none", "What?", contexts=[]),
        Sample("unknown", "What?"),
        Sample("mute", None, contexts=[Chunk("x")]),
        Sample("fine", "What?", contexts=[Chunk("x"), Chunk("y", id="a"), Chunk("z", id="a")]),
    ]
    listed = list_samples(odd, None)
    assert listed.left_out == {
        "nothing was retrieved for it": ["none"],
        "its retrieved chunks are not known": ["unknown"],
        "there is no question": ["mute"],
    }
    assert [one.id for one in listed.samples[0].contexts] == ["#1", "a", "#3"]
    assert len(make_pieces(listed.samples, blame=True)) == 1 + 3 + 3


def test_a_single_chunk_is_not_left_out():
    listed = list_samples([Sample("one", "What?", contexts=[Chunk("x")])], None)
    assert [piece.metadata["part"] for piece in make_pieces(listed.samples, blame=True)] == ["all", "alone"]


def test_what_cannot_label():
    for metric in ("perplexity", "refusal", "ter"):
        with pytest.raises(UsageError, match="cannot label chunks"):
            check_downstream(metric)
    assert check_downstream("rgb.accuracy") == "rgb.accuracy"
    with pytest.raises(UsageError, match="nothing to label"):
        run_erag(list_samples([], None), copies, ".")
    with pytest.raises(UsageError, match="threshold"):
        run_erag(list_samples(retrieved(), None), copies, ".", threshold=0)


@pytest.mark.slow
def test_both_kinds_of_tests_in_a_bucket(bucket):
    from ragstone.stress.results import keep_reports, read_stress
    from ragstone.stress.run import Setting, prepare, run_stress
    from tests.stress.generators import samples as ships

    prepared = prepare(ships(), Setting(passages=4, rates=(0.5,), beds=("noise",)))
    run = run_stress(prepared, copies, bucket.url, system_options={"cache": False})
    keep_reports(run, prepared)
    assert read_stress(run).beds[0].questions == 8
    made = run_erag(list_samples(retrieved()[:2], None), copies, bucket.url, system_options={"cache": False})
    keep_erag(made)
    assert read_erag(made.run).pieces.id == made.pieces.id
