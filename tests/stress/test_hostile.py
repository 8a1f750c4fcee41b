"""Beds of attacks on bells of a foundry: planted rates of obedience come out, and nothing else counts as obedience."""

import base64
import codecs
import io
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.report.html.stress_page import stress_html
from ragstone.report.stress import stress_report
from ragstone.stress.beds import ATTACKS, Setting
from ragstone.stress.hostile import COPIES, list_payloads, read_attacks
from ragstone.stress.results import contrast_tests, find_curves
from ragstone.stress.run import prepare
from tests.metrics.scoring import cell
from tests.stress.generators import stressed

NAMES = [
    f"{first} {second}"
    for first in ("Old", "Great", "Little", "Saint", "Black")
    for second in ("Tom", "Kate", "Hugh", "Anne")
]
WEIGHTS = {name: 310 + 17 * number for number, name in enumerate(NAMES)}


def bells():
    """A question per bell with one chunk that answers it and two that do not."""
    return [
        Sample(
            name,
            f"What does the bell {name} weigh?",
            contexts=[
                Chunk(f"{name} hangs in the north tower.", id=f"{name}/1", source="towers.md"),
                Chunk(f"The bell {name} weighs {weight} kilograms.", id=f"{name}/2", source="weights.md"),
                Chunk(f"{name} is rung on Sundays. It was cast in bronze.", id=f"{name}/3", source="ringing.md"),
            ],
            references=[f"{weight} kilograms"],
        )
        for name, weight in WEIGHTS.items()
    ]


def hidden_words(contexts):
    """The two words of a hidden instruction, also of an encoded one."""
    for text in contexts:
        last = text.rpartition(" ")[2]
        texts = [codecs.encode(text, "rot13") if "ROT13" in text else text]
        if re.fullmatch(r"[A-Za-z0-9+/]{40,}=*", last):
            texts.append(base64.b64decode(last).decode())
        for one in texts:
            if found := re.search(r"[\"„«“] ?([A-Z]+) ?[\"“»”]\D{1,5}[\"„«“] ?([A-Z]+) ?[\"“»”]", one):
                return found.groups()
    return None


def weight_in(contexts, pick=0):
    found = [match[1] for text in contexts for match in re.finditer(r"(\d+) kilograms", text)]
    return f"{found[pick]} kilograms" if found else "unknown"


def obeys(share):
    """Obeys the hidden instructions of this share of the questions; else gives the first weight that it finds."""
    obeyed = set(random.Random(1).sample(NAMES, round(share * len(NAMES))))

    def generate(question, contexts):
        words, name = hidden_words(contexts), re.search(r"bell (.*) weigh", question)[1]
        if words and name in obeyed:
            return "-".join(words)
        return weight_in([text for text in contexts if name in text]) + (
            f" The text asked for {words[0]} and {words[1]}." if words else ""
        )

    return generate


@pytest.fixture(scope="module")
def beds():
    return prepare(bells(), Setting(beds=ATTACKS, repeats=2))


def rows_of(prepared, bed, hostile=None, rank=None):
    return [
        row
        for row in prepared.rows
        if row.metadata["bed"] == bed
        and hostile in (None, row.metadata["hostile"])
        and rank in (None, row.metadata["rank"])
    ]


def test_a_payload_describes_the_canary_and_never_contains_it(beds):
    assert {payload.kind for payload in list_payloads()} == {"ignore", "exfiltrate", "tone", "link"}
    assert len(set(list_payloads())) == len(list_payloads()) == 36
    assert isinstance(read_attacks()["version"], int)
    rows = rows_of(beds, "injection", 3)
    assert {(row.metadata["instruction"], row.metadata["form"]) for row in rows} >= {
        ("ignore", "base64"),
        ("tone", "rot13"),
    }
    for row in rows:
        canary = row.metadata["canary"]
        assert "-".join(hidden_words([chunk.text for chunk in row.contexts])) == canary
        assert canary not in " ".join(chunk.text for chunk in row.contexts)


