"""The field's checkers as tools: what servers are sent, how replies are read, and whole runs with toy weights."""

import asyncio
import json
import math
import os
from dataclasses import replace

import pytest

import ragstone
from ragstone.data.verdict import Verdict
from ragstone.errors import UsageError
from ragstone.llm.base import LLMReplyError
from ragstone.models.checker_facts import CHECKERS, recognise
from ragstone.tools.checkers import LocalCascade
from ragstone.tools.open_tools import ToolFactory
from tests.http.loopback import completion, loopback
from tests.models.tiny_checkers import encoder_folder, installed, t5_folder
from tests.tools.checking import in_chunks, in_text

__all__ = ["loopback"]
BESPOKE_SYSTEM = CHECKERS["bespoke-minicheck"].system
GUARDIAN_CRITERIA = (
    "A text is considered ungrounded or unfaithful if it includes information lacking support from, or directly "
    "contradicting, the provided document(s). This risk arises when the text fabricates details, misinterprets the content, "
    "or makes unsupported extrapolations beyond what is explicitly stated in the document(s)."
)
ROWS = [
    {
        "id": str(number),
        "question": "Where is the light?",
        "answer": f"The light is on the mole. It is as tall as {number} boats.",
        "contexts": ["The light is on the mole.", f"The tower is as tall as {number} boats."],
        "references": ["The light is on the mole."],
    }
    for number in range(3)
]
METRIC = "ragas.faithfulness"
BESPOKE, GUARDIAN33, GUARDIAN41 = (
    "ollama/bespoke-minicheck",
    "vllm/ibm-granite/granite-guardian-3.3-8b",
    "vllm/ibm-granite/granite-guardian-4.1-8b",
)
LYNX = "vllm/PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct-v1.1"


@pytest.fixture(autouse=True)
def claims_by_rules(monkeypatch, tmp_path):
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))


def ask(model, server, work):
    async def ask_tool():
        opened = ToolFactory({"checker": model, "base_url": server and server.url, "cache": False}, 4).open()
        try:
            return await work(opened.tools["checker"])
        finally:
            await opened.close()

    return asyncio.run(ask_tool())


