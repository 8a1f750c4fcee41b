"""Runs whose judge is asked in batches: the same scores as with calls, whatever happens to the batches."""

import json
import signal
import subprocess
import time

import pytest

import ragstone
from ragstone.errors import StopRunError, UsageError
from ragstone.llm.batches import BatchRecords, BatchSettings
from ragstone.llm.cache import open_cache
from tests.e2e.conftest import COMMAND
from tests.e2e.judged import calls, check_scores, rows, write
from tests.oracle.batches import BatchOracle
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples

SAMPLES = make_samples(12, seed=3)
SETS = ["ragchecker", "ragas"]
QUICK = BatchSettings(quiet_s=0.2, first_poll_s=0.02, longest_poll_s=0.05)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    monkeypatch.setenv("RAGSTONE_EXAM", "off")


def evaluate(server, out, judge="openai/oracle", **more):
    more = {"batch": QUICK, "embedder": "openai/oracle", **more}
    return ragstone.evaluate(rows(SAMPLES), metrics=SETS, out=out, judge=judge, base_url=server.base_url, **more)


def pending():
    return BatchRecords(open_cache().place).all()


def cells(run):
    names = ("sample_id", "metric", "value", "status", "reason")
    found = [tuple(row[name] for name in names) for row in run.scores.to_pylist()]
    return sorted(found, key=lambda cell: cell[:2])


@pytest.mark.parametrize("judge", ["openai/oracle", "anthropic/oracle"])
def test_scores_are_those_of_calls_and_cost_half(judge, tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"anthropic/oracle" = [1.0, 2.0]\n"openai/oracle" = [1.0, 2.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    notes = []
    with BatchOracle() as server:
        run = evaluate(server, tmp_path / "out", judge, note=notes.append)
        in_batches = sum(server.created.values())
        assert in_batches > 0
        assert set(server.created.values()) == {1}
        monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "others"))
        plain = evaluate(server, tmp_path / "plain", "openai/oracle", batch=False)
        check_scores(run.path, SAMPLES)
        assert [cell[1:] for cell in cells(run)] == [cell[1:] for cell in cells(plain)]
        made = [call for call in calls(run.path) if not call["cached"] and call["prompt"] != "embedding"]
        assert len(made) == len([c for c in calls(plain.path) if not c["cached"] and c["prompt"] != "embedding"])
        half = [call for call in made if call["cost_usd"] == pytest.approx(_usd(call) / 2)]
        assert len(half) == in_batches
        assert all(call["cost_usd"] == pytest.approx(_usd(call)) for call in made if call not in half)
        # The ordinary gateway finds every reply in the cache.
        monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
        before = server.calls
        again = evaluate(server, tmp_path / "again", judge, batch=judge == "anthropic/oracle" and QUICK)
        assert server.calls == before
        assert [cell[1:] for cell in cells(again)] == [cell[1:] for cell in cells(run)]
    assert pending() == []
    assert any("requests to" in note for note in notes)
    assert not any("very-secret" in note for note in notes)


def _usd(call):
    return (call["input_tokens"] + 2 * call["output_tokens"]) / 1e6


@pytest.mark.parametrize(
    ("judge", "spoilt"),
    [
        ("openai/oracle", "expired"),
        ("anthropic/oracle", "refused"),
        pytest.param("openai/oracle", "refused", marks=pytest.mark.slow),
        pytest.param("openai/oracle", "missing", marks=pytest.mark.slow),
        pytest.param("openai/oracle", "garbage", marks=pytest.mark.slow),
        pytest.param("anthropic/oracle", "expired", marks=pytest.mark.slow),
    ],
)
def test_requests_that_fail_in_a_batch_are_called(judge, spoilt, tmp_path):
    notes = []
    spoil = lambda number: spoilt if number % 4 == 1 else None  # noqa: E731
    with BatchOracle(spoil=spoil, end="expired" if spoilt == "expired" else "completed") as server:
        run = evaluate(server, tmp_path / "out", judge, note=notes.append)
    check_scores(run.path, SAMPLES)
    assert pending() == []
    assert any("sent as ordinary calls" in note for note in notes), notes


@pytest.mark.slow
@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_batches_that_end_early(end, tmp_path):
    notes = []
    missing = (lambda number: "missing" if number % 2 else None) if end == "cancelled" else lambda number: None
    with BatchOracle(end=end, spoil=missing) as server:
        run = evaluate(server, tmp_path / "out", note=notes.append)
    check_scores(run.path, SAMPLES)
    if end == "failed":
        assert any("Enqueued token limit reached" in note for note in notes)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["openai/oracle", "anthropic/oracle"])
def test_busy_servers_and_cut_connections(judge, tmp_path):
    with BatchOracle() as server:
        server.at["upload"] = ["429", "reset", "500"]
        server.at["create"] = ["429", "reset", "500"]
        server.at["look"] = ["500", "reset", "429"]
        server.at["content"] = ["reset", "429"]
        run = evaluate(server, tmp_path / "out", judge)
        assert set(server.created.values()) == {1}
    check_scores(run.path, SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["openai/oracle", "anthropic/oracle"])
