"""One sample as it is shown, from literal evidence."""

import re
from dataclasses import replace

import pytest
from rich.console import Console

from ragstone.analysis.causes import find_causes
from ragstone.analysis.explain import Cell, Explanation, Working, count_items
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Claim, Sample
from ragstone.data.verdict import Verdict
from ragstone.report.explain import _cut, explanation_dict, explanation_report
from tests.analysis.making import claim_case

CASE = claim_case(
    "yn.",
    "y.. .yn ...",
    "yn.",
    "y.. .ny ...",
    together="yyy",
    chunks=["first", "second " * 100, "third"],
    sample={"references": ["It is so.", "So it is."]},
)
CALL = {
    "evidence": "answer_claims",
    "prompt": "claims",
    "model": "openai/m",
    "cached": True,
    "reply": '{"claims":\n  ["a1"]}',
    "error": None,
}


def explain(working=None, calls=(CALL,)):
    cells = (Cell("ragchecker.f1", 0.5, "ok", None), Cell("x", None, "failed", "out of order"))
    return Explanation("the run", 4, 10, CASE, find_causes(CASE), cells, tuple(calls), working)


def draw(found, width=100, full=False):
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(explanation_report(found, full))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_one_screen_has_one_reason_a_passage_per_claim_and_some_scores():
    texts = ["The harbour opens at nine. Dogs ride free.", "Tickets cost ten crowns.", "Nothing else. " * 20, "d", "e"]
    claims = [Claim("The harbour opens at nine."), Claim("Tickets cost eight crowns."), Claim("It rains.")]
    many = claim_case("", "", "yn.", "y.... .n... .....", chunks=texts, sample={"references": ["It is so."]})
    many.evidence.update(answer_claims=claims)
    lines = draw(replace(explain(), case=many, outcome=find_causes(many)))
    text = "\n".join(lines)
    assert len(lines) <= 25
    at = next(place for place, line in enumerate(lines) if line.startswith(("wrong", "look")))
    assert lines[at + 1].startswith("  answer claim ")
    assert lines[at + 2] == ""
    assert '      chunk 1: "The harbour opens at nine."' in lines
    assert '      chunk 2: "Tickets cost ten crowns."' in lines
    at = lines.index("other retrieved chunks")
    assert [line.split()[0] for line in lines[at + 1 : at + 4]] == ["3", "4", "5"]
    assert lines[at + 1].endswith("…")
    assert "scores  x failed: out of order, ragchecker.f1 0.500" in lines
    assert "replies of the judge" not in text
    assert text.count("Dogs ride free") == 0


def test_reasons_of_the_judge_and_the_tail_of_many_claims_are_there_in_full():
    case = Case(
        Sample("s", "Q?", " ".join(f"A{n}." for n in range(8)), references=["R."]),
        {
            "answer_claims": [Claim(f"a{n}") for n in range(8)],
            "answer_claims_in_reference": [Verdict("entailment")] * 7 + [Verdict("neutral", reason="It is not said.")],
        },
    )
    found = replace(explain(), case=case)
    lines = draw(found)
    assert "  and 2 more with --full" in lines
    assert any(" a7 " in line for line in lines)
    assert "It is not said." not in "\n".join(lines)
    assert "It is not said." in "\n".join(draw(found, full=True))


def test_what_is_shown():
    lines = draw(explain(), full=True)
    assert lines[:5] == [
        "s  row 5 of 10 in the run",
        "  question   A question?",
        "  answer     An answer.",
        "  reference  It is so.",
        "  or         So it is.",
    ]
    at = lines.index("wrong (90 %): split fact, retriever")
    assert lines[at + 1 : at + 5] == [
        "  wrong passage used  reference claim 2: the answer follows chunk 3; the reference says otherwise",
        "  split fact          reference claim 3: the chunks contain it together, none of them alone",
        "  wrong passage used  answer claim 2: chunk 3 supports it, but the reference says otherwise",
        "  hallucinated        answer claim 3: no chunk supports it",
    ]
    at = next(place for place, line in enumerate(lines) if line.startswith("claims of the answer"))
    assert [line.split() for line in lines[at + 1 : at + 5]] == [
        ["reference", "chunks"],
        ["1", "a1", "✓", "supported", "✓", "1"],
        ["2", "a2", "✗", "contradicted", "✓", "3", "✗", "2"],
        ["3", "a3", "·", "not", "mentioned", "·", "no", "chunk"],
    ]
    at = lines.index("retrieved chunks")
    assert lines[at + 1] == "   1  ✓ supports reference claim 1; ✓ supports answer claim 1"
    at = lines.index("scores")
    assert [line.split() for line in lines[at + 1 : at + 3]] == [
        ["ragchecker.f1", "0.500"],
        ["x", "–", "failed:", "out", "of", "order"],
    ]
    at = lines.index("replies of the judge")
    assert lines[at + 1] == "   1  answer_claims, prompt claims, openai/m, from the cache"
    assert "".join(lines[at + 2 :]).split() == ['{"claims":', '["a1"]}']


def test_a_claim_that_the_chunks_say_together():
    lines = draw(explain(), full=True)
    at = next(place for place, line in enumerate(lines) if line.startswith("claims of the reference"))
    assert lines[at + 4].split()[-4:] == ["✓", "all", "chunks", "together"]


def test_in_full():
    text = " ".join(" ".join(draw(explain(), full=True)).split())
    assert text.count("second") == 100
    assert "…" not in text


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits(width):
    assert all(len(line) <= width for line in draw(explain(), width))


