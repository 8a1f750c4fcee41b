"""Scores end to end, with a judge that is always right: through the public API and the command line, to the last digit."""

import json
from collections import Counter
from math import ceil

import pytest

import ragstone
from tests.e2e.judged import SETS, calls, cells, check_scores, flags, judging, only_run, rows, write
from tests.oracle.expected import SKIPPED, claims, expected
from tests.oracle.server import OracleServer
from tests.oracle.trouble import always
from tests.oracle.verdicts import verdict
from tests.oracle.world import make_samples

SAMPLES = make_samples(70)
FEW = make_samples(15, seed=1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))


def count_calls(sample, claims_per_call=25, chunks_per_call=10):
    """The formula of docs/claims.md, by prompt; a row without a reference is not asked about it."""
    said, wanted = len(claims(sample.answer)), len(claims(sample.reference))
    sentences = sum(map(len, sample.chunks))
    return Counter(
        claims=1,
        claims_and_entities=int(sample.reference is not None),
        verdicts=(ceil(said / claims_per_call) + ceil(wanted / claims_per_call)) if sample.reference is not None else 0,
        context_verdicts=ceil((said + wanted) / claims_per_call) * ceil(len(sample.chunks) / chunks_per_call),
        questions=1,
        needed_sentences=int(sentences > 0),
        usefulness=int(len(sample.chunks) > 0),
    )


def calls_by_sample(run, samples):
    """What was asked about each sample, by prompt; where two ask the same, the second is answered from the cache."""
    found = {sample.id: Counter() for sample in samples}
    for call in asked(run):
        found[call["sample_id"]][call["prompt"]] += 1
    return found


def asked(run):
    return [call for call in calls(run.path) if call["prompt"] != "embedding" and not call["error"]]


def test_every_metric_of_every_sample(tmp_path):
    with OracleServer() as server:
        run = ragstone.evaluate(rows(SAMPLES), metrics=SETS, out=tmp_path / "out", **judging(server))
    assert server.problems == []
    check_scores(run.path, SAMPLES)


@pytest.mark.slow
def test_the_number_of_calls_is_the_formulas(tmp_path):
    with OracleServer() as server:
        run = ragstone.evaluate(rows(SAMPLES), metrics=SETS, out=tmp_path / "out", **judging(server))
    by_sample = calls_by_sample(run, SAMPLES)
    wanted = {sample.id: +count_calls(sample) for sample in SAMPLES}
    assert by_sample == wanted
    assert max(found.total() for found in by_sample.values()) == 8
    assert server.calls == sum(not call["cached"] for call in asked(run))


@pytest.mark.slow
def test_calls_are_recorded_as_they_were(tmp_path):
    with OracleServer() as server:
        run = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **judging(server))
    made = [call for call in asked(run) if not call["cached"]]
    assert Counter(call["prompt"] for call in made) == Counter(server.replies) - Counter(embeddings=10**6)
    assert sum(call["input_tokens"] for call in made) == server.input_tokens
    assert sum(call["output_tokens"] for call in made) == server.output_tokens
    assert {call["model"] for call in made} == {"openai/oracle"}
    assert all(call["attempts"] == 1 for call in made)
    assert not any(call["error"] for call in calls(run.path))
    assert all(json.loads(call["reply"]) for call in asked(run))


@pytest.mark.slow
def test_a_second_run_asks_nothing(tmp_path):
    with OracleServer() as server:
        ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "first", **judging(server))
        asked = server.requests
        again = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "second", **judging(server))
        assert server.requests == asked > 0
        check_scores(again.path, FEW)
        assert all(call["cached"] for call in calls(again.path))
        before = Counter(server.replies)
        ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "third", **judging(server, cache=False))
    del before["embeddings"]
    assert Counter(server.replies) - before - Counter(embeddings=10**6) == before


def test_on_the_command_line(tmp_path, shell, monkeypatch):
    data = write(FEW, tmp_path / "data.jsonl")
    with OracleServer() as server:
        done = shell("run", data, *flags(server, "-o", "first"))
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        check_scores(only_run(tmp_path / "first"), FEW)
        asked = server.requests
        again = shell("run", data, *flags(server, "-o", "second", "--json"))
        assert again.returncode == 0, again.stderr
        assert server.requests == asked > 0
    check_scores(only_run(tmp_path / "second"), FEW)
    summary = {row["metric"]: row for row in json.loads(again.stdout)["summary"]}
    for name in ("ragchecker.f1", "ragas.answer_relevancy"):
        values = [cell["value"] for place, cell in cells(only_run(tmp_path / "second")).items() if place[1] == name]
        known = [value for value in values if value is not None]
        assert summary[name]["mean"] == pytest.approx(sum(known) / len(known))


