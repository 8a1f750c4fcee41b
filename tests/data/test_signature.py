import pytest

from ragstone.data.signature import Signature, ToolSignature

ASKED = "ragchecker.f1|v1|answer_claims/1|checker:openai/a,temperature=0;25x10;repeats=1|claims:0123456789ab"
CASCADE = "local-judge/2#f034c748;passages/2>openai/above,temperature=0;25x10;repeats=1@0.9"


def test_the_parts_of_a_judged_metric():
    found = Signature.parse(ASKED)
    assert (found.metric, found.version, found.evidence) == ("ragchecker.f1", "v1", ("answer_claims/1",))
    assert found.llms == ("openai/a",)
    assert found.prompts == (("claims", "0123456789ab"),)
    assert not found.other
    assert not found.uses_local_judge


def test_build_writes_each_part_once_and_in_order():
    built = Signature.build(
        "ragchecker.f1|v1",
        ["answer_claims/1", "answer_claims/1"],
        {"checker": "openai/a,temperature=0;25x10;repeats=1"},
        [("claims", "0123456789ab"), ("claims", "0123456789ab")],
    )
    assert str(built) == ASKED
    assert built == Signature.parse(ASKED)


@pytest.mark.parametrize("text", ["", "m", "m|v1|", "m|v2|something new|words/1", "|||", "m|v1|x:y:z|x:again", "é|ü:ß"])
def test_unknown_parts_are_kept(text):
    assert str(Signature.parse(text)) == text


def test_an_unknown_part_is_neither_evidence_nor_tool():
    found = Signature.parse("m|v2|something new|words/1|seed 7:3")
    assert found.other == ("something new", "seed 7:3")
    assert found.evidence == ("words/1",)
    assert not found.tools


def test_settings_of_evidence_may_contain_colons():
    found = Signature.parse("bleu|v1|bleu_statistics/1(case:mixed,tok:13a+zh)")
    assert found.evidence == ("bleu_statistics/1(case:mixed,tok:13a+zh)",)
    assert not found.tools


def test_a_signature_of_evidence_has_no_metric():
    found = Signature.parse("answer_claims/1|extractor:rules/1")
    assert (found.metric, found.evidence) == ("", ("answer_claims/1",))
    assert found.tools["extractor"].name == "rules/1"


def test_a_cascade_asks_the_local_judge_first():
    found = ToolSignature(CASCADE)
    assert found.uses_local_judge
    assert found.name == "local-judge/2#f034c748"
    assert found.llms == ("openai/above",)


def test_a_model_name_may_contain_a_colon():
    assert ToolSignature("vllm/our-judge:8b,temperature=0;25x10").name == "vllm/our-judge:8b"


def test_a_trained_judge():
    found = Signature.parse("trained_score|v1|trained_scores/1|trained_judge:trained/mine#0badc0de")
    assert found.trained_judge == "trained/mine"
    assert not found.llms


def test_describe_change():
    before, after = Signature.parse("m|v1|judge:a/1"), Signature.parse("m|v2|judge:a/1|words/1")
    assert before.describe_change(after) == "v1 → v2, words/1"
    assert before.describe_change(before) == "nothing → nothing"


def test_several_prompts_in_place_of_one_are_hashes():
    found = Signature.parse("f1|v1|verdicts_of/1|checker:m,temperature=0|verdicts:0123456789ab+ba9876543210")
    assert found.prompts == (("verdicts", "0123456789ab+ba9876543210"),)
    assert set(found.tools) == {"checker"}
