"""Token verdicts by a real chat model in this process, on claims of our own."""

import asyncio
import time

import pytest

import ragstone
from ragstone.llm.prompts import PromptBook
from ragstone.llm.providers.openai import chat_body
from ragstone.models.llama_engine import Gguf, LlamaChat
from ragstone.tools.llama import LlamaLLM
from ragstone.tools.token_judges import TokenChecker, TokenGrader
from tests.real_model.chat_model import THREADS, find_chat_model, require_speed, threads
from tests.real_model.conftest import find_weights
from tests.real_model.support_set import CLAIMS, SETS, auc
from tests.tools.checking import in_text

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]


@pytest.fixture(scope="module")
def llm():
    require_speed()
    path = find_chat_model()
    return LlamaLLM("llama/test", LlamaChat(Gguf("test", path, f"llama/{path.stem}"), threads=threads()))


@pytest.fixture(scope="module")
def verdicts(llm):
    """The verdict on each claim of the set, and the seconds that a claim took."""

    async def check():
        checker = TokenChecker(llm, PromptBook(), one_by_one=True)
        return [one for _, text, claims in SETS for one in await in_text(checker, "", [c for _, c in claims], text)]

    # The first question reads the instructions and the examples.
    asyncio.run(in_text(TokenChecker(llm, PromptBook()), "", ["It is red."], "The boat is red."))
    started = time.perf_counter()
    found = asyncio.run(check())
    return found, (time.perf_counter() - started) / len(found)


def test_support_on_claims_of_our_own(verdicts):
    found, seconds = verdicts
    labels = [label for _, _, label, _ in CLAIMS]
    likely = {
        kind: [one.support for one, label in zip(found, labels, strict=True) if label in kind] for kind in ("S", "CN")
    }
    right = sum(value >= 0.5 for value in likely["S"]) + sum(value < 0.5 for value in likely["CN"])
    area = auc(likely["S"], likely["CN"])
    words = {"S": "entailment", "C": "contradiction", "N": "neutral"}
    three = sum(one == words[label] for one, label in zip(found, labels, strict=True))
    print(f"\nsupport: {right} of {len(found)} right, AUC {area:.3f}; three words: {three}; {seconds:.1f} s a claim")
    for one, (domain, _, label, claim) in zip(found, CLAIMS, strict=True):
        print(f"  {label} {one.to_text():<40} {domain}: {claim}")
    assert right / len(found) >= 0.75
    assert area >= 0.85


def test_matches_on_answers_of_our_own(llm):
    rows = [
        ("When does the last boat leave?", "21:40", "The last boat departs at 21:40.", True),
        ("When does the last boat leave?", "21:40", "It leaves at 18:15.", False),
        ("May dogs travel?", "Yes, with a muzzle.", "Dogs are allowed if they wear a muzzle.", True),
        ("May dogs travel?", "Yes, with a muzzle.", "No, dogs must stay on land.", False),
    ]
    grader = TokenGrader(llm, PromptBook())
    found = [asyncio.run(grader.matches(question, answer, [right]))[0] for question, right, answer, _ in rows]
    print(f"\nmatches: {[f'{value:.2f}' for value in found]}")
    assert auc([found[0], found[2]], [found[1], found[3]]) == 1.0


def test_a_judge_with_no_server_and_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    require_speed()
    monkeypatch.setenv(THREADS, str(threads()))
    _, text, _ = SETS[0]
    row = {
        "question": "When does the last boat leave?",
        "answer": "The last boat departs at 21:40.",
        "contexts": [text],
    }
    name = f"llama/{find_chat_model()}"
    run = ragstone.evaluate([row], "ragchecker.faithfulness", judge=name, out=tmp_path / "out")
    [line] = run.summary()
    assert line.n_ok == 1
    assert run.info["totals"]["calls"] >= 1
    again = ragstone.evaluate([row], "ragchecker.faithfulness", judge=name, out=tmp_path / "out")
    assert (again.info["totals"]["calls"], again.info["totals"]["cached_calls"] > 0) == (0, True)


def test_the_evidence_is_read_once_for_all_claims():
    """With the smallest model: its verdicts are of no use, what it has kept in memory is."""
    weights = find_weights()
    pytest.importorskip("xllamacpp", reason="there is no xllamacpp for this machine")
    chat = LlamaChat(Gguf("smollm2", weights, "llama/smollm2"), threads=1)
    read = {}

    class Counted(LlamaLLM):
        async def complete(self, request):
            body = chat_body(request)
            usage = chat.ask(body)["usage"]
            new = usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"]
            read.setdefault(request.prompt, []).append(new)
            return await super().complete(request)

    _, text, claims = SETS[0]
    checker = TokenChecker(Counted("llama/smollm2", chat), PromptBook(), one_by_one=True)
    asyncio.run(in_text(checker, "", [claim for _, claim in claims[:2]], text))
    print(f"\ntokens read by question: {read}")
    assert len(read["token_support"]) == 2
    for first, *later in read.values():
        assert first > 300, "instructions and examples"
        assert all(new < 60 for new in later), "a claim and its question"
