"""Facts extracted by a judge whose every reply is known, and by the models on this machine."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from ragstone.cli.app import app
from ragstone.data.types import Chunk, Sample
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.citers import NAMED, LocalCiter, split_calls
from ragstone.truth.extract import Extraction, add_facts, check_all, extract
from ragstone.truth.llm_tasks import Work
from ragstone.truth.model import Case, TruthFact, sourced_case
from ragstone.truth.store import TruthStore
from tests.oracle.expected import claims
from tests.oracle.server import OracleServer
from tests.oracle.trouble import always, first
from tests.oracle.world import World, make_samples

SAMPLES = make_samples(28)


def _case(sample: World) -> Case:
    row = sample.row()
    passages = [Chunk(text, source=f"register-{number}.md") for number, text in enumerate(row["contexts"])]
    return Case(row["id"], row["question"], row.get("references", []), passages=passages)


CASES = [_case(sample) for sample in SAMPLES]


def _supported(sample: World) -> list[str]:
    """By construction: for each thing that the reference says, the first sentence of the chunks that asserts it."""
    there = [statement for chunk in sample.chunks for statement in chunk if statement.stance == "asserts"]
    wanted = [statement.meaning for statement in claims(sample.reference)]
    found = (next((item.text for item in there if item.meaning == meaning), None) for meaning in wanted)
    return [text for text in found if text]


def _work(server: OracleServer, **options) -> Work:
    quoting = options.pop("quoting", False)
    return Work("openai/oracle", ModelOptions(base_url=server.base_url, cache=False, **options), 4, quoting)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def test_every_citation_of_a_perfect_judge_is_kept() -> None:
    with OracleServer() as server:
        found = extract(CASES, _work(server))
    assert not server.problems
    wanted = {sample.id: _supported(sample) for sample in SAMPLES if sample.reference and sample.chunks}
    assert {row.case.id: [fact.text for fact in row.facts] for row in found.found} == wanted
    without = [sample.id for sample in SAMPLES if not sample.reference or not sample.chunks]
    assert sorted(found.skipped) == sorted(without)
    assert len(without) == 2
    total = sum(map(len, wanted.values()))
    assert total == 24
    assert server.replies["citations"] == len(wanted)
    assert found.counts == {
        "cases": 28,
        "skipped": 2,
        "failed": 0,
        "citations": total,
        "kept": total,
        "repaired": 0,
        "dropped_absent": 0,
        "dropped_invalid": 0,
        "dropped_unsupported": 0,
        "repeated": 0,
        "facts": total,
    }
    assert {(fact.provenance, fact.standing) for row in found.found for fact in row.facts} == {("judge", "proposed")}
    assert all(str(fact.source).startswith("register-") for row in found.found for fact in row.facts)


def test_a_judge_that_makes_things_up_is_found_out() -> None:
    """To each true citation it adds: the same in capitals and torn (repaired, and the same place), changed digits, and a tale."""
    cases = [case for case in CASES if case.references and case.passages]

    def alter(prompt, body, reply):
        true = reply["citations"]
        wrong = [text for item in true if (text := _raise_digits(item)) != item]
        return {"citations": [*true, *(text.upper() for text in true), *wrong, "Dolphins follow every ship at night."]}

    with OracleServer(alter=alter) as server:
        found = extract(cases, _work(server))
    true = [text for sample in SAMPLES if sample.reference and sample.chunks for text in _supported(sample)]
    told = [text for text in true if text.upper() != text]
    changed = [text for text in true if _raise_digits(text) != text]
    assert len(changed) > 5
    counts = found.counts
    assert counts["kept"] == len(true)
    assert counts["repaired"] == counts["repeated"] == len(told)
    assert counts["dropped_invalid"] + counts["dropped_absent"] == len(changed) + len(cases)
    assert counts["dropped_invalid"] >= len(changed)
    assert counts["facts"] == len(true)
    assert found.held.share == pytest.approx((len(true) + len(told)) / counts["citations"])


def _raise_digits(text: str) -> str:
    return "".join(str((int(letter) + 1) % 10) if letter.isascii() and letter.isdigit() else letter for letter in text)


def test_long_contexts_are_split_and_merged() -> None:
    sample = next(sample for sample in SAMPLES if sample.language == "en" and len(_supported(sample)) >= 2)
    filler = "Visitors keep to the marked paths. " * 400
    texts = [chunk.text for chunk in _case(sample).passages]
    long = [Chunk(f"{filler}{text} {filler}", source="long.md") for text in texts]
    case = replace(_case(sample), passages=[*long, *long])
    with OracleServer() as server:
        found = extract([case], _work(server))
    calls = len(list(split_calls([chunk.text for chunk in case.passages])))
    assert calls > 3
    assert server.replies["citations"] == calls
    assert sorted(fact.text for fact in found.found[0].facts) == sorted(set(_supported(sample)))


def test_calls_hold_all_words_and_no_more_than_fit() -> None:
    texts = ["One two three. Four five six.", "Seven eight.", " ".join(f"Word{n} goes here." for n in range(9))]
    calls = list(split_calls(texts, 60))
    assert calls == [texts]
    calls = list(split_calls(texts, 50))
    joined = " ".join(piece for call in calls for piece in call)
    assert all(word in joined for text in texts for word in text.split())


def test_failures_stay_with_their_case_and_a_later_run_goes_on(tmp_path) -> None:
    cases = [case for case in CASES if case.references and case.passages][:6]
    patience = {"timeout_s": 2.0}
    with OracleServer(trouble=always("refusal")) as server:
        found = extract(cases, _work(server, **patience))
    assert (len(found.failed), len(found.found)) == (6, 0)
    with OracleServer(trouble=first(2, "refusal")) as server:
        found = extract(cases, replace(_work(server, **patience), concurrency=1))
        assert (len(found.failed), len(found.found)) == (1, 5)


def test_replies_are_kept_and_a_budget_holds(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    cases = [case for case in CASES if case.references and case.passages][:6]
    with OracleServer() as server:
        work = Work("openai/gpt-4o-mini", ModelOptions(base_url=server.base_url), 2)
        quoted = extract(cases, replace(work, quoting=True))
        assert (server.requests, len(quoted.calls)) == (0, 6)
        assert all(call.cost_usd and call.input_tokens for call in quoted.calls)
        first_run = extract(cases, work)
        again = extract(cases, work)
        assert server.replies["citations"] == 6
        assert [row.facts for row in again.found] == [row.facts for row in first_run.found]
        assert all(call.cached for call in again.calls)
        stopped = extract(
            CASES, Work("openai/gpt-4o-mini", ModelOptions(base_url=server.base_url, budget="0.002usd"), 1)
        )
        assert "budget" in next(iter(stopped.failed.values()))
        assert len(stopped.found) >= 6


def test_citations_within_others_count_once() -> None:
    case = Case("a", "When?", ["21:40"], passages=[Chunk("The last ferry leaves at 21:40 daily.")])
    named = ["at 21:40", "The last ferry leaves at 21:40 daily.", "the last ferry leaves at 21:40 daily"]
    found = check_all(case, dict.fromkeys(named, NAMED))
    assert [fact.text for fact in found.facts] == ["The last ferry leaves at 21:40 daily."]
    assert found.repeated == 2


def test_facts_that_are_there_are_not_touched() -> None:
    case = Case(
        "a",
        "When?",
        ["21:40"],
        [TruthFact("at 21:40", standing="rejected")],
        passages=[Chunk("It goes at 21:40 daily.")],
    )
    with OracleServer(alter=lambda *_: {"citations": ["at 21:40", "daily"]}) as server:
        found = extract([case], _work(server))
    merged = add_facts([case], found, [case, replace(case, id="b", facts=[])])
    assert [(fact.text, fact.standing) for fact in merged[0].facts] == [("at 21:40", "rejected"), ("daily", "proposed")]
    assert [item.id for item in merged] == ["a", "b"]


def test_cases_without_passages_get_those_of_their_facts() -> None:
    case = Case("a", "When?", ["21:40"], passages=[Chunk("It goes at 21:40 daily.")])
    with OracleServer(alter=lambda *_: {"citations": ["at 21:40"]}) as server:
        found = extract([case], _work(server))
    own = [Chunk("Daily at 21:40.")]
    merged = add_facts([replace(case, passages=[]), replace(case, id="b", passages=[])], found, [])
    assert [item.passages for item in merged] == [case.passages, []]
    assert add_facts([replace(case, passages=own)], found, [])[0].passages == own


def test_what_cannot_be_answered_has_no_citation_and_no_reference() -> None:
    row = {"question": "Is there a gym?", "answer": "I do not know.", "contexts": ["It goes at 21:40."]}
    cases = [sourced_case(Sample("a", **row, answerable=False)), sourced_case(Sample("b", **row))]
    # A refusal of the system is not a right answer; another answer is one, until somebody checks it.
    assert [case.references for case in cases] == [[], []]
    other = sourced_case(Sample("c", "Is there a gym?", "Yes, on deck 3."))
    assert (other.references, other.provenance, other.standing) == (["Yes, on deck 3."], "system answer", "proposed")
    with OracleServer() as server:
        found = extract([replace(cases[0], references=["There is none."])], _work(server))
        assert server.requests == 0
    assert found.skipped == {"a": "the documents do not contain the answer"}


def test_the_command_saves_a_version_with_its_lineage(tmp_path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(json.dumps(sample.row()) for sample in SAMPLES))
    runner, root = CliRunner(), str(tmp_path / "store")
    with OracleServer() as server:
        words = [
            "truth",
            "extract",
            str(data),
            "--judge",
            "openai/oracle",
            "--base-url",
            server.base_url,
            "-o",
            root,
            "-q",
        ]
        quoted = runner.invoke(app, [*words, "--quote", "--json"])
        assert (quoted.exit_code, json.loads(quoted.output)["calls"], server.requests) == (0, 27, 0)
        assert runner.invoke(app, words).exit_code != 0
        done = runner.invoke(app, [*words, "--to", "ships"])
        assert done.exit_code == 0, done.output
        assert "saved as ships@1" in done.output
        again = runner.invoke(app, [*words, "--to", "ships"])
        assert "26 facts proposed for 27 cases" in done.output
        assert "there already" not in done.output
        assert "nothing new" in again.output
        assert "0 facts proposed for 27 cases" in again.output
        assert "26 more were already known" in again.output
        # A fact that somebody took away is the only new one.
        held = TruthStore(root).read("ships")
        place = next(
            place for place, case in enumerate(held.cases) if case.facts[-1:] and case.facts[-1].provenance == "judge"
        )
        lacking = list(held.cases)
        lacking[place] = replace(held.cases[place], facts=held.cases[place].facts[:-1])
        TruthStore(root).save("ships", lacking, author="Ada", parent=1)
        third = runner.invoke(app, [*words, "--to", "ships"])
        assert "1 fact proposed for 27 cases" in third.output
        assert "25 more were already known" in third.output
        assert "0 calls, 27 replies from the cache" in again.output
    version = TruthStore(root).read("ships")
    assert version.info.rows == 28
    assert version.info.lineage.prompts.keys() == {"citations"}
    assert "openai/oracle" in version.info.lineage.tools["extractor"]
    judged = [fact for case in version.cases for fact in case.facts if fact.provenance == "judge"]
    # One sample has only an answer, which then stands for a reference: two of its claims stand in the chunks.
    assert len(judged) == version.info.lineage.counts["facts"] == 24 + 2


def test_sentences_are_chosen_without_a_language_model() -> None:
    texts = [
        "Verrin is a small port. The last ferry to Verrin leaves at 21:40. Tickets are sold on board.",
        "The kiosk closes at 19:00. A ticket to Verrin costs 4.50 crowns.",
    ]
    citer = LocalCiter()

    def choose(question: str, answer: str) -> list[str]:
        return list(asyncio.run(citer.cite(question, answer, texts)))

    assert choose("When does the last ferry to Verrin leave?", "At 21:40") == [
        "The last ferry to Verrin leaves at 21:40."
    ]
    both = choose(
        "When does the last ferry to Verrin leave and what is it?", "It leaves at 21:40 and costs 4.50 crowns."
    )
    assert sorted(both) == ["A ticket to Verrin costs 4.50 crowns.", "The last ferry to Verrin leaves at 21:40."]
    assert asyncio.run(citer.cite("When?", "Now", [])) == {}
    assert citer.signature == "local-citer/2:lexical"


def test_nobody_is_asked_where_no_judge_is_named() -> None:
    found = extract([case for case in CASES if case.references and case.passages], Work(None))
    assert found.calls == []
    assert found.held.share == 1.0
    assert found.held.stands == found.held.checked


LEAFLET = (
    "Paracetamol 500 mg\nAdults take one or two tablets every six hours. Do not take more than 4 g in 24 hours. "
    "Keep out of the reach of children."
)


@pytest.mark.parametrize("with_judge", [False, True])
def test_only_what_supports_the_answer_is_proposed(monkeypatch, with_judge) -> None:
    from ragstone.truth import extract as module

    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    if not with_judge:
        monkeypatch.setattr(module, "open_local_citer", LocalCiter)
    elif not module.open_local_citer().signature.endswith("judge"):
        pytest.skip("no local judge")
    question = "What is the maximum daily dose of paracetamol?"
    cases = [
        Case("there", question, ["4 g in 24 hours"], passages=[Chunk(LEAFLET)]),
        Case(
            "lost", question, ["4 g in 24 hours"], passages=[Chunk("Keep out of the reach of children. Store it dry.")]
        ),
    ]
    found = extract(cases, Work(None))
    facts = {row.case.id: row.facts for row in found.found}
    assert [fact.text for fact in facts["there"]] == ["Do not take more than 4 g in 24 hours."]
    assert 0.5 <= facts["there"][0].confidence <= 1
    assert facts["lost"] == []
    # Both citations are in the documents, and one of them supports its answer.
    assert (found.held.share, found.supporting, found.counts["dropped_unsupported"]) == (1.0, 1, 1)


def test_nothing_is_proposed_if_no_passage_has_the_answer(monkeypatch) -> None:
    """The shipped judge is sure that this sentence supports the answer."""
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
    jumping = (
        "Jumping from the side is prohibited in the non-swimmer pool and allowed in the 50 m pool when no lane training "
        "takes place."
    )
    dogs = "Dogs are not allowed at Lakeside, with the exception of guide dogs."
    question, answer = "Are dogs allowed at the lake pool?", "No, only guide dogs are allowed."
    cases = [Case(name, question, [answer], passages=[Chunk(text)]) for name, text in (("a", jumping), ("b", dogs))]
    found = extract(cases, Work(None))
    assert [[fact.text for fact in row.facts] for row in found.found] == [[], [dogs]]


def test_an_existing_fact_is_not_proposed_again_with_a_title_in_front() -> None:
    there = TruthFact("Do not take more than 4 g in 24 hours.")
    case = Case("a", "How much?", ["4 g in 24 hours"], [there], passages=[Chunk("Dosage\n" + there.text)])
    found = check_all(case, {"Dosage\n" + there.text: NAMED})
    extraction = Extraction([found], {}, {}, "test", {}, [])
    assert len(found.facts) == 1
    assert add_facts([case], extraction, [case])[0].facts == [there]
    titled = replace(case, facts=[TruthFact("Dosage: " + there.text)])
    again = Extraction([check_all(titled, {there.text: NAMED})], {}, {}, "test", {}, [])
    assert (add_facts([titled], again, [titled])[0].facts, again.count_new([titled], [titled])) == (titled.facts, 0)
