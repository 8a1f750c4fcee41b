"""ragstone sweep and the shipped example."""

import json

import pytest

from tests.sweep.conftest import calls, home  # noqa: F401  (fixtures)


def test_a_sweep_prints_stores_and_says_what_is_next(cli, home, calls):  # noqa: F811
    done = cli("sweep", "sweep.toml", "-o", "my store", "-n", "6", "--no-halving", "-m", "contains")
    assert done.code == 0, done.err
    assert "is best: exact_match 1.000" in " ".join(done.out.split())
    assert "ragstone compare" in done.out
    assert "-o 'my store'" in done.out
    [page] = (home / "my store" / "sweeps").glob("*/sweep.html")
    assert str(page.name) in done.out
    stored = json.loads(page.with_name("results.json").read_text())
    assert stored["questions"] == 6
    asked = len(calls())
    again = cli(
        "sweep", "sweep.toml", "-o", "my store", "-n", "6", "--no-halving", "-m", "contains", "--resume", "--json"
    )
    assert len(calls()) == asked
    assert json.loads(again.out)["standings"] == stored["standings"]


def test_a_quote_on_the_command_line(cli, home, calls):  # noqa: F811
    quote = cli("sweep", "sweep.toml", "--quote")
    assert "80 calls of function/rag.py:answer for 4 settings × 20 questions" in " ".join(quote.out.split())
    assert json.loads(cli("sweep", "sweep.toml", "--quote", "--json").out)["settings"] == 4
    assert calls() == []


def test_every_setting_fails(cli, home):  # noqa: F811
    text = (home / "sweep.toml").read_text().replace('["plain", "long"]', '"broken"')
    (home / "sweep.toml").write_text(text)
    done = cli("sweep", "sweep.toml", "-o", "store")
    assert done.code == 4
    assert "Every setting failed." in done.out
    assert "no index for this style" in done.out


def test_mistakes_exit_with_2(cli, home):  # noqa: F811
    assert cli("sweep", "nowhere.toml").code == 1
    assert cli("sweep", "sweep.toml", "--objective", "exakt_match").code == 2
    unbounded = cli("sweep", "sweep.toml", "--objective", "latency")
    assert unbounded.code == 2
    assert "halving = false" in unbounded.err


@pytest.mark.slow
def test_the_shipped_example_is_one_command(cli, home):  # noqa: F811
    done = cli("demo", "sweep", "-o", "store")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "12 settings, 25 questions" in text
    assert "chunk_words=120 top_k=3 index=text is best" in text
    assert text.count("stopped at") == 6
    assert "sweep.toml" in text
