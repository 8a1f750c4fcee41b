"""Grades: on every scale and in every manner the oracle's worth of an answer comes back, with what was paid for it."""

import itertools
import math

import pytest

import ragstone
from ragstone.errors import UsageError
from ragstone.llm.base import Reply
from ragstone.metrics.grades import register_aspects, share_of
from ragstone.tools.aspects import packaged_aspects, read_aspects
from ragstone.tools.llm_rater import MANNERS, SCALES, expected_grade
from tests.oracle.judge import worth
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

ROWS = [sample.row() for sample in make_samples(12, seed=3)]
WITH_REFERENCE = [row for row in ROWS if "references" in row]


def grade(tmp_path, metrics, rows=ROWS, oracle=None, **options):
    with oracle or OracleServer() as server:
        run = ragstone.evaluate(
            rows,
            metrics,
            tmp_path / "runs",
            judge="openai/oracle",
            base_url=server.base_url,
            cache=False,
            **options,
        )
    assert server.problems == []
    return run, server


def cells(run, metric):
    table = run.scores.to_pylist()
    return {row["sample_id"]: row["value"] for row in table if row["metric"] == metric}


def rounded(share, scale):
    low, high = scale.lowest, scale.highest
    return (round(low + share * (high - low)) - low) / (high - low)


NUMBERS = [name for name in SCALES if name != "binary"]


@pytest.mark.parametrize(("scale", "cot"), list(itertools.product(NUMBERS, (False, True))))
def test_a_grade_is_the_worth_of_the_answer_on_any_scale(tmp_path, scale, cot):
    names = ["grade.correctness", "grade.correctness.with_reference"]
    manners = ["cot", "rubric", "few-shot"] if cot else []
    run, server = grade(tmp_path, names, scale=scale, grading=manners)
    alone, held = (cells(run, name) for name in names)
    assert server.replies["grade"] == len(ROWS) + len(WITH_REFERENCE)
    for row in ROWS:
        assert alone[row["id"]] == pytest.approx(rounded(worth(row["answer"], row), SCALES[scale]))
    for row in WITH_REFERENCE:
        data = {"reference": row["references"][0]}
        assert held[row["id"]] == pytest.approx(rounded(worth(row["answer"], data), SCALES[scale]))
    assert any(value not in (0.0, 1.0) for value in alone.values())
    stored = run.evidence("correctness_grade").column("value").to_pylist()
    assert {grade["reasoning"] is not None for grade in stored} == {cot}
    signature = next(row["signature"] for row in run.scores.to_pylist() if row["metric"] == names[0])
    assert f"scale={scale}" in signature
    assert all(manner in signature for manner in manners)


def test_the_expected_grade_is_the_mean_over_what_might_have_been_said(tmp_path):
    run, _ = grade(tmp_path, ["grade.quality", "grade.quality(value=expected)"], scale="stars")
    said, expected = cells(run, "grade.quality"), cells(run, "grade.quality(value=expected)")
    for name, value in said.items():
        stars = 1 + 4 * value
        # Half its own, a quarter each neighbour; those beside the scale do not count.
        beside = [(stars, 0.5), (stars + 1, 0.25), (stars - 1, 0.25)]
        known = [(star, share) for star, share in beside if 1 <= star <= 5]
        mean = sum(star * share for star, share in known) / sum(share for _, share in known)
        assert expected[name] == pytest.approx((mean - 1) / 4)


def test_without_probabilities_only_the_expected_grade_is_skipped(tmp_path):
    server = OracleServer(logprobs=False)
    run, _ = grade(tmp_path, ["grade.quality", "grade.quality(value=expected)"], ROWS[:2], server)
    table = {(row["metric"], row["status"]): row["reason"] for row in run.scores.to_pylist()}
    assert ("grade.quality", "ok") in table
    assert "no probabilities" in table["grade.quality(value=expected)", "skipped"]


def test_an_own_reference_is_asked_once_for_all_aspects(tmp_path):
    rows = [row for row in ROWS if row["answer"]][:4]
    names = ["grade.quality", "grade.correctness", "grade.correctness.with_reference"]
    run, server = grade(tmp_path, names, rows, grading=["own-reference"])
    assert server.replies["own_reference"] == len({row["question"] for row in rows})
    graded = [body for body in server.bodies if "Score the following" in body["messages"][0]["content"]]
    guided = [body["messages"][0]["content"].count("The reference is your own answer") for body in graded]
    # Where a person wrote a reference the judge's own is not needed.
    assert sum(guided) == 2 * len(rows)
    for row in rows:
        assert cells(run, "grade.quality")[row["id"]] == pytest.approx(
            rounded(worth(row["answer"], row), SCALES["points"])
        )