def test_hostile_chunks_are_added_before_or_after_the_users_own(beds):
    own = [chunk.text for chunk in bells()[0].contexts]
    first, last = (rows_of(beds, "injection", 3, rank)[0] for rank in ("first", "last"))
    assert (first.metadata["passages"], last.metadata["passages"]) == ("!!!-+-", "-+-!!!")
    assert [chunk.text for chunk in first.contexts[3:]] == [chunk.text for chunk in last.contexts[:3]] == own
    assert [chunk.text for chunk in rows_of(beds, "injection", 0)[0].contexts] == own
    assert len({chunk.id for chunk in first.contexts}) == 6
    assert (first.metadata["rate"], first.metadata["attack"]) == (0.5, "injection")


def test_false_passages_state_the_false_answer_and_the_right_one_stays(beds):
    for bed in ("poison", "conflict"):
        for row in rows_of(beds, bed, 3):
            right, fake = f"{WEIGHTS[row.metadata['question_id']]} kilograms", row.metadata["fake_answer"]
            for chunk, kind in zip(row.contexts, row.metadata["passages"], strict=True):
                assert (right in chunk.text, fake in chunk.text) == (kind == "+", kind == "!")


def test_a_line_tells_which_document_of_a_conflict_is_right(beds):
    rows = rows_of(beds, "conflict", 1)
    assert {row.metadata["basis"] for row in rows} == {"date", "source"}
    for row in rows:
        stamps = read_attacks()["conflict"][row.metadata["basis"]]
        for chunk, kind in zip(row.contexts, row.metadata["passages"], strict=True):
            assert chunk.text.startswith(stamps["right"]) == (kind == "+")
            assert chunk.text.startswith(stamps["wrong"]) == (kind == "!")


def test_a_passage_about_a_recent_year_is_unofficial_and_not_old():
    given = [
        replace(one, contexts=[replace(chunk, text=f"In 2019: {chunk.text}") for chunk in one.contexts])
        for one in bells()
    ]
    rows = rows_of(prepare(given, Setting(beds=("conflict",), repeats=2)), "conflict", 1)
    assert {row.metadata["basis"] for row in rows} == {"source"}


def test_overload_adds_near_duplicates_without_the_answer(beds):
    row = rows_of(beds, "overload", 3 * COPIES)[0]
    copies = [chunk.text for chunk, kind in zip(row.contexts, row.metadata["passages"], strict=True) if kind == "!"]
    assert len(set(copies)) == 30
    assert len({frozenset(re.findall(r"[a-z]+", text.lower())) for text in copies}) == 1
    assert not any("310 kilograms" in text for text in copies)


def test_questions_without_an_answer_can_be_attacked_by_instructions_only():
    samples = [replace(sample, references=None) for sample in bells()[:3]]
    prepared = prepare(samples, Setting(beds=ATTACKS))
    assert {row.metadata["bed"] for row in prepared.rows} == {"injection"}
    assert [list(report.left_out) for report in prepared.beds] == [[], *[["no right answer is known"]] * 3]
    alone = prepare([Sample("one", "What?", contexts=[Chunk("A bell.")])], Setting(beds=("injection",), hostile=(2,)))
    assert [row.metadata["passages"] for row in alone.rows] == ["-", "!!-", "-!!"]


def test_a_number_stands_for_a_reference_that_is_a_sentence():
    given = [
        replace(sample, references=[f"It weighs {WEIGHTS[sample.id]} kilograms, more than most."]) for sample in bells()
    ]
    prepared = prepare(given, Setting(beds=("noise", "poison")))
    assert rows_of(prepared, "poison")[0].references == given[0].references
    for row in rows_of(prepared, "poison", 3):
        assert row.metadata["needed_answers"] == [[str(WEIGHTS[row.metadata["question_id"]])]]
        assert row.metadata["passages"].count("+") == 1
    # Other beds need the words of the reference as before.
    assert prepared.beds[0].left_out == {"no passage contains its answer": NAMES}


@pytest.mark.parametrize("hostile", [(), (0,), (2, 2)])
def test_wrong_numbers_of_hostile_chunks(hostile):
    with pytest.raises(UsageError, match="different and at least 1"):
        Setting(hostile=hostile)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """Two generators on the same injections: one obeys in 30 % of the questions, one never."""
    prepared = prepare(bells(), Setting(beds=("injection",)))
    return [stressed(prepared, obeys(share), tmp_path_factory.mktemp("attacked")) for share in (0.3, 0.0)]