@pytest.mark.slow
@pytest.mark.parametrize("formats", [("json_object",), ()], ids=["no schema", "no JSON mode"])
def test_servers_that_cannot_promise_json(tmp_path, formats):
    with OracleServer(formats=formats) as server:
        run = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **judging(server))
    check_scores(run.path, FEW)
    # What the server cannot do is found out once, not for every call.
    assert sum(server.met.values()) <= 16 * 3 * 2


@pytest.mark.parametrize("formats", [("json_object",), ()], ids=["no schema", "no JSON mode"])
def test_only_calls_that_were_made_count(tmp_path, formats, monkeypatch):
    """A refused format is no call, has no cost of its own, and is no failed reply; neither is one refused in an earlier run."""
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1.0, 2.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    before = 0
    with OracleServer(formats=formats) as server:
        for samples in (FEW[:1], FEW[:2]):
            run = ragstone.evaluate(rows(samples), ["ragchecker.precision"], out=tmp_path / "out", **judging(server))
            totals = run.info["totals"]
            assert totals["calls"] == server.calls - before > 0
            assert totals["cost_usd"] > 0
            assert "not support" not in str(run.explain(samples[-1].id))
            assert [call["error"] for call in run.calls.to_pylist() if call["error"]] == []
            before = server.calls


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["fenced", "thinking", "prose"])
def test_replies_with_something_around(tmp_path, trouble):
    with OracleServer(always(trouble), formats=()) as server:
        run = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **judging(server))
    check_scores(run.path, FEW)
    # Each was understood at once, without asking again.
    assert calls_by_sample(run, FEW) == {sample.id: +count_calls(sample) for sample in FEW}


@pytest.mark.slow
def test_claims_as_triplets(tmp_path):
    with OracleServer() as server:
        run = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **judging(server, claims="triplets"))
    check_scores(run.path, FEW)
    assert server.replies["triplets"] > 0
    assert server.replies["claims"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("per_call", [1, 2])
def test_few_claims_a_call(tmp_path, per_call):
    with OracleServer() as server:
        options = judging(server, claims_per_call=per_call)
        run = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **options)
    check_scores(run.path, FEW)
    assert calls_by_sample(run, FEW) == {sample.id: +count_calls(sample, claims_per_call=per_call) for sample in FEW}
    assert len({json.dumps(body) for body in server.bodies}) == len(server.bodies), "the same was asked twice"


def test_few_chunks_a_call(tmp_path):
    """Chunk by chunk as RAGChecker asks; only what takes two chunks together can no longer be seen."""
    whole = [sample for sample in FEW if "split" not in sample.fates.values()]
    with OracleServer() as server:
        run = ragstone.evaluate(rows(whole), metrics=SETS, out=tmp_path / "out", **judging(server, chunks_per_call=1))
    check_scores(run.path, whole)
    assert calls_by_sample(run, whole) == {sample.id: +count_calls(sample, chunks_per_call=1) for sample in whole}


