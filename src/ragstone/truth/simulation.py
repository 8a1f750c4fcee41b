"""Talks to a user's system as simulated users; conversations are rows that a run reads, and interrupted ones are resumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack, cast

from ragstone.data.types import Sample, Turn
from ragstone.engine.ask_system import DEFAULT_CONCURRENCY, Asked, SystemOptions, answer_one, describe_system
from ragstone.engine.evaluate import unheard
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Progress, Report, silent
from ragstone.errors import StopRunError, UsageError
from ragstone.llm.answers import Answer
from ragstone.llm.base import LLMError
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.llm.gateway import Gateway
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.llm.systems import System, open_system
from ragstone.llm.wrappers import Call, record_calls
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.llama import in_process
from ragstone.tools.open_tools import gateway_settings
from ragstone.truth.collect import ERROR, key_of, known_answers, row_of, store_answer
from ragstone.truth.simulated_users import Conversation, Message, ModelPlayer, ScriptedPlayer, SimulatedUser
from ragstone.truth.work_journal import WorkJournal, open_journal

# Why a conversation ended.
GOAL, LIMIT, NOTHING_LEFT, FAILED = "goal reached", "limit of turns", "nothing left to ask", "failed"
# Failures in a row after which the system counts as dead: before its first answer, and later.
_MOST_DEAD, _MOST_IN_A_ROW = 5, 20


@dataclass(frozen=True)
class Script:
    """The users, how long they talk and how often, and the model that plays them; None for rules."""

    users: Sequence[SimulatedUser]
    turns: int = 6
    repeats: int = 1
    seed: int = 0
    model: Any = None
    prompts: str | None = None

    def conversations(self) -> list[Conversation]:
        """All conversations; repeats of a user have the following seeds. Two with one id are an error."""
        talks = [
            Conversation(f"{user.id}-{repeat + 1}" if repeat else user.id, user, self.seed + repeat, repeat)
            for user in self.users
            for repeat in range(self.repeats)
        ]
        for name, count in Counter(talk.id for talk in talks).items():
            if count > 1:
                raise UsageError(f"{count} conversations would have the id '{name}': give a user another id.")
        return talks


@dataclass
class Simulation:
    """The finished conversations, the calls of the system and of the model that plays users, and what was known before."""

    system: str
    played_by: str
    talks: list[Conversation]
    calls: list[Call] = field(default_factory=list)
    resumed: int = 0
    problem: str | None = None

    @property
    def samples(self) -> list[Sample]:
        """One row per turn, with the end of its conversation."""
        return [_with_end(row, talk, self.played_by) for talk in self.talks for row in talk.turns]

    @property
    def endings(self) -> Counter[str]:
        """How many conversations ended why."""
        return Counter(talk.ended for talk in self.talks)

    @property
    def counts(self) -> dict[str, Any]:
        """Counts for people and programs."""
        aimed = [talk for talk in self.talks if talk.user.goal]
        return {
            "conversations": len(self.talks),
            "turns": sum(len(talk.turns) for talk in self.talks),
            "with_goal": len(aimed),
            "goal_reached": sum(talk.at_goal for talk in aimed),
            "endings": dict(self.endings.most_common()),
        }


def simulate(
    script: Script,
    system: Any,
    *,
    journal: str | None = None,
    resume: bool = False,
    quoting: bool = False,
    progress: Report = silent,
    note: Callable[[str], None] = unheard,
    **options: Unpack[SystemOptions],
) -> Simulation:
    """Hold all conversations. A failed turn ends its conversation; `journal` keeps the answers so far.

    With `quoting` no call is made: the conversations go to their limit with guesses, which is the most that they can cost.
    """
    path, about = (None, {}) if quoting or not journal else (journal, {"system": describe_system(system, **options)[1]})
    with open_journal(path, about, resume, note) as kept:
        done = run_to_end(_talk_all(script, system, options, quoting, kept, progress))
        kept.is_finished = FAILED not in done.endings
    if done.problem:
        note(done.problem)
    if not script.model and any(not part.fact for user in script.users for part in user.goal):
        note("whether a reply reaches a part of a goal without a `fact` is guessed by its words")
    return done


async def _talk_all(
    script: Script, spec: Any, options: SystemOptions, quoting: bool, kept: WorkJournal, progress: Report
) -> Simulation:
    concurrency = max(1, options.get("concurrency", DEFAULT_CONCURRENCY))
    # One gateway: the budget and the limits hold for the system and the simulated users together.
    gateway = Gateway(gateway_settings(cast("JudgingOptions", options), concurrency), quoting=quoting)
    try:
        system = open_system(spec, gateway, options.get("template"), options.get("version"), options.get("parameters"))
        player: ScriptedPlayer | ModelPlayer = ScriptedPlayer()
        if script.model is not None:
            player = ModelPlayer(Judge(gateway.open_llm(in_process(script.model)), PromptBook(script.prompts)))
        done = Simulation(system.name, player.name, script.conversations())
        work = _Talks(system, player, script.turns, known_answers(kept), kept, done)
        await work.hold(done.talks, concurrency, progress)
        done.problem = gateway.problem
        return done
    finally:
        await gateway.close()


@dataclass
class _Talks:
    """Holds conversations, several at a time."""

    system: System
    player: ScriptedPlayer | ModelPlayer
    most_turns: int
    known: dict[str, Answer]
    kept: WorkJournal
    done: Simulation
    answered: int = 0
    # Failures since the last answer.
    dead: int = 0

    async def hold(self, talks: Sequence[Conversation], concurrency: int, progress: Report) -> None:
        """Hold all conversations; the end of each is reported."""
        waiting, finished = iter(talks), 0

        async def work(waiting: Iterable[Conversation]) -> None:
            nonlocal finished
            for talk in waiting:
                await self._hold_one(talk)
                finished += 1
                progress(Progress("asking", finished, len(talks)))

        progress(Progress("asking", 0, len(talks)))
        await gather_or_cancel(work(waiting) for _ in range(concurrency))

    async def _hold_one(self, talk: Conversation) -> None:
        while not talk.ended:
            if talk.at_goal:
                talk.ended = GOAL
            # Only a model that decides about a part without facts is asked once more after the last turn.
            elif len(talk.turns) >= self.most_turns and not self._is_undecided(talk):
                talk.ended = LIMIT
            else:
                await self._take_turn(talk)

    def _is_undecided(self, talk: Conversation) -> bool:
        return self.player.decides and any(not talk.user.goal[at].fact for at in talk.open_parts)

    async def _take_turn(self, talk: Conversation) -> None:
        with record_calls(self.done.calls, talk.id, "user"):
            try:
                message = await self.player.speak(talk)
            except LLMError as error:
                talk.ended, talk.error = FAILED, f"the model that plays the user: {error}"
                return
        if talk.at_goal:
            talk.ended = GOAL
        elif message is None:
            talk.ended = NOTHING_LEFT
        elif len(talk.turns) >= self.most_turns:
            talk.ended = LIMIT
        else:
            await self._ask(talk, message)

    async def _ask(self, talk: Conversation, message: Message) -> None:
        number = len(talk.turns) + 1
        metadata = {"conversation": talk.id, "turn": number, "asked_by": message.made_by}
        history = list(talk.history)
        sample = Sample(f"{talk.id}#{number}", message.text, history=history or None, metadata=metadata)
        asked = Asked(sample.id, message.text, repeat=talk.repeat, history=history)
        earlier = self.known.get(key_of(asked))
        outcome = None if earlier else await answer_one(self.system, asked)
        row = row_of(sample, earlier, outcome)
        if outcome:
            self.done.calls += outcome.calls
            store_answer(self.kept, outcome)
        else:
            self.done.resumed += 1
        if row.answer is None:
            talk.turns.append(row)
            talk.ended, talk.error = FAILED, str(row.metadata[ERROR])
            self._count_dead(talk.error)
            return
        self.answered, self.dead = self.answered + 1, 0
        talk.note_reached_parts(message.text, row.answer, facts_only=self.player.decides)
        talk.turns.append(row)
        talk.history += [Turn("user", message.text), Turn("assistant", row.answer, row.contexts)]

    def _count_dead(self, error: str) -> None:
        self.dead += 1
        if self.dead >= (_MOST_IN_A_ROW if self.answered else _MOST_DEAD):
            raise StopRunError(f"{self.system.name} failed {self.dead} times in a row: {error}")


def _with_end(row: Sample, talk: Conversation, played_by: str) -> Sample:
    """A row with the persona, how far the goal was reached by its turn, and how the conversation ended."""
    by_now = sum(turn <= row.metadata["turn"] for turn in talk.reached.values())
    more: dict[str, Any] = {"persona": talk.user.persona or talk.user.id, "played_by": played_by, "ended": talk.ended}
    if talk.user.goal:
        more |= {"goal_parts": len(talk.user.goal), "goal_parts_reached": by_now, "goal_reached": talk.at_goal}
    return replace(row, metadata={**row.metadata, **more})
