"""Who answers to which name."""

from dataclasses import replace

import pytest

from ragstone.errors import DefinitionError, UnknownNameError, UsageError
from ragstone.registry import evidence, metric, parse_metric, resolve_metrics


def declare(name, **words):
    def function(answer, k: int | None = None, mode: str = "a"): ...

    function.__qualname__ = name
    metric(name, **words)(function)


def test_names_of_a_metric(catalogue):
    declare("deep.er.score", family="mine", aliases=("Old",))
    for name in ("deep.er.score", "mine.deep.er.score", "old", "OLD", "score", "Deep.Er.Score"):
        assert catalogue.metric(name).spec.name == "deep.er.score"
    with pytest.raises(UnknownNameError, match=r"^unknown metric 'er'\.$"):
        catalogue.metric("er")


def test_an_exact_name_is_never_ambiguous(catalogue):
    declare("recall")
    declare("claims.recall")
    assert catalogue.metric("recall").spec.name == "recall"


def test_the_last_part_is_ambiguous_if_several_have_it(catalogue):
    declare("b.recall")
    declare("a.recall")
    with pytest.raises(UsageError, match=r"^metric 'recall' is ambiguous: say which of a\.recall, b\.recall\. "):
        parse_metric("recall", catalogue)
    with pytest.raises(UnknownNameError):
        catalogue.metric("recall")


def test_an_alias_belongs_to_one_metric(catalogue):
    declare("a", aliases=("same",))
    with pytest.raises(DefinitionError, match=r"^metric 'b': the name 'same' already means 'a'$"):
        declare("b", aliases=("same",))
    with pytest.raises(DefinitionError, match=r"^metric 'c': the name 'a' already means 'a'$"):
        declare("c", aliases=("a",))
    assert [spec.name for spec in catalogue.metrics()] == ["a"]


def test_aliases_and_sets_with_settings(catalogue):
    declare("a", aliases={"b": {"mode": "x"}}, sets={"few": {"k": 3}, "none": {}})
    assert catalogue.metric("b").settings == {"mode": "x"}
    assert catalogue.metric("a").settings == {}
    assert {name: presets[0].settings for name, presets in catalogue.sets().items()} == {
        "custom": {},
        "few": {"k": 3},
        "none": {},
    }


def test_a_set_named_like_the_family_may_have_settings(catalogue):
    declare("a", family="mine", sets={"mine": {"k": 3}})
    assert [preset.settings for preset in catalogue.sets()["mine"]] == [{"k": 3}]


def test_metrics_by_family_and_name(catalogue):
    for name in ("z.b", "z.a", "a.c"):
        declare(name)
    assert [spec.name for spec in catalogue.metrics()] == ["a.c", "z.a", "z.b"]


def test_unknown_names_offer_metrics_aliases_and_sets(catalogue):
    declare("score", aliases=("grade",), sets=("marks",))
    for typo, near in (("scor", "score"), ("grad", "grade"), ("mark", "marks")):
        with pytest.raises(UnknownNameError, match=f"Did you mean {near}"):
            parse_metric(typo, catalogue)


def rest(catalogue, *given):
    closure = catalogue.closure(catalogue.metric("score").spec.needs, given)
    return {*closure.fields, *closure.evidence, *closure.tools}


def test_what_a_metric_rests_on(catalogue):
    @evidence
    async def claims(answer, extractor): ...

    @evidence
    async def verdicts(claims, contexts, checker): ...

    @metric("score")
    def score(verdicts, question): ...

    assert rest(catalogue) == {"verdicts", "question", "claims", "contexts", "checker", "answer", "extractor"}
    assert rest(catalogue, "claims") == {"verdicts", "question", "claims", "contexts", "checker"}
    assert rest(catalogue, "verdicts", "answer") == {"verdicts", "question"}


def test_a_metric_does_not_rest_on_what_only_other_pieces_need(catalogue):
    @evidence(yields={"cheap": (), "dear": ("judge",)})
    def both(answer, judge): ...

    @metric("score")
    def score(cheap): ...

    assert rest(catalogue) == {"cheap", "answer"}


def test_evidence_that_needs_itself_ends(catalogue):
    @evidence
    def hen(egg): ...

    @evidence
    def egg(hen): ...

    @metric("score")
    def score(hen): ...

    assert rest(catalogue) == {"hen", "egg"}


def test_quick_leaves_out_what_is_slow_or_out_of_reach(catalogue):
    declare("near")
    declare("far", sets=("set",))
    declare("slow", slow=True)

    def chosen(*texts):
        return [str(found) for found in resolve_metrics(texts, catalogue, lambda spec: spec.name == "far")]

    assert chosen("quick") == ["near"]
    assert chosen("all") == ["far", "near", "slow"]
    assert chosen("quick", "set") == ["near", "far"]
    assert chosen("far") == ["far"]


def test_quick_and_all_leave_out_what_is_pointless_unless_it_is_named(catalogue):
    declare("near")
    declare("idle", sets=("set",))

    def chosen(*texts):
        return [str(found) for found in resolve_metrics(texts, catalogue, pointless=lambda spec: spec.name == "idle")]

    assert chosen("quick") == chosen("all") == ["near"]
    assert chosen("quick", "set") == ["near", "idle"]


def test_another_function_may_make_a_piece(catalogue):
    @evidence
    def egg(answer: str) -> int: ...

    declare("score")
    spec = catalogue.evidence("egg")
    other = catalogue.with_evidence(replace(spec, version=2))
    assert (other.evidence("egg").version, catalogue.evidence("egg").version) == (2, 1)
    assert [one.name for one in other.metrics()] == ["score"]