def test_verdicts_asked_three_times(tmp_path):
    with OracleServer() as server:
        options = judging(server, repeats=3)
        run = ragstone.evaluate(
            rows(FEW), metrics=["self_consistency", "ragas.faithfulness"], out=tmp_path / "o", **options
        )
    found = cells(run.path)
    for sample in FEW:
        cell = found[sample.id, "self_consistency"]
        assert cell["value"] == (1.0 if claims(sample.answer) and sample.chunks else None), (sample.id, cell)
    asked = [body for body in server.bodies if "supported_by" in json.dumps(body.get("response_format", ""))]
    assert Counter(body["temperature"] > 0 for body in asked) == {False: len(asked) // 3, True: len(asked) * 2 // 3}
    assert len({json.dumps(body, sort_keys=True) for body in asked}) == len(asked)


def doubt(prompt, body, reply):
    """A judge that says of everything that it cannot tell, each time it is asked for the third time."""
    if prompt != "context_verdicts" or body.get("seed") != 2:
        return reply
    unsure = {"supported_by": [], "contradicted_by": []}
    return {"verdicts": [{**entry, **unsure} for entry in reply["verdicts"]]}


@pytest.mark.slow
def test_a_judge_that_wavers_is_outvoted_and_found_out(tmp_path):
    with OracleServer(alter=doubt) as server:
        chosen = [*SETS, "self_consistency"]
        run = ragstone.evaluate(rows(FEW), metrics=chosen, out=tmp_path / "out", **judging(server, repeats=3))
    found = cells(run.path)
    for sample in FEW:
        cell = found[sample.id, "self_consistency"]
        assert cell["value"] == pytest.approx(agreement(sample)), (sample.id, cell)
        kept = {name: value for name, value in expected(sample).items() if value != SKIPPED}
        assert {name: found[sample.id, name]["value"] for name in kept} == pytest.approx(kept, abs=1e-9)


def agreement(sample):
    """Two of three agree on whatever is not neutral, all three on the rest: over the chunks, and all chunks together."""
    everything = [statement for chunk in sample.chunks for statement in chunk]
    shares = []
    for claim in claims(sample.answer):
        words = [verdict(claim.meaning, chunk) for chunk in sample.chunks]
        together = verdict(claim.meaning, everything)
        # What only a combination of chunks contradicts is not asked for.
        words.append("neutral" if together == "contradiction" and together not in words else together)
        shares.append(sum(1 if word == "neutral" else 2 / 3 for word in words) / len(words))
    return sum(shares) / len(shares) if shares and sample.chunks else None


def test_a_model_for_each_task(tmp_path):
    with OracleServer() as server:
        options = judging(server, extractor="openai/takes-apart", checker="openai/checks")
        run = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **options)
    check_scores(run.path, FEW)
    models = {}
    for call in calls(run.path):
        models.setdefault(call["prompt"], set()).add(call["model"])
    assert models == {
        "claims": {"openai/takes-apart"},
        "claims_and_entities": {"openai/takes-apart"},
        "verdicts": {"openai/checks"},
        "context_verdicts": {"openai/checks"},
        "questions": {"openai/oracle"},
        "needed_sentences": {"openai/oracle"},
        "usefulness": {"openai/oracle"},
        "embedding": {"openai/oracle"},
    }


@pytest.mark.slow
def test_a_prompt_of_ones_own(tmp_path):
    from importlib import resources

    shipped = (resources.files("ragstone.llm.prompts") / "questions.md").read_text(encoding="utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "questions.md").write_text(
        shipped.replace("## System\n", "## System\n\nBe brief.\n"), encoding="utf-8"
    )
    with OracleServer() as server:
        first = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "first", **judging(server))
        before = Counter(server.replies)
        own = judging(server, prompts=tmp_path / "mine")
        second = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "second", **own)
    check_scores(second.path, FEW)
    # Only what rests on the changed prompt is asked again, and only its scores have another signature.
    assert Counter(server.replies) - before == Counter(questions=len(FEW))
    old, new = ({place: cell["signature"] for place, cell in cells(run.path).items()} for run in (first, second))
    assert {place[1] for place in old if old[place] != new[place]} == {"ragas.answer_relevancy"}


def test_without_an_embedder_only_what_needs_it_is_skipped(tmp_path):
    with OracleServer() as server:
        options = {**judging(server), "embedder": None}
        run = ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **options)
    lost = {place[1] for place, cell in cells(run.path).items() if "embedder" in (cell["reason"] or "")}
    ok = {place[1] for place, cell in cells(run.path).items() if cell["status"] == "ok"}
    assert not lost & ok
    assert {"ragchecker.f1", "ragas.faithfulness", "ragas.context_precision"} <= ok
    assert "ragas.answer_correctness" not in ok


@pytest.mark.slow
def test_a_quote_makes_no_call_and_is_near_what_happens(tmp_path, shell):
    data = write(SAMPLES[:30], tmp_path / "data.jsonl")
    with OracleServer() as server:
        done = shell("run", data, *flags(server, "--quote", "--json"))
        assert done.returncode == 0, done.stderr
        assert server.requests == 0
        assert not list((tmp_path / "replies").rglob("*.json"))
        assert not (tmp_path / "ragstone-store").exists()
        quoted = json.loads(done.stdout)["total"]
        run = ragstone.evaluate(str(data), metrics=SETS, out=tmp_path / "out", **judging(server))
        again = shell("run", data, *flags(server, "--quote", "--json"))
    made = [call for call in calls(run.path) if not call["cached"]]
    assert quoted["calls"] == pytest.approx(len(made), rel=0.25)
    assert quoted["input_tokens"] == pytest.approx(server.input_tokens + server.embedded_tokens, rel=0.25)
    assert quoted["output_tokens"] == pytest.approx(server.output_tokens, rel=0.25)
    assert json.loads(again.stdout)["total"]["calls"] == 0


def test_from_within_a_running_loop(tmp_path):
    import asyncio

    async def notebook(server):
        return ragstone.evaluate(rows(FEW), metrics=SETS, out=tmp_path / "out", **judging(server))

    with OracleServer() as server:
        run = asyncio.run(notebook(server))
    check_scores(run.path, FEW)
