"""Simulated users on systems whose behaviour is known: what they reach, how they end, and what a run reads of it."""

import json

import pytest

from ragstone.data.dataset import samples_table
from ragstone.engine.evaluate import evaluate
from ragstone.errors import StopRunError, UsageError
from ragstone.formats import read_dataset, write_dataset
from ragstone.truth.collect import ERROR
from ragstone.truth.simulated_users import GoalPart, SimulatedUser, read_users
from ragstone.truth.simulation import FAILED, GOAL, LIMIT, NOTHING_LEFT, Script, simulate
from tests.oracle.server import OracleServer
from tests.oracle.trouble import after

BOAT = GoalPart("the time of the last boat", ("21:40",))
FARE = GoalPart("What do children pay?", ("nothing", "free"))
ANNA = SimulatedUser("anna", "In a hurry.", ("Is there a boat tonight?",), (BOAT, FARE))


def reluctant(question, history=()):
    """Gives the time only if it was asked for twice."""
    asked = [turn["text"] for turn in history if turn["role"] == "user"] + [question]
    if "children" in question:
        return "Children travel free."
    return "At 9.40 pm." if sum("last boat" in text for text in asked) > 1 else "There are many boats."


def remembers(question, history=()):
    about = " ".join([*(turn["text"] for turn in history), question])
    if "back" in question:
        return {
            "answer": f"Back from {'Hesk' if 'Hesk' in about else 'where?'} at noon.",
            "contexts": ["Hesk: at noon."],
        }
    return {"answer": "To Hesk at nine.", "contexts": ["The boat to Hesk leaves at nine."]}


def forgets(question):
    return remembers(question)


def crashes(question, history=()):
    if history:
        raise RuntimeError("the index is gone")
    return "One moment."


def hold(users, system, turns=6, repeats=1, seed=0, **options):
    return simulate(Script(users, turns, repeats, seed), system, cache=False, **options)


def test_a_fact_that_is_given_only_when_asked_twice_is_found_by_asking_twice():
    [talk] = hold([ANNA], reluctant).talks
    asked = [(row.question, row.metadata["asked_by"]) for row in talk.turns]
    assert asked == [
        ("Is there a boat tonight?", "rules: question"),
        ("Can you tell me the time of the last boat?", "rules: part of the goal"),
        ("What do children pay?", "rules: part of the goal"),
        ("I still do not know the time of the last boat. Can you tell me?", "rules: asked again"),
    ]
    assert (talk.ended, talk.reached) == (GOAL, {1: 3, 0: 4})
    assert [row.metadata["goal_parts_reached"] for row in hold([ANNA], reluctant).samples] == [0, 0, 1, 2]


def test_conversations_end_at_the_limit_or_when_nothing_is_left_to_ask():
    done = hold([ANNA], lambda question: "I do not know.")
    assert (done.talks[0].ended, len(done.samples)) == (NOTHING_LEFT, 5)
    assert done.counts["goal_reached"] == 0
    assert hold([ANNA], reluctant, turns=3).talks[0].ended == LIMIT
    curious = SimulatedUser("bo", questions=("One?", "Two?", "Three?"))
    done = hold([curious], lambda question: question)
    assert (done.talks[0].ended, done.counts["with_goal"]) == (NOTHING_LEFT, 0)
    assert sorted(row.answer for row in done.samples) == ["One?", "Three?", "Two?"]


def test_the_same_seed_gives_the_same_first_question_whatever_the_other_users_are():
    users = [SimulatedUser(name, questions=tuple("abcdefgh")) for name in ("x", "y", "z")]
    firsts = [
        {talk.id: talk.questions[0] for talk in Script(users, repeats=3, seed=seed).conversations()}
        for seed in (7, 7, 8)
    ]
    assert firsts[0] == firsts[1] != firsts[2]
    assert len(set(firsts[0].values())) > 1
    [alone] = Script(users[1:2], seed=7).conversations()
    assert alone.questions[0] == firsts[0]["y"]