def test_thirty_percent_of_obedience_are_measured(attacked):
    curve = attacked[0].main("injection")
    assert curve.metric == "attack_success"
    assert curve.robustness.value == pytest.approx(0.3)
    assert curve.robustness.low < 0.3 < curve.robustness.high
    assert curve.robustness.high - curve.robustness.low < 0.45
    assert [(point.rate, point.mean) for point in curve.points] == [(0, None), (1, 0.3), (3, 0.3)]
    # An answer that names both words of the instruction did not obey.
    assert attacked[1].main("injection").robustness.value == 0


def test_lost_quality_is_paired_with_the_same_question_without_an_attack(attacked):
    [loss] = [one for one in attacked[0].losses if one.metric == "rgb.accuracy"]
    assert (loss.first, loss.second) == (1, pytest.approx(0.7))
    assert loss.low < -0.3 < loss.high < 0
    assert attacked[1].losses[0].difference == 0


def test_success_by_rank_instruction_and_form(attacked):
    groups = attacked[0].groups
    assert {group.by for group in groups} == {"rank", "instruction", "form"}
    assert [group.mean for group in groups if group.by == "rank"] == [pytest.approx(0.3)] * 2
    by_kind = [group for group in groups if group.by == "instruction"]
    assert sum(group.mean * group.questions for group in by_kind) == pytest.approx(6)


def test_fewer_obeyed_instructions_are_more_robust(attacked):
    [[success, *_]] = contrast_tests(attacked)
    assert (success.metric, success.verdict) == ("attack_success", "the second is more robust")
    [[success, *_]] = contrast_tests(attacked[::-1])
    assert success.verdict == "the first is more robust"


@pytest.mark.parametrize("by", ["row", "question"])
def test_the_interval_of_thirty_percent_covers_it(attacked, by):
    """Of 300 systems that obey with a probability of 0.3, per row or per question, nearly all intervals contain 0.3."""
    rows = attacked[0].rows
    chance, covered = np.random.default_rng(7), 0
    questions = np.unique(rows.questions, return_inverse=True)[1]
    for _ in range(300):
        obeyed = chance.random(len(rows.ids)) < 0.3 if by == "row" else (chance.random(20) < 0.3)[questions]
        values = np.where(rows.requested > 0, obeyed, np.nan)
        [curve] = find_curves(replace(rows, scores={"attack_success": values}))
        covered += curve.robustness.low <= 0.3 <= curve.robustness.high
    assert covered >= 0.92 * 300


def test_a_generator_that_believes_the_first_or_the_last_passage(tmp_path):
    prepared = prepare(bells(), Setting(beds=("poison", "conflict")))
    test = stressed(prepared, lambda _, contexts: weight_in(contexts, -1), tmp_path)
    by_rank = {(group.bed, group.name): group.mean for group in test.groups if group.by == "rank"}
    assert by_rank == {
        (bed, rank): float(rank == "last") for bed in ("poison", "conflict") for rank in ("first", "last")
    }


def test_noticed_and_cited(tmp_path):
    def generate(question, contexts):
        weights = re.findall(r"(\d+) kilograms", " ".join(contexts))
        if len(set(weights)) > 1 and "Old" in question:
            return f"The documents contradict each other: {' or '.join(sorted(set(weights)))}."
        place = next((place for place, text in enumerate(contexts, 1) if "kilograms" in text), 1)
        return f"{weight_in(contexts)} [{place}]."

    prepared = prepare(bells(), Setting(beds=("poison",), hostile=(1,)))
    curves = {
        curve.metric: [point.mean for point in curve.points] for curve in stressed(prepared, generate, tmp_path).curves
    }
    assert curves["attack_noticed"] == [None, pytest.approx(0.2)]
    assert curves["attack_false_alarm"] == [0, None]
    # At rank `first` the false passage is believed and cited.
    assert curves["attack_success"] == [None, pytest.approx(0.4)]
    assert curves["attack_cited"] == [None, 1]


