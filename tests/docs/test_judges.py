"""The pages on judges and checkers say what the code does."""

import asyncio
import os
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragstone.http.retry import Patience
from ragstone.llm import endpoints
from ragstone.llm.base import Message, Request
from ragstone.llm.budget import Price, load_prices
from ragstone.testing import FakeLLM

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "judges.md").read_text()
CALLS = (DOCS / "judge-calls.md").read_text()


def blocks(language, page=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("provider", endpoints.SERVERS)
def test_every_server_is_there_with_its_variables(provider):
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{provider}/"))
    server = endpoints._SERVERS[provider]
    _, _, address, key, _ = row.split("|")
    assert re.findall(r"`([A-Z_]+)`", address)[: len(server.addresses)] == list(server.addresses)
    assert re.findall(r"`([A-Z_]+)`", key) == list(server.keys)
    assert server.default in address


def test_numbers_are_those_of_the_code():
    patience = Patience()
    (limited,) = (line for line in CALLS.splitlines() if line.startswith("- 429"))
    (broken,) = (line for line in CALLS.splitlines() if line.startswith("- 5xx"))
    (unreachable,) = (line for line in CALLS.splitlines() if "never answered" in line)
    assert f"{patience.longest_s / 60:g} minutes" in limited
    assert f"{patience.attempts} attempts" in broken
    assert f"{patience.longest_wait_s:g} s" in broken
    assert f"{patience.attempts_unreachable} attempts" in unreachable


def test_the_file_of_prices_works(tmp_path, monkeypatch):
    (text,) = blocks("toml", CALLS)
    assert tomllib.loads(text)
    (tmp_path / "prices.toml").write_text(text)
    monkeypatch.setenv("RAGSTONE_PRICES", os.fspath(tmp_path / "prices.toml"))
    assert load_prices().find("dial/our-own") == Price(0.5, 1.5)


def test_examples_in_python_run():
    (function, fakes), (own, batched) = blocks("python"), blocks("python", (DOCS / "own-checker.md").read_text())
    names = {}
    exec(function, names)
    assert names["judge"](["a", "b"]) == ['{"claims": []}'] * 2
    exec(own, names)
    assert names["overlap"](["on the mole"], ["The light is on the mole.", "salt"]) == [[2 / 3, 0.0]]
    names["model"] = SimpleNamespace(predict=len)
    exec(batched, names)
    assert (names["entails"](["a"], ["b"]), names["entails"].batch_size) == (1, 64)
    exec(fakes, names)
    assert isinstance(names["model"], FakeLLM)
    asked = Request((Message("user", "?"),), guess="!")
    assert asyncio.run(names["model"].complete(asked)).text == "!"