def test_a_batch_whose_confirmation_is_lost_is_not_submitted_again(judge, tmp_path):
    with BatchOracle() as server:
        server.at["create"] = ["lost", "lost"]
        run = evaluate(server, tmp_path / "out", judge)
        assert set(server.created.values()) == {1}
    check_scores(run.path, SAMPLES)


@pytest.mark.slow
def test_a_batch_of_somebody_else_is_not_taken_for_ours(tmp_path):
    """Anthropic's batches have no metadata: what was found by its size and time is checked by its results."""
    notes = []
    with BatchOracle() as server:
        server.at["create"] = ["foreign"]
        run = evaluate(server, tmp_path / "out", "anthropic/oracle", note=notes.append)
        assert not any("ordinary calls" in note for note in notes)
        ours = {key: count for key, count in server.created.items() if not key.startswith("other-")}
        assert set(ours.values()) == {1}
    check_scores(run.path, SAMPLES)
    assert pending() == []


@pytest.mark.slow
def test_formats_that_the_server_refuses_are_found_by_a_call(tmp_path):
    with BatchOracle(formats=("json_object",)) as server:
        run = evaluate(server, tmp_path / "out")
        assert server.met["no json_schema"] <= 4
        for kept in server.batches.values():
            assert {body["response_format"]["type"] for body in kept["requests"].values()} == {"json_object"}
    check_scores(run.path, SAMPLES)


@pytest.mark.slow
def test_a_deadline_leaves_the_batch_for_the_next_run(tmp_path):
    with BatchOracle(steps=["in_progress"] * 10_000) as server:
        with pytest.raises(StopRunError, match=r"is not finished \(in_progress.*same command again"):
            evaluate(server, tmp_path / "out", deadline_s=4)
        [record] = pending()
        assert record.batch in server.batches
        server.steps = ()
        run = evaluate(server, tmp_path / "out")
        assert set(server.created.values()) == {1}
    check_scores(run.path, SAMPLES)
    assert pending() == []


@pytest.mark.slow
def test_a_budget_is_reserved_before_submission(tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1000.0, 2000.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    with BatchOracle() as server:
        limit = 15.0
        run = evaluate(server, tmp_path / "out", budget=limit)
        paid = server.input_tokens + 2 * server.output_tokens
        assert sum(server.created.values()) > 0
    spent = sum(call["cost_usd"] or 0 for call in calls(run.path))
    assert 0.2 * limit < spent <= limit
    assert paid / 2000 <= limit
    assert any("the budget of 15 usd is spent" in (cell[4] or "") for cell in cells(run))


def test_quotes_have_the_price_of_batches(tmp_path, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1.0, 2.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    from ragstone.engine.quote import quote

    options = {"judge": "openai/oracle", "base_url": "http://127.0.0.1:9/v1"}
    full = quote(rows(SAMPLES), ["ragchecker"], **options).total
    half = quote(rows(SAMPLES), ["ragchecker"], **options, batch=True).total
    assert half.calls == full.calls > 0
    assert half.cost_usd == pytest.approx(full.cost_usd / 2)


@pytest.mark.slow
def test_files_for_an_offline_tool(tmp_path):
    """Each run writes the requests of one stage; the tool answers them between the runs."""
    folder, files, words = tmp_path / "files", [], []
    settings = BatchSettings(folder=str(folder), quiet_s=0.2)
    with OracleServer() as server:
        options = {"batch": settings, "metrics": ["ragchecker"]}
        for _ in range(6):
            try:
                run = _evaluate_files(server, tmp_path, **options)
                break
            except StopRunError as error:
                words.append(str(error))
                written = [path for path in sorted(folder.glob("*.input.jsonl")) if path not in files]
                assert written
                for path in written:
                    _answer(server, path, partly=True)
                with pytest.raises(StopRunError, match="in_progress"):
                    _evaluate_files(server, tmp_path, **options)
                for path in written:
                    _answer(server, path)
                files += written
        assert server.requests == 0
    keys = [json.loads(line)["custom_id"] for path in files for line in path.read_text().splitlines()]
    assert len(keys) == len(set(keys)) > 0
    assert len(files) >= 2
    assert all("vllm.entrypoints.openai.run_batch" in text for text in words)
    assert all(row["status"] != "failed" for row in run.scores.to_pylist())
    with OracleServer() as server:
        plain = _evaluate_files(server, tmp_path / "plain", batch=False, cache=False, metrics=["ragchecker"])
    assert [cell[1:] for cell in cells(run)] == [cell[1:] for cell in cells(plain)]


def _evaluate_files(server, home, metrics, **options):
    # The address is that of a server on this machine, as with vllm/; it is not asked.
    return ragstone.evaluate(
        rows(SAMPLES), metrics, home / "out", judge="vllm/oracle", verdicts="json", base_url="http://127.0.0.1:9/v1"
        if options.get("batch") else server.base_url, **options,
    )  # fmt: skip


def _answer(server, path, partly=False, refused=()):
    """What vLLM's run_batch writes."""
    lines = []
    for line in path.read_text().splitlines():
        asked = json.loads(line)
        assert set(asked) == {"custom_id", "method", "url", "body"}
        reply = server._completion(asked["body"], None)
        row = {"id": "vllm-1", "custom_id": asked["custom_id"], "error": None}
        row["response"] = {"status_code": 200, "request_id": "vllm-batch-1", "body": reply}
        if asked["custom_id"] in refused:
            row |= {"response": {"status_code": 400, "request_id": "r", "body": None}, "error": "the prompt is empty"}
        lines.append(json.dumps(row))
    text = "\n".join(lines) + "\n"
    _output(path).write_text(text[: len(text) // 2] if partly else text)


def _output(path):
    return path.with_name(path.name.replace(".input.", ".output."))


@pytest.mark.slow
def test_files_with_errors_fail_their_rows(tmp_path):
    settings, refused = BatchSettings(folder=str(tmp_path / "files"), quiet_s=0.2), set()
    with OracleServer() as server:
        for _ in range(6):
            try:
                run = _evaluate_files(server, tmp_path, batch=settings, metrics=["ragchecker.precision"])
                break
            except StopRunError:
                paths = [path for path in (tmp_path / "files").glob("*.input.jsonl") if not _output(path).exists()]
                refused = refused or {json.loads(paths[0].read_text().splitlines()[0])["custom_id"]}
                for path in paths:
                    _answer(server, path, refused=refused)
    failed = [row for row in run.scores.to_pylist() if row["status"] == "failed"]
    assert len(failed) == 1
    assert all("the prompt is empty" in row["reason"] for row in failed)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"judge": "ollama/llama3.1", "batch": True}, "has no batches"),
        ({"judge": "gemini/gemini-2.5-pro", "batch": True}, "has no batches"),
        ({"judge": "vllm/x", "batch": True}, "--batch-folder"),
        ({"judge": "openai/x", "batch": True, "cache": False}, "need the cache"),
        ({"judge": "openai/x", "batch": True, "backend": "ray"}, "without --backend ray"),
    ],
)
def test_what_cannot_be_asked_in_batches(options, words):
    with pytest.raises(UsageError, match=words):
        ragstone.evaluate(rows(SAMPLES), ["ragchecker"], base_url="http://127.0.0.1:9/v1", **options)


