"""Claims against chunks and earlier turns: one call for all, and turns that do not change what chunks say."""

import asyncio
import json

import pytest

from ragstone.data.types import ScoredVerdict, Turn
from ragstone.llm.prompts import PromptBook
from ragstone.tools.cascade import LadderChecker, TokenLadder
from ragstone.tools.llm_extractor import JudgeExtractor
from ragstone.tools.llm_judges import JudgeChecker
from ragstone.tools.local_judges import LocalChecker, LocalExtractor
from ragstone.tools.protocols import ChunkVerdicts, ConversationVerdicts
from ragstone.tools.token_judges import TokenChecker
from ragstone.tools.verdict_tools import WithFallback
from tests.tools.test_cascade import AGAINST, SURE, UNSURE, Local
from tests.tools.test_llm_judges import entry, judge, shown, word_in_chunks
from tests.tools.test_token_judges import YesNo, by_words

E, N, C = "entailment", "neutral", "contradiction"


def run(awaited):
    return asyncio.run(awaited)


def test_the_turns_are_one_more_text_of_the_last_call():
    llm, asked = judge(word_in_chunks)
    chunks = [f"chunk {number} oak" for number in range(20)]
    found = run(JudgeChecker(asked).against_conversation("q", ["oak", "elm", "ash"], chunks, "elm not ash"))
    assert len(llm.requests) == 2, "as many as without the turns"
    assert [len(shown(request, "chunks")) for request in llm.requests] == [10, 11]
    assert found.history == [N, E, C]
    assert found.chunks.each == [[E] * 20, [N] * 20, [N] * 20]
    assert found.chunks.together == [E, N, N]


def test_without_chunks_the_turns_are_asked_about_alone():
    llm, asked = judge(word_in_chunks)
    found = run(JudgeChecker(asked).against_conversation("q", ["oak"], [], "an oak"))
    assert (found.history, found.chunks) == ([E], ([[]], [N], None))
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("row", "each", "together", "history"),
    [
        (entry(1, "C"), [N, N], N, E),
        ({"claim": 1, "supported_by": ["A+C"], "contradicted_by": []}, [N, N], N, E),
        ({"claim": 1, "supported_by": ["A+B"], "contradicted_by": []}, [N, N], E, N),
        ({"claim": 1, "supported_by": ["A", "C"], "contradicted_by": []}, [E, N], E, E),
        ({"claim": 1, "supported_by": ["B"], "contradicted_by": ["C"]}, [N, E], E, C),
    ],
)
def test_what_needs_the_turns_counts_for_them(row, each, together, history):
    _, asked = judge([{"verdicts": [row]}])
    found = run(JudgeChecker(asked).against_conversation("q", ["x"], ["a", "b"], "c"))
    assert (found.chunks.each, found.chunks.together, found.history) == ([each], [together], [history])


def test_tokens_ask_about_the_turns_only_where_no_chunk_supports():
    model = YesNo(by_words)
    checker = TokenChecker(model, PromptBook())
    found = run(checker.against_conversation("q", ["oak", "elm"], ["an oak"], "an elm and an oak"))
    assert found.chunks.each == [[E], [N]]
    assert found.history == [N, E]
    without = YesNo(by_words)
    run(TokenChecker(without, PromptBook()).against_chunks("q", ["oak", "elm"], ["an oak"]))
    assert len(model.requests) == len(without.requests) + 1
    fallback = WithFallback(TokenChecker(YesNo(by_words), PromptBook()), None)
    assert run(fallback.against_conversation("q", ["elm"], [], "an elm")).history == [E]


class Above:
    """A language model that contradicts everything."""

    signature = "llm"

    def __init__(self):
        self.asked = []

    def prompt_hash(self, name):
        return name

    def calls_for(self, claims, chunks=1):
        return min(claims * chunks, 1)

    async def against_conversation(self, question, claims, chunks, history):
        self.asked.append((list(claims), list(chunks), history))
        none = ChunkVerdicts([[C] * len(chunks) for _ in claims], [C] * len(claims), None)
        return ConversationVerdicts(none, [C] * len(claims))


def test_a_cascade_escalates_the_turns_with_unsure_chunks():
    above = Above()
    supports = {("a", "1"): SURE, ("b", "1"): UNSURE, ("a", "past"): AGAINST, ("b", "past"): UNSURE}
    ladder = LadderChecker(Local(supports), above, 0.9)
    found = run(ladder.against_conversation("q", ["a", "b"], ["1"], "past"))
    assert above.asked == [(["b"], ["1"], "past")]
    assert found.history == [str(AGAINST), C]
    alone = Above()
    sure = {("a", "1"): SURE, ("a", "past"): UNSURE}
    found = run(LadderChecker(Local(sure), alone, 0.9).against_conversation("q", ["a"], ["1"], "past"))
    assert (alone.asked, len(found.history)) == ([], 1)


def test_a_cascade_of_models():
    class Below:
        signature = "below"

        def prompt_hash(self, name):
            return name

        async def against_conversation(self, question, claims, chunks, history):
            unsure = ScoredVerdict(E, 0.7, 0.0, 0.7)
            verdicts = ChunkVerdicts([[unsure] for _ in claims], [unsure for _ in claims], None)
            return ConversationVerdicts(verdicts, [ScoredVerdict(E, 0.99, 0.0, 0.99), unsure])

    above = Above()
    found = run(TokenLadder(Below(), above, 0.9).against_conversation("q", ["a", "b"], ["1"], "past"))
    assert above.asked == [(["a", "b"], ["1"], "past")]
    assert found.history == [E, C]


def test_the_local_checker_reads_the_turns_by_themselves():
    class Reads(LocalChecker):
        def __init__(self):
            pass

        async def against_chunks(self, question, claims, chunks):
            return ChunkVerdicts([[N]], [N], None)

        async def weigh(self, claims, texts):
            return [[f"{claim} in {text}" for text in texts] for claim in claims]

    assert run(Reads().against_conversation("q", ["a"], ["b"], "c")).history == ["a in c"]


TURNS = [Turn("user", "What does the museum cost?"), Turn("assistant", "Ten. " * 1000)]


def test_a_question_is_completed_by_one_call():
    llm, asked = judge([{"question": "What does the museum cost for children?"}])
    found = run(JudgeExtractor(asked).standalone_question("And for children?", TURNS * 20))
    assert found == "What does the museum cost for children?"
    [request] = llm.requests
    turns = shown(request, "history")
    assert len(turns) == 12, "the latest ones"
    assert turns[0] == ("1", "user: What does the museum cost?")
    assert len(turns[1][1]) < 1600
    assert json.loads(request.guess)["question"] == "What does the museum cost? And for children?"


def test_a_question_is_completed_by_a_rule():
    extractor = LocalExtractor()
    assert run(extractor.standalone_question("And for children?", TURNS)) == (
        "What does the museum cost? And for children?"
    )