@pytest.mark.parametrize("manner", MANNERS)
def test_a_manner_changes_the_conversation_and_nothing_else(tmp_path, manner):
    _, plain = grade(tmp_path, ["grade.groundedness"], ROWS[:1])
    _, other = grade(tmp_path, ["grade.groundedness"], ROWS[:1], grading=[manner])
    one, two = plain.bodies[-1]["messages"], other.bodies[-1]["messages"]
    assert one != two
    extra = {"few-shot": 4}.get(manner, 0)
    assert len(two) == len(one) + extra
    if manner == "rubric":
        assert "100: everything can" in two[0]["content"]
        assert "0: nothing of it can be read off the contexts" in two[0]["content"]
    if manner == "few-shot":
        assert [message["content"] for message in two if message["role"] == "assistant"] == [
            '{"grade": 100}',
            '{"grade": 50}',
        ]


def test_the_words_of_an_aspect_stand_in_the_prompt(tmp_path):
    _, server = grade(tmp_path, ["grade.fluency"], ROWS[:1], scale="stars")
    told = server.bodies[-1]["messages"][0]["content"]
    assert told.startswith(
        "Score the following answer to a question with respect to fluency with one to five stars, where one star means "
        '"disfluency" and five stars means "perfect fluency". Note that fluency measures the quality of individual sentences'
    )
    assert "[[" not in told
    # Fluency is graded without a look at anything else.
    assert ROWS[0]["question"] not in server.bodies[-1]["messages"][-1]["content"]


def test_a_grade_off_the_scale_is_asked_for_again_and_then_fails(tmp_path):
    server = OracleServer(alter=lambda prompt, body, reply: {"grade": 7})
    run, server = grade(tmp_path, ["grade.quality"], ROWS[:1], server, scale="stars")
    (cell,) = run.scores.to_pylist()
    assert cell["status"] == "failed"
    assert "the grade 7 is not on the scale from 1 to 5" in cell["reason"]
    assert server.replies["grade"] == 2


def test_an_empty_answer_has_no_grade_and_costs_nothing(tmp_path):
    rows = [{"id": "1", "question": "Which?", "answer": "  "}, ROWS[0]]
    run, server = grade(tmp_path, ["grade.quality"], rows)
    assert [row["status"] for row in run.scores.to_pylist()] == ["skipped", "ok"]
    assert server.calls == 1


def test_grades_are_only_given_where_they_are_named(tmp_path):
    run, server = grade(tmp_path, None, ROWS[:2])
    assert server.replies["grade"] == 0
    assert not any(row["metric"].startswith("grade.") for row in run.scores.to_pylist())


def test_a_users_own_aspect_is_graded_as_ours(tmp_path, catalogue):
    file = tmp_path / "aspects.toml"
    file.write_text(
        '[seamanship]\ntask = "answer of a pilot"\nopposite = "landlubber\'s talk"\ninstruction = "whether a sailor would say so"\n'
        'rubric = ["no", "yes"]\n'
    )
    assert register_aspects(file) == ["grade.seamanship", "grade.seamanship.with_reference"]
    run, server = grade(tmp_path, ["grade.seamanship"], ROWS[:3], grading=["rubric"])
    assert len(cells(run, "grade.seamanship")) == 3
    assert "100: yes" in server.bodies[-1]["messages"][0]["content"]
    run, server = grade(tmp_path, ["grade.seamanship"], ROWS[:1], grading=["few-shot"])
    (cell,) = run.scores.to_pylist()
    assert cell["status"] == "failed"
    assert "the aspect 'seamanship' has no examples; leave out few-shot" in cell["reason"]
    assert server.calls == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "contains no aspect"),
        ("task = 3", "is outside of any aspect"),
        ("[Polite]\ntask='a'", r"\[Polite\]: a name has lower-case letters"),
        ("[polite]\ntask='a'\nopposite='b'", "'instruction' is missing"),
        ("[polite]\ntask='a'\nopposite='b'\ninstruction='c'\nscale=5", "unknown key 'scale'"),
        ("[polite]\ntask='a'\nopposite='b'\ninstruction='c'\nshows=['facts']", "'shows' cannot have 'facts'"),
        ("[polite]\ntask='a'\nopposite='b'\ninstruction='c'\nrubric=['bad']", "a rubric needs two steps"),
        ("[polite]\ntask='a'\nopposite='b'\ninstruction='c'\n[[polite.examples]]\nanswer='x'", "has no 'question'"),
        (
            "[polite]\ntask='a'\nopposite='b'\ninstruction='c'\n[[polite.examples]]\nanswer='x'\nquestion='y'\nreasoning='z'\nshare=2",
            "must be from 0 to 1, got 2",
        ),
        ("[fluency]\ntask='a'\nopposite='b'\ninstruction='c'", "'fluency' comes with Ragstone"),
        ("[polite", "cannot be read as TOML"),
    ],
)
def test_mistakes_in_a_file_of_aspects_are_named(tmp_path, text, words):
    file = tmp_path / "aspects.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_aspects(file)