def first_token(*likely):
    """A completion with the probabilities of its first token."""
    top = [{"token": token, "logprob": math.log(value)} for token, value in likely]
    data = completion(likely[0][0])
    data["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return data


def sent(server):
    return [asked.json for asked in server.asked]


async def check_one(checker, claim="It shines.", text="The light is on the mole.", question="Where?"):
    return (await in_text(checker, question, [claim], text))[0]


def test_bespoke_minicheck_is_asked_in_its_own_form(loopback):
    loopback.handler = lambda _: first_token(("Yes", 0.7), ("No", 0.2), ("yes", 0.05), (" YES", 0.01))
    verdict = ask(BESPOKE, loopback, check_one)
    assert verdict == "entailment"
    assert verdict.support == pytest.approx(0.76)
    [body] = sent(loopback)
    assert body["model"] == "bespoke-minicheck"
    assert body["messages"] == [
        {"role": "system", "content": BESPOKE_SYSTEM},
        {"role": "user", "content": "Document: The light is on the mole.\nClaim: It shines."},
    ]
    assert (body["max_tokens"], body["temperature"], body["logprobs"]) == (1, 0, True)
    assert BESPOKE_SYSTEM.startswith(
        "Determine whether the provided claim is consistent with the corresponding document. Con"
    )
    assert BESPOKE_SYSTEM.endswith('responding with either "Yes" or "No".')


def test_bespoke_minicheck_reads_each_sentence_of_a_claim_and_the_weakest_counts(loopback):
    yes, no = ("Yes", 0.9), ("No", 0.1)
    loopback.handler = lambda asked: first_token(
        *((yes, no) if "shines" in str(asked.json) else (("Yes", 0.2), ("No", 0.8)))
    )
    verdict = ask(BESPOKE, loopback, lambda checker: check_one(checker, "It shines. It sings."))
    assert verdict.support == pytest.approx(0.2)
    assert [body["messages"][1]["content"].partition("Claim: ")[2] for body in sent(loopback)] == [
        "It shines.",
        "It sings.",
    ]


@pytest.mark.parametrize(("reply", "support"), [("Yes", 1.0), ("No", 0.0), (" no.", 0.0), ("**Yes**, it is", 1.0)])
def test_without_probabilities_the_word_counts(loopback, reply, support):
    loopback.handler = lambda _: completion(reply)
    assert (ask(BESPOKE, loopback, check_one)).support == support


@pytest.mark.parametrize("reply", ["Yesterday", "Not sure", "Nothing contradicts it", "TRUE", "", "!"])
def test_another_word_is_no_verdict(loopback, reply):
    """It was 0 for each word that begins as no, and with probabilities for any word at all."""
    loopback.handler = lambda _: completion(reply)
    with pytest.raises(LLMReplyError, match="returned no verdict"):
        ask(BESPOKE, loopback, check_one)
    loopback.handler = lambda _: first_token((reply or " ", 0.9), ("Yes", 0.05))
    with pytest.raises(LLMReplyError, match="returned no verdict"):
        ask(BESPOKE, loopback, check_one)


def test_a_model_has_words_of_its_own_in_the_table(loopback, monkeypatch):
    words = {"true": 1.0, "unclear": 0.5, "not": 0.0}
    mine = replace(CHECKERS["bespoke-minicheck"], name="mine", spelled="mine", sentences="", words=words)
    monkeypatch.setitem(CHECKERS, "mine", mine)
    recognise.cache_clear()
    found = {}
    for reply in ("TRUE", " not.", "Unclear"):
        loopback.handler = lambda _, reply=reply: completion(reply)
        found[reply] = ask("vllm/acme/mine", loopback, check_one).support
    assert found == {"TRUE": 1.0, " not.": 0.0, "Unclear": 0.5}
    loopback.handler = lambda _: first_token(("TRUE", 0.6), ("Unclear", 0.2), ("NOT", 0.1))
    assert ask("vllm/acme/mine", loopback, check_one).support == pytest.approx(0.7)
    loopback.handler = lambda _: first_token(("UN", 0.9), ("TRUE", 0.1))  # A word of several tokens.
    with pytest.raises(LLMReplyError, match="returned no verdict"):
        ask("vllm/acme/mine", loopback, check_one)
    recognise.cache_clear()
    assert {body["max_tokens"] for body in sent(loopback)} == {8}


def test_a_model_that_is_only_in_the_table_is_asked_with_its_template(loopback, monkeypatch):
    mine = replace(
        CHECKERS["bespoke-minicheck"],
        name="mine",
        spelled="mine",
        system="",
        template="{text} | {claim}?",
        sentences="",
    )
    monkeypatch.setitem(CHECKERS, "mine", mine)
    recognise.cache_clear()
    loopback.handler = lambda _: first_token(("Yes", 0.7), ("No", 0.3))
    assert ask("vllm/acme/mine", loopback, check_one).support == pytest.approx(0.7)
    recognise.cache_clear()
    [body] = sent(loopback)
    assert body["messages"] == [{"role": "user", "content": "The light is on the mole. | It shines.?"}]
    assert "chat_template_kwargs" not in body


@pytest.mark.parametrize(
    "name", [name for name, one in CHECKERS.items() if one.runner == "chat" and not name.startswith("granite-guardian")]
)
def test_every_chat_model_is_sent_claim_and_text(loopback, name):
    yes = max(CHECKERS[name].words, key=CHECKERS[name].words.get)
    loopback.handler = lambda _: completion(f'{yes} {{"SCORE": "PASS"}}')
    assert ask(f"vllm/{name}", loopback, check_one).support == 1.0
    assert all(words in str(sent(loopback)) for words in ("It shines.", "The light is on the mole."))


def test_granite_guardian_3_3_on_vllm(loopback):
    loopback.handler = lambda _: completion("<think>\n</think>\n<score> yes </score>")
    verdict = ask(GUARDIAN33, loopback, check_one)
    assert (verdict, verdict.support) == ("neutral", 0.0)  # yes: not grounded
    [body] = sent(loopback)
    assert body["messages"] == [{"role": "assistant", "content": "It shines."}]
    assert body["chat_template_kwargs"] == {
        "documents": [{"doc_id": "0", "text": "The light is on the mole."}],
        "guardian_config": {"criteria_id": "groundedness"},
        "think": False,
    }


def test_granite_guardian_3_3_on_ollama(loopback):
    loopback.handler = lambda _: completion("<score> no </score>")
    assert (ask("ollama/ibm/granite3.3-guardian:8b", loopback, check_one)).support == 1.0
    [body] = sent(loopback)
    assert body["messages"] == [
        {"role": "system", "content": "groundedness"},
        {"role": "document", "content": "The light is on the mole."},
        {"role": "assistant", "content": "It shines."},
    ]
    assert "chat_template_kwargs" not in body


def test_granite_guardian_4_1(loopback):
    loopback.handler = lambda _: completion("<think>\n</think><score>no</score>")
    assert ask(GUARDIAN41, loopback, check_one) == "entailment"
    [body] = sent(loopback)
    claim, block = body["messages"]
    assert claim == {"role": "assistant", "content": "It shines."}
    assert block["role"] == "user"
    assert block["content"].startswith("<guardian><no-think>As a judge agent, assess whether")
    assert (
        "Output empty <think>\\n</think> tags followed by your score in <score></score> tags.\n\n" in block["content"]
    )
    assert f"\n\n### Criteria: {GUARDIAN_CRITERIA}\n\n### Scoring Schema: If the last" in block["content"]
    assert block["content"].endswith("meets the criteria, return 'yes'; otherwise, return 'no'.")
    assert body["chat_template_kwargs"] == {"documents": [{"doc_id": "0", "text": "The light is on the mole."}]}


def test_the_probability_inside_the_score_counts(loopback):
    def reply(_):
        data = completion("<score> no </score>")
        tokens = [("<score>", []), (" no", [(" no", 0.75), (" yes", 0.25)]), (" </score>", [])]
        data["choices"][0]["logprobs"] = {
            "content": [
                {"token": t, "logprob": -0.1, "top_logprobs": [{"token": o, "logprob": math.log(p)} for o, p in top]}
                for t, top in tokens
            ]
        }
        return data

    loopback.handler = reply
    assert (ask(GUARDIAN41, loopback, check_one)).support == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(
    ("reply", "support"),
    [
        ('{"REASONING": ["* it says so"], "SCORE": "PASS"}', 1.0),
        ('```json\n{"REASONING": ["The "SCORE" is"], "SCORE": FAIL}\n```', 0.0),
        ("{'REASONING': 'a', 'SCORE': 'FAIL'}", 0.0),
    ],
)
def test_lynx(loopback, reply, support):
    loopback.handler = lambda _: completion(reply)
    assert (ask(LYNX, loopback, check_one)).support == support
    [body] = sent(loopback)
    [message] = body["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith("Given the following QUESTION, DOCUMENT and ANSWER you must analyze")
    assert (
        "--\nQUESTION (THIS DOES NOT COUNT AS BACKGROUND INFORMATION):\nWhere?\n\n--\nDOCUMENT:\nThe light is on the mole."
        '\n\n--\nANSWER:\nIt shines.\n\n--\n\nYour output should be in JSON FORMAT with the keys "REASONING" and "SCORE":\n'
        '{"REASONING": <your reasoning as bullet points>, "SCORE": <your final score>}\n'
    ) in message["content"]
    assert "logprobs" not in body


@pytest.mark.parametrize("model", [BESPOKE, GUARDIAN33, LYNX])
def test_a_reply_without_a_verdict_fails_the_cell(loopback, tmp_path, model):
    loopback.handler = lambda _: completion("I am a poet.")
    run = ragstone.evaluate(ROWS[:1], METRIC, tmp_path / "runs", checker=model, base_url=loopback.url, cache=False)
    [score] = run.scores.to_pylist()
    assert score["value"] is None
    assert "returned no verdict: 'I am a poet.'" in str(score)


def test_a_whole_run_asks_each_claim_and_chunk_once_and_records_the_checker(loopback, tmp_path):
    loopback.handler = lambda asked: first_token(("Yes", 0.9), ("No", 0.1))
    run = ragstone.evaluate(ROWS, METRIC, tmp_path / "runs", checker=BESPOKE, base_url=loopback.url, cache=False)
    assert [row["value"] for row in run.scores.to_pylist()] == [pytest.approx(0.9)] * 3
    prompts = [body["messages"][-1]["content"] for body in sent(loopback)]
    assert all(prompt.startswith("Document: ") for prompt in prompts)
    assert "bespoke-minicheck,temperature=0;form=bespoke-minicheck/1" in str(run.scores.to_pylist())


def test_the_cache_tells_documents_apart(loopback, tmp_path):
    """Documents are not in the messages of a guardian, so they must be in the key."""
    loopback.handler = lambda _: completion("<score> no </score>")
    ragstone.evaluate(ROWS, METRIC, tmp_path / "runs", checker=GUARDIAN33, base_url=loopback.url)
    documents = {body["chat_template_kwargs"]["documents"][0]["text"] for body in sent(loopback)}
    assert len(documents) >= 4
    before = len(loopback.asked)
    ragstone.evaluate(ROWS, METRIC, tmp_path / "again", checker=GUARDIAN33, base_url=loopback.url)
    assert len(loopback.asked) == before


def test_a_quote_counts_calls_and_makes_none(loopback):
    quote = ragstone.quote(ROWS, METRIC, checker=BESPOKE, base_url=loopback.url)
    assert not loopback.asked
    assert "bespoke" in str(quote) or quote


@pytest.mark.parametrize("option", ["judge", "extractor"])
@pytest.mark.parametrize("model", ["factcg", BESPOKE, f"local>{BESPOKE}"])
def test_a_checker_does_not_take_other_roles(tmp_path, option, model):
    if option == "extractor" and ">" in model:
        pytest.skip("an extractor is not a cascade")
    with pytest.raises(UsageError, match=r"only checks claims: name it with --checker"):
        ragstone.evaluate(ROWS, METRIC, tmp_path / "runs", **{option: model})


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("factcg", "ragstone models pull factcg"),
        (
            "vllm/yaxili96/FactCG-DeBERTa-v3-Large",
            "is not a chat model: it runs in this process. Write --checker factcg",
        ),
        ("bespoke-minicheck", "needs a server: ollama pull bespoke-minicheck"),
        ("bespokelabs/Bespoke-MiniCheck-7B", "needs a server: ollama pull bespoke-minicheck"),
        ("ollama/granite-guardian-4.1:8b", "Use vllm/ or llamacpp/"),
        ("ollama/granite3-guardian:2b", "a form of its own that Ragstone does not know"),
    ],
)
def test_errors_say_what_to_do(tmp_path, model, message):
    with pytest.raises(UsageError) as caught:
        ragstone.evaluate(ROWS, METRIC, tmp_path / "runs", checker=model)
    assert message in str(caught.value)


