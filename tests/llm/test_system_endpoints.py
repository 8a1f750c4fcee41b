"""Models and applications behind chat endpoints, over real HTTP."""

import json

import pytest

from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.llm.cache import Cache
from ragstone.llm.failures import LLMAccessError, LLMError
from ragstone.llm.retrieved import RETRIEVAL_RESPONSE
from ragstone.llm.system_endpoints import find_system_endpoint
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
