"""A judge trained on labels: it learns what people look at, sees no label that it judges, and lasts as plain numbers."""

import asyncio
import json
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from ragstone.agreement.estimates import estimate_means
from ragstone.agreement.labels import Label, Labels, join
from ragstone.agreement.train import _fit, train_judge
from ragstone.engine.evaluate import evaluate
from ragstone.errors import Skip, StorageError, UnknownNameError, UsageError
from ragstone.models.store import Store
from ragstone.models.trained import open_trained, question_key, save_trained
from ragstone.report.estimates import training_report
from ragstone.stats.ppi import powered_mean
from ragstone.tools.trained_judge import make_tool

NAMES = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal")
ROWS = 120


@pytest.fixture(autouse=True)
def own_models(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))


def make_rows(random, name):
    """Answers with the right year or another one, in long or short words; people look at the year alone."""
    rows, truth = [], []
    for number in range(ROWS):
        who, year = NAMES[number % 8], 1800 + number
        right = random.random() < 0.6
        said = year if right else year + int(random.integers(1, 30))
        answer = (
            f"It was in {said}."
            if random.random() < 0.5
            else f"As far as the records tell, {who} founded company {number} in {said}."
        )
        reference = f"{who} founded company {number} in {year}."
        rows.append(
            {
                "id": f"q{number}",
                "question": f"When did {who} found company {number}?",
                "answer": answer,
                "references": [reference],
                "contexts": [{"text": f"{reference} It makes boats."}],
            }
        )
        truth.append(float(right))
    return rows, np.array(truth)


@pytest.fixture
def world(tmp_path):
    rows, truth = make_rows(np.random.default_rng(0), "one")
    return evaluate(rows, ["token_f1", "rouge_1"], tmp_path / "store", name="one"), rows, truth


def say(truth, rows=range(ROWS), scale=1.0):
    return Labels("l", tuple(Label(f"q{row}", float(truth[row]) * scale) for row in rows), 0)


def test_it_learns_what_people_look_at(world):
    run, _, truth = world
    found = train_judge(join([run], say(truth)), "years")
    first = found.agreement.metrics[0]
    assert first.metric == "trained/years"
    assert first.verdicts.measures["roc_auc"].value > 0.95
    assert found.agreement.metrics[1].p_best < 0.05
    assert found.judge.card.uses == ("contexts", "references")
    assert found.judge.card.figures["roc_auc"] == first.verdicts.measures["roc_auc"].value
    assert found.judge.card.models == {}


@pytest.mark.slow
def test_it_is_recommended_only_if_it_is_better_with_an_interval(world):
    run, _, truth = world
    found = train_judge(join([run], say(truth)), "years")
    assert found.advantage.metric in ("token_f1", "rouge_1")
    assert 0 < found.advantage.low < found.advantage.difference < found.advantage.high
    assert found.recommended
    coin = np.random.default_rng(1).integers(0, 2, ROWS).astype(float)
    noise = train_judge(join([run], say(coin)), "noise")
    assert not noise.recommended
    told = Console(width=200, file=StringIO())
    told.print(training_report(noise, "somewhere"))
    assert "use it" not in told.file.getvalue()


def test_what_it_could_not_read_is_told(tmp_path):
    rows, truth = make_rows(np.random.default_rng(0), "one")
    rows[7]["references"] = []
    run = evaluate(rows, ["token_f1"], tmp_path / "store", name="one")
    found = train_judge(join([run], say(truth)), "years")
    assert found.judge.card.uses == ("contexts",)
    [remark] = found.remarks
    assert "references" in remark
    assert f"1 of {ROWS}" in remark
    assert "q7" in remark


def test_it_cannot_learn_noise(world):
    """Labels by the toss of a coin: what the judge says of a row knows nothing of that row's label."""
    run, _, _ = world
    coin = np.random.default_rng(1).integers(0, 2, ROWS).astype(float)
    found = train_judge(join([run], say(coin)), "noise")
    item = next(each for each in found.agreement.metrics if each.metric == "trained/noise")
    low, high = item.verdicts.measures["roc_auc"].interval
    assert low < 0.55
    assert high < 0.7


def test_it_lasts_and_judges_a_run(world, tmp_path):
    run, rows, truth = world
    labelled = range(0, ROWS, 2)
    found = train_judge(join([run], say(truth, labelled, scale=4.0)), "years")
    assert (found.judge.card.low, found.judge.card.high) == (0.0, 4.0)
    save_trained(found.judge)
    again = open_trained("trained/years")
    assert again.signature == found.judge.signature
    assert again.card == found.judge.card
    judged = evaluate(rows, ["trained_grade"], tmp_path / "store", name="judged", judge="trained/years")
    assert judged.info["judge"]["trained_judge"] == again.signature
    scores = np.array(judged.to_pandas()["trained_grade"])
    unseen = np.arange(1, ROWS, 2)
    assert scores[unseen][truth[unseen] == 1].mean() > scores[unseen][truth[unseen] == 0].mean() + 0.5
    joined = join([judged], say(truth, labelled), ["trained_grade"])
    powered = estimate_means(joined, "trained_grade").runs[0].found
    assert powered.interval.low < truth.mean() < powered.interval.high
    assert powered.worth > 1.3 * len(labelled)


