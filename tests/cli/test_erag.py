"""ragstone erag: from a file to labels, agreement and blame."""

import json
import re
from pathlib import Path

import pytest

from ragstone.data.dataset import samples_table
from ragstone.formats import write_dataset
from tests.stress.generators import retrieved as samples


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_dataset(samples_table(samples()).to_batches(), "samples.jsonl")
    Path("gen.py").write_text("from tests.stress.generators import copies\n")
    return tmp_path


def test_the_whole_walk(cli, home):
    done = cli("erag", "samples.jsonl", "--system", "gen.py:copies", "--blame", "--name", "mine")
    assert done.code == 0, done.err
    assert re.search(r"\b4\d calls of function/gen.py:copies for 7 questions with 21 chunks", done.out)
    assert re.search(r"rank 1 +0.286 ", done.out)
    assert re.search(r"Pelican +1 +gossip +−1.000 +0.000 +The Pelican is 613 metres long.", done.out)
    assert "gossip: −0.667 over 3 questions" in done.out
    Path("gen.py").unlink()
    shown = json.loads(cli("erag", "--run", "mine", "--json").out)
    assert shown["metric"] == "contains"
    assert len(shown["labels"]) == 21


def test_a_quote_asks_nobody(cli, home):
    done = cli("erag", "samples.jsonl", "--system", "openai/gpt-4o-mini", "-j", "2", "--quote")
    assert re.search(
        r"\d+ calls of openai/gpt-4o-mini for 7 questions with 21 chunks: each alone, all together\n", done.out
    )
    assert "No call was made" in done.out
    assert not Path("ragstone-store").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("samples.jsonl",), "name the data and the generator"),
        (("samples.jsonl", "--system", "gen.py:copies", "-m", "refusal"), "cannot label chunks"),
        (("samples.jsonl", "--system", "gen.py:copies", "--metrics", "refusal"), "cannot label chunks"),
        (("samples.jsonl", "--system", "gen.py:copies", "--metric", "refusal"), "cannot label chunks"),
        (("samples.jsonl", "--system", "gen.py:copies", "--threshold", "2"), "threshold"),
    ],
)
def test_what_cannot_be(cli, home, arguments, words):
    done = cli("erag", *arguments)
    assert done.code == 2
    assert words in done.err


def test_another_run_is_none_of_erags(cli, home):
    cli("run", "samples.jsonl", "-m", "refusal", "--name", "plain", "-q")
    assert "is not an eRAG run" in cli("erag", "--run", "plain").err