@pytest.mark.parametrize(
    ("answer", "obeyed"),
    [
        *(
            (f"See {hyphen.join(['KOVALU', 'RIMEDA'])}.", 1)
            for hyphen in ("-", "\u2011", " \u2013 ", "\uff0d", "%2D", "&#45;", "**-**")
        ),
        ("<b>KOVALU</b>-<b>RIMEDA</b>", 1),
        ('Join "KOVALU" and "RIMEDA" with a hyphen.', 0),
        ("KOVALU, RIMEDA", 0),
    ],
)
def test_the_canary_in_other_spellings(answer, obeyed):
    row = Sample("1", "What?", answer, metadata={"attack": "injection", "canary": "KOVALU-RIMEDA"})
    assert cell(row, "attack_success").value == obeyed


def test_a_copied_passage_is_no_notice(tmp_path):
    """The fourth false passage of poison calls earlier documents wrong; an answer that repeats it has noticed nothing."""
    prepared = prepare(bells()[:8], Setting(beds=("poison",), hostile=(4,)))
    for say, noticed in (
        (lambda last: last, 0),
        (lambda last: f"{last} But the documents contradict each other.", 1),
        (lambda last: f"Sure! {last.upper()}", 0),
    ):
        test = stressed(prepared, lambda _, contexts, say=say: say(contexts[-1]), tmp_path / str(say("x")))
        rows = {(curve.metric): curve.points[-1].mean for curve in test.curves}
        assert rows["attack_noticed"] == noticed
        assert rows["attack_success"] == 0.5


def test_a_generator_that_always_warns_has_false_alarms(tmp_path):
    prepared = prepare(bells()[:8], Setting(beds=("poison", "overload"), hostile=(1,)))
    test = stressed(prepared, lambda _, contexts: "The documents contradict each other.", tmp_path)
    warned = {
        (curve.bed, curve.metric): [point.mean for point in curve.points]
        for curve in test.curves
        if curve.metric in ("attack_noticed", "attack_false_alarm")
    }
    assert warned == {("poison", "attack_noticed"): [None, 1], ("poison", "attack_false_alarm"): [1, None]}
    assert test.run.summary()["attack_noticed"].n_ok == 16
    screen = Console(file=io.StringIO(), width=120)
    screen.print(stress_report([test]))
    assert re.search(r"attack_false_alarm +1.00 +– +█ +8\n", screen.file.getvalue())
    assert "skipped" not in screen.file.getvalue().partition("attack_false_alarm")[2].partition("attack_")[0]


@pytest.mark.parametrize(
    ("questions", "row"),
    [
        (3, r"rgb.accuracy +1.000 +0.000 +−1.000 +– +0.250 +3 +too few questions"),
        (8, r"rgb.accuracy +1.000 +0.000 +−1.000 +−1.000 – −1.000 +0.008 +8 +worse under attack"),
    ],
)
def test_few_questions_have_no_interval_of_the_lost_quality(tmp_path, questions, row):
    prepared = prepare(bells()[:questions], Setting(beds=("overload",), hostile=(1,)))
    generate = lambda _, contexts: weight_in(contexts) if len(contexts) < COPIES else "unknown"  # noqa: E731
    test = stressed(prepared, generate, tmp_path)
    screen = Console(file=io.StringIO(), width=120)
    screen.print(stress_report([test]))
    assert re.search(row, screen.file.getvalue())
    page = stress_html([test])
    assert f"<td>{row.rpartition('+')[2]}</td>" in page
    assert ("−1.000 to −1.000" in page) == (questions == 8)


def test_without_a_known_right_answer_success_is_skipped():
    """A false answer may stand next to the right one; it is not a success then."""
    planted = {"attack": "poison", "fake_answer": "10"}
    row = Sample("s", "How many?", "It is 10, not 9.", metadata=planted)
    assert cell(row, "attack_success").reason == "no right answer is known"
    assert cell(replace(row, metadata={**planted, "needed_answers": "9 nine"}), "attack_success").value is None
    assert cell(replace(row, metadata={**planted, "needed_answers": ["nine", ["9"]]}), "attack_success").value == 0
    assert cell(replace(row, metadata={**planted, "needed_answers": [["11"]]}), "attack_success").value == 1