def test_a_question_is_judged_by_the_fold_that_did_not_see_it(world):
    run, _, truth = world
    judge = train_judge(join([run], say(truth)), "years").judge
    question = "When did Ada found company 0?"
    features = judge.centres + judge.scales
    scaled = np.ones(len(features))
    each = [1 / (1 + np.exp(-(weights[0] + scaled @ weights[1:]))) for weights in judge.weights]
    assert judge.predict(question, features) == pytest.approx(each[judge.card.folds[question_key(question)]])
    assert judge.predict("What else?", features) == pytest.approx(np.mean(each))


def test_rows_of_one_question_stay_together(tmp_path):
    random = np.random.default_rng(2)
    runs, labels = [], []
    for name in ("one", "two"):
        rows, truth = make_rows(random, name)
        runs.append(evaluate(rows[:40], ["token_f1"], tmp_path / "store", name=name))
        labels += [Label(f"q{row}", truth[row], name) for row in range(40)]
    judge = train_judge(join(runs, Labels("l", tuple(labels), 0)), "both").judge
    assert len(judge.card.folds) == 40
    assert judge.card.labels == 80


@pytest.mark.parametrize(
    ("truth", "rows", "words"),
    [
        (np.tile([0.0, 1.0], 60), range(30), "30 labelled answers to 30 questions are too few"),
        (np.r_[np.zeros(5), np.ones(115)], range(60), "one-sided: 5 of 60 are low, and at least 8"),
        (np.ones(120), range(60), "one-sided: 0 of 60"),
    ],
)
def test_too_few_or_one_sided_labels_are_refused(world, truth, rows, words):
    with pytest.raises(UsageError, match=words):
        train_judge(join([world[0]], say(truth, rows)), "none")


def test_a_row_without_what_it_was_trained_on_is_skipped(world):
    run, _, truth = world
    tool = make_tool(train_judge(join([run], say(truth)), "years").judge)
    with pytest.raises(Skip, match="trained on rows with references, and this one has none"):
        asyncio.run(tool.judge("When?", "In 1800.", ["In 1800."], None))


def test_another_model_under_it_is_told(world):
    from dataclasses import replace

    judge = train_judge(join([world[0]], say(world[2])), "years").judge
    other = replace(judge, card=replace(judge.card, models={"minilm": "local/minilm#12345678"}))
    with pytest.raises(
        UsageError, match=r"trained with local/minilm#12345678, and it is not installed.*models pull minilm"
    ):
        make_tool(other)


def test_unknown_and_broken_judges(world):
    with pytest.raises(UnknownNameError, match=r"unknown trained judge 'trained/years'\. .*Train"):
        open_trained("trained/years")
    with pytest.raises(UsageError, match="not a valid judge name"):
        open_trained("trained/../years")
    folder = (
        Store().put("trained/years", {"judge.json": json.dumps({"layout": 9}).encode(), "weights.npz": b""}, "x").folder
    )
    with pytest.raises(StorageError, match="another version of Ragstone"):
        open_trained("trained/years")
    Store().put("trained/years", {"judge.json": b"{}", "weights.npz": b""}, "x")
    with pytest.raises(StorageError, match="cannot be read"):
        open_trained("trained/years")
    assert folder.name == "trained--years"


def test_nothing_in_its_files_can_run(world):
    found = train_judge(join([world[0]], say(world[2])), "years")
    path = Store().folder / "trained--years"
    save_trained(found.judge)
    assert sorted(file.name for file in path.iterdir()) == ["judge.json", "model.json", "weights.npz"]
    with np.load(path / "weights.npz", allow_pickle=False) as arrays:
        assert {arrays[name].dtype.kind for name in arrays} == {"f"}


@pytest.mark.slow
def test_estimates_with_labels_that_it_was_trained_on_hold():
    """Of each data set a judge is trained on 60 labels and used for the mean with the same 60; 95 of 100 intervals hold."""
    held, naive = 0, 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        table = random.normal(size=(360, 12))
        labels = (random.random(360) < 1 / (1 + np.exp(-1.5 * table[:, 0]))).astype(float)
        questions = np.array([f"{number}" for number in range(360)])
        names = tuple(f"f{number}" for number in range(12))
        judge, predicted = _fit("j", names, table[:60], labels[:60], questions[:60])
        others = np.array([judge.predict("unseen", row) for row in table[60:]])
        found = powered_mean(labels[:60], predicted, others)
        held += found.interval.low <= 0.5 <= found.interval.high
        seen = np.array([judge.predict("unseen", row) for row in table[:60]])
        naive += np.mean((labels[:60] - seen) ** 2) < np.mean((labels[:60] - predicted) ** 2)
    assert 0.88 <= held / 60 <= 1.0
    assert naive > 55  # what it saw it knows too well
