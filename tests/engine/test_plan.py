"""From metric names to an ordered graph, and everything that can be wrong with it before any work is done."""

import asyncio
import typing
from types import SimpleNamespace
from typing import TypedDict

import pytest

import ragstone
from ragstone.data.dataset import samples_table
from ragstone.data.types import Claim, Sample, Turn
from ragstone.engine.batch import evaluate_batch
from ragstone.engine.execute import run_to_end
from ragstone.engine.plan import make_plan
from ragstone.errors import DefinitionError
from ragstone.registry import evidence, metric, parse_metric
from tests.engine.batch import walk

pytestmark = pytest.mark.usefixtures("catalogue")

MATCHER = {"matcher": SimpleNamespace(signature="exact/1")}


def plan(*metrics, present=("id", "question", "answer"), tools=None):
    return make_plan([parse_metric(name) for name in metrics], present, tools or {})


def test_evidence_comes_before_those_who_need_it():
    @evidence
    def third(second: int, first: int) -> int:
        return first + second

    @evidence
    def second(first: int) -> int:
        return first

    @evidence
    def first(question: str) -> int:
        return len(question)

    @metric("sum_of_all", bounds=(0, None))
    def sum_of_all(third: int, first: int) -> float:
        return third + first

    assert [step.spec.name for step in plan("sum_of_all").evidence] == ["first", "second", "third"]


def test_evidence_replaces_a_field_only_if_it_can_be_made():
    @evidence(replaces="question")
    def whole_question(question: str, history: list[str]) -> str:
        return f"{history[0].text} {question}"

    @evidence
    def asked(question: str) -> str:
        return question

    @evidence
    def both(question: str, whole_question: str) -> str:
        return f"{question} of {whole_question}"

    @metric("length_asked", bounds=(0, None))
    def length_asked(asked: str, question: str) -> float:
        assert asked == question
        return len(asked)

    @metric("length_both", bounds=(0, None))
    def length_both(both: str) -> float:
        return len(both)

    fields = ("id", "question", "answer")
    plain = plan("length_asked", present=fields)
    assert plain.replaced == {}
    assert [step.spec.name for step in plain.evidence] == ["asked"]
    made = plan("length_asked", "length_both", present=(*fields, "history"))
    assert made.evidence[0].spec.name == "whole_question"
    assert all("whole_question/1" in step.signature for step in made.metrics)
    assert all("history" in step.fields for step in made.evidence)
    rows = [Sample("1", question="b", history=[Turn("user", "a")]), Sample("2", question="bb")]
    batch = samples_table(rows).to_batches()[0]
    found = run_to_end(evaluate_batch(made, batch, {}, asyncio.Semaphore(1)), made.waits)
    assert [found.cells["length_asked"][row].value for row in (0, 1)] == [len("a b"), len("bb")]
    assert found.cells["length_both"][0].value == len("b of a b")
    assert found.cells["length_both"][1].reason == "no history"


def test_an_optional_need_is_none_if_it_cannot_be_made():
    @metric("with_or_without", optional=("documents",), bounds=(0, None))
    def with_or_without(question: str, documents: list[str] | None) -> float:
        return 9.0 if documents is None else float(len(documents))

    rows = [Sample("1", question="a", documents=["x", "y"]), Sample("2", question="b")]
    batch = samples_table(rows).to_batches()[0]
    for present, values in ((("question",), [9, 9]), (("question", "documents"), [2, 9])):
        made = plan("with_or_without", present=present)
        found = run_to_end(evaluate_batch(made, batch, {}, asyncio.Semaphore(1)), made.waits)
        assert [found.cells["with_or_without"][row].value for row in (0, 1)] == values
    with pytest.raises(DefinitionError, match="is in `optional`"):
        metric("wrong", optional=("nothing",))(lambda question: 0.0)


def test_shared_evidence_is_made_once():
    made = plan("fact_recall", "fact_mrr_mean", "fact_f1", present=("facts", "contexts"), tools=MATCHER)
    names = [step.spec.name for step in made.evidence]
    assert len(made.metrics) == 3
    assert names.count("fact_matches") == names.count("fact_ranks") == 1