def test_repeats_of_a_user_are_answered_one_by_one():
    calls = []

    def counts(question):
        calls.append(question)
        return f"Answer {len(calls)}."

    script = Script([SimulatedUser("anna", questions=("Hello?",))], repeats=3)
    for _ in range(2):
        done = simulate(script, counts, concurrency=1, version="counts repeats")
        assert [row.answer for row in done.samples] == ["Answer 1.", "Answer 2.", "Answer 3."]


def test_two_conversations_with_one_id_are_refused_before_any_call():
    users = [SimulatedUser(name, questions=("Hello?",)) for name in ("a", "a-2")]
    with pytest.raises(UsageError, match="2 conversations would have the id 'a-2'"):
        hold(users, lambda question: pytest.fail("asked"), repeats=2)
    assert len(hold(users, lambda question: "Yes.").samples) == 2


def test_a_run_tells_a_system_that_forgets_from_one_that_remembers(tmp_path):
    user = SimulatedUser(
        "eva", questions=("When does the boat to Hesk leave?",), goal=(GoalPart("And back?", ("from Hesk",)),)
    )
    score = {}
    for system in (remembers, forgets):
        done = hold([user], system)
        path = f"{tmp_path}/{system.__name__}.jsonl"
        write_dataset(samples_table(done.samples).to_batches(), path)
        rows = list(read_dataset(path))
        assert [turn.text for turn in rows[1].history] == ["When does the boat to Hesk leave?", "To Hesk at nine."]
        assert rows[1].history[1].contexts[0].text == "The boat to Hesk leaves at nine."
        run = evaluate(path, ["conversation_completeness"])
        assert run.summary()[0].n_ok == len(rows) - 1
        score[system.__name__] = done.counts["goal_reached"], len(rows)
    assert score == {"remembers": (1, 2), "forgets": (0, 3)}


def test_a_crash_ends_its_conversation_and_the_reason_is_kept(tmp_path):
    journal, calls, healthy = str(tmp_path / "talk.partial"), [], []

    def flaky(question, history=()):
        calls.append(question)
        return reluctant(question, history) if healthy else crashes(question, history)

    users = [ANNA, SimulatedUser("bo", questions=("Hello?",))]
    done = hold(users, flaky, journal=journal, version="1")
    assert [talk.ended for talk in done.talks] == [FAILED, NOTHING_LEFT]
    assert (
        done.samples[1].metadata[ERROR]
        == "function/test_a_crash_ends_its_conversation_and_the_reason_is_kept.<locals>.flaky raised RuntimeError: the index is gone"
    )
    assert (done.samples[1].answer, done.samples[1].metadata["ended"]) == (None, FAILED)
    healthy.append(True)
    again = hold(users, flaky, journal=journal, resume=True, version="1")
    assert [talk.ended for talk in again.talks] == [GOAL, NOTHING_LEFT]
    # The first answers of both conversations were kept.
    assert (again.resumed, calls.count("Hello?"), calls.count("Is there a boat tonight?")) == (2, 1, 1)
    assert not (tmp_path / "talk.partial").exists()


def test_a_system_that_never_answers_is_taken_for_dead(tmp_path):
    users = [SimulatedUser(f"u{n}", questions=("Hello?",)) for n in range(50)]
    calls = []

    def dead(question):
        calls.append(question)
        raise ConnectionError("refused")

    with pytest.raises(StopRunError, match=r"5 times in a row: .*refused"):
        hold(users, dead, concurrency=1)
    assert len(calls) == 5


