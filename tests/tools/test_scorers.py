"""Which language model a run gets: named, one's own, or the one that is on the machine."""

import sys

import pytest

import ragstone
from ragstone.engine.quote import quote
from ragstone.errors import MissingExtraError, UsageError
from ragstone.models.store import Store
from ragstone.tools.scorers import Scoring
from tests.metrics.models import Applause, Surprise

ROW = {"question": "Where is it?", "answer": "On the mole.", "contexts": ["It stands on the mole."]}
NAMES = ["context_relevance.perplexity", "perplexity"]


class Even:
    """A language model to which all words are alike."""

    signature = "even"

    def __init__(self, model=None):
        self.asked = []

    def log_probabilities(self, pairs):
        self.asked.append(list(pairs))
        return [[-0.5] * len(text.split()) for _, text in pairs]


@pytest.fixture
def smollm2(tmp_path, monkeypatch):
    """A store in which something lies under that name, and an engine that runs it."""
    place = tmp_path / "models" / "smollm2"
    place.mkdir(parents=True)
    (place / "model.gguf").write_bytes(b"GGUF")
    (place / "model.json").write_text(
        '{"name": "smollm2", "origin": "", "files": {"model.gguf": {"bytes": 4, "sha256": "0"}}}'
    )
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))
    made = Even()
    monkeypatch.setattr("ragstone.models.scorers.Llama", lambda model: made)
    monkeypatch.setattr("ragstone.models.llama_engine.find_spec", lambda name: name)
    return made


def refuse(*_):
    raise AssertionError("nobody is to be asked")


def test_without_a_model_the_command_that_gets_one():
    assert Scoring().open("scorer", refuse, dry_run=False) is None
    run = ragstone.evaluate([ROW], NAMES)
    for line in run.summary():
        assert line.reason.startswith("needs a scorer: ")
        assert "--scorer" in line.reason
        assert "models pull smollm2" in line.reason


def test_the_model_of_the_machine_is_used_where_its_metrics_are_named(smollm2):
    run = ragstone.evaluate([ROW, ROW, {**ROW, "answer": "Elsewhere."}], NAMES)
    assert {line.metric: line.n_ok for line in run.summary()} == dict.fromkeys(NAMES, 3)
    assert run.info["judge"] == {"scorer": "even"}
    asked = [pair for batch in smollm2.asked for pair in batch]
    assert len(asked) == len(set(asked)) == 3, "equal texts are computed once"


def test_nobody_waits_for_it_unasked(smollm2):
    run = ragstone.evaluate([ROW])
    assert not {line.metric for line in run.summary()} & set(NAMES)
    assert run.info["judge"] is None
    assert smollm2.asked == []


@pytest.mark.parametrize("name", ["local", "local/smollm2", "smollm2"])
def test_by_name(smollm2, name):
    assert ragstone.evaluate([ROW], NAMES, scorer=name).info["judge"] == {"scorer": "even"}


def test_by_option_of_the_command(smollm2, cli, tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"question": "Where?", "answer": "On the mole."}\n')
    done = cli("run", data, "-m", "perplexity", "--scorer", "local", "-o", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert '"mean": 1.648' in done.out  # e^0.5
    gone = cli("run", data, "-m", "perplexity", "--scorer", "local/nothing", "-o", tmp_path / "out")
    assert gone.code == 2
    assert "nothing" in gone.err


def test_tools_of_ones_own():
    run = ragstone.evaluate([ROW], ["perplexity", "answer_reward"], scorer=Surprise(), reward_model=Applause())
    assert run.info["judge"] == {"scorer": "surprise", "reward_model": "applause"}
    assert all(line.n_ok for line in run.summary())


def test_a_quote_computes_nothing(smollm2):
    found = quote([ROW], NAMES)
    assert (found.total.calls, found.skipped) == (0, {})
    assert smollm2.asked == []


def test_names_that_cannot_be_had():
    with pytest.raises(UsageError, match=r"'smollm2'.*ragstone models pull smollm2"):
        ragstone.evaluate([ROW], NAMES, scorer="local")
    with pytest.raises(UsageError, match="no provider"):
        ragstone.evaluate([ROW], NAMES, scorer="gpt")


def test_without_the_engine(smollm2, monkeypatch):
    monkeypatch.setattr("ragstone.models.llama_engine.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"ragstone\[local\]"):
        ragstone.evaluate([ROW], NAMES, scorer="local")
    assert all(line.reason for line in ragstone.evaluate([ROW], NAMES).summary())


def test_models_of_the_hub_say_what_they_need(monkeypatch):
    monkeypatch.setattr("ragstone.models.runtime.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install torch transformers.*--scorer local"):
        ragstone.evaluate([ROW], NAMES, scorer="hf/google/flan-t5-small")


def test_a_model_that_is_none_of_language(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "model.onnx").write_bytes(b"x")
    Store().pull(str(tmp_path / "net"))
    with pytest.raises(UsageError, match="'net' is not a language model"):
        ragstone.evaluate([ROW], NAMES, scorer="local/net")


def test_no_engine_is_loaded_before_it_is_used(smollm2):
    before = set(sys.modules)
    Scoring().open("scorer", refuse, dry_run=False)
    ragstone.evaluate([ROW], "token_f1")
    assert not {"xllamacpp", "torch", "transformers", "onnxruntime"} & (set(sys.modules) - before)
