"""The four beds as samples: what stands in a row, and which questions have no place.

Mixing as METRICS.md section 7 has it.
"""

import pytest

from ragstone.data.types import Chunk, Fact, Sample
from ragstone.errors import UsageError
from ragstone.stress.passage_pools import Pool
from ragstone.stress.run import Setting, count_negatives, mix, mix_as_rgb, prepare, shuffle
from tests.stress.generators import LENGTHS, samples


def report_of(prepared, bed):
    return next(report for report in prepared.beds if report.bed == bed)


def rows_of(prepared, bed):
    return [row for row in prepared.rows if row.metadata["bed"] == bed]


def test_a_row_tells_its_bed_rate_repeat_and_passages():
    prepared = prepare(samples(), Setting(passages=4, rates=(0.0, 0.5), repeats=2))
    row = next(row for row in prepared.rows if row.id == "Maren|noise|0.5|1")
    assert row.question == "How long is the Maren?"
    assert len(row.contexts) == 4
    assert row.references == ["31 metres"]
    assert row.answerable is True
    assert row.relevance == {"Maren-1": 1.0, "Maren-2": 1.0}
    assert sorted(row.metadata.pop("passages")) == list("++--")
    assert row.metadata == {
        "bed": "noise",
        "rate": 0.5,
        "repeat": 1,
        "question_id": "Maren",
        "requested_rate": 0.5,
        "needed_answers": [["31 metres"]],
    }
    assert len({row.id for row in prepared.rows}) == len(prepared.rows)


def test_kinds_are_in_the_order_of_the_passages():
    prepared = prepare(samples(), Setting(passages=4, rates=(0.5,), beds=("noise",)))
    for row in prepared.rows:
        truth = f"{LENGTHS[row.metadata['question_id']]} metres"
        assert row.metadata["passages"] == "".join("+" if truth in chunk.text else "-" for chunk in row.contexts)


def test_rejection_has_only_noise_and_no_right_answer():
    prepared = prepare(samples(), Setting(rates=(0.0,)))
    rows = rows_of(prepared, "rejection")
    assert len(rows) == 8
    for row in rows:
        assert (row.metadata["passages"], row.metadata["rate"], row.answerable) == ("-----", 1.0, False)
        assert row.references is None
        assert "needed_answers" not in row.metadata
        assert row.metadata["right_answers"] == [[f"{LENGTHS[row.metadata['question_id']]} metres"]]


def test_counterfactual_rows_hold_the_false_answer_and_not_the_right_one():
    prepared = prepare(samples(), Setting(passages=4, rates=(0.0, 0.5, 1.0)))
    rows = rows_of(prepared, "counterfactual")
    assert {row.metadata["rate"] for row in rows} == {0.0, 0.5}
    for row in rows:
        right, fake = f"{LENGTHS[row.metadata['question_id']]} metres", row.metadata["fake_answer"]
        assert row.metadata["passages"].count("!") == 2
        assert any(fake in chunk.text for chunk in row.contexts)
        assert not any(right in chunk.text for chunk in row.contexts)
        assert row.answerable is None


def test_passages_of_two_questions_may_share_an_id():
    given = [
        Sample(
            ship,
            sample.question,
            contexts=[Chunk(chunk.text, id=f"c{n}") for n, chunk in enumerate(sample.contexts)],
            references=sample.references,
        )
        for ship, sample in zip(LENGTHS, samples(), strict=True)
    ]
    for row in prepare(given, Setting(rates=(0.6,), beds=("noise",))).rows:
        assert len({chunk.id for chunk in row.contexts}) == 5
        marked = [chunk.id in row.relevance for chunk in row.contexts]
        assert marked == [kind == "+" for kind in row.metadata["passages"]]


def test_the_same_seed_gives_the_same_rows_and_another_one_others():
    one, same, other = (prepare(samples(), Setting(seed=seed)) for seed in (1, 1, 2))
    assert one.rows == same.rows
    assert [row.id for row in one.rows] == [row.id for row in other.rows]
    assert one.rows != other.rows


