"""Every prompt of the book on a real chat model, and the shipped example with a judge in this process."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest

import ragstone
from ragstone.engine.quote import quote
from ragstone.llm.cache import open_cache
from ragstone.llm.gateway import Gateway, GatewaySettings
from ragstone.llm.prompts import PromptBook
from ragstone.storage.places import open_place
from ragstone.storage.runs import unfinished_runs
from ragstone.testing import FakeLLM
from ragstone.tools.llama import in_process
from tests.real_model.chat_model import FIGURES, SERVER, THREADS, chat_model, require_speed, threads
from tests.real_model.prompt_set import Figures, ask_items, make_items, table_of


@pytest.fixture(autouse=True)
def short_replies():
    """Replies may be as long as our prompts allow; the smallest model's limits do not hold here."""


def ask(items, figures, cache, quoting=False, seconds=float("inf")):
    model, address = chat_model()

    async def run():
        settings = GatewaySettings(base_url=address, cache=cache, concurrency=1, timeout_s=900)
        gateway = Gateway(settings, quoting=quoting)
        try:
            return await ask_items(gateway.open_llm(in_process(model)), items, figures, seconds)
        finally:
            await gateway.close()

    return asyncio.run(run())


def test_the_set_has_every_prompt():
    """Needs no model: the guesses of a quote are asked through the same tools."""
    items = make_items()
    assert {item.prompt for item in items} == set(PromptBook().names)
    asked = [item for item in items if not item.prompt.startswith("token_")]
    figures: dict[str, Figures] = {}
    calls = asyncio.run(ask_items(FakeLLM(lambda request: request.guess), asked, figures))
    assert calls == [], "only a gateway records calls"
    assert all(row.failed == 0 and row.asked >= 2 for row in figures.values()), figures
    assert "own_reference" in table_of(figures, [], [])


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_prompt(tmp_path, monkeypatch):
    """As many items as time allows, those for tokens first; RAGSTONE_TEST_SECONDS gives a slow machine more."""
    require_speed()
    monkeypatch.setenv(THREADS, str(threads()))
    cache, figures, items = open_cache(tmp_path / "replies"), {}, by_length(make_items())
    first = [item for at, item in enumerate(items) if item.prompt not in {one.prompt for one in items[:at]}]
    rest = [item for item in items if item not in first]
    seconds = float(os.environ.get("RAGSTONE_TEST_SECONDS", "360"))
    ask(first, figures, cache, seconds=2 * seconds / 3)
    # The quote knows the speed of these calls, and none of the replies.
    shutil.copytree(cache.folder, tmp_path / "speed", ignore=lambda _, names: {*names} - {"speeds.json"})
    before = sum(row.asked for row in figures.values())
    made = ask(rest, figures, cache, seconds=seconds / 3)
    done = sum(row.asked for row in figures.values()) - before
    quoted = ask(rest[:done], {}, open_cache(tmp_path / "speed"), quoting=True)
    left = [item.prompt for item in first if item.prompt not in figures]
    table = table_of(figures, quoted, made) + (f"\nno time for: {', '.join(left)}" if left else "")
    print(f"\n{chat_model()[0].rpartition('/')[2]}\n{table}")
    if out := os.environ.get(FIGURES):
        Path(out).write_text(table + "\n", encoding="utf-8")
    asked, failed = (sum(getattr(row, kind) for row in figures.values()) for kind in ("asked", "failed"))
    tokens = [figures[name] for name in figures if name.startswith("token_")]
    assert tokens
    assert sum(row.failed for row in tokens) == 0
    assert failed <= max(1, 0.02 * asked), "98 of 100 replies are usable"
    said, real = (sum(call.input_tokens or 0 for call in calls) for calls in (quoted, made))
    if done >= 5:
        assert said == pytest.approx(real, rel=0.25)


def by_length(items):
    """First the items that are answered by one token, then the others by the tokens that a quote counts for them."""

    async def count(gateway, item):
        calls = await ask_items(gateway.open_llm(in_process(chat_model()[0])), [item], {})
        return sum((call.input_tokens or 0) + 4 * (call.output_tokens or 0) for call in calls)

    async def count_all():
        gateway = Gateway(GatewaySettings(base_url=chat_model()[1]), quoting=True)
        try:
            return [await count(gateway, item) for item in items]
        finally:
            await gateway.close()

    sizes = asyncio.run(count_all())
    return [
        items[at]
        for at in sorted(range(len(items)), key=lambda at: (not items[at].prompt.startswith("token_"), sizes[at]))
    ]


def harbour(count):
    text = (resources.files("ragstone.examples") / "harbour" / "better.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()[:count]]


METRICS = ["ragchecker.faithfulness", "answer_match"]


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_shipped_example_with_no_server_and_no_key(tmp_path, monkeypatch):
    """A quote first; then budget, a kill in the middle, and the rest."""
    if os.environ.get(SERVER):
        pytest.skip(f"{SERVER} names a server")
    require_speed()
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.setenv(THREADS, str(threads()))
    rows, judge = [{**row, "contexts": row["contexts"][:3]} for row in harbour(2)], chat_model()[0]
    quoted = quote(rows, METRICS, judge=judge).total
    assert quoted.calls > 0
    assert quoted.cost_usd == 0, "a model in this process is free"
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    kill_after_some_replies(data, judge, tmp_path)
    [left] = unfinished_runs(open_place(tmp_path / "out"))
    kept = open_cache(tmp_path / "replies").size().entries
    assert kept > 0
    notes = []
    run = ragstone.evaluate(
        str(data), METRICS, tmp_path / "out", judge=judge, budget="1usd", resume=True, note=notes.append
    )
    assert any("resuming" in note for note in notes), notes
    assert run.id == left.id
    totals = run.info["totals"]
    assert totals["cached_calls"] >= 1, "what was answered before the kill is not asked again"
    assert all(row.n_failed == 0 for row in run.summary())
    real = totals["calls"] + totals["cached_calls"]
    print(
        f"\nquoted {quoted.calls:.0f} calls, {quoted.input_tokens:,.0f} tokens in; real {real}, {totals['input_tokens']:,}"
    )
    assert quoted.calls == pytest.approx(real, rel=0.5)


def kill_after_some_replies(data, judge, home):
    code = f"import ragstone; ragstone.evaluate({str(data)!r}, {METRICS!r}, {str(home / 'out')!r}, judge={judge!r}, budget='1usd')"
    process = subprocess.Popen([sys.executable, "-c", code])
    cache, started = open_cache(home / "replies"), time.monotonic()
    while cache.size().entries < 2 and process.poll() is None and time.monotonic() - started < 1800:
        time.sleep(0.2)
    assert process.poll() is None, "it ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
