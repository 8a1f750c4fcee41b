"""Models and applications behind chat endpoints, over real HTTP.

The seam to a user's system: functions, files, chains; commands and endpoints have files of their own.
"""

import asyncio
import json
import threading
import time

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from ragstone.data.types import Chunk, Turn
from ragstone.errors import UsageError
from ragstone.llm.base import LLMAccessError, LLMError, LLMStoppedError
from ragstone.llm.budget import Budget
from ragstone.llm.cache import Cache
from ragstone.llm.systems import RETRIEVAL_RESPONSE, Answer, find_system_endpoint
from tests.http.loopback import completion
from tests.llm.systems import PASSAGES, answer, using

CHUNKS = {
    "chunks": [
        {"attachment_url": "files/a.pdf", "source": {"url": "files/a.pdf", "display_name": "a.pdf"}, "text": "One."},
        {"attachment_url": "files/b.pdf", "source": {"url": "files/b.pdf#page=2"}, "text": None, "page": {"number": 2}},
    ],
    "images": [],
}


def with_attachment(text, data, kind=RETRIEVAL_RESPONSE):
    reply = completion(text)
    attachments = [{"type": "text/markdown", "data": "more"}, {"type": kind, "title": "retrieved", "data": data}]
    reply["choices"][0]["message"]["custom_content"] = {"attachments": attachments}
    return reply


def asked_text(loopback):
    return loopback.asked[-1].json["messages"][-1]["content"]


def test_a_model_is_asked_with_passages_in_our_words(loopback):
    assert answer("openai/m", "When?", PASSAGES, base_url=loopback.url).text == "fine"
    text = asked_text(loopback)
    assert "[1] The last boat leaves at 21:40.\n\n[2] Dogs travel free." in text
    assert text.endswith("Question: When?")
    assert "insufficient information" in text
    answer("openai/m", "末班船几点开？", PASSAGES, base_url=loopback.url)
    assert "信息不足" in asked_text(loopback)


def test_without_passages_the_question_alone_is_sent(loopback):
    answer("openai/m", "When?", base_url=loopback.url)
    assert asked_text(loopback) == "When?"


def test_a_template_of_ones_own(loopback, tmp_path):
    template = tmp_path / "mine.md"
    template.write_text("Q {question} C {contexts} {other}")
    answer("openai/m", "{contexts}?", PASSAGES[:1], template=template, base_url=loopback.url)
    assert asked_text(loopback) == "Q {contexts}? C [1] The last boat leaves at 21:40. {other}"
    template.write_text("no slot")
    with pytest.raises(UsageError, match="has no slot"):
        answer("openai/m", template=template, base_url=loopback.url)
    template.write_text("{question}")

    async def takes(system):
        return system.takes_contexts

    assert not using("openai/m", takes, template=template, base_url=loopback.url)


def test_an_address_with_a_model_and_a_key(loopback, monkeypatch):
    monkeypatch.setenv("RAGSTONE_SYSTEM_KEY", "my-own-key")
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-them")
    assert answer(f"{loopback.url}/chat/completions#llama", "When?").text == "fine"
    request = loopback.asked[-1]
    assert request.path == "/v1/chat/completions"
    assert request.json["model"] == "llama"
    assert request.headers["authorization"] == "Bearer my-own-key"


def test_a_dial_deployment_sends_documents_and_brings_what_it_retrieved(loopback, monkeypatch, tmp_path):
    monkeypatch.setenv("DIAL_API_KEY", "dial-key")
    loopback.handler = lambda asked: with_attachment("At nine.", json.dumps(CHUNKS))
    root = loopback.url.removesuffix("/v1")
    spec = f"{root}/openai/deployments/my%20rag/chat/completions"
    cache = Cache(tmp_path)
    found = answer(spec, "When?", documents=["files/a.pdf"], cache=cache)
    assert found.text == "At nine."
    assert found.contexts == [Chunk("One.", source="a.pdf"), Chunk("", source="files/b.pdf#page=2")]
    request = loopback.asked[-1]
    assert request.path.startswith("/openai/deployments/my%20rag/chat/completions?api-version=")
    assert request.headers["api-key"] == "dial-key"
    sent = request.json["messages"][-1]["custom_content"]["attachments"]
    assert sent == [{"type": "application/pdf", "title": "a.pdf", "url": "files/a.pdf"}]
    assert answer(spec, "When?", documents=["files/a.pdf"], cache=cache) == found
    assert len(loopback.asked) == 1
    answer(spec, "When?", documents=["files/b.pdf"], cache=cache)
    assert len(loopback.asked) == 2


