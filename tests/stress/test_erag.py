"""eRAG: labels, metrics, agreement and blame of generators whose behaviour is known."""

import pytest
from scipy import stats

from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.stress.blame import as_dict, by_chunk, by_rank, helping, hurting, keep_erag, read_erag
from ragstone.stress.erag import check_downstream, quote_erag, run_erag
from ragstone.stress.pieces import list_samples, make_pieces
from tests.stress.generators import LENGTHS, copies

# For each ship at which rank its own passage stands, 0 for nowhere; "!" puts gossip before it.
LISTS = {
    "Maren": "+--",
    "Corvina": "-+-",
    "Thistle": "--+",
    "Heron": "---",
    "Pelican": "!-+",
    "Gannet": "-!+",
    "Osprey": "+!-",
}


def chunk(ship, kind, place):
    length = LENGTHS[ship]
    if kind == "+":
        return Chunk(f"The {ship} is {length} metres long.", id=f"{ship}-1")
    if kind == "!":
        return Chunk(f"The {ship} is {length + 500} metres long.", id="gossip")
    return Chunk(f"Dock {place} is closed.", id=f"dock-{place}")


def samples():
    return [
        Sample(
            ship,
            f"How long is the {ship}?",
            contexts=[chunk(ship, kind, place) for place, kind in enumerate(kinds, start=1)],
            references=[f"{LENGTHS[ship]} metres"],
        )
        for ship, kinds in LISTS.items()
    ]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    home = tmp_path_factory.mktemp("erag")
    return run_erag(list_samples(samples(), None), copies, home, blame=True, system_options={"cache": False})


def test_a_chunk_is_labelled_by_its_answer_alone(found):
    labels = {(label.question, label.rank): label.alone for label in found.labels}
    assert labels == {
        (ship, rank): float(kind == "+") for ship, kinds in LISTS.items() for rank, kind in enumerate(kinds, start=1)
    }


def test_retrieval_metrics_are_of_these_labels(found):
    rows = {sample.id: sample for sample in found.run.samples}
    assert rows["Corvina"].relevance == {"dock-1": 0.0, "Corvina-1": 1.0, "dock-3": 0.0}
    assert rows["Corvina"].answer == "48 metres"
    summary = {row.metric: row for row in found.run.summary()}
    ranks = [kinds.find("+") + 1 for kinds in LISTS.values()]
    reciprocal = [1 / rank if rank else 0.0 for rank in ranks]
    assert summary["mrr(rel=0.5)"].mean == pytest.approx(sum(reciprocal) / len(ranks))
    assert summary["precision(rel=0.5)"].mean == pytest.approx(sum(rank > 0 for rank in ranks) / 3 / len(ranks))
    # Nothing that was retrieved for the Heron is worth anything.
    assert (summary["ndcg"].n_ok, summary["ndcg"].n_skipped) == (6, 1)
    assert summary["contains"].mean == pytest.approx(4 / 7)


def test_agreement_is_scipys(found):
    whole = [1, 1, 1, 0, 0, 0, 1]
    reciprocal = [1 / (kinds.find("+") + 1) if "+" in kinds else 0.0 for kinds in LISTS.values()]
    by = {(item.metric, item.coefficient): item for item in found.agreements}
    assert by["mrr(rel=0.5)", "kendall"].value == pytest.approx(stats.kendalltau(reciprocal, whole).statistic)
    assert by["mrr(rel=0.5)", "spearman"].value == pytest.approx(stats.spearmanr(reciprocal, whole).statistic)
    assert by["ndcg", "kendall"].questions == 7


