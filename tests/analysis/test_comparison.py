"""Two runs compared: right verdicts on what is known, none on what is equal, clear words on what cannot be compared."""

import json
from importlib import resources

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.differences import Settings
from ragstone.engine.evaluate import evaluate
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.registry import metric
from ragstone.stats.intervals import mean_interval
from ragstone.storage.runs import open_run
from tests.analysis.scored import declare, make_run, noise

FAST = Settings(resamples=2000)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    root = tmp_path_factory.mktemp("harbour")
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        return {
            name: evaluate(folder / f"{name}.jsonl", ["quick", "bleu"], root, name=name) for name in ("better", "worse")
        }


@pytest.fixture
def metrics(catalogue):
    declare(catalogue)


def test_the_shipped_example_gets_the_right_verdicts(harbour):
    found = compare_runs(harbour["better"], harbour["worse"])
    worse = found.having("worse")
    assert {"map", "mrr", "ndcg", "fact_mrr", "contains", "token_f1", "token_recall", "meteor"} <= set(worse)
    assert found.having("better") == []
    assert "answerability_accuracy" in found.having("no evidence")
    assert {item.metric for item in found.metrics if item.verdict is None} == {
        *("ari", "flesch_kincaid", "flesch_ease", "distinct_1", "distinct_2", "refusal")
    }


def test_the_other_way_round_the_verdicts_turn_round(harbour):
    forth, back = (
        compare_runs(*pair) for pair in ((harbour["better"], harbour["worse"]), (harbour["worse"], harbour["better"]))
    )
    assert forth.having("worse") == back.having("better")
    assert back.having("worse") == []
    for there, here in zip(forth.metrics, back.metrics, strict=True):
        assert there.difference == pytest.approx(-here.difference)
        assert there.p == pytest.approx(here.p)


def test_fewer_questions_asked_need_less_evidence(harbour):
    everything = compare_runs(harbour["better"], harbour["worse"])
    alone = compare_runs(harbour["better"], harbour["worse"], ["token_f1"])
    assert alone["token_f1"].p == pytest.approx(everything["token_f1"].p, abs=0.005)
    assert alone["token_f1"].corrected_p < everything["token_f1"].corrected_p
    assert alone.headlines == ("token_f1",)


def test_explored_metrics_do_not_weaken_the_headlines(harbour):
    """The headline metrics are corrected among themselves, whatever else was computed."""
    everything = compare_runs(harbour["better"], harbour["worse"])
    few = compare_runs(harbour["better"], harbour["worse"], everything.headlines)
    assert len(everything.headlines) < len(everything.metrics)
    for name in everything.headlines:
        assert everything[name].corrected_p == few[name].corrected_p
        assert everything[name].verdict == few[name].verdict


def test_a_score_of_all_rows_together(harbour):
    found = compare_runs(harbour["better"], harbour["worse"], ["bleu", "distinct_1"])
    bleu, distinct = found["bleu"], found["distinct_1"]
    for item, name in ((bleu, "bleu"), (distinct, "distinct_1")):
        assert item.before == pytest.approx(harbour["better"].summary()[name].mean)
        assert item.after == pytest.approx(harbour["worse"].summary()[name].mean)
        assert item.low < item.difference < item.high
        assert "corpus-level" in item.note
    assert bleu.verdict == "no evidence"


@pytest.mark.parametrize("name", ["ari", "flesch_kincaid", "flesch_ease", "distinct_1", "distinct_2"])
def test_longer_words_and_answers_are_neither_better_nor_worse(tmp_path, name):
    easy = [{"id": str(n), "question": "q", "answer": "The boat is late."} for n in range(30)]
    hard = [
        {**row, "answer": f"{row['answer']} Considerable meteorological difficulties are the boat is late."}
        for row in easy
    ]
    before, after = (evaluate(rows, [name], tmp_path) for rows in (easy, hard))
    item = compare_runs(before, after)[name]
    assert item.difference != 0
    assert item.verdict is None


