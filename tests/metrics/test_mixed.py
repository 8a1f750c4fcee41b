"""A mixture is the weighted mean of its parts, skipped with them, and lasts as plain TOML."""

import numpy as np
import pytest

import ragstone
from ragstone.errors import UsageError
from ragstone.metrics.mixed import Mixture, equal_mixture, read_mixture, register_mixture, write_mixture
from ragstone.registry import CATALOGUE, metric
from ragstone.storage.scores import read_scores

ROWS = [
    {"id": "1", "question": "q", "answer": "the blue boat", "references": ["a blue boat"], "contexts": ["a blue boat"]},
    {"id": "2", "question": "q", "answer": "a red car sank", "references": ["a blue boat"], "contexts": ["a red car"]},
    {"id": "3", "question": "q", "answer": "boat", "references": ["a blue boat"], "contexts": ["grass"]},
]


@pytest.fixture
def catalogue(monkeypatch):
    monkeypatch.setattr(CATALOGUE, "_metrics", dict(CATALOGUE._metrics))


def scores(run, *names):
    return {name: found.values for name, found in read_scores(run, names).items()}


def test_it_is_the_weighted_mean_of_columnar_and_plain_parts(catalogue, tmp_path):
    register_mixture(Mixture("ours", {"token_f1": 0.75, "squad.f1": 0.25}))
    run = ragstone.evaluate(ROWS, ["mixed.ours", "token_f1", "squad.f1"], tmp_path)
    found = scores(run, "mixed.ours", "token_f1", "squad.f1")
    assert found["mixed.ours"] == pytest.approx(0.75 * found["token_f1"] + 0.25 * found["squad.f1"])
    assert np.ptp(found["mixed.ours"]) > 0


def test_a_part_that_is_better_when_lower_is_reversed(catalogue, tmp_path):
    @metric("my.emptiness", better="lower", bounds=(0.0, 2.0))
    def emptiness(answer: str) -> float:
        return 2.0 if answer == "boat" else 0.0

    register_mixture(equal_mixture("turned", ("token_f1", "my.emptiness")))
    run = ragstone.evaluate(ROWS, ["mixed.turned", "token_f1"], tmp_path)
    found = scores(run, "mixed.turned", "token_f1")
    assert found["mixed.turned"].tolist() == pytest.approx((found["token_f1"] / 2 + [0.5, 0.5, 0.0]).tolist())


def test_a_row_without_a_part_is_skipped_with_its_reason(catalogue, tmp_path):
    register_mixture(equal_mixture("ours", ("token_f1", "k_precision")))
    rows = [*ROWS, {"id": "4", "question": "q", "answer": "boat", "references": ["boat"]}]
    run = ragstone.evaluate(rows, ["mixed.ours"], tmp_path)
    summary = run.summary()["mixed.ours"]
    assert (summary.n_ok, summary.n_skipped) == (3, 1)


def test_other_weights_give_another_signature(catalogue):
    register_mixture(Mixture("ours", {"token_f1": 0.75, "squad.f1": 0.25}))
    first = CATALOGUE.metric("mixed.ours").spec.version
    register_mixture(Mixture("ours", {"token_f1": 0.7, "squad.f1": 0.3}))
    assert CATALOGUE.metric("mixed.ours").spec.version != first


def test_the_file_is_plain_and_read_back(tmp_path):
    path = tmp_path / "ours.toml"
    write_mixture(Mixture("ours", {"token_f1": 0.75, "squad.f1": 0.25}), path, ["made by a test"])
    assert path.read_text().startswith("# made by a test\nlayout = 1")
    assert read_mixture(path) == Mixture("ours", {"token_f1": 0.75, "squad.f1": 0.25})


def test_weights_written_by_hand_are_scaled(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('name = "ours"\n[weights]\ntoken_f1 = 3\n"squad.f1" = 1\n')
    assert read_mixture(path).weights == {"token_f1": 0.75, "squad.f1": 0.25}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "ours"\n[weights]\ntoken_f1 = -1\n', "0 or more"),
        ('name = "ours"\n[weights]\ntoken_f1 = 0\n', "0 or more"),
        ('name = "No Name"\n[weights]\ntoken_f1 = 1\n', "lower-case"),
        ('layout = 9\nname = "ours"\n[weights]\ntoken_f1 = 1\n', "another version"),
        ('name = "ours"\n[weights]\nbleu = 1\n', "all rows together"),
        ('name = "ours"\n[weights]\nflesch_ease = 1\n', "a lowest and a highest value"),
        ('name = "ours"\n[weights]\n"mixed.equal" = 1\n', "it is a mixture"),
        ("name = ", "cannot be read"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, text, words):
    path = tmp_path / "ours.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_mixture(path)


def test_the_packaged_mixture_needs_no_labels():
    spec = CATALOGUE.metric("mixed.equal").spec
    assert "0.5 ragchecker.f1 + 0.5 support_f1" in spec.meaning
    assert spec.slow
