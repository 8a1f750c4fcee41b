"""Claims against chunks and earlier turns: one call for all, and turns that do not change what chunks say."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from ragstone.data.types import Turn
from ragstone.data.verdict import Verdict
from ragstone.llm.prompts import PromptBook
from ragstone.tools.checkers import LocalCascade, TokenCascade
from ragstone.tools.llm_extractor import JudgeExtractor
from ragstone.tools.llm_judges import JudgeChecker
from ragstone.tools.local_judges import LocalChecker, LocalExtractor
from ragstone.tools.token_judges import TokenChecker
from tests.tools.checking import Found, Stub, in_chunks
from tests.tools.test_checkers import AGAINST, SURE, UNSURE, Local
from tests.tools.test_llm_judges import entry, judge, shown, word_in_chunks
from tests.tools.test_token_judges import YesNo, by_words

E, N, C = "entailment", "neutral", "contradiction"


def run(awaited):
    return asyncio.run(awaited)


def test_the_turns_are_one_more_text_of_the_last_call():
    llm, asked = judge(word_in_chunks)
    chunks = [f"chunk {number} oak" for number in range(20)]
    found = run(in_chunks(JudgeChecker(asked), "q", ["oak", "elm", "ash"], chunks, "elm not ash"))
    assert len(llm.requests) == 2, "as many as without the turns"
    assert [len(shown(request, "chunks")) for request in llm.requests] == [10, 11]
    assert found.history == [N, E, C]
    assert found.each == [[E] * 20, [N] * 20, [N] * 20]
    assert found.together == [E, N, N]


def test_without_chunks_the_turns_are_asked_about_alone():
    llm, asked = judge(word_in_chunks)
    found = run(in_chunks(JudgeChecker(asked), "q", ["oak"], [], "an oak"))
    assert found == ([[]], [N], None, [E])
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
    found = run(in_chunks(JudgeChecker(asked), "q", ["x"], ["a", "b"], "c"))
    assert (found.each, found.together, found.history) == ([each], [together], [history])


def test_tokens_ask_about_the_turns_only_where_no_chunk_supports():
    model = YesNo(by_words)
    checker = TokenChecker(model, PromptBook())
    found = run(in_chunks(checker, "q", ["oak", "elm"], ["an oak"], "an elm and an oak"))
    assert found.each == [[E], [N]]
    assert found.history == [N, E]
    without = YesNo(by_words)
    run(in_chunks(TokenChecker(without, PromptBook()), "q", ["oak", "elm"], ["an oak"]))
    assert len(model.requests) == len(without.requests) + 1


class Above(Stub):
    """A language model that contradicts everything."""

    signature = "llm"

    def __init__(self):
        self.asked = []

    def prompt_hash(self, name):
        return name

    def calls_for(self, claims, chunks=1):
        return min(claims * chunks, 1)

    async def in_chunks(self, question, claims, chunks, history):
        self.asked.append((list(claims), list(chunks), history))
        none = Found([[C] * len(chunks) for _ in claims], [C] * len(claims))
        return none._replace(history=[C] * len(claims))


def test_a_cascade_escalates_the_turns_with_unsure_chunks():
    above = Above()
    supports = {("a", "1"): SURE, ("b", "1"): UNSURE, ("a", "past"): AGAINST, ("b", "past"): UNSURE}
    ladder = LocalCascade(Local(supports), above, 0.9)
    found = run(in_chunks(ladder, "q", ["a", "b"], ["1"], "past"))
    assert above.asked == [(["b"], ["1"], "past")]
    assert found.history == [str(AGAINST), C]
    alone = Above()
    sure = {("a", "1"): SURE, ("a", "past"): UNSURE}
    found = run(in_chunks(LocalCascade(Local(sure), alone, 0.9), "q", ["a"], ["1"], "past"))
    assert (alone.asked, len(found.history)) == ([], 1)


def test_a_cascade_of_models():
    class Below(Stub):
        signature = "below"

        def prompt_hash(self, name):
            return name

        async def in_chunks(self, question, claims, chunks, history):
            unsure = Verdict(E, 0.7, 0.0)
            verdicts = Found([[unsure] for _ in claims], [unsure for _ in claims])
            return verdicts._replace(history=[Verdict(E, 0.99, 0.0), unsure])

    above = Above()
    found = run(in_chunks(TokenCascade(Below(), above, 0.9), "q", ["a", "b"], ["1"], "past"))
    assert above.asked == [(["a", "b"], ["1"], "past")]
    assert found.history == [E, C]


def test_the_local_checker_reads_the_turns_by_themselves():
    class Reads(LocalChecker):
        def __init__(self):
            self.card = SimpleNamespace(check_language=lambda *_: None)

        async def weigh(self, claims, texts, known=""):
            return [[Verdict(f"{claim} in {text}", 0.0) for text in texts] for claim in claims]

        async def weigh_together(self, claims, chunks, wanted, known=""):
            return [None] * len(claims)

    assert run(in_chunks(Reads(), "q", ["a"], ["b"], "c")).history == ["a in c"]


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