def test_the_same_run_twice(harbour):
    found = compare_runs(harbour["better"], harbour["better"])
    assert found.having("better") == found.having("worse") == []
    assert all(item.difference == 0 for item in found.metrics)
    assert {item.note for item in found.metrics} == {"all pairs are equal"}
    assert {(item.low, item.high) for item in found.metrics} == {(0.0, 0.0)}
    assert found.changed == ()


def test_slices_of_the_example(harbour):
    found = compare_runs(harbour["better"], harbour["worse"], ["token_f1", "recall"], ["difficulty"])
    assert [(part.label, part.pairs) for part in found.slices] == [("easy", 13), ("hard", 4), ("medium", 8)]
    easy, hard, _ = (part.metrics[0] for part in found.slices)
    assert (easy.metric, easy.verdict) == ("token_f1", "worse")
    assert hard.verdict == "too few rows"


def test_the_samples_that_changed_most(harbour):
    found = compare_runs(harbour["better"], harbour["worse"])
    gains = [sample.gain for sample in found.changed]
    assert gains == sorted(gains, reverse=True)
    last = found.changed[-1]
    assert (last.id, last.question) == ("h08", "How long is lost property kept at the ticket office?")
    assert ("fact_mrr", 1.0, 0.0) in last.metrics


def test_a_lost_sample_is_told_by_what_it_lost(metrics, tmp_path):
    """One metric falls by 0.9 and another rises by 0.8: only the fall explains the loss."""
    names = ["quality", "right"]
    old = make_run(tmp_path, "a", names, quality=[0.9, 0.5], right=[0.0, 0.5])
    new = make_run(tmp_path, "b", names, quality=[0.0, 0.5], right=[0.8, 0.6])
    gained, lost = compare_runs(old, new).changed
    assert lost.metrics == (("quality", 0.9, 0.0),)
    assert gained.metrics == (("right", 0.5, 0.6),)


def test_numbers_by_hand(metrics, tmp_path):
    before, after = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [0.2, 0.4, 0.4, 0.6, 0.6, 0.8, 0.6]
    found = compare_runs(*(make_run(tmp_path, name, quality=side) for name, side in (("a", before), ("b", after))))
    item = found["quality"]
    change = np.array(after) - np.array(before)
    assert (item.before, item.after) == pytest.approx((0.4, np.mean(after)))
    assert item.difference == pytest.approx(change.mean())
    assert item.tally == (6, 0, 1)
    assert item.superiority == pytest.approx(6 / 7)
    assert item.effect == pytest.approx(change.mean() / change.std(ddof=1))
    # The sum of 0.8 is reached by all of one sign, or all but one of the four that are 0.1: five patterns, and their opposites.
    assert item.p == pytest.approx(10 / 128)
    assert item.high == pytest.approx(mean_interval(change).high, abs=0.04)
    assert item.low <= 0
    assert item.verdict == "no evidence"


def test_lower_can_be_better(metrics, tmp_path):
    slow, fast = noise(1, 40) + 1, noise(2, 40)
    found = compare_runs(
        *(make_run(tmp_path, name, ["delay"], delay=side) for name, side in (("a", slow), ("b", fast)))
    )
    item = found["delay"]
    assert item.difference < 0 < item.gain
    assert item.verdict == "better"
    assert item.gain_interval == (-item.high, -item.low)


def test_no_direction_no_verdict(metrics, tmp_path):
    runs = [make_run(tmp_path, name, ["size"], size=np.arange(20) + more) for name, more in (("a", 0), ("b", 5))]
    item = compare_runs(*runs)["size"]
    assert item.difference == 5
    assert item.verdict is None
    assert item.corrected_p is None


def test_failed_and_skipped_cells_are_counted_and_left_out(metrics, tmp_path):
    before = [0.5] * 20
    after = [0.6] * 16 + [None, "broken", "broken", 0.6]
    before[19] = None
    item = compare_runs(*(make_run(tmp_path, name, quality=side) for name, side in (("a", before), ("b", after))))[
        "quality"
    ]
    assert (item.pairs, item.skipped, item.failed) == (16, 2, 2)
    assert (item.before, item.after) == pytest.approx((0.5, 0.6))
    assert item.verdict == "better"