@pytest.mark.parametrize(
    ("name", "present", "reason"),
    [
        ("token_f1", ("answer",), "needs references, which no row has"),
        ("fact_recall@5", ("contexts",), "needs facts, which no row has"),
        ("fact_recall", ("contexts", "facts"), "needs a matcher: choose one with --matcher"),
    ],
)
def test_a_metric_that_cannot_be_is_skipped_and_says_why(name, present, reason):
    made = plan(name, present=present)
    assert made.skipped == {name: reason}
    assert made.metrics == ()


def test_a_skipped_metric_drags_nothing_in():
    made = plan("fact_recall", "token_f1", present=("answer", "references", "contexts"), tools=MATCHER)
    assert made.evidence
    assert not {"fact_matches", "fact_ranks"} & {step.spec.name for step in made.evidence}
    assert list(made.skipped) == ["fact_recall"]


def test_evidence_that_needs_itself():
    @evidence
    def egg(hen: int) -> int:
        return hen

    @evidence
    def hen(egg: int) -> int:
        return egg

    @metric("which_was_first")
    def which_was_first(hen: int) -> float:
        return hen

    with pytest.raises(DefinitionError, match="'hen' needs itself: hen → egg → hen"):
        plan("which_was_first")


def test_a_piece_that_needs_its_twin():
    class Pair(TypedDict):
        left: int
        right: int

    @evidence(yields=("left", "right"))
    def pair(right: int) -> Pair:
        return {"left": right, "right": right}

    @metric("leaning")
    def leaning(left: int) -> float:
        return left

    with pytest.raises(DefinitionError, match="needs itself"):
        plan("leaning")


def test_an_unknown_need_offers_the_nearest():
    @metric("mistyped")
    def mistyped(anser: str) -> float:
        return 0.0

    with pytest.raises(DefinitionError, match=r"metric 'mistyped' needs 'anser', .*Did you mean answer"):
        plan("mistyped")


def test_an_unknown_need_of_evidence_names_the_evidence():
    @evidence
    def lengths(contextz: list[str]) -> int:
        return 0

    @metric("long")
    def long(lengths: int) -> float:
        return lengths

    with pytest.raises(DefinitionError, match=r"evidence 'lengths' needs 'contextz', .*contexts"):
        plan("long")


@pytest.mark.parametrize("tools", [{}, MATCHER])
def test_a_metric_may_not_ask_for_a_tool(tools):
    @metric("impure")
    def impure(matcher: object) -> float:
        return 0.0

    with pytest.raises(DefinitionError, match=r"metric 'impure' asks for the tool 'matcher'.*only evidence"):
        plan("impure", tools=tools)


def test_definition_errors_show_though_the_fields_are_absent():
    """Before the data is read nothing is present; a wrong metric must not hide behind that."""

    @metric("wrong")
    def wrong(question: str, nonsense: str) -> float:
        return 0.0

    with pytest.raises(DefinitionError, match="nonsense"):
        plan("wrong", present=())


def test_stored_evidence_must_say_what_it_returns():
    @evidence
    def silent(answer: str):
        return answer

    @metric("talks")
    def talks(silent: str) -> float:
        return 1.0

    with pytest.raises(DefinitionError, match=r"evidence 'silent' .*must say what it returns.*transient"):
        plan("talks")


@pytest.mark.parametrize(
    "annotation",
    [object, set[str], list, typing.List, "Undefined", dict[str, int] | list[str]],  # noqa: UP006  (users still write List)
)
def test_evidence_of_a_type_that_cannot_be_stored(annotation):
    def odd(answer):
        return answer

    odd.__annotations__["return"] = annotation
    evidence(odd)

    @metric("oddity")
    def oddity(odd) -> float:
        return 1.0

    with pytest.raises(DefinitionError, match="must say what it returns"):
        plan("oddity")


def test_transient_evidence_may_be_anything():
    @evidence(transient=True)
    def silent(answer):
        return object()

    @metric("talks")
    def talks(silent) -> float:
        return 1.0

    made = plan("talks")
    assert [step.pieces for step in made.evidence] == [("silent",)]
    assert made.stored_evidence() == []


def _two_pieces(asked):
    class Claims(TypedDict):
        said: list[str]
        true: list[str]

    @evidence(yields=("said", "true"))
    def claims(answer: str, wanted: frozenset[str]) -> Claims:
        asked.append(wanted)
        return {name: [answer] for name in wanted}

    @metric("said_count", bounds=(0, None))
    def said_count(said: list[str]) -> float:
        return len(said)

    @metric("true_count", bounds=(0, None))
    def true_count(true: list[str]) -> float:
        return len(true)