def test_attachments_of_another_type_are_no_contexts(loopback):
    loopback.handler = lambda asked: with_attachment("At nine.", "{}", "application/json")
    assert answer("dial/rag", base_url=loopback.url.removesuffix("/v1")).contexts is None


@pytest.mark.parametrize("data", ["{broken", "[]", '{"chunks": 7}', '{"other": []}', '{"chunks": ["x"]}', ""])
def test_an_attachment_that_cannot_be_read_fails(loopback, data):
    loopback.handler = lambda asked: with_attachment("At nine.", data)
    with pytest.raises(LLMError, match="chunks"):
        answer("dial/rag", base_url=loopback.url.removesuffix("/v1"))


def test_a_server_in_trouble(loopback):
    loopback.handler = lambda asked: (500, {"error": {"message": "index is down"}})
    with pytest.raises(LLMError, match="index is down; given up after 2 attempts"):
        answer(f"{loopback.url}#m")
    loopback.handler = lambda asked: (404, {"error": {"message": "no such model"}})
    with pytest.raises(LLMAccessError, match="no such model"):
        answer(f"{loopback.url}#m")


def test_what_is_no_address():
    assert find_system_endpoint("openai/gpt-4o-mini") is None
    assert find_system_endpoint("http://host:1#m").url("chat/completions") == "http://host:1/v1/chat/completions"
    assert "secret" not in repr(find_system_endpoint("http://user:secret@host/v1?key=secret#m"))


@pytest.mark.parametrize("spec", ["openai/m", "{url}#m"])
def test_another_version_behind_the_same_name_is_asked_anew(loopback, tmp_path, spec):
    cache = Cache(tmp_path)
    for version in ("1", "1", "2", None):
        answer(spec.format(url=loopback.url), version=version, cache=cache, base_url=loopback.url)
    assert len(loopback.asked) == 3


def copies(question, contexts):
    return contexts[0]


def test_a_plain_function_gets_what_it_has_parameters_for():
    assert answer(lambda question: question.upper(), "boats?") == Answer("BOATS?")
    assert answer(copies, contexts=PASSAGES).text == "The last boat leaves at 21:40."
    assert answer(lambda q, passages: str(len(passages)), contexts=PASSAGES).text == "2"
    assert answer(lambda question, documents: documents[0], documents=["a.pdf"]).text == "a.pdf"


def test_an_async_function_and_an_object_with_an_async_call():
    async def ask(question, contexts=None):
        await asyncio.sleep(0)
        return f"{question} {contexts}"

    class Rag:
        async def __call__(self, question):
            return (question, ["one"])

    assert answer(ask, "when?").text == "when? None"
    assert answer(Rag(), "when?") == Answer("when?", [Chunk("one")])


def test_what_takes_no_passages_says_so():
    async def use(system):
        assert not system.takes_contexts
        system.require_contexts()

    with pytest.raises(UsageError, match="parameter `contexts`"):
        using(lambda question: "", use)


def test_several_questions_run_at_once_in_threads():
    barrier = threading.Barrier(4)

    def waits(question):
        barrier.wait(5)  # broken unless four are here together
        return question

    async def use(system):
        return await asyncio.gather(*(system.answer(f"q{number}") for number in range(4)))

    assert [found.text for found in using(waits, use, concurrency=4)] == ["q0", "q1", "q2", "q3"]


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_one_that_hangs_is_given_up(kind):
    async def sleeps(question):
        await asyncio.sleep(30)

    started = time.monotonic()
    with pytest.raises(LLMError, match=r"sent no answer within 0\.1 s"):
        answer(sleeps if kind == "async" else lambda question: time.sleep(30), timeout_s=0.1)
    assert time.monotonic() - started < 20


def test_what_a_function_raises_is_told_without_keys(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "very-secret-thing")

    def fails(question):
        raise KeyError(f"no index\nfor very-secret-thing {question}")

    with pytest.raises(LLMError) as failure:
        answer(fails, "boats")
    assert "raised KeyError: 'no index" in str(failure.value)
    assert "very-secret-thing" not in str(failure.value)