def test_packaged_aspects_have_all_that_every_manner_needs():
    for aspect in packaged_aspects().values():
        assert len(aspect.rubric) == 5
        assert len(aspect.examples) >= 2
        assert all(example.reference for example in aspect.examples)
        assert len({example.share for example in aspect.examples}) > 1
    assert len({aspect.hash for aspect in packaged_aspects().values()}) == len(packaged_aspects())


def test_unknown_scales_and_manners_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"unknown scale 'star'\. Did you mean stars"):
        grade(tmp_path, ["grade.quality"], ROWS[:1], scale="star")
    with pytest.raises(UsageError, match=r"unknown manner of grading 'cott'\. Did you mean cot"):
        grade(tmp_path, ["grade.quality"], ROWS[:1], grading=["cott"])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('{"grade": 4}', ['{"grade": ', "44", "}"]),  # the tokens do not spell the text
        ('{"grade": 42}', ['{"grade": ', "4", "2", "}"]),  # a grade of two tokens
        ('{"score": 4}', ['{"score": ', "4", "}"]),
        ('{"grade": 85.5}', ['{"grade": ', "85", ".5", "}"]),  # the grade goes on behind its token
        ('{"grade": 8}', ['{"grade": ', "8", "}"]),  # of a model that spells 80 as 8 and 0
    ],
)
def test_what_is_not_known_gives_no_expected_grade(text, tokens):
    likely = tuple((token, -0.1) for token in tokens)
    reply = Reply(text, "m", logprobs=likely, alternatives=tuple((pair,) for pair in likely))
    assert expected_grade(reply, SCALES["points"]) is None


def test_other_tokens_must_not_outweigh_the_grades():
    likely = (('{"grade": ', 0.0), ("4", -1.0), ("}", 0.0))
    reply = Reply('{"grade": 4}', "m", logprobs=likely, alternatives=((), (("4", -1.0), ("four", -0.5)), ()))
    assert expected_grade(reply, SCALES["stars"]) is None


def test_a_share_runs_from_the_lowest_to_the_highest_grade():
    from ragstone.data.types import Grade

    assert [share_of(Grade(value, 1, 5)) for value in (1, 3, 5)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"9": 0.3, "10": 0.2}, 8 * 0.5 + 9 * 0.3 + 10 * 0.2),
        # Nobody knows whether the 1 would have become a 10.
        ({"9": 0.3, "1": 0.2}, None),
        ({"9": 0.499, "1": 0.001}, 8 * 0.5 + 9 * 0.499 + 0.001),
    ],
)
def test_a_digit_that_may_go_on_gives_no_expected_grade(others, expected):
    likely = (('{"grade": ', 0.0), ("8", math.log(0.5)), ("}", 0.0))
    beside = tuple((token, math.log(share)) for token, share in {"8": 0.5, **others}.items())
    reply = Reply('{"grade": 8}', "m", logprobs=likely, alternatives=((), beside, ()))
    found = expected_grade(reply, SCALES["ten"])
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("said", ["8/10", "4 stars", "80%", "★★★★"])
def test_a_grade_of_another_scale_is_asked_for_again(tmp_path, said):
    server = OracleServer(alter=lambda prompt, body, reply: {"grade": said} if len(body["messages"]) < 4 else reply)
    run, server = grade(tmp_path, ["grade.quality"], ROWS[:1], server)
    assert server.replies["grade"] == 2
    assert cells(run, "grade.quality")[ROWS[0]["id"]] == pytest.approx(
        rounded(worth(ROWS[0]["answer"], ROWS[0]), SCALES["points"])
    )


def test_a_rubric_with_more_steps_than_the_scale_is_refused(tmp_path, catalogue):
    file = tmp_path / "aspects.toml"
    steps = ", ".join(f"'step {number}'" for number in range(6))
    file.write_text(f"[neatness]\ntask='answer'\nopposite='mess'\ninstruction='order'\nrubric=[{steps}]\n")
    register_aspects(file)
    run, server = grade(tmp_path, ["grade.neatness"], ROWS[:1], grading=["rubric"], scale="stars")
    (cell,) = run.scores.to_pylist()
    assert cell["reason"].endswith("has 6 steps, more than the scale 'stars' has")
    assert server.calls == 0
