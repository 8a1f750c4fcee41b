"""Simulated users: a persona, a goal of several parts, and the next message, by rules or by a language model."""

from __future__ import annotations

import json
import random
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from ragstone.data.types import Sample, Turn
from ragstone.errors import UsageError
from ragstone.llm.prompted import Judge
from ragstone.llm.reply_types import SimulatedUserReply
from ragstone.storage.places import open_place
from ragstone.text.claim_numbers import has_number, stated_numbers
from ragstone.text.matchers import make_matcher
from ragstone.text.overlap import content_stems
from ragstone.text.refusals import find_refusal

RULES = "rules"
# Times the rules ask for one part of the goal, besides the persona's own questions.
MOST_ASKED = 2
# Share of the words of a wish that a reply must have, if no fact says what the right reply is.
_LEAST_WORDS = 0.5


# A text, or a list of texts; numbers are texts too.
_Text = Annotated[str, Field(min_length=1)]
_Texts = Annotated[
    tuple[_Text, ...], BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value])
]
_CONFIG = ConfigDict(extra="forbid", str_strip_whitespace=True, coerce_numbers_to_str=True)


@checked(frozen=True, config=_CONFIG)
class GoalPart:
    """Something that a user wants to know, and the words of which a right reply has one; none if unknown."""

    wants: _Text
    fact: _Texts = ()

    @property
    def question(self) -> str:
        """The part as a question; one that is a question already stays as it is, in any language."""
        return self.wants if self._is_question else f"Can you tell me {self.wants}?"

    @property
    def asked_again(self) -> str:
        """The part as a question that was asked before."""
        return self.wants if self._is_question else f"I still do not know {self.wants}. Can you tell me?"

    @property
    def _is_question(self) -> bool:
        return self.wants.rstrip().endswith(("?", "\uff1f", "\u061f"))

    def is_in(self, reply: str, message: str = "") -> bool:
        """Whether a reply has one of the facts, else enough words of the wish, not all from a message about something else."""
        if self.fact:
            return any(_states(reply, fact) for fact in self.fact)
        wanted, asked = content_stems(self.wants), content_stems(message)
        shared = wanted & content_stems(reply)
        is_enough = len(shared) >= _LEAST_WORDS * len(wanted) and (wanted <= asked or not shared <= asked)
        return bool(wanted) and is_enough and find_refusal(reply) is None


def _states(reply: str, fact: str) -> bool:
    """Whether a reply contains a fact: word for word, or its numbers in another form (9:40 pm for 21:40) and its other words."""
    if any(make_matcher("citation").find([fact], [reply])):
        return True
    numbers, words = stated_numbers(fact), {stem for stem in content_stems(fact) if not stem.isdigit()}
    is_there = bool(numbers) and words <= content_stems(reply)
    return is_there and all(has_number(reply, number, fact) for number in numbers)


def _as_parts(value: Any) -> Any:
    """The parts of a goal; a text is one that has no fact."""
    parts = value if isinstance(value, list | tuple) else [value]
    return [{"wants": part} if isinstance(part, str) else part for part in parts]


@checked(frozen=True, config=_CONFIG)
class SimulatedUser:
    """A person with questions of their own and a goal."""

    id: _Text
    persona: str = ""
    questions: _Texts = ()
    goal: Annotated[tuple[GoalPart, ...], BeforeValidator(_as_parts)] = ()


@dataclass
class Conversation:
    """A conversation of a simulated user: its turns so far, the parts of the goal that are reached, and why it ended."""

    id: str
    user: SimulatedUser
    seed: int
    repeat: int = 0
    turns: list[Sample] = field(default_factory=list)
    history: list[Turn] = field(default_factory=list)
    # The parts of the goal by position, with the number of the turn that reached them.
    reached: dict[int, int] = field(default_factory=dict)
    # How often the rules asked for each part.
    asked: Counter[int] = field(default_factory=Counter)
    ended: str = ""
    error: str | None = None

    @property
    def open_parts(self) -> list[int]:
        """The positions of the parts that are not reached."""
        return [at for at in range(len(self.user.goal)) if at not in self.reached]

    @property
    def at_goal(self) -> bool:
        """Whether there is a goal and all its parts are reached."""
        return bool(self.user.goal) and not self.open_parts

    @property
    def questions(self) -> list[str]:
        """The persona's questions: one that the seed chooses, then the others in their order."""
        questions = list(self.user.questions)
        if questions:
            first = random.Random(f"{self.seed} {self.id}").randrange(len(questions))  # noqa: S311  (not a secret)
            questions.insert(0, questions.pop(first))
        return questions

    def note_reached_parts(self, message: str, reply: str, facts_only: bool) -> None:
        """Note the parts of the goal that a reply to a message reaches; with `facts_only`, a model decides those without facts."""
        for at in self.open_parts:
            part = self.user.goal[at]
            if (part.fact or not facts_only) and part.is_in(reply, message):
                self.reached[at] = len(self.turns) + 1


