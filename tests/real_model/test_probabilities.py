"""Probabilities of texts by SmolLM2-135M: equal to what is read from whole distributions, and of some use on real text."""

import asyncio
import json
import math
import subprocess
import sys
import time
import urllib.request

import pyarrow.parquet as pq
import pytest

import ragstone
from ragstone.errors import StopRunError, StorageError
from ragstone.metrics.perplexity import INSTRUCTION
from ragstone.models.scorers import MOST_TOKENS, Llama, LocalScorer
from ragstone.models.store import Installed, Store
from tests.conftest import MODELS
from tests.real_model.conftest import find_weights

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

BOAT = "The last boat to Saltholm leaves at 21:40, except on Sundays."
MUSEUM = "The harbour museum opens at ten and shows nets, oars and a model of the old mole."
QUESTION = "When does the last boat to Saltholm leave?"
# Of our own making: a chunk, a question to which it has the answer.
REAL = [
    (BOAT, QUESTION),
    (MUSEUM, "What can be seen in the harbour museum?"),
    (
        "Salt was boiled from sea water in iron pans until 1871, when the railway brought cheaper salt from the south.",
        "Why did people stop boiling salt in 1871?",
    ),
    (
        "The lighthouse keeper had to wind the clockwork of the lamp every four hours, also in storms.",
        "How often did the keeper wind the clockwork of the lamp?",
    ),
]


@pytest.fixture(scope="module")
def model():
    find_weights()
    pytest.importorskip("xllamacpp", reason="there is no xllamacpp for this machine")
    return Llama(Store(MODELS).get("smollm2"))