@pytest.mark.parametrize("rows", [1, 5])
def test_too_few_rows_to_tell(metrics, tmp_path, rows):
    runs = [make_run(tmp_path, name, quality=[value] * rows) for name, value in (("a", 0.1), ("b", 0.9))]
    item = compare_runs(*runs)["quality"]
    assert item.verdict == "too few rows"
    assert item.difference == pytest.approx(0.8)
    assert (item.low is None) == (rows == 1)


def test_all_scores_equal(metrics, tmp_path):
    runs = [make_run(tmp_path, name, ["right", "quality"], right=[1.0] * 30, quality=[0.3] * 30) for name in "ab"]
    found = compare_runs(*runs)
    assert [item.verdict for item in found.metrics] == ["no evidence", "no evidence"]
    assert {(item.low, item.high) for item in found.metrics} == {(0, 0)}


def test_a_few_changed_rows_do_not_make_an_interval_without_0(metrics, tmp_path):
    before, after = [0.5] * 25, [0.5] * 21 + [0.1, 0.2, 0.1, 0.3]
    item = compare_runs(*(make_run(tmp_path, name, quality=side) for name, side in (("a", before), ("b", after))))[
        "quality"
    ]
    assert item.p == pytest.approx(0.125)
    assert item.low < item.difference < 0 == item.high


@pytest.mark.slow
def test_two_noisy_runs_of_one_system_get_no_verdicts(metrics, tmp_path):
    names = ("quality", "right", "delay")
    alarms = 0
    for seed in range(12):
        sides = [np.random.default_rng((seed, side)) for side in (0, 1)]
        runs = [
            make_run(
                tmp_path,
                f"{seed}{number}",
                names,
                quality=side.beta(4, 2, 60),
                right=(side.random(60) < 0.7).astype(float),
                delay=side.exponential(1, 60),
            )
            for number, side in enumerate(sides)
        ]
        found = compare_runs(*runs, settings=FAST)
        alarms += bool(found.having("better") or found.having("worse"))
    assert alarms <= 2


def test_random_halves_of_one_run_get_no_verdict(metrics, tmp_path):
    scores = noise(5, 200, spread=0.2)
    halves = np.random.default_rng(1).permutation(200).reshape(2, 100)
    runs = [make_run(tmp_path, f"h{number}", quality=scores[half]) for number, half in enumerate(halves)]
    assert compare_runs(*runs)["quality"].verdict == "no evidence"


def test_clusters_are_one_observation_each(metrics, tmp_path):
    before = noise(3, 80)
    shift = np.repeat([0.1, 0.2, 0.1, 0.15], 20)
    more = {"document": np.repeat(["a", "b", "c", "d"], 20).tolist()}
    runs = [
        make_run(tmp_path, name, quality=side, more=more)
        for name, side in (("a", before), ("b", np.clip(before + shift, 0, 1)))
    ]
    assert compare_runs(*runs)["quality"].verdict == "better"
    item = compare_runs(*runs, settings=Settings(cluster="document"))["quality"]
    assert (item.units, item.pairs, item.verdict) == (4, 80, "too few rows")
    with pytest.raises(UnknownNameError, match=r"unknown column of the metadata 'documnt'. Did you mean document"):
        compare_runs(*runs, settings=Settings(cluster="documnt"))


def test_runs_of_different_data_sets_are_refused(metrics, tmp_path):
    first = make_run(tmp_path, "a", quality=[0.5] * 8)
    second = make_run(
        tmp_path, "b", quality=[0.5] * 8, ids=list("ABCDEFGH"), questions=[f"other {n}" for n in range(8)]
    )
    with pytest.raises(UsageError, match="no sample in common, neither by id nor by question: a has 8 samples"):
        compare_runs(first, second)


def test_partly_the_same_questions_are_paired_and_the_rest_is_listed(metrics, tmp_path):
    first = make_run(tmp_path, "a", quality=noise(1, 12))
    second = make_run(
        tmp_path,
        "b",
        quality=noise(2, 14),
        ids=[f"s{row + 3}" for row in range(14)],
        questions=[f"question {row + 3}" for row in range(14)],
    )
    found = compare_runs(first, second)
    assert len(found.pairs) == 9
    assert "3 of 12 samples are only in a: s0, s1, s2" in found.remarks
    assert "5 of 14 samples are only in b: s12, s13, s14 and 2 more" in found.remarks


