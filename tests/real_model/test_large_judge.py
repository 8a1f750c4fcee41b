"""The real large judge: base and adapter in this process, the same over HTTP, and the base without the adapter as a writer."""

import asyncio

import pytest

from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL
from ragstone.models.large_judge import open_large_judge
from ragstone.models.llama_engine import LlamaChat
from ragstone.models.store import Store
from ragstone.tools.open_tools import ToolFactory
from tests.conftest import MODELS
from tests.real_model.chat_model import require_speed, threads

pytestmark = pytest.mark.slow
CHUNK = "The harbour museum opens at ten. It is closed on Mondays. Tickets cost 8 euros; children under six enter free."
TABLE = "| pass | price |\n|---|---|\n| day | 14 € |\n| week | 45 € |"
PAIRS = [
    (CHUNK, "The museum is open on Mondays.", CONTRADICTION),
    (CHUNK, "Children of five pay nothing.", ENTAILMENT),
    (CHUNK, "The museum has a café.", NEUTRAL),
    # Not a comparison of two cells: that is one of the weak kinds on its card.
    (TABLE, "You pay 45 euros for a week.", ENTAILMENT),
    (
        "Das Museum öffnet um zehn Uhr und ist montags geschlossen.",
        "Am Montag kann man das Museum nicht besuchen.",
        ENTAILMENT,
    ),
    ("博物馆十点开门，星期一闭馆。", "博物馆星期一开放。", CONTRADICTION),
]


@pytest.fixture(scope="module")
def chat():
    pytest.importorskip("xllamacpp", reason="there is no xllamacpp for this machine")
    if Store(MODELS).find("judge-1.5b") is None:
        pytest.skip("the model is not there: make qwen15")
    require_speed()
    made = LlamaChat(open_large_judge(Store(MODELS)), threads=threads())
    made.ask({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1})
    yield made
    made.close()


def verdicts(options):
    """The verdicts on all pairs, and their probabilities."""

    async def ask():
        opened = ToolFactory({**options, "cache": False}, 2).open()
        try:
            return [(await opened.tools["checker"].check("", [claim], [text]))[0][0] for text, claim, _ in PAIRS]
        finally:
            await opened.close()

    return asyncio.run(ask())


def test_in_this_process_and_over_http(chat, monkeypatch):
    monkeypatch.setattr("ragstone.tools.llama._chat", lambda _: chat)
    monkeypatch.setattr(chat, "close", lambda: None)
    monkeypatch.setenv("RAGSTONE_MODELS", str(MODELS))
    here = verdicts({"judge": "local-large"})
    assert here == [right for *_, right in PAIRS]
    there = verdicts({"judge": "llamacpp/ragstone-judge", "base_url": f"{chat._engine.listening_address}/v1"})
    assert there == here
    # What was read in one piece and what was continued differ in the last digits.
    assert [one.support for one in there] == pytest.approx([one.support for one in here], abs=0.03)


def test_it_writes_claims_without_the_adapter_and_judges_as_before(chat, monkeypatch):
    monkeypatch.setattr("ragstone.tools.llama._chat", lambda _: chat)
    monkeypatch.setattr(chat, "close", lambda: None)
    monkeypatch.setenv("RAGSTONE_MODELS", str(MODELS))
    options = {"judge": "local-large", "extractor": "local-large", "cache": False}

    async def ask():
        opened = ToolFactory(options, 2).open()
        try:
            extractor, checker = opened.tools["extractor"], opened.tools["checker"]
            text, claim, _ = PAIRS[0]
            before = (await checker.check("", [claim], [text]))[0][0]
            question, answer = (
                "How long can I park?",
                "You can park for two hours, and it is free on Sundays. Enjoy your day!",
            )
            claims = [one.text for one in await extractor.claims(question, answer)]
            return before, claims, (await checker.check("", [claim], [text]))[0][0]
        finally:
            await opened.close()

    before, claims, after = asyncio.run(ask())
    assert 2 <= len(claims) <= 3
    assert any("two hours" in claim for claim in claims)
    assert any("Sunday" in claim for claim in claims)
    assert before.support == pytest.approx(after.support, abs=0.03), "the writer does not disturb the judge"
