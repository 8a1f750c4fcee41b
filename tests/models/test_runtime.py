"""Texts that wait together are computed together, once; who goes away takes nobody along."""

import asyncio
import os
import subprocess
import sys
import threading

import pytest

from ragstone.models.runtime import Gatherer


class Doubler:
    """Writes down its batches."""

    def __init__(self, fails=()):
        self.batches = []
        self.fails = fails
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, texts):
        self.gate.wait(10)
        self.batches.append(texts)
        if set(texts) & set(self.fails):
            raise ValueError("a bad text")
        return [text * 2 for text in texts]


def test_who_asks_at_once_is_answered_at_once():
    work = Doubler()
    gatherer = Gatherer(work)

    async def ask():
        return await asyncio.gather(*(gatherer.submit([letter, "x"]) for letter in "abcx"))

    assert asyncio.run(ask()) == [["aa", "xx"], ["bb", "xx"], ["cc", "xx"], ["xx", "xx"]]
    assert work.batches == [["a", "x", "b", "c"]]


def test_batches_have_a_size_and_results_are_kept():
    work = Doubler()
    gatherer = Gatherer(work, most=2)

    async def ask():
        first = await gatherer.submit(list("abcde"))
        return first, await gatherer.submit(["e", "a"]), await gatherer.submit([])

    assert asyncio.run(ask()) == ([*("aa", "bb", "cc", "dd", "ee")], ["ee", "aa"], [])
    assert work.batches == [["a", "b"], ["c", "d"], ["e"]]


def test_long_texts_make_small_batches():
    work = Doubler()

    async def ask():
        await Gatherer(work, letters=5).submit(["abcdefgh", "ab", "cde", "f", "g"])

    asyncio.run(ask())
    assert work.batches == [["abcdefgh"], ["ab", "cde"], ["f", "g"]]


def test_old_results_are_forgotten():
    work = Doubler()
    gatherer = Gatherer(work, kept=2)

    async def ask():
        for letter in "abca":
            assert await gatherer.submit([letter]) == [letter * 2]

    asyncio.run(ask())
    assert work.batches == [["a"], ["b"], ["c"], ["a"]]


def test_a_failure_reaches_those_of_its_batch_and_is_not_kept():
    work = Doubler(fails=["b"])
    gatherer = Gatherer(work, most=1)

    async def ask():
        found = await asyncio.gather(gatherer.submit(["a"]), gatherer.submit(["b"]), return_exceptions=True)
        work.fails = ()
        return found, await gatherer.submit(["b"])

    (good, bad), again = asyncio.run(ask())
    assert good == ["aa"]
    assert str(bad) == "a bad text"
    assert again == ["bb"]


def test_who_is_cancelled_takes_nobody_along():
    work = Doubler()
    work.gate.clear()
    gatherer = Gatherer(work)

    async def ask():
        leaver, stayer = (asyncio.create_task(gatherer.submit(["a"])) for _ in range(2))
        await asyncio.sleep(0.05)
        leaver.cancel()
        await asyncio.sleep(0)
        work.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await leaver
        return await stayer

    assert asyncio.run(ask()) == ["aa"]


def test_results_outlive_the_event_loop_and_a_second_loop_works():
    seen = []

    def work(texts):
        seen.append(list(texts))
        return [len(text) for text in texts]

    gatherer = Gatherer(work)
    assert asyncio.run(gatherer.submit(["a", "bb"])) == [1, 2]
    assert asyncio.run(gatherer.submit(["bb", "ccc"])) == [2, 3]
    assert seen == [["a", "bb"], ["ccc"]]


def test_the_runtime_reports_nothing_to_its_makers(tmp_path):
    """onnxruntime 1.31 looks up hosts of its makers and keeps an id of the device in the home folder."""
    rows = [{"question": "Open?", "answer": "Open on Monday.", "references": ["Monday"]}]
    code = f"import ragstone; print(ragstone.evaluate({rows}, ['answer_match'], None, judge='local').summary())"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**kept, **home})
    assert "answer_match" in done.stdout, done.stderr
    assert [path for path in tmp_path.rglob("*") if "icrosoft" in str(path)] == []