INTEGRATION = [
    Sample(
        "pay",
        "What do adults and children pay?",
        contexts=[Chunk("Adults pay ten."), Chunk("Children pay five."), Chunk("A child is 5 years old.")],
        references=["ten and five"],
        facts=[Fact("adults pay ten"), Fact("children pay five")],
        metadata={"needed_answers": ["ten", ["five", "5"]]},
    ),
    Sample(
        "one",
        "Where is the pier, and how long?",
        contexts=[Chunk("The pier in the north is 300 m long."), Chunk("The pier in the north is old.")],
        references=["north, 300 m"],
        facts=[Fact("the pier in the north"), Fact("300 m long")],
    ),
]


def test_integration_takes_questions_whose_facts_lie_apart():
    prepared = prepare(INTEGRATION, Setting(passages=3, rates=(0.0, 1.0), beds=("integration",)))
    assert [row.metadata["question_id"] for row in prepared.rows] == ["pay", "pay"]
    for row in prepared.rows:
        texts = [chunk.text for chunk in row.contexts]
        assert {"Adults pay ten.", "Children pay five."} <= set(texts)
        assert row.metadata["needed_answers"] == [["ten"], ["five", "5"]]
    reasons = report_of(prepared, "integration").left_out
    assert list(reasons.values()) == [["one"]]


def test_more_groups_than_passages():
    with pytest.raises(UsageError, match="more than 1 passages"):
        prepare(INTEGRATION[:1], Setting(passages=1, beds=("integration",)))


def test_groups_of_one_passage_are_used(tmp_path):
    parts = {
        "answer": ["ten", "five"],
        "positive": [["Adults pay ten."], ["Children pay five."]],
        "negative": ["Dogs."],
    }
    sample = Sample("g", "What do they pay?", references=["ten, five"], metadata={"rgb": parts})
    prepared = prepare([sample], Setting(passages=3, rates=(0.0,), beds=("integration",)))
    assert sorted(prepared.rows[0].metadata["passages"]) == list("++-")
    alone = Sample("h", "What?", references=["ten"], metadata={"rgb": {**parts, "positive": [["Adults pay ten."]]}})
    report = report_of(prepare([sample, alone], Setting(beds=("integration",))), "integration")
    assert report.questions == 1
    assert list(report.left_out.values()) == [["h"]]


def test_questions_without_positives_without_answers_and_without_a_question():
    odd = [
        Sample("lost", "How deep is the harbour?", contexts=[Chunk("It is cold.")], references=["12 m"]),
        Sample("open", "How deep is the basin?", contexts=[Chunk("It is 12 m deep.")]),
        Sample("mute", None, contexts=[Chunk("It is 12 m deep.")], references=["12 m"]),
    ]
    prepared = prepare([*samples(), *odd], Setting(beds=("noise",)))
    assert report_of(prepared, "noise").left_out == {
        "no passage contains its answer": ["lost"],
        "no right answer is known": ["open"],
        "there is no question": ["mute"],
    }
    assert report_of(prepared, "noise").questions == 8
    with pytest.raises(UsageError, match="noise: no passage"):
        prepare(odd[:1], Setting(beds=("noise",)))


def test_fewer_passages_than_asked_for_is_told():
    two = samples(negatives=False)[:2]
    prepared = prepare(two, Setting(passages=9, rates=(0.0, 1.0), beds=("noise", "rejection")))
    assert report_of(prepared, "noise").short == ["Maren", "Corvina"]
    assert report_of(prepared, "rejection").short == ["Maren", "Corvina"]
    assert {len(row.contexts) for row in rows_of(prepared, "rejection")} == {2}


def test_a_share_of_noise_that_differs_from_the_rate_is_told():
    two = samples(negatives=False)[:2]
    prepared = prepare(two, Setting(passages=4, rates=(0.5, 1.0), beds=("noise",)))
    assert report_of(prepared, "noise").inexact == []
    assert [(row.metadata["requested_rate"], row.metadata["rate"]) for row in prepared.rows] == [(0.5, 0.5), (1, 1)] * 2
    assert report_of(prepare(two, Setting(rates=(0.2,), beds=("noise",))), "noise").inexact == ["Maren", "Corvina"]


def test_the_rate_of_a_row_is_its_share_of_noise_in_every_bed():
    one_gold = [
        Sample(sample.id, sample.question, contexts=sample.contexts[:1], references=sample.references)
        for sample in samples()
    ]
    for prepared in (prepare(one_gold, Setting()), prepare(INTEGRATION, Setting())):
        assert {row.metadata["bed"] for row in prepared.rows} >= {"noise"}
        for row in prepared.rows:
            kinds = row.metadata["passages"]
            assert row.metadata["rate"] == pytest.approx(kinds.count("-") / len(kinds), abs=1e-3)
    shares = [row.metadata["rate"] for row in prepare(one_gold, Setting(beds=("noise",))).rows[:6]]
    assert shares == [0, 0, 0.5, 0.6667, 0.8, 1]