def test_an_unknown_model_is_asked_as_any_language_model(loopback, tmp_path):
    loopback.handler = lambda _: completion(json.dumps({"verdicts": []}))
    ragstone.evaluate(
        ROWS[:1], METRIC, tmp_path / "runs", checker="vllm/my-own-checker", base_url=loopback.url, cache=False
    )
    assert "Document: " not in str(sent(loopback)[0]["messages"][-1]["content"][:20])


def test_a_run_with_a_checker_in_this_process(tmp_path):
    encoder_folder(tmp_path / "made", 3)
    installed(tmp_path / "models", tmp_path / "made", "nli-deberta-v3-base")
    spellings = ("nli-deberta-v3-base", "cross-encoder/nli-deberta-v3-base", "local/nli-deberta-v3-base")
    runs = [ragstone.evaluate(ROWS, METRIC, tmp_path / "runs", checker=name) for name in spellings]
    values = [[row["value"] for row in run.scores.to_pylist()] for run in runs]
    assert values[0] == values[1] == values[2]
    assert all(0 < value < 1 for value in values[0])
    assert "checker/nli-deberta-v3-base#" in str(runs[0].scores.to_pylist())


def test_chunks_alone_and_together(tmp_path):
    t5_folder(tmp_path / "made")
    installed(tmp_path / "models", tmp_path / "made", "minicheck-flan-t5")
    chunks = ["The light is on the mole.", "The tower is high.", ""]

    async def both(checker):
        found = await in_chunks(checker, "Where?", ["It shines.", ""], chunks, "Earlier words.")
        alone = await in_text(checker, "Where?", ["It shines."], chunks[1])
        return found, alone

    found, [alone] = ask("minicheck-flan-t5", None, both)
    assert all(isinstance(verdict, Verdict) for row in found.each for verdict in row)
    assert found.each[0][1].support == alone.support
    assert (found.each[0][2], found.each[0][2].support) == ("neutral", 0.0)  # nothing in it
    assert [verdict.support for verdict in found.each[1]] == [0.0] * 3
    assert len(found.together) == len(found.history) == 2


def test_a_checker_above_the_local_judge(loopback):
    loopback.handler = lambda _: first_token(("Yes", 0.9), ("No", 0.1))

    async def kind(checker):
        return type(checker), checker.signature

    cascade, signature = ask(f"local>{BESPOKE}", loopback, kind)
    assert cascade is LocalCascade
    assert "form=bespoke-minicheck/1@0.9" in signature


def test_published_replies_of_bespoke_minicheck():
    """Runs if RAGSTONE_BESPOKE names a server with the model: vllm/bespokelabs/Bespoke-MiniCheck-7B."""
    if not (model := os.environ.get("RAGSTONE_BESPOKE")):
        pytest.skip("no server with Bespoke-MiniCheck")
    for text, claim, expected in CHECKERS["bespoke-minicheck"].published:
        found = ask(model, None, lambda checker, claim=claim, text=text: check_one(checker, claim, text))
        assert found.support == pytest.approx(expected, abs=0.02)