@dataclass(frozen=True)
class Message:
    """The next message of a user, and who made it and how: `rules: part of the goal`, or the name of a model."""

    text: str
    made_by: str


class ScriptedPlayer:
    """Asks the persona's questions, then for the open parts of the goal, each at most twice, those asked least first."""

    name = RULES
    # Whether it notes the parts of the goal without facts that are reached.
    decides = False

    async def speak(self, talk: Conversation) -> Message | None:
        """The next message; None if nothing is left to ask."""
        questions = talk.questions
        if len(talk.turns) < len(questions):
            return Message(questions[len(talk.turns)], f"{RULES}: question")
        at = min(talk.open_parts, key=lambda part: talk.asked[part], default=None)
        if at is None or talk.asked[at] == MOST_ASKED:
            return None
        part, again = talk.user.goal[at], talk.asked[at] > 0
        talk.asked[at] += 1
        return Message(
            part.asked_again if again else part.question, f"{RULES}: {'asked again' if again else 'part of the goal'}"
        )


class ModelPlayer:
    """A language model in the role of the user. It does not see the facts, so that it cannot give them away."""

    decides = True

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = judge.llm.name

    async def speak(self, talk: Conversation) -> Message | None:
        """The next message. The first is one of the persona's questions, if there are any, so that the seed decides it."""
        if not talk.turns and talk.user.questions:
            return Message(talk.questions[0], f"{RULES}: question")
        data = {
            "persona": talk.user.persona or "An ordinary user.",
            "goal": [part.wants for part in talk.user.goal] or ["the next thing that this person would ask"],
            "messages": [f"{turn.role}: {turn.text}" for turn in talk.history],
        }
        guess = SimulatedUserReply(
            reached=[], leaves=False, message="Thank you. Can you tell me more about that, please?"
        )
        reply = await self._judge.ask("simulated_user", SimulatedUserReply, data, guess, _check, talk.seed)
        for at in talk.open_parts:
            # What has a fact is decided by the fact.
            if at + 1 in reply.reached and not talk.user.goal[at].fact and talk.turns:
                talk.reached[at] = len(talk.turns)
        return None if reply.leaves and talk.turns else Message(" ".join(reply.message.split()), self.name)


def _check(reply: SimulatedUserReply) -> str | None:
    return None if reply.leaves or reply.message.strip() else "the message is empty, but leaves is false"


def read_users(path: str) -> list[SimulatedUser]:
    """The users of a TOML file with `[[users]]`, or of JSON lines with the same names."""
    content = open_place(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
        if path.endswith(".toml"):
            entries = tomllib.loads(text).get("users", [])
        else:
            entries = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise UsageError(f"{path}: cannot be read as TOML or JSON lines: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"{path}: there is no user. Write [[users]] with a persona, questions and a goal.")
    users = [_read_user(entry, number, path) for number, entry in enumerate(entries, start=1)]
    for name, count in Counter(user.id for user in users).items():
        if count > 1:
            raise UsageError(f"{path}: {count} users have the id '{name}'; give each user an id of its own.")
    return users


def _read_user(entry: Any, number: int, path: str) -> SimulatedUser:
    hint = "A user has id, persona, questions and goal; a part of the goal has wants and fact."
    if not isinstance(entry, dict):
        raise UsageError(f"{path}, user {number}: it is not a table of names and values. {hint}")
    try:
        user = TypeAdapter(SimulatedUser).validate_python({"id": f"user-{number}", **entry})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path}, user {number}: {where}: {first['msg']}. {hint}") from None
    if not user.questions and not user.goal:
        raise UsageError(
            f"{path}, user {number}: it has neither questions nor a goal, so there is nothing to talk about."
        )
    return user