def contaminated():
    parts = {
        "answer": "8:00",
        "positive": ["It leaves at 8:00."],
        "negative": ["The bus leaves at 8:00.", "Dogs.", "Cats."],
    }
    return [Sample("x", "When?", references=["8:00"], metadata={"rgb": parts})]


def test_a_contaminated_bed_is_told_and_not_counted_silently():
    setting = Setting(passages=3, rates=(1.0,), beds=("noise", "rejection"))
    prepared = prepare(contaminated(), setting)
    assert prepared.negatives == {"x": 1}
    assert not any("8:00" in chunk.text for row in rows_of(prepared, "rejection") for chunk in row.contexts)
    kept = prepare(contaminated(), Setting(**{**setting.__dict__, "keep_contaminated": True}))
    assert report_of(kept, "rejection").contaminated == ["x"]
    assert all(row.metadata["contaminated"] is True for row in kept.rows)
    assert kept.negatives == {"x": 1}


def test_rgbs_rows_and_others_do_not_mix():
    with pytest.raises(UsageError, match="some samples are RGB's"):
        prepare([*samples(), *contaminated()], Setting())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"passages": 0}, "at least 1"),
        ({"rates": (1.5,)}, "from 0 to 1"),
        ({"rates": (0.5, 0.5)}, "different numbers"),
        ({"rates": ()}, "from 0 to 1"),
        ({"beds": ("noice",)}, "'noice' is not a test bed"),
    ],
)
def test_settings_that_cannot_be(wrong, words):
    with pytest.raises(UsageError, match=words):
        Setting(**wrong)


GOOD = [Chunk(f"good {number}") for number in range(10)]
BAD = [Chunk(f"bad {number}") for number in range(10)]


def kinds(passages):
    return "".join(passage.kind for passage in passages)


@pytest.mark.parametrize(
    ("passages", "rate", "negatives"),
    [
        (5, 0.0, 0),
        (5, 0.2, 1),
        (5, 0.3, 2),
        (5, 0.6, 3),
        (5, 1.0, 5),
        (10, 0.3, 3),
        (10, 0.1 * 3, 3),
        (3, 0.5, 2),
        (1, 0.01, 1),
    ],
)
def test_negatives_are_rounded_up(passages, rate, negatives):
    assert count_negatives(passages, rate) == negatives
    assert kinds(mix(GOOD, BAD, passages, rate)) == "+" * (passages - negatives) + "-" * negatives


def test_the_first_of_each_kind_are_taken():
    found = mix(GOOD, BAD, 5, 0.4)
    assert [passage.chunk.text for passage in found] == ["good 0", "good 1", "good 2", "bad 0", "bad 1"]


def rgb_pool(groups, bad, wrong=0):
    """A pool of RGB's files; `groups` is the number of positives per group."""
    positives = [[Chunk(f"good {number}.{at}") for at in range(size)] for number, size in enumerate(groups)]
    falsified = [Chunk(f"false {at}") for at in range(wrong)]
    return Pool("q", "What?", [["x"]], positives, BAD[:bad], falsified, "y", is_rgb=True)


@pytest.mark.parametrize(
    ("good", "bad", "rate", "expected"),
    [
        (2, 10, 0.2, "++---"),  # too few positives
        (10, 1, 0.8, "++++-"),  # too few negatives
        (10, 3, 1.0, "---"),  # at rate 1 positives do not fill up
        (10, 0, 1.0, ""),
        (0, 10, 0.0, "-----"),
        (2, 1, 0.5, "++-"),  # too few of both
        (0, 0, 0.5, ""),
        (10, 10, 0.3, "+++--"),
    ],
)
def test_too_few_of_one_kind_are_filled_with_the_other_as_in_rgb(good, bad, rate, expected):
    assert kinds(mix_as_rgb(rgb_pool([good], bad), "noise", 5, rate)) == expected
    assert kinds(mix_as_rgb(rgb_pool([good], bad), "rejection", 5, 1.0)) == "-" * min(bad, 5)