def test_a_function_that_leaves_the_program_only_fails():
    def leaves(question):
        raise SystemExit(3)

    async def leaves_too(question):
        raise SystemExit(3)

    for function in (leaves, leaves_too):
        with pytest.raises(LLMError, match="SystemExit"):
            answer(function)


def test_answers_are_cached_by_code_question_and_passages(tmp_path):
    asked = []

    def rag(question, contexts=None):
        asked.append((question, contexts))
        return question, ["from", "here"]

    cache = Cache(tmp_path)
    first = answer(rag, "a", cache=cache)
    assert answer(rag, "a", cache=cache) == first == Answer("a", [Chunk("from"), Chunk("here")])
    answer(rag, "b", cache=cache)
    answer(rag, "a", contexts=PASSAGES, cache=cache)
    assert [question for question, _ in asked] == ["a", "b", "a"]
    assert len(asked) == 3


def test_another_version_is_another_system(tmp_path):
    cache, calls = Cache(tmp_path), []

    def rag(question):
        calls.append(question)
        return "x"

    for version in ("1", "1", "2"):
        answer(rag, "a", cache=cache, version=version)
    assert len(calls) == 2


def test_a_file_with_a_neighbour(tmp_path):
    (tmp_path / "my_neighbour.py").write_text("WORD = 'sixteen'\n")
    (tmp_path / "rag.py").write_text("from my_neighbour import WORD\ndef answer(question): return WORD\n")
    spec = f"{tmp_path}/rag.py:answer"
    assert answer(spec).text == "sixteen"

    async def names(system):
        return system.name, system.signature

    name, signature = using(spec, names)
    assert name == "function/rag.py:answer"
    (tmp_path / "rag.py").write_text("def answer(question): return 'other'\n")
    assert using(spec, names)[1] != signature


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nowhere/rag.py:answer", "does not exist"),
        (7, "a system is a function"),
        ("gpt-4o-mini", "Write provider/model"),
        ("cmd:", "the command is empty"),
        ("cmd:rag 'half", "cannot be split"),
    ],
)
def test_what_is_no_system(spec, words):
    with pytest.raises(UsageError, match=words):
        answer(spec)


def test_the_budget_counts_what_a_system_says_it_cost():
    def rag(question):
        return {"answer": question, "cost_usd": 0.6}

    async def use(system):
        return (
            [await system.answer(word) for word in ("a", "b")],
            await _refused(system),
        )

    budget = Budget(1.0)
    answers, refused = using(rag, use, budget=budget)
    assert [found.text for found in answers] == ["a", "b"]
    assert "is spent" in refused
    assert budget.spent_usd == pytest.approx(1.2)


async def _refused(system):
    try:
        return (await system.answer("c")).text
    except LLMStoppedError as error:
        return str(error)


def test_a_quote_asks_nobody():
    calls = []
    found = answer(calls.append, quoting=True)
    assert found.text
    assert not calls


class TestLangChain:
    def test_a_chain_from_a_question_to_a_text(self):
        assert answer(RunnableLambda(lambda question: question.upper()), "boats?").text == "BOATS?"

    def test_a_retrieval_chain(self):
        chain = RunnablePassthrough.assign(
            context=lambda asked: [Document(asked["input"], id="7", metadata={"source": "a.txt"})]
        ).assign(answer=lambda found: found["context"][0].page_content.upper())
        chain = chain.with_types(input_type=_Input)
        assert answer(chain, "boats") == Answer("BOATS", [Chunk("boats", "7", None, "a.txt")])

    def test_a_chain_that_takes_passages(self):
        chain = PromptTemplate.from_template("{context} | {question}") | RunnableLambda(lambda prompt: prompt.text)

        async def use(system):
            system.require_contexts()
            return await system.answer("When?", PASSAGES)

        assert using(chain, use).text == "The last boat leaves at 21:40.\n\nDogs travel free. | When?"

    def test_a_chain_that_raises(self):
        def fails(question):
            raise ValueError("no retriever")

        with pytest.raises(LLMError, match="RunnableLambda raised ValueError: no retriever"):
            answer(RunnableLambda(fails))

    def test_two_chains_of_one_class_do_not_answer_for_each_other(self, tmp_path):
        cache = Cache(tmp_path)
        assert answer(RunnableLambda(lambda question: "one"), cache=cache).text == "one"
        assert answer(RunnableLambda(lambda question: "two"), cache=cache).text == "two"