def test_a_server_without_batches(tmp_path):
    with OracleServer() as server, pytest.raises(StopRunError, match="has no batch API"):
        evaluate(server, tmp_path / "out")


def test_a_wrong_key_is_found_before_the_batch(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-quite-wrong-1234")
    with BatchOracle(key="sk-right") as server:
        with pytest.raises(StopRunError, match="OPENAI_API_KEY") as caught:
            evaluate(server, tmp_path / "out")
        assert "sk-quite-wrong-1234" not in str(caught.value)
        assert not server.batches
    assert pending() == []


# Where processes are killed, one after the other: the phase of the server, which of its requests in this process, and
# whether the server has done it.
_KILLS = [
    ("upload", 0, "hold"),  # nothing is submitted
    ("upload", 0, "hold_after"),  # the file is there, the batch is not
    ("create", 0, "hold"),
    ("create", 0, "hold_after"),  # the batch is there, its id is not stored
    ("look", 0, "hold"),  # while the batch is waited for
    ("content", 0, "hold"),  # while the results are read
    ("create", 0, "hold_after"),  # in the second stage
    ("content", 0, "hold_after"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "again"), [("openai/oracle", ()), ("anthropic/oracle", ("--resume",))])
def test_a_killed_process_submits_nothing_twice(judge, again, home, environment):
    """Each process is killed further on than the one before; the last one ends with the scores of the world."""
    write(SAMPLES, home / "data.jsonl")
    phases = [kill for kill in _KILLS if judge == "openai/oracle" or kill[0] != "upload"]
    with BatchOracle() as server:
        address = ["--base-url", server.base_url, "--embedder", "openai/oracle"]
        command = [
            *COMMAND,
            "run",
            "data.jsonl",
            "-m",
            ",".join(SETS),
            "--judge",
            judge,
            *address,
            "--batch",
            "-o",
            "out",
        ]
        for phase, number, how in phases:
            server.at[phase] = [""] * number + [how]
            _kill_when_held(server, [*command, *again], home, environment)
            server.at.clear()
        done = subprocess.run([*command, *again], cwd=home, env=environment, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert set(server.created.values()) == {1}
        assert len(server.batches) >= 2
    check_scores(max((home / "out" / "runs").glob("*/run.json")).parent, SAMPLES)
    assert pending() == []


def _kill_when_held(server, command, home, environment):
    server.held.clear()
    process = subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 90
    while not server.held and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert server.held, process.communicate()[0].decode()
    process.send_signal(signal.SIGKILL)
    process.communicate()