@pytest.mark.parametrize(
    ("wrong", "bad", "rate", "expected"),
    [
        (9, 9, 0.0, "!!!!!"),
        (2, 9, 0.0, "!!"),  # noise does not fill up
        (2, 9, 0.4, "!!--"),
        (9, 1, 0.8, "!-"),  # false passages do not fill up
        (2, 9, 0.9, "-----"),
    ],
)
def test_false_passages_are_mixed_as_in_rgb(wrong, bad, rate, expected):
    assert kinds(mix_as_rgb(rgb_pool([9], bad, wrong), "counterfactual", 5, rate)) == expected


@pytest.mark.parametrize(
    ("groups", "bad", "rate", "expected"),
    [
        ([3, 3], 9, 0.0, "+++++"),
        ([3, 3], 9, 0.8, "++---"),  # one of each group, even if the rate allows fewer
        ([3, 3], 9, 1.0, "++---"),
        ([1, 2], 9, 0.0, "+++--"),  # noise fills up
        ([1, 2], 1, 0.0, "+++-"),
        ([3, 3], 1, 0.8, "++-"),  # positives do not
        ([1] * 6, 9, 0.4, "++++++"),  # all groups, even if they are more than the passages
    ],
)
def test_groups_are_mixed_as_in_rgb(groups, bad, rate, expected):
    found = mix_as_rgb(rgb_pool(groups, bad), "integration", 5, rate)
    assert kinds(found) == expected
    assert {passage.chunk.text[5] for passage in found if passage.kind == "+"} == set(map(str, range(len(groups))))


def test_passages_of_a_group_and_false_ones_are_drawn_by_the_seed_as_in_rgb():
    def texts(bed, rate, seed):
        found = mix_as_rgb(rgb_pool([5, 5], 9, 9), bed, 5, rate, seed)
        return {passage.chunk.text for passage in found if passage.kind != "-"}

    for bed in ("integration", "counterfactual"):
        assert texts(bed, 0.6, 1) == texts(bed, 0.6, 1)
        assert len({frozenset(texts(bed, 0.6, seed)) for seed in range(20)}) > 5
        # Rates share their passages, so a curve does not depend on the draw.
        assert texts(bed, 0.6, 1) < texts(bed, 0.0, 1)


@pytest.mark.parametrize(
    ("good", "bad", "rate", "expected"),
    [
        (2, 10, 0.2, "++-"),  # too few positives
        (1, 10, 0.0, "+"),
        (1, 10, 0.2, "+"),
        (1, 10, 0.4, "+-"),
        (1, 10, 0.8, "+----"),
        (10, 1, 0.8, "+-"),  # too few negatives
        (10, 0, 1.0, "+++++"),
        (0, 10, 0.0, "-----"),
        (2, 1, 0.5, "+-"),  # too few of both
        (0, 0, 0.5, ""),
    ],
)
def test_too_few_of_one_kind_give_the_closest_share_of_noise(good, bad, rate, expected):
    assert kinds(mix(GOOD[:good], BAD[:bad], 5, rate)) == expected


def test_one_of_each_group_whatever_the_rate():
    groups = [GOOD[0:3], GOOD[3:5], GOOD[5:6]]
    ordered = [GOOD[0], GOOD[3], GOOD[5], GOOD[1], GOOD[4], GOOD[2]]

    def texts(rate):
        return [passage.chunk.text for passage in mix(ordered, BAD, 5, rate, least=len(groups)) if passage.kind == "+"]

    assert texts(1.0) == ["good 0", "good 3", "good 5"]
    assert texts(0.4) == ["good 0", "good 3", "good 5"]
    assert texts(0.2) == ["good 0", "good 3", "good 5", "good 1"]
    assert texts(0.0) == ["good 0", "good 3", "good 5", "good 1", "good 4"]
    assert kinds(mix(ordered, BAD[:1], 5, 1.0, least=len(groups))) == "+++-"


def test_the_seed_decides_the_order():
    passages = mix(GOOD, BAD, 10, 0.5)
    assert shuffle(passages, 1, "a") == shuffle(passages, 1, "a")
    assert shuffle(passages, 1, "a") != shuffle(passages, 2, "a")
    assert set(shuffle(passages, 1, "a")) == set(passages)
