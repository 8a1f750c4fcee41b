"""A small fixed set for every prompt of the book, with the right replies, and the figures of a model that is asked it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragstone.data.types import Turn
from ragstone.formats.documents import Passage
from ragstone.llm.base import LLM, LLMError
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.llm.wrappers import Call, record_calls
from ragstone.tools.aspects import find_aspect
from ragstone.tools.checklists import Checklist, Decision, DecisionTree, Leaf
from ragstone.tools.llm_extractor import JudgeExtractor
from ragstone.tools.llm_judges import JudgeChecker, JudgeReader
from ragstone.tools.llm_pairs import JudgePair
from ragstone.tools.llm_rater import JudgeRater, ask_own_reference
from ragstone.tools.token_judges import TokenChecker, TokenGrader
from ragstone.tools.token_pair import TokenPair
from ragstone.truth.citers import JudgeCiter
from ragstone.truth.extract import JudgeNuggets
from ragstone.truth.simulated_users import Conversation, GoalPart, ModelPlayer, SimulatedUser
from ragstone.truth.synthesis.writer import Draft, Job, Writer
from tests.real_model.support_set import SETS
from tests.tools.checking import in_chunks, in_text, labels

FERRY, TABLETS = SETS[0][1], SETS[1][1]
MUSEUM = "The harbour museum opens at ten. It shows nets, oars and a model of the old mole."
LEAVES = "When does the last boat leave on Sundays?"
DOSE = "When is Verolin taken?"
WORDS = {"S": "entailment", "C": "contradiction", "N": "neutral"}


class Item(NamedTuple):
    """A question to a model through one of our tools, and whether its result is right (None: there is no label)."""

    prompt: str
    ask: Callable[[Any], Awaitable[Any]]
    is_right: Callable[[Any], bool | None] = lambda _: None


class Tools:
    """The tools that ask with the prompts of the book."""

    def __init__(self, llm: LLM) -> None:
        book = PromptBook()
        judge = Judge(llm, book)
        self.judge = judge
        self.claims, self.triplets = JudgeExtractor(judge), JudgeExtractor(judge, "triplets")
        self.checker, self.reader = JudgeChecker(judge), JudgeReader(judge)
        self.rater, self.binary = JudgeRater(judge, "stars"), JudgeRater(judge, "binary")
        self.nuggets = JudgeNuggets(judge)
        self.pair, self.reasoned = JudgePair(judge), JudgePair(judge, manners=["cot"])
        self.by_token = TokenPair(judge)
        self.citer, self.writer = JudgeCiter(judge), Writer(judge)
        self.tokens, self.matches = TokenChecker(llm, book, one_by_one=True), TokenGrader(llm, book)


def _has(*words: str) -> Callable[[Any], bool]:
    """All words are in the claims, and there are not many more."""
    return lambda found: all(any(word in one.text for one in found) for word in words) and len(found) <= 3 * len(words)


def _verdicts(tool: str, prompt: str, at: int) -> Item:
    _, text, claims = SETS[at]
    labels = [WORDS[label] for label, _ in claims]

    def ask(tools: Any) -> Awaitable[Any]:
        return in_text(getattr(tools, tool), "", [claim for _, claim in claims], text)

    return Item(prompt, ask, lambda found: list(map(str, found)) == labels)


def _one_verdict(prompt: str, claim: str, text: str, word: str) -> Item:
    return Item(prompt, lambda tools: in_text(tools.tokens, "", [claim], text), lambda found: found[0] == word)


def _answer(tools, draft):
    return tools.writer.answer(draft, draft.job.passages)


def _draft(question: str, answer: str, *texts: str) -> Draft:
    return Draft(
        Job("single", tuple(Passage(f"a#{at}", text, "a") for at, text in enumerate(texts))), question, answer, [], []
    )


def _pair(tool: str, prompt: str, question: str, better: str, worse: str) -> Item:
    return Item(
        prompt,
        lambda tools: getattr(tools, tool).compare(question, better, worse, (), None),
        lambda found: found[-1].winner == "one" and (prompt == "token_pair" or found[0].winner == "one"),
    )


def _chunks(claims: list[str], chunks: list[str], right: list[int]) -> Item:
    def is_right(found: Any) -> bool:
        return [[at for at, word in enumerate(row) if word == "entailment"] for row in found.each] == [
            [at] for at in right
        ]

    return Item("context_verdicts", lambda tools: in_chunks(tools.checker, "", claims, chunks), is_right)


def _grade(answer: str, is_good: bool) -> Item:
    return Item(
        "grade",
        lambda tools: tools.rater.grade(find_aspect("correctness"), LEAVES, answer, (), "At 18:15."),
        lambda grade: (grade.value >= 4) if is_good else (grade.value <= 2),
    )


def _follow_up(question: str, said: str, word: str) -> Item:
    history = [Turn("user", said), Turn("assistant", "Yes, certainly.")]
    return Item(
        "standalone_question",
        lambda tools: tools.claims.standalone_question(question, history),
        lambda found: word in found,
    )


def _nuggets(tool: str, prompt: str, answer: str, nugget: str, label: str) -> Item:
    return Item(
        prompt, lambda tools: labels(getattr(tools, tool), LEAVES, [nugget], answer), lambda found: found[0] == label
    )


def _checklist(items: tuple[str, ...], answer: str, right: list[str]) -> Item:
    return Item(
        "checklist",
        lambda tools: tools.rater.check(Checklist("own", items), LEAVES, answer, ()),
        lambda found: [item.verdict for item in found] == right,
    )


def _pass_fail(answer: str, right: float) -> Item:
    return Item(
        "pass_fail",
        lambda tools: tools.binary.grade(find_aspect("correctness"), LEAVES, answer, (), "At 18:15."),
        lambda grade: grade.value == right,
    )


def _decision(answer: str, right: str) -> Item:
    steps = {"at a time": Leaf(1.0), "on a day": Leaf(0.5), "it does not say": Leaf(0.0)}
    tree = DecisionTree("when", {"when": Decision("When does it say that the ferry leaves?", steps)}, {"when": 1}, ())
    return Item(
        "decision", lambda tools: tools.rater.check(tree, LEAVES, answer, ()), lambda found: found[0].verdict == right
    )


def _simulated_user(wants: str) -> Item:
    user = SimulatedUser("a", "A tourist in a hurry.", (), (GoalPart(wants),))

    def ask(tools: Any) -> Awaitable[Any]:
        return ModelPlayer(tools.judge).speak(Conversation("a", user, seed=0))

    return Item("simulated_user", ask, lambda found: "?" in found.text)


def make_items() -> list[Item]:
    """Two items or more for each prompt of the book."""
    answer = "On Sundays it leaves at 18:15. Bicycles travel free of charge."
    return [
        Item("claims", lambda tools: tools.claims.claims(LEAVES, answer), _has("18:15", "icycle")),
        Item("claims", lambda tools: tools.claims.claims("How long?", MUSEUM), _has("ten", "nets")),
        Item("triplets", lambda tools: tools.triplets.claims(LEAVES, answer), _has("18:15", "icycle")),
        Item("triplets", lambda tools: tools.triplets.claims("When?", MUSEUM), _has("ten", "nets")),
        *(
            Item(
                "claims_and_entities",
                lambda tools, text=text: tools.claims.content("", text, {"reference_entities"}),
                lambda found, name=name: name in found.entities and bool(found.claims),
            )
            for text, name in ((FERRY, "Saltholm"), (TABLETS, "Verolin"))
        ),
        *(_verdicts("checker", "verdicts", at) for at in (0, 1)),
        _chunks(["The museum opens at ten.", "Dogs must wear a muzzle."], [FERRY, MUSEUM, TABLETS], [1, 0]),
        _chunks(["Verolin is taken in the morning.", "Oars are on show."], [MUSEUM, FERRY, TABLETS], [2, 0]),
        *(
            Item("questions", lambda tools, text=text: tools.reader.guess_questions(text, 2), lambda found, said=said: found.noncommittal == said)
            for text, said in ((answer, False), ("I do not know; the documents do not say.", True))
        ),
        Item("needed_sentences", lambda tools: tools.reader.needed_sentences("When does the museum open?", ["Dogs must wear a muzzle.", "The museum opens at ten."]), lambda found: found == [1]),
        Item("needed_sentences", lambda tools: tools.reader.needed_sentences(DOSE, TABLETS.split(". ")), lambda found: 0 in found),
        Item("usefulness", lambda tools: tools.reader.useful_chunks(LEAVES, "At 18:15.", [MUSEUM, FERRY]), lambda found: found == [False, True]),
        Item("relevance_grade", lambda tools: tools.reader.grade_chunks(LEAVES, [FERRY, TABLETS]), lambda found: found[0].value >= 2 > found[1].value),
        Item("relevance_grade", lambda tools: tools.reader.grade_chunks(DOSE, [MUSEUM, TABLETS]), lambda found: found[1].value >= 2 > found[0].value),
        Item("usefulness", lambda tools: tools.reader.useful_chunks(DOSE, "In the morning.", [TABLETS, MUSEUM]), lambda found: found == [True, False]),
        *(
            Item("answer_match", lambda tools, said=said: tools.reader.matches(LEAVES, said, ["At 18:15."]), lambda found, right=right: found == [right])
            for said, right in (("The last one departs at 18:15.", 1.0), ("It leaves at 21:40.", 0.0))
        ),
        *(
            Item("stance", lambda tools, said=said: tools.reader.stance(LEAVES, said), lambda found, right=right: found.declines == right)
            for said, right in (("At 18:15.", False), ("The documents do not say when it leaves.", True))
        ),
        _grade("It leaves at 18:15.", is_good=True),
        _grade("It leaves at 21:40.", is_good=False),
        Item("own_reference", lambda tools: ask_own_reference(tools.judge, LEAVES, [FERRY]), lambda found: "18:15" in found),
        Item("own_reference", lambda tools: ask_own_reference(tools.judge, DOSE, [TABLETS]), lambda found: "morning" in found),
        *(
            _pair(tool, prompt, question, better, worse)
            for tool, prompt in (("pair", "pair"), ("reasoned", "pair_reasoned"), ("by_token", "token_pair"))
            for question, better, worse in (
                ("How many days has a week?", "Seven.", "Nine."),
                ("What is 12 times 12?", "144", "I cannot say, numbers are difficult."),
            )
        ),
        *(_simulated_user(user) for user in ("leave times of the boat", "ticket prices")),
        Item("citations", lambda tools: tools.citer.cite(LEAVES, "At 18:15.", [FERRY]), lambda found: any("18:15" in one for one in found)),
        Item("citations", lambda tools: tools.citer.cite(DOSE, "In the morning.", [TABLETS]), lambda found: any("morning" in one for one in found)),
        *(
            Item("new_question", lambda tools, text=text: tools.writer.write(_draft("", "", text).job, []), lambda found: bool(found.question and found.answer))
            for text in (FERRY, MUSEUM)
        ),
        Item("answer_from_passages", lambda tools: _answer(tools, _draft(LEAVES, "At 18:15.", FERRY)), lambda found: found.answerable and "18:15" in found.answer),
        Item("answer_from_passages", lambda tools: _answer(tools, _draft(DOSE, "", MUSEUM)), lambda found: not found.answerable),
        Item("answer_from_memory", lambda tools: tools.writer.remember(_draft("What is the capital of France?", "Paris", "")), lambda found: "Paris" in found.answer),
        Item("answer_from_memory", lambda tools: tools.writer.remember(_draft(LEAVES, "At 18:15.", "")), lambda found: not found.answerable),
        _follow_up("And on Sundays?", "When does the ferry to Saltholm leave?", "erry"),
        _follow_up("What does it cost for children?", "Can I visit the harbour museum?", "museum"),
        *(
            _nuggets(tool, prompt, answer, nugget, label)
            for tool, prompt in (("checker", "nuggets"), ("tokens", "token_part"))
            for nugget, label in (("It leaves at 18:15 on Sundays.", "support"), ("Dogs must wear a muzzle.", "not_support"))
        ),
        *(
            Item("new_nuggets", lambda tools, question=question, text=text: tools.nuggets.make(question, [text], []), lambda found, word=word: any(word in one.text for one in found))
            for question, text, word in ((LEAVES, FERRY, "18:15"), (DOSE, TABLETS, "morning"))
        ),
        *(
            Item("nugget_importance", lambda tools, question=question, texts=texts: tools.nuggets._rank(question, texts), lambda found: found[0].importance == "vital")
            for question, texts in ((LEAVES, ["The last boat on Sundays leaves at 18:15.", "The harbour has a museum."]), (DOSE, ["Verolin is taken in the morning."]))
        ),
        _checklist(("It names a time.", "It names a price."), "At 18:15.", ["yes", "no"]),
        _checklist(("It is written in English.",), "It leaves at 18:15.", ["yes"]),
        _decision("It leaves at 18:15.", "at a time"),
        _decision("I do not know.", "it does not say"),
        _pass_fail("It leaves at 18:15.", 1),
        _pass_fail("It leaves at 21:40.", 0),
        _one_verdict("token_support", "The ferry runs in July.", FERRY, "entailment"),
        _one_verdict("token_support", "Dogs must wear a muzzle.", FERRY, "entailment"),
        _one_verdict("token_contradiction", "The ferry also runs in January.", FERRY, "contradiction"),
        _one_verdict("token_contradiction", "Verolin should be swallowed in the evening.", TABLETS, "contradiction"),
        *(
            Item("token_match", lambda tools, said=said: tools.matches.matches(LEAVES, said, ["At 18:15."]), lambda found, right=right: (found[0] >= 0.5) == right)
            for said, right in (("The last one departs at 18:15.", True), ("It leaves at 21:40.", False))
        ),
    ]  # fmt: skip


@dataclass
class Figures:
    """What a model made of the items of one prompt."""

    first: int = 0
    repaired: int = 0
    failed: int = 0
    right: int = 0
    labelled: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def asked(self) -> int:
        return self.first + self.repaired + self.failed


async def ask_items(
    llm: LLM, items: list[Item], figures: dict[str, Figures], seconds: float = float("inf")
) -> list[Call]:
    """Ask one item after the other, as far as time allows, and count; also return the calls."""
    tools, everything, began = Tools(llm), [], time.monotonic()
    for number, item in enumerate(items):
        if time.monotonic() - began > seconds:
            break
        calls: list[Call] = []
        row = figures.setdefault(item.prompt, Figures())
        with record_calls(calls, f"{item.prompt}-{number}", item.prompt):
            try:
                right = item.is_right(await item.ask(tools))
            except LLMError as error:
                row.failed += 1
                row.faults.append(str(error)[:120])
            else:
                is_first = not any(call.error for call in calls)
                row.first, row.repaired = row.first + is_first, row.repaired + (not is_first)
                row.labelled += right is not None
                row.right += bool(right)
        everything += calls
    return everything


def table_of(figures: dict[str, Figures], quoted: list[Call], made: list[Call]) -> str:
    """One line per prompt, and the totals against the quote."""
    lines = [f"{'prompt':<22} asked  first try  repaired  failed  right"]
    for name, row in figures.items():
        shown = f"{row.right} of {row.labelled}" if row.labelled else "–"
        lines.append(f"{name:<22} {row.asked:>5} {row.first:>10} {row.repaired:>9} {row.failed:>7}  {shown}")
        lines += [f"    {fault}" for fault in row.faults]
    whole = {
        kind: sum(getattr(row, kind) for row in figures.values())
        for kind in ("asked", "first", "repaired", "failed", "right", "labelled")
    }
    lines.append(
        f"{'all':<22} {whole['asked']:>5} {whole['first']:>10} {whole['repaired']:>9} {whole['failed']:>7}  {whole['right']} of {whole['labelled']}"
    )
    for words, name in (
        ("calls", None),
        ("tokens in", "input_tokens"),
        ("tokens out", "output_tokens"),
        ("seconds", "latency_s"),
    ):
        said, real = (
            len(calls) if name is None else sum(getattr(call, name) or 0 for call in calls) for calls in (quoted, made)
        )
        share = f"{said / real - 1:+.0%}" if real else "–"
        lines.append(f"{words:<12} quoted {said:>9,.0f}   real {real:>9,.0f}   {share}")
    return "\n".join(lines)
