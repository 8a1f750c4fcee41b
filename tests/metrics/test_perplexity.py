"""What a language model expects, by hand: geometric means of probabilities, and e to the mean of their logarithms."""

import math

import pytest

from ragstone.data.types import Chunk, Sample
from ragstone.metrics.perplexity import INSTRUCTION
from ragstone.registry import CATALOGUE, parse_metric
from tests.metrics.models import Surprise
from tests.metrics.scoring import cell

RELEVANCE = "context_relevance.perplexity"


def sample(*chunks, question="where is it", answer="on the mole"):
    return Sample("s", question, answer, contexts=[Chunk(text) for text in chunks])


def test_the_geometric_mean_of_the_best_chunk():
    """Of the words where (5 letters), is (2) and it (2) those that stand before cost an eighth a letter, others a quarter."""
    told = sample("nothing", "where it stands", "it")
    unseen, both, one = -(5 + 2 + 2) / 4, -5 / 8 - 2 / 4 - 2 / 8, -5 / 4 - 2 / 4 - 2 / 8
    # "is" stands in "this", "it" in "with"; the instruction has neither.
    assert not any(word in INSTRUCTION for word in ("where", "is ", " it"))
    values = [math.exp(total / 3) for total in (unseen, both, one)]
    assert cell(told, RELEVANCE).value == pytest.approx(max(values))
    assert cell(told, f"{RELEVANCE}@1").value == pytest.approx(values[0])
    assert cell(told, f"{RELEVANCE}@2").value == pytest.approx((values[0] + values[1]) / 2)
    assert cell(told, f"{RELEVANCE}@9").value == pytest.approx(sum(values) / 3)


def test_the_chunk_is_read_before_the_question(monkeypatch):
    seen = []

    async def write_down(self, pairs):
        seen.extend(pairs)
        return [[-1.0] for _ in pairs]

    monkeypatch.setattr(Surprise, "log_probabilities", write_down)
    assert cell(sample("a chunk"), RELEVANCE).value == pytest.approx(math.exp(-1))
    assert seen == [("Generate a question based on the given content: a chunk", "where is it")]


def test_nothing_to_read():
    assert cell(sample(), RELEVANCE).reason == "nothing was retrieved"
    assert cell(sample("a", question=" \t"), RELEVANCE).reason


def test_perplexity_is_e_to_the_mean_surprise():
    # Nothing stands before the answer: a quarter a letter.
    assert cell(sample(answer="on the mole"), "perplexity").value == pytest.approx(math.exp((2 + 3 + 4) / 4 / 3))
    assert cell(sample(answer="a"), "perplexity").value == pytest.approx(math.exp(0.25))


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_no_words_no_perplexity(answer):
    assert cell(sample(answer=answer), "perplexity").reason == "the answer is empty"


@pytest.mark.parametrize(("logs", "value"), [([0.0], 1.0), ([1e-9], 1.0), ([-1e9], math.exp(700))])
def test_perplexity_stays_within_what_can_be_written(monkeypatch, logs, value):
    async def say(self, pairs):
        return [logs for _ in pairs]

    monkeypatch.setattr(Surprise, "log_probabilities", say)
    assert cell(sample(), "perplexity").value == pytest.approx(value)


def test_their_names_and_kinds():
    for alias in ("unitxt.context_relevance", "unitxt.perplexity_q"):
        assert str(parse_metric(alias)) == RELEVANCE
    assert {RELEVANCE, "answer_reward"} <= {preset.spec.name for preset in CATALOGUE.sets()["unitxt"]}
    perplexity = CATALOGUE.metric("perplexity")[0]
    assert (perplexity.better, perplexity.bounds, perplexity.slow) == ("lower", (1.0, None), True)
    assert CATALOGUE.metric(RELEVANCE)[0].slow