@pytest.mark.parametrize(
    ("metrics", "wanted"),
    [(["said_count"], {"said"}), (["true_count"], {"true"}), (["true_count", "said_count"], {"said", "true"})],
)
def test_only_needed_pieces_are_asked_for(metrics, wanted):
    asked = []
    _two_pieces(asked)
    result = walk([Sample(id="1", answer="yes")], *metrics)
    assert asked == [wanted]
    assert set(result.evidence) == wanted
    assert all(result.cells[name][0].value == 1 for name in metrics)


def test_pieces_of_one_function_are_stored_with_their_own_types():
    _two_pieces([])
    assert plan("said_count", "true_count").stored_evidence() == [("said", list[str]), ("true", list[str])]


def test_functions_of_the_same_name_in_two_files_stay_apart():
    def extract(answer: str) -> int:
        return len(answer)

    def other(answer: str) -> int:
        return 100

    other.__name__, other.__module__ = "extract", "elsewhere"

    class Length(TypedDict):
        length: int

    class Hundred(TypedDict):
        hundred: int

    evidence(yields=("length",))(_returning(extract, "length", Length))
    evidence(yields=("hundred",))(_returning(other, "hundred", Hundred))

    @metric("both", bounds=(0, None))
    def both(length: int, hundred: int) -> float:
        return length + hundred

    assert walk([Sample(id="1", answer="four")], "both").cells["both"][0].value == 104


def _returning(function, piece, kind):
    def extract(answer: str):
        return {piece: function(answer)}

    extract.__annotations__["return"] = kind
    extract.__module__, extract.__qualname__ = function.__module__, function.__name__
    return extract


def test_given_evidence_is_not_made_again():
    @metric("claims", bounds=(0, None))
    def claims(answer_claims: list[Claim]) -> float:
        return len(answer_claims)

    made = plan("claims", present=("question", "answer", "answer_claims"))
    assert made.evidence == ()
    assert made.metrics[0].signature == "claims|v1"


def test_rows_without_the_given_evidence_are_skipped_where_nobody_can_make_it():
    @metric("claims", bounds=(0, None))
    def claims(answer_claims: list[Claim]) -> float:
        return len(answer_claims)

    rows = [{"id": "1", "answer": "a", "answer_claims": ["x", "y"]}, {"id": "2", "answer": "b"}]
    found = ragstone.evaluate(rows, "claims").scores.to_pylist()
    assert [(row["value"], row["reason"]) for row in found] == [(2.0, None), (None, "no answer claims")]
    skipped = ragstone.evaluate([{"question": "q", "answer": "b"}], "claims").info["skipped"]
    assert skipped == {"claims": "needs an extractor: name a model with --judge or --extractor"}


def test_evidence_is_made_for_the_rows_that_do_not_bring_it():
    class Extractor:
        signature = "words/1"

        async def claims(self, question, text):
            return [Claim(word) for word in text.split()]

    @metric("claims", bounds=(0, None))
    def claims(answer_claims: list[Claim]) -> float:
        return len(answer_claims)

    rows = [
        {"id": "1", "question": "q", "answer": "one two", "answer_claims": ["x", "y", "z"]},
        {"id": "2", "question": "q", "answer": "one two"},
        {"id": "3", "answer": "one"},
    ]
    table = ragstone.read_dataset(rows).table.combine_chunks()
    tools = {"extractor": Extractor()}
    there = ("id", "question", "answer", "answer_claims")
    made = make_plan([parse_metric("claims")], there, tools, partial=("question", "answer_claims"))
    assert [step.spec.name for step in made.evidence] == ["answer_claims"]
    cells = run_to_end(evaluate_batch(made, table.to_batches()[0], tools, asyncio.Semaphore(1))).cells["claims"]
    assert [(cells[row].value, cells[row].reason) for row in range(3)] == [(3, None), (2, None), (None, "no question")]


class Pieces(TypedDict):
    left: int
    right: int


def two_pieces():
    """A function of two pieces, one of which needs the answer and the other the references."""
    seen = []

    @evidence(yields={"left": ("answer",), "right": ("counted",)})
    def both(question: str, answer: str | None, counted: int | None) -> Pieces:
        seen.append((answer, counted))
        return {"left": None if answer is None else len(answer), "right": counted}

    @evidence
    def counted(references: list[str]) -> int:
        return len(references)

    @metric("of_left", bounds=(0, None))
    def of_left(left: int) -> float:
        return left

    @metric("of_right", bounds=(0, None))
    def of_right(right: int) -> float:
        return right

    return seen