def test_a_metric_is_worked_out():
    counts = tuple(count_items("ragchecker.f1", CASE, {}))
    working = Working(Cell("ragchecker.f1", 1 / 3, "ok", None), "A meaning.", "A formula.", counts, {})
    lines = draw(explain(working))
    at = lines.index("ragchecker.f1 = 0.333")
    assert lines[at + 1 : at + 11] == [
        "  meaning  A meaning.",
        "  formula  A formula.",
        "  here     1 of 3 answer claims = 0.333",
        "           ✓ answer claim 1: a1",
        "           · answer claim 2: a2",
        "           · answer claim 3: a3",
        "  here     1 of 3 reference claims = 0.333",
        "           ✓ reference claim 1: r1",
        "           · reference claim 2: r2",
        "           · reference claim 3: r3",
    ]
    assert "scores" not in lines
    assert "wrong (90 %): wrong passage used, generator" not in lines


def test_what_counts_is_no_tick_where_lower_is_better():
    counts = tuple(count_items("ragchecker.hallucination", CASE, {}))
    lines = draw(explain(Working(Cell("ragchecker.hallucination", 1 / 3, "ok", None), "", "", counts, {})))
    assert [line.split() for line in lines if "answer claim " in line][:3] == [
        ["·", "answer", "claim", "1:", "a1"],
        ["·", "answer", "claim", "2:", "a2"],
        ["✗", "answer", "claim", "3:", "a3"],
    ]


def test_a_metric_that_counts_nothing_shows_what_it_is_made_from():
    working = Working(Cell("ragas.answer_relevancy", 0.5, "ok", None), "", "", (), {"noncommittal": False})
    assert "  noncommittal  false" in draw(explain(working))


def test_a_failed_call_and_one_without_words():
    calls = [{**CALL, "reply": None}, {**CALL, "reply": None, "error": "no \x1b answer"}]
    lines = draw(explain(calls=calls), full=True)
    at = lines.index("replies of the judge")
    assert lines[at + 1].startswith("   1  answer_claims")
    assert "      failed: no \\x1b answer" in lines[at:]
    assert not any(line.startswith("   2  answer_claims") for line in lines)


def test_for_programs():
    found = explanation_dict(explain())
    assert (found["row"], found["sample"]["id"], found["cause"]) == (5, "s", "split fact")
    assert found["evidence"]["answer_claims"][1] == {"text": "a2", "triplet": None, "words": None}
    assert found["calls"] == [CALL]


UNSURE = Verdict("unsure", 0.52, 0.03, counted=0.61)
SURE = Verdict("entailment", 0.9, 0.0, counted=0.8)
SOFT = Case(
    Sample(id="s", question="Q?", answer="A.", references=["R."]),
    {
        "answer_claims": [Claim("a1"), Claim("a2")],
        "answer_claims_in_reference": [SURE, UNSURE],
        "answer_claims_in_contexts": [[SURE], [UNSURE]],
    },
)


def test_an_unsure_verdict_is_shown_with_its_probability_in_full():
    assert not any(re.search(r"(?:supported|unsure) 0\.\d", line) for line in draw(replace(explain(), case=SOFT)))
    lines = draw(replace(explain(), case=SOFT), full=True)
    assert any("✓ supported, ✗ contradicted, ? unsure, · not mentioned" in line for line in lines)
    assert any("a1" in line and "✓ supported 0.90" in line and "✓ 1" in line for line in lines)
    assert any("a2" in line and "? unsure 0.52" in line and "? 1" in line for line in lines)
    evidence = explanation_dict(replace(explain(), case=SOFT))["evidence"]["answer_claims_in_reference"]
    assert evidence[1] == {"verdict": "unsure", "supported": 0.52, "contradicted": 0.03, "counted": 0.61}


def test_the_sum_of_expected_values_item_by_item():
    counts = tuple(count_items("ragchecker.faithfulness", SOFT, {}))
    working = Working(Cell("ragchecker.faithfulness", 0.705, "ok", None), "", "", counts, {})
    lines = draw(replace(explain(working), case=SOFT))
    at = next(at for at, line in enumerate(lines) if "1.41 of 2 answer claims = 0.705" in line)
    assert [line.strip() for line in lines[at + 1 : at + 3]] == ["0.80 answer claim 1: a1", "0.61 answer claim 2: a2"]
    [count] = explanation_dict(replace(explain(working), case=SOFT))["working"]["counts"]
    assert count["items"][1] == {"number": 2, "text": SOFT.claims("answer")[1].text, "above": 0.61, "below": 1.0}


def test_steps_are_listed_with_what_they_added():
    from tests.analysis.test_step_views import CASE as AGENT

    text = draw(Explanation("the run", 4, 10, AGENT, find_causes(AGENT), (), ()))
    lines = [" ".join(line.split()) for line in text]
    start = next(number for number, line in enumerate(lines) if line.startswith("steps"))
    assert "1 search: alpha 2 2 1" in lines[start:]
    assert "2 add: 1+1 –" in lines[start:]
    assert "4 search: beta again (not expected) 1 0" in lines[start:]
    assert "expected but not made: search: gamma" in lines


def test_the_rows_of_a_table_stay_lines():
    table = "Fares\n\n| who | fare |\n|---|---|\n| adults | 10 |"
    assert _cut(table, 300).plain == table
    assert _cut(table, 30).plain == "Fares\n\n| who | fare |\n…"
    assert _cut("one\ntwo", 300).plain == "one two"