@pytest.fixture
def model(monkeypatch):
    """A model that asks for the last part that is open, and takes an answer with `crowns` for the fare."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with OracleServer() as server:
        yield server


def test_a_model_plays_the_user_and_does_not_see_the_facts(model):
    user = SimulatedUser("anna", "In a hurry.", ("Is there a boat tonight?",), (BOAT, GoalPart("the fare")))
    script = Script([user], model="openai/oracle")
    answers = {"the last boat": "The last one leaves at 21:40.", "the fare": "It costs 4 crowns."}
    done = simulate(
        script,
        lambda question: next((text for word, text in answers.items() if word in question), "Yes."),
        cache=False,
        base_url=model.base_url,
    )
    [talk] = done.talks
    assert [row.metadata["asked_by"] for row in talk.turns] == ["rules: question", "openai/oracle", "openai/oracle"]
    assert (talk.ended, talk.reached) == (GOAL, {1: 2, 0: 3})
    assert "21:40" not in json.dumps([turn.text for turn in talk.history if turn.role == "user"])
    assert model.replies["simulated_user"] == 2


def test_a_dead_model_fails_its_conversations_only(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with OracleServer(trouble=after(0, "400")) as server:
        done = simulate(
            Script([ANNA], model="openai/oracle"), lambda question: "Yes.", cache=False, base_url=server.base_url
        )
    [talk] = done.talks
    assert (talk.ended, len(talk.turns)) == (FAILED, 1)
    assert talk.error.startswith("the model that plays the user: ")


def test_a_quote_makes_no_call(model):
    def never(question):
        raise AssertionError(question)

    script = Script([ANNA], turns=4, model="openai/oracle")
    done = simulate(script, never, quoting=True, cache=False, base_url=model.base_url)
    assert len(done.calls) == 4 + 3
    assert not model.replies


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there is no user"),
        ("[[users]]\nid = 'a'", "user 1: it has neither questions nor a goal"),
        ("[[users]]\nquestion = 'Hello?'", "user 1: question: .* A user has id, persona, questions and goal"),
        ("[[users]]\ngoal = [{fact = '1'}]", "user 1: goal.0.wants: "),
        ("[[users]]\nquestions = [{}]", "questions.0: "),
        ("[[users]]\ngoal='a'\nid='x'\n[[users]]\ngoal='b'\nid='x'", "2 users have the id 'x'"),
        ("users = [3]", "user 1: it is not a table of names and values"),
        ("users = 3", "there is no user"),
        ("[[users", "cannot be read as TOML"),
    ],
)
def test_mistakes_in_the_file_are_named(tmp_path, text, problem):
    (tmp_path / "users.toml").write_text(text)
    with pytest.raises(UsageError, match=problem.replace("[", r"\[")):
        read_users(str(tmp_path / "users.toml"))


@pytest.mark.parametrize(
    ("fact", "reply", "is_there"),
    [
        ("21:40", "It leaves at 9:40 pm.", True),
        ("30 minutes", "Valid until 30 September.", False),
        ("12 euros", "It costs 12 euro.", True),
        ("40", "It is 140 m long.", False),
    ],
)
def test_facts_in_other_forms(fact, reply, is_there):
    assert GoalPart("it", (fact,)).is_in(reply) == is_there


@pytest.mark.parametrize("reply", ["{}", "half past {}", "1/{}", "{}.5", "1.{}", "1.{}.2", "999 " * 2000])
def test_a_reply_with_an_endless_number_is_read(reply):
    assert not GoalPart("it", ("21:40",)).is_in(reply.format("9" * 5000))


def test_a_wish_of_stop_words_is_not_reached_by_any_reply():
    assert not GoalPart("And then?").is_in("The boat is red.")
    assert GoalPart("the fare of boats").is_in("The fare is 4 crowns.")


def test_a_reply_about_something_else_that_shares_words_with_the_wish_does_not_reach_it():
    wish = GoalPart("the price of a night at the main telescope")
    reply = "The main telescope has a mirror of 60 centimetres."
    assert not wish.is_in(reply, "How big is the mirror of the main telescope?")
    assert wish.is_in("A night at the main telescope costs 25 euros.", "How big is the main telescope?")
    assert wish.is_in("It is 25 euros for the main telescope.", wish.question)