def test_other_ids_are_paired_by_question(metrics, tmp_path):
    first = make_run(tmp_path, "a", quality=noise(1, 12))
    second = make_run(tmp_path, "b", quality=noise(1, 12), ids=[f"x{row}" for row in range(12)])
    found = compare_runs(first, second)
    assert len(found.pairs) == 12
    assert found.remarks[0] == "the ids of the runs differ; samples are paired by question"
    assert found["quality"].difference == 0


def test_an_edited_truth_is_flagged(tmp_path):
    rows = [{"id": str(n), "question": f"q{n}", "answer": "a b", "references": ["a"]} for n in range(8)]
    first = evaluate(rows, ["token_f1"], tmp_path, name="a")
    second = evaluate([*rows[:-1], {**rows[-1], "references": ["b"]}], ["token_f1"], tmp_path, name="b")
    assert any("different references in 1 of 8 pairs" in remark for remark in compare_runs(first, second).remarks)


def test_metrics_made_in_different_ways_are_refused(tmp_path):
    rows = [
        {"id": str(n), "question": f"q{n}", "contexts": ["The boat leaves at nine."], "facts": ["boat leaves at nine"]}
        for n in range(8)
    ]
    first, second = (
        evaluate(rows, ["fact_recall", "fact_precision"], tmp_path, name=matcher, matcher=matcher)
        for matcher in ("citation", "fuzzy")
    )
    found = compare_runs(first, second)
    assert found.metrics == ()
    assert found.refused.keys() == {"fact_recall", "fact_precision"}
    assert found.refused["fact_recall"].startswith("matcher:citation/1 → matcher:fuzzy")
    forced = compare_runs(first, second, anyway=True)
    assert {item.metric for item in forced.metrics} == found.refused.keys()
    assert any("fact_recall was made in different ways" in remark for remark in forced.remarks)


def test_a_metric_of_one_run_only(metrics, tmp_path):
    first = make_run(tmp_path, "a", ["quality", "delay"], quality=noise(1, 10), delay=noise(2, 10))
    second = make_run(tmp_path, "b", ["quality", "size"], quality=noise(1, 10), size=noise(2, 10))
    found = compare_runs(first, second)
    assert (found.only_before, found.only_after) == (("delay",), ("size",))
    with pytest.raises(UnknownNameError, match=r"unknown metric of all these runs 'delay'. Only a has it."):
        compare_runs(first, second, ["delay"])


def test_no_metric_in_common(metrics, tmp_path):
    first = make_run(tmp_path, "a", ["delay"], delay=noise(2, 10))
    second = make_run(tmp_path, "b", ["size"], size=noise(2, 10))
    with pytest.raises(UsageError, match="no metric in common: a: delay; b: size"):
        compare_runs(first, second)


def test_a_metric_without_any_value(metrics, tmp_path):
    runs = [make_run(tmp_path, name, ["quality", "delay"], quality=noise(1, 10), delay=[None] * 10) for name in "ab"]
    item = compare_runs(*runs)["delay"]
    assert item.pairs == 0
    assert item.difference is None
    assert item.note == "no sample has a value in both runs"


def test_an_unknown_score_of_all_rows_together_gets_no_verdict(metrics, tmp_path, monkeypatch):
    runs = [make_run(tmp_path, name, quality=noise(number, 20)) for number, name in enumerate("ab")]
    table = runs[0].summary().to_arrow()
    position = table.schema.get_field_index("mean")
    from ragstone.storage.runs import write_table

    write_table(runs[0].folder.summary, table.set_column(position, table.schema.field("mean"), [[0.99]]))
    monkeypatch.setattr("ragstone.analysis.differences.find_metric", lambda name: None)
    item = compare_runs(*runs)["quality"]
    assert item.verdict == "too few rows" or item.verdict is None
    assert "--metrics-file" in item.note