class _Input(dict):
    """What the retrieval chain takes."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema, handler):
        return {"type": "object", "properties": {"input": {"type": "string"}}}

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        from pydantic_core import core_schema

        return core_schema.dict_schema()


class _Node:
    def __init__(self, text):
        self.text, self.node_id, self.metadata = text, "n1", {"file_name": "boats.md"}

    def get_content(self):
        return self.text


class _Found:
    def __init__(self, node, score):
        self.node, self.score = node, score


class _Response:
    def __init__(self, text):
        self.response, self.source_nodes = text, [_Found(_Node("Boats leave."), 0.25)]


class _PlainEngine:
    def query(self, question):
        return _Response(question.upper())


class _AsyncEngine:
    async def aquery(self, question):
        return _Response(question.upper())


class TestLlamaIndex:
    @pytest.mark.parametrize("engine", [_PlainEngine(), _AsyncEngine()])
    def test_what_looks_like_a_query_engine(self, engine):
        assert answer(engine, "boats") == Answer("BOATS", [Chunk("Boats leave.", "n1", 0.25, "boats.md")])

    def test_a_real_query_engine(self):
        pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
        from llama_index.core.base.response.schema import Response
        from llama_index.core.query_engine import CustomQueryEngine
        from llama_index.core.schema import NodeWithScore, TextNode

        class Engine(CustomQueryEngine):
            def custom_query(self, query_str):
                node = TextNode(text="Boats leave.", id_="n1", metadata={"file_name": "boats.md"})
                return Response(query_str.upper(), source_nodes=[NodeWithScore(node=node, score=0.25)])

        assert answer(Engine(), "boats") == Answer("BOATS", [Chunk("Boats leave.", "n1", 0.25, "boats.md")])


TURNS = [Turn("system", "s"), Turn("user", "What does it cost?"), Turn("assistant", "Ten.")]


def ask_after(spec, history, **options):
    return using(spec, lambda system: system.answer("And for children?", history=history), **options)


def test_a_model_gets_the_conversation_as_messages(loopback):
    assert ask_after("openai/m", TURNS, base_url=loopback.url).text == "fine"
    assert loopback.asked[-1].json["messages"] == [
        {"role": "user", "content": "What does it cost?"},
        {"role": "assistant", "content": "Ten."},
        {"role": "user", "content": "And for children?"},
    ]


def test_a_function_gets_the_conversation_if_it_takes_one():
    def talk(question, history):
        return f"{len(history)} {question}"

    assert ask_after(talk, TURNS).text == "2 And for children?"
    assert ask_after(talk, []).text == "0 And for children?"
    assert ask_after(lambda question: question, TURNS).text == "And for children?"


HALF = "half \ud83d of a character"


def test_lone_surrogates_of_a_function_can_be_stored_and_asked_for_again(tmp_path):
    calls = []

    def system(question):
        calls.append(question)
        return {"answer": HALF, "contexts": [{"text": HALF, "id": "\ud800", "source": HALF}], "note": {HALF: [HALF]}}

    cache = Cache(tmp_path)
    for _ in range(2):
        found = answer(system, HALF, cache=cache)
        json.dumps([found.text, [chunk.__repr__() for chunk in found.contexts], found.metadata]).encode()
        assert found.text == found.contexts[0].text == "half ? of a character"
        assert found.metadata == {"note": {"half ? of a character": ["half ? of a character"]}}
    assert len(calls) == 1


def test_lone_surrogates_of_a_server_can_be_stored(loopback, tmp_path):
    loopback.handler = lambda _: with_attachment(HALF, json.dumps({"chunks": [{"text": HALF}]}))
    for _ in range(2):
        found = answer("openai/m", "When?", base_url=loopback.url, cache=Cache(tmp_path))
        assert (found.text, found.contexts[0].text) == ("half ? of a character", "half ? of a character")


def test_a_cached_reply_that_cannot_be_read_is_asked_for_again(loopback, tmp_path):
    contents = iter(["no JSON", json.dumps(CHUNKS)])
    loopback.handler = lambda _: with_attachment("fine", next(contents))
    options = {"base_url": loopback.url, "cache": Cache(tmp_path)}
    with pytest.raises(LLMError, match="does not contain a list of chunks"):
        answer("openai/m", "When?", **options)
    for _ in range(2):
        assert [chunk.text for chunk in answer("openai/m", "When?", **options).contexts] == ["One.", ""]
    assert len(loopback.asked) == 2