def test_blame(found):
    helps = {(label.question, label.rank): label.helps for label in found.labels}
    assert helps["Maren", 1] == 1.0  # nobody else knows it
    assert helps["Maren", 2] == 0.0
    assert helps["Heron", 1] == 0.0  # nothing to lose
    assert helps["Pelican", 1] == -1.0  # the gossip was believed
    assert helps["Pelican", 3] == 0.0  # and the truth not read
    assert helps["Osprey", 1] == 1.0
    assert helps["Osprey", 2] == 0.0
    assert {(label.question, label.chunk) for label in hurting(found.labels, 10)} == {
        ("Pelican", "gossip"),
        ("Gannet", "gossip"),
    }
    assert {label.question for label in helping(found.labels, 10)} == {"Maren", "Corvina", "Thistle", "Osprey"}
    [gossip] = [share for share in by_chunk(found.labels) if share.name == "gossip"]
    assert (gossip.chunks, gossip.helps) == (3, pytest.approx(-2 / 3))
    first = by_rank(found.labels)[0]
    assert (first.name, first.chunks, first.alone) == ("rank 1", 7, pytest.approx(2 / 7))


def test_it_is_kept_and_read_again(found):
    keep_erag(found)
    again = read_erag(found.run)
    assert again.labels == found.labels
    assert as_dict(again)["agreements"] == as_dict(found)["agreements"]
    assert again.pieces.id == found.pieces.id
    assert read_erag(found.pieces) is None


def test_pieces_are_an_ordinary_run(found):
    pieces = {sample.id: sample for sample in found.pieces.samples}
    assert len(pieces) == 7 + 21 + 21
    alone = pieces["Corvina|alone|2"]
    assert [one.id for one in alone.contexts] == ["Corvina-1"]
    assert alone.metadata == {"part": "alone", "question_id": "Corvina", "rank": 2, "chunk_id": "Corvina-1"}
    assert [one.id for one in pieces["Corvina|without|2"].contexts] == ["dock-1", "dock-3"]


def test_calls_are_quoted_first():
    listed = list_samples(samples(), None)
    assert quote_erag(listed, "openai/gpt-4o-mini", False, {"cache": False}).questions == 7 + 21
    quote = quote_erag(listed, "openai/gpt-4o-mini", True, {"cache": False})
    assert quote.questions == 7 + 21 + 21
    assert quote.cost_usd > 0


def test_graded_labels(tmp_path):
    found = run_erag(
        list_samples(samples()[:3], 2),
        copies,
        tmp_path,
        metric="token_f1",
        threshold=0.9,
        system_options={"cache": False},
    )
    labels = {(label.question, label.rank): label.alone for label in found.labels}
    assert labels == {
        ("Maren", 1): 1.0,
        ("Maren", 2): 0.0,
        ("Corvina", 1): 0.0,
        ("Corvina", 2): 1.0,
        ("Thistle", 1): 0.0,
        ("Thistle", 2): 0.0,
    }
    assert all(label.helps is None for label in found.labels)
    assert {row.metric for row in found.run.summary()} >= {"ndcg", "map(rel=0.9)", "token_f1"}


def test_a_chunk_whose_answer_fails_leaves_its_question_unjudged(tmp_path):
    def fails(question, contexts):
        if len(contexts) == 1 and "Corvina" in contexts[0]:
            raise ValueError("no luck")
        return copies(question, contexts)

    found = run_erag(list_samples(samples(), None), fails, tmp_path, system_options={"cache": False})
    assert found.unlabelled == {
        "Corvina": "function/test_a_chunk_whose_answer_fails_leaves_its_question_unjudged.<locals>.fails raised ValueError: no luck"
    }
    corvina = next(sample for sample in found.run.samples if sample.id == "Corvina")
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
        run_erag(list_samples(samples(), None), copies, ".", threshold=0)


@pytest.mark.slow
def test_both_kinds_of_tests_in_a_bucket(bucket):
    from ragstone.stress.beds import Setting
    from ragstone.stress.results import keep_reports, read_stress
    from ragstone.stress.running import prepare, run_stress
    from tests.stress.generators import samples as ships

    prepared = prepare(ships(), Setting(passages=4, rates=(0.5,), beds=("noise",)))
    run = run_stress(prepared, copies, bucket.url, system_options={"cache": False})
    keep_reports(run, prepared)
    assert read_stress(run).beds[0].questions == 8
    made = run_erag(list_samples(samples()[:2], None), copies, bucket.url, system_options={"cache": False})
    keep_erag(made)
    assert read_erag(made.run).pieces.id == made.pieces.id