def test_what_only_one_piece_needs_is_not_made_for_the_other():
    seen = two_pieces()
    rows = [Sample("1", question="q", answer="abc", references=["r"])]
    assert walk(rows, "of_left").cells["of_left"][0].value == 3
    assert seen == [("abc", None)]
    # Whoever comes first in the plan: what a later metric adds to a function comes before it.
    names = [
        step.spec.name for step in plan("of_left", "of_right", present=("question", "answer", "references")).evidence
    ]
    assert names == ["counted", "both"]


def test_a_row_that_lacks_what_one_piece_needs_has_the_other():
    two_pieces()
    rows = [
        Sample("1", question="q", answer="abc"),
        Sample("2", question="q", references=["r", "s"]),
        Sample("3", question="q"),
    ]
    found = walk(rows, "of_left", "of_right").cells
    assert [found["of_left"][row].value for row in range(3)] == [3, None, None]
    assert [found["of_right"][row].value for row in range(3)] == [None, 2, None]
    assert [found["of_left"][row].reason for row in (1, 2)] == ["no answer"] * 2
    assert [found["of_right"][row].reason for row in (0, 2)] == ["no references"] * 2


def test_a_function_that_needs_a_piece_of_itself():
    @evidence(yields={"first_half": (), "second_half": ("between",)})
    def halves(question: str, between: int | None) -> dict[str, int]:
        return {}

    @evidence(transient=True)
    def between(first_half: int) -> int:
        return first_half

    @metric("halved")
    def halved(second_half: int) -> float:
        return second_half

    with pytest.raises(DefinitionError):
        plan("halved")


def test_prompts_sign_with_the_wording_that_is_asked():
    class Asker(SimpleNamespace):
        signature = "model/1"

        def prompt_hash(self, name):
            return {"claims": self.hash}[name]

    signatures = {
        plan("ragchecker.precision", present=("question", "answer", "references"), tools={
            "extractor": Asker(hash=hash_), "checker": SimpleNamespace(signature="checker/1"),
        }).evidence[0].signature
        for hash_ in ("ab", "cd")
    }  # fmt: skip
    assert signatures == {"answer_claims/1|extractor:model/1|claims:ab", "answer_claims/1|extractor:model/1|claims:cd"}


def test_signatures_name_evidence_versions_and_tools():
    made = plan("fact_recall@3", present=("facts", "contexts"), tools=MATCHER)
    signature = made.metrics[0].signature.split("|")
    assert signature[:2] == ["fact_recall@3", "v1"]
    assert {"fact_matches/1", "fact_ranks/1", "matcher:exact/1"} <= set(signature)
    assert made.evidence[0].signature == "fact_matches/1|matcher:exact/1"


def test_evidence_may_sign_with_more_than_its_version():
    """What it says is asked when a run is planned, so that nothing is loaded at import."""
    asked = []

    @evidence(signature=lambda: asked.append(1) or "library:2.6")
    def counted(answer: str) -> int:
        return len(answer)

    @metric("signed", bounds=(0, None))
    def signed(counted: int) -> float:
        return counted

    assert not asked
    made = plan("signed")
    assert made.metrics[0].signature == "signed|v1|counted/1(library:2.6)"
    assert made.evidence[0].signature == "counted/1(library:2.6)"


def test_a_new_version_of_evidence_changes_the_signature_of_what_rests_on_it():
    def sign(version):
        @evidence(version=version)
        def base(answer: str) -> str:
            return answer

        @evidence
        def derived(base: str) -> str:
            return base

        @metric("resting")
        def resting(derived: str) -> float:
            return 1.0

        return plan("resting").metrics[0].signature

    assert sign(1) == "resting|v1|base/1|derived/1"
    assert sign(2) == "resting|v1|base/2|derived/1"


def test_unused_tools_leave_no_mark():
    assert "matcher" not in plan("token_f1", present=("answer", "references"), tools=MATCHER).metrics[0].signature


def test_a_plan_waits_only_for_async_evidence():
    @evidence
    async def asked(answer: str) -> str:
        return answer

    @metric("patient")
    def patient(asked: str) -> float:
        return 1.0

    assert plan("patient").waits
    assert not plan("token_f1", present=("answer", "references")).waits
