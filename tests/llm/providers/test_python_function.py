"""A user's own function as a model."""

import asyncio
import threading
import time

import pytest

from ragstone.errors import UsageError
from ragstone.llm.base import LLMError, LLMStoppedError, Message, Request, UnsupportedFormatError
from ragstone.llm.providers.python_function import FunctionLLM, _flatten, load_function
from tests.llm.asking import ask, request


def shout(prompts):
    return [prompt.upper() for prompt in prompts]


def many(count):
    return [request(f"prompt {number}") for number in range(count)]


def test_a_plain_function_runs_in_a_thread_with_batches():
    batches, threads = [], set()

    def judge(prompts):
        batches.append(len(prompts))
        threads.add(threading.current_thread().name)
        time.sleep(0.02)
        return shout(prompts)

    replies = ask(None, *many(40), model=judge, concurrency=40)
    assert [reply.text for reply in replies] == [f"PROMPT {number}" for number in range(40)]
    assert len(batches) <= 2
    assert threads == {"ragstone-function"}
    assert {(reply.cost_usd, reply.model.split("/")[0]) for reply in replies} == {(0.0, "function")}


def test_a_plain_function_is_asked_once_at_a_time():
    running, most = 0, 0

    def judge(prompts):
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.005)
        running -= 1
        return shout(prompts)

    assert len(ask(None, *many(200), model=judge, concurrency=200)) == 200
    assert most == 1


def test_an_async_function():
    sizes = []

    async def judge(prompts):
        sizes.append(len(prompts))
        await asyncio.sleep(0.02)
        return shout(prompts)

    replies = ask(None, *many(100), model=judge, concurrency=100)
    assert [reply.text for reply in replies] == [f"PROMPT {number}" for number in range(100)]
    assert max(sizes) == 64
    assert sum(sizes) == 100


def test_an_object_with_an_async_call():
    class Judge:
        async def __call__(self, prompts):
            return shout(prompts)

    assert ask(None, request("x"), model=Judge()).text == "X"


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (["a", "b"], "got 1 prompts and returned 2 replies"),
        ([], "got 1 prompts and returned 0 replies"),
        ("a", "must return a list of texts, one per prompt, not str"),
        (None, "must return a list of texts, one per prompt, not NoneType"),
        ([7], "must return texts, not int"),
        ([None], "must return texts, not NoneType"),
    ],
)
def test_wrong_replies(result, words):
    error = ask(None, model=lambda prompts: result)
    assert type(error) is LLMError
    assert words in str(error)


@pytest.mark.parametrize("kind", [ValueError, SystemExit])
def test_what_it_raises_is_the_calls_failure(kind, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "canary-123456")

    def judge(prompts):
        raise kind("bad\n canary-123456")

    error = ask(None, model=judge)
    assert type(error) is LLMError
    assert "raised" in str(error)
    assert "canary" not in str(error)


def test_a_function_that_hangs_ends_by_the_deadline():
    started = time.perf_counter()
    error = ask(None, model=lambda prompts: time.sleep(30), deadline_s=0.2)
    assert type(error) is LLMStoppedError
    assert time.perf_counter() - started < 20


def test_formats_are_refused_without_asking():
    error = ask(None, request(reply_format="json_object"), model=shout)
    assert type(error) is UnsupportedFormatError
    assert error.attempts == 0


def test_conversations_become_one_text():
    one = Request((Message("system", "Be brief."), Message("user", "Hello")))
    assert _flatten(one) == "Be brief.\n\nHello"
    turns = (Message("system", "S"), Message("user", "1"), Message("assistant", "2"), Message("user", "3"))
    assert _flatten(Request(turns)) == "S\n\nUser: 1\n\nAssistant: 2\n\nUser: 3\n\nAssistant:"


def test_a_function_of_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def judge(prompts):\n    return [prompt[::-1] for prompt in prompts]\n")
    assert ask(None, request("abc"), model=f"{path}:judge").text == "cba"
    llm = load_function(str(path), "judge")
    assert llm.name == "function/mine.py:judge"
    path.write_text(path.read_text() + "# changed\n")
    assert load_function(str(path), "judge").signature != llm.signature


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "does not exist"),
        ("def other(): pass\n", "has no function 'judge'; it has other"),
        ("judge = 7\n", "is not a function but int"),
        ("def judge(:\n", "cannot be loaded: SyntaxError"),
        ("raise KeyError('x')\n", "cannot be loaded: KeyError"),
    ],
)
def test_files_without_such_a_function(tmp_path, content, words):
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=words):
        ask(None, model=f"{path}:judge")


def test_the_signature_is_that_of_the_code():
    def make(word, number=1):
        return lambda prompts: [word * number for _ in prompts]

    signatures = {FunctionLLM(function).signature for function in (make("a"), make("b"), make("a", 2), shout)}
    assert len(signatures) == 4
    assert FunctionLLM(make("a")).signature == FunctionLLM(make("a")).signature
    assert FunctionLLM(print).signature == "function/print#unknown"