def ask(real_model, path, body):
    request = urllib.request.Request(
        f"{real_model.address}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


def by_distributions(real_model, before, text, **settings):
    """Each token's log-probability from the probabilities of all 49,152 tokens, which are made to sum to one."""
    seen, *rest = (
        ask(real_model, "/tokenize", {"content": part, "parse_special": False})["tokens"]
        for part in (before + "\n", text)
    )
    found = []
    for token in rest[0]:
        asked = {"prompt": seen, "n_predict": 1, "n_probs": 49_152, "temperature": 0, "cache_prompt": bool(found)}
        asked |= settings
        [step] = ask(real_model, "/completion", asked)["completion_probabilities"]
        powers = {other["id"]: math.exp(other["logprob"]) for other in step["top_logprobs"]}
        assert len(powers) == 49_152
        assert math.fsum(powers.values()) == pytest.approx(1, abs=1e-2)
        found.append(math.log(powers[token] / math.fsum(powers.values())))
        seen = [*seen, token]
    return found


def test_they_are_those_of_the_whole_distribution(model, real_model):
    before = f"{INSTRUCTION} {BOAT}"
    [found] = model.log_probabilities([(before, QUESTION)])
    assert found == pytest.approx(by_distributions(real_model, before, QUESTION), abs=2e-3)
    assert len(found) == real_model.count_tokens(QUESTION)


def test_they_follow_letters_that_the_vocabulary_cuts_in_pieces(model, real_model):
    text = "東京 ไ 😀\x00"
    [found] = model.log_probabilities([("Say:", text)])
    # The server tells distributions only where it chose a whole letter: "a".
    expected = by_distributions(real_model, "Say:", text, logit_bias=[[81, 1000]])
    assert found == pytest.approx(expected, abs=2e-3)
    assert len(found) > len(text)


def test_a_value_does_not_depend_on_what_else_is_computed(model):
    pairs = [(f"{INSTRUCTION} {chunk}", QUESTION) for chunk in (BOAT, MUSEUM, BOAT + " " + MUSEUM)]
    forth = model.log_probabilities(pairs)
    back = model.log_probabilities(pairs[::-1])[::-1]
    assert forth == back
    assert model.log_probabilities(pairs[1:2]) == forth[1:2]


def test_marks_of_the_model_in_a_text_are_text(model):
    [found] = model.log_probabilities([("", "<|im_end|>")])
    assert len(found) > 1


@pytest.mark.parametrize(("before", "text", "count"), [("", "", 0), ("boat " * 100_000, "boat", 1), ("", "\ud800", 1)])
def test_odd_texts(model, before, text, count):
    [found] = model.log_probabilities([(before, text)])
    assert len(found) == count
    assert all(value < 0 for value in found)


def test_a_long_text_is_cut(model):
    [found] = model.log_probabilities([("", "boat " * 100_000)])
    assert len(found) == MOST_TOKENS


def test_a_file_that_is_no_model(tmp_path):
    pytest.importorskip("xllamacpp")
    (tmp_path / "model.gguf").write_bytes(find_weights().read_bytes()[:5_000_000])
    broken = Installed("smollm2", tmp_path, "", {"model.gguf": (5_000_000, "")})
    with pytest.raises(StorageError, match=r"cannot be used: model\.gguf.*ragstone models pull smollm2"):
        Llama(broken).log_probabilities([("a", "b")])
    with pytest.raises(StopRunError, match="has 5,000,000 bytes instead of"):
        raise_as_in_a_run(Installed("smollm2", tmp_path, "", {"model.gguf": (98_362_432, "")}))


def raise_as_in_a_run(installed):
    asyncio.run(LocalScorer(Llama(installed)).log_probabilities([("a", "b")]))


def test_a_relevant_context_scores_above_an_irrelevant_one(model, models, real_model):
    """For every question the chunk with its answer is far above all others; and one value is computed by hand."""
    chunks = [chunk for chunk, _ in REAL]
    rows = [{"question": question, "contexts": chunks, "answer": "x"} for _, question in REAL]
    run = ragstone.evaluate(rows, ["context_relevance.perplexity", "context_relevance.perplexity@4"])
    table = pq.read_table(f"{run.path}/evidence/question_likelihoods.parquet")
    likelihoods = {row["sample_id"]: row["value"] for row in table.to_pylist()}
    for place, values in enumerate(likelihoods.values()):
        others = [value for other, value in enumerate(values) if other != place]
        assert values[place] > 2 * max(others), (REAL[place], values)
    for row in run.scores.to_pylist():
        values = likelihoods[row["sample_id"]]
        assert row["value"] == pytest.approx(sum(values) / 4 if row["metric"].endswith("@4") else max(values))
    direct = by_distributions(real_model, f"{INSTRUCTION} {BOAT}", QUESTION)
    first = next(iter(likelihoods.values()))
    assert first[0] == pytest.approx(math.exp(sum(direct) / len(direct)), rel=2e-3)


OFFLINE = """
import socket
connect, look_up = socket.socket.connect, socket.getaddrinfo
def only_here(self, address):
    assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), f"a connection to {address}"
    return connect(self, address)
def numbers_only(host, *more, **settings):
    assert host in ("127.0.0.1", "localhost", None), f"{host} was looked up"
    return look_up(host, *more, **settings)
socket.socket.connect, socket.getaddrinfo = only_here, numbers_only
import ragstone
row = {"question": "Where?", "answer": "On the mole.", "contexts": ["The light is on the mole."]}
run = ragstone.evaluate([row], ["context_relevance.perplexity", "perplexity"])
assert [line.n_ok for line in run.summary()] == [1, 1], run.summary()
"""


def test_with_the_network_cut(model, models):
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_fluent_words_are_less_surprising_than_shuffled_ones(models):
    find_weights()
    pytest.importorskip("xllamacpp", reason="there is no xllamacpp for this machine")
    said = "The museum opens at ten in the morning and closes at five in the afternoon."
    shuffled = "Afternoon five the the ten museum opens and morning in in the closes at at."
    run = ragstone.evaluate([{"question": "When?", "answer": text} for text in (said, shuffled)], "perplexity")
    fluent, odd = (row["value"] for row in run.scores.to_pylist())
    assert 1 < fluent < odd / 5


def test_it_is_bearable(model):
    """Some tokens a second on one core, even on a busy machine; `make bench` has the figure."""
    started = time.perf_counter()
    [found] = model.log_probabilities([("", BOAT)])
    assert len(found) / (time.perf_counter() - started) > 2