def test_an_unfinished_run_is_refused(metrics, tmp_path):
    run = make_run(tmp_path, "a", quality=noise(1, 10))
    run.folder.plan.write_bytes(json.dumps({}).encode())
    run.folder.manifest.remove()
    with pytest.raises(StorageError, match=r"is unfinished. Repeat its command with --resume"):
        open_run(run.path)


@pytest.mark.parametrize("correction", ["joint", "holm", "bh", "none"])
def test_corrections(metrics, tmp_path, correction):
    before = noise(1, 30)
    runs = [
        make_run(
            tmp_path, name, ["quality", "right", "delay"], quality=side, right=np.resize([0.0, 1.0], 30), delay=side
        )
        for name, side in (("a", before), ("b", np.clip(before + 0.05, 0, 1)))
    ]
    found = compare_runs(*runs, settings=Settings(correction=correction))
    assert (found["quality"].verdict, found["delay"].verdict, found["right"].verdict) == (
        "better",
        "worse",
        "no evidence",
    )
    assert all(item.corrected_p >= item.p for item in found.metrics)


@pytest.mark.slow
def test_a_million_rows(metrics, tmp_path):
    """Ten times the rows take about ten times the time and memory of the numbers, not more."""
    import time
    import tracemalloc

    import pyarrow as pa

    from ragstone.analysis.alignment import align_samples
    from ragstone.analysis.differences import measure
    from ragstone.storage.run_info import MetricInfo
    from ragstone.storage.scores import Scores

    used = {}
    for rows in (100_000, 1_000_000):
        random = np.random.default_rng(1)
        before = {f"m{n}": Scores(random.random(rows), np.zeros(rows, dtype=np.int8)) for n in range(5)}
        after = {name: Scores(np.clip(side.values + 0.01, 0, 1), side.states) for name, side in before.items()}
        declared = [MetricInfo.declare(name) for name in before]
        table = pa.table({"id": pa.array(np.arange(rows)).cast(pa.string()), "question": pa.nulls(rows, pa.string())})
        tracemalloc.start()
        started = time.process_time()
        assert len(align_samples(table, table)) == rows
        found = measure(declared, before, after, Settings())
        used[rows] = time.process_time() - started, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert all(item.low < item.difference < item.high for item in found)
    assert used[1_000_000][0] < 60
    assert used[1_000_000][1] < 20 * used[100_000][1]


def test_runs_of_versions_with_fewer_fields_are_compared(tmp_path):
    rows = [
        {"id": str(at), "question": f"q{at}", "answer": "a", "references": ["a"], "facts": ["a"]} for at in range(6)
    ]
    old, new = (evaluate(rows, ["exact_match"], tmp_path, name=name) for name in ("old", "new"))
    table = pq.read_table(str(old.folder.samples))
    facts = pa.array([[{"text": "a", "kind": "citation", "source": None}]] * 6)
    table = table.drop_columns(["history", "rewritten_question", "steps", "expected_steps", "citations"])
    table = table.set_column(table.schema.get_field_index("facts"), "facts", facts)
    pq.write_table(table, str(old.folder.samples))
    for pair in ((old, new), (new, old)):
        found = compare_runs(*pair)
        assert found["exact_match"].pairs == 6
        assert not any("facts" in remark or "steps" in remark for remark in found.remarks)


def test_of_two_metrics_with_one_name_and_the_same_values_one_is_a_headline(tmp_path, metrics):
    @metric("other.right", judges="answer", against="references", bounds=(0.0, 1.0))
    def other_right(metadata: dict) -> float:
        """Another name of the same score."""
        return float(metadata["right"])

    names = ("right", "other.right", "quality")
    values = {"right": [0, 1] * 6, "quality": [0, 1] * 6}
    old = make_run(tmp_path, "old", names, **values)
    new = make_run(tmp_path, "new", names, right=[1] * 12, quality=[1] * 12)
    found = compare_runs(old, new)
    assert found.headlines == ("right", "quality"), "of another name, the same values are further evidence"
    assert len(found.metrics) == 3
    assert compare_runs(old, new, metrics="right").headlines == ("right",)
