"""Ray gives what one process gives, cell for cell; nothing is lost when a worker dies; limits hold for all workers together."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import ragstone
from ragstone.engine.evaluate import evaluate
from ragstone.errors import InterruptedRunError, MissingExtraError, StopRunError
from ragstone.registry import CATALOGUE, evidence, metric
from tests.engine.backends.rows import METRICS, is_short, rows
from tests.metrics.models import LengthsAndLetters, Obliging, rating_tools
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples
from tests.tools.test_function_checker import FILE, METRIC, ROWS, Pairs, plain

# Ray warns of its own doings.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ray = pytest.importorskip("ray")
CLAIMS = ["ragchecker.precision", "ragchecker.claim_recall", "ragas.faithfulness", "grade.quality", "answer_match"]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Four workers on this machine, whatever it has."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=4, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """Row groups of a few rows, so that there is something to share."""
    monkeypatch.setattr("ragstone.formats.reader.BATCH_ROWS", 30)


def same(one, other):
    """Whether two runs have the same cells and the same evidence."""
    assert other.scores.equals(one.scores)
    assert list(other.summary()) == list(one.summary())
    assert other.info["evidence"] == one.info["evidence"]
    for name in one.info["evidence"]:
        assert other.evidence(name).equals(one.evidence(name)), name


def test_every_metric_is_the_same(tmp_path):
    """All that is registered, with models of the tests in place of real ones."""
    given = [dict(row, metadata={"other_answer": "Another.", "signals": {"like": 1}}) for row in rows(60)]
    names = [spec.name for spec in CATALOGUE.metrics() if spec.family != "custom"]
    tools = {"judge": Obliging(), "embedder": LengthsAndLetters(), **rating_tools(), "cache": False}
    alone = evaluate(given, names, tmp_path, **tools)
    same(alone, evaluate(given, names, tmp_path, backend="ray", workers=3, **tools))
    assert sum(row.n_ok > 0 for row in alone.summary()) > 90


def test_a_users_own_metric_goes_along(catalogue, tmp_path):
    @evidence
    def vowels(answer: str) -> int:
        return sum(letter in "aeiou" for letter in answer)

    @metric("vowel_share")
    def vowel_share(vowels: int, answer: str) -> float:
        return vowels / len(answer)

    same(evaluate(rows(120), ["vowel_share"], tmp_path), evaluate(rows(120), ["vowel_share"], tmp_path, backend="ray"))


def test_functions_go_along_or_say_why_not(tmp_path):
    def inside(answer: str) -> float:
        return 0.5

    run = ragstone.evaluate(rows(30), [is_short, inside], tmp_path, backend="ray:2")
    assert run.summary()["inside"].mean == 0.5
    assert run.scores.equals(ragstone.evaluate(rows(30), [is_short, inside], tmp_path).scores)
    lock = threading.Lock()

    def locked(answer: str) -> float:
        with lock:
            return 0.5

    with pytest.raises(StopRunError, match=r"'locked' cannot be sent to the workers: .*inside the function"):
        ragstone.evaluate(rows(30), locked, tmp_path, backend="ray:2")


def test_a_run_on_object_storage(bucket):
    alone = evaluate(rows(200), METRICS)
    found = evaluate(rows(200), METRICS, f"{bucket.url}/store", backend="ray", workers=2)
    same(alone, ragstone.open_run(found.path))


@pytest.mark.parametrize("backends", [("local", "ray"), ("ray", "local")])
def test_a_run_is_resumed_by_the_other_backend(catalogue, tmp_path, monkeypatch, backends):
    marker = tmp_path / "go"

    @evidence
    async def slow_verdict(question: str) -> str:
        if question.startswith("Which boat leaves at 7") and not marker.exists():
            raise StopRunError("the judge is out")
        return question

    @metric("judged_row")
    def judged(slow_verdict: str) -> float:
        return 1 / len(slow_verdict)

    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 5)
    first, second = backends
    with pytest.raises(StopRunError, match="the judge is out"):
        evaluate(rows(40), ["judged_row"], tmp_path, backend=first)
    marker.touch()
    notes = []
    run = evaluate(rows(40), ["judged_row"], tmp_path, backend=second, resume=True, note=notes.append)
    assert any("resuming run" in note for note in notes)
    assert run.summary()["judged_row"].n_ok == 40


def test_a_killed_worker_loses_nothing_and_doubles_nothing(catalogue, tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 5)
    pids = tmp_path / "pids"
    pids.mkdir()

    @evidence
    async def who(question: str, id: str) -> str:
        import asyncio

        (pids / str(os.getpid())).touch()
        await asyncio.sleep(0.05)
        return question

    @metric("worked")
    def worked(who: str) -> float:
        return 1.0

    def kill_one():
        while not (found := list(pids.iterdir())):
            time.sleep(0.05)
        time.sleep(0.3)
        os.kill(int(found[0].name), signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    run = evaluate(rows(200), ["worked"], tmp_path / "store", backend="ray", workers=2)
    killer.join()
    assert len(list(pids.iterdir())) == 3
    assert run.scores["sample_id"].to_pylist() == [row["id"] for row in rows(200)]
    assert run.summary()["worked"].n_ok == 200


def judged_rows(count):
    return [sample.row() for sample in make_samples(count, seed=5)]


def test_claims_by_a_judge_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 5)
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False}
        alone = evaluate(judged_rows(40), CLAIMS, tmp_path, **options)
        calls = server.calls
        found = evaluate(judged_rows(40), CLAIMS, tmp_path, backend="ray", workers=4, **options)
        assert server.calls == 2 * calls
    same(alone, found)
    assert found.info["totals"]["calls"] == calls
    assert found.calls.num_rows == alone.calls.num_rows


def test_calls_at_once_are_limited_for_all_workers_together(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 5)
    with OracleServer(latency_s=0.05) as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False, "concurrency": 3}
        evaluate(judged_rows(40), ["answer_match"], tmp_path, backend="ray", workers=4, **options)
    assert 1 < server.most_in_flight <= 3


def test_calls_a_minute_are_limited_for_all_workers_together(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 5)
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False, "requests_per_minute": 300}
        started = time.monotonic()
        evaluate(judged_rows(40), ["answer_match"], tmp_path, backend="ray", workers=4, **options)
        taken_s = time.monotonic() - started
    # A second's worth may go at once, the others at five a second.
    assert server.calls <= 5 + 5 * taken_s


def spent_usd(server):
    """What the server would charge for what it has answered, at 1 and 2 dollars a million tokens."""
    return (server.input_tokens + 2 * server.output_tokens) / 1e6


def test_a_budget_holds_for_all_workers_together(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 5)
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"openai/oracle" = [1.0, 2.0]\n')
    monkeypatch.setenv("RAGSTONE_PRICES", str(prices))
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url, "cache": False}
        whole = evaluate(judged_rows(40), ["answer_match"], tmp_path / "whole", **options)
        budget = whole.info["totals"]["cost_usd"] / 2
        before = spent_usd(server)
        found = evaluate(
            judged_rows(40), ["answer_match"], tmp_path, backend="ray", workers=4, budget=f"{budget}usd", **options
        )
        assert 0 < spent_usd(server) - before <= budget
    row = found.summary()["answer_match"]
    assert row.n_failed > 0
    assert "the budget of" in row.reason


def test_what_is_asked_is_kept_for_all(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "replies"))
    with OracleServer() as server:
        options = {"judge": "openai/oracle", "base_url": server.base_url}
        evaluate(judged_rows(30), ["answer_match"], tmp_path, **options)
        before = server.calls
        evaluate(judged_rows(30), ["answer_match"], tmp_path, backend="ray", workers=2, **options)
        assert server.calls == before


def test_a_wrong_key_stops_the_run_with_its_words(tmp_path):
    with OracleServer(key="right") as server:
        os.environ["OPENAI_API_KEY"] = "wrong-key-of-a-test"
        try:
            with pytest.raises(StopRunError) as caught:
                evaluate(
                    judged_rows(5), ["answer_match"], tmp_path, backend="ray", judge="openai/oracle",
                    base_url=server.base_url, cache=False,
                )  # fmt: skip
        finally:
            del os.environ["OPENAI_API_KEY"]
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "wrong-key-of-a-test" not in str(caught.value)


def test_ctrl_c_keeps_what_is_finished(catalogue, tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.engine.execute.WAITING_PART_ROWS", 5)

    @evidence
    async def patient(question: str) -> str:
        import asyncio

        await asyncio.sleep(0.05)
        return question

    @metric("waited")
    def waited(patient: str) -> float:
        return 1.0

    def stop(progress):
        if progress.stage == "evaluating" and progress.done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(InterruptedRunError, match="finished part"):
        evaluate(rows(200), ["waited"], tmp_path, backend="ray", workers=2, progress=stop)
    run = evaluate(rows(200), ["waited"], tmp_path, backend="ray", workers=2, resume=True)
    assert run.summary()["waited"].n_ok == 200


def test_without_ray_there_is_a_clear_message(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"ragstone\[ray\]"):
        evaluate(rows(3), ["token_f1"], tmp_path, backend="ray")
    # Before the data is read.
    with pytest.raises(MissingExtraError):
        evaluate("nowhere.jsonl", ["token_f1"], tmp_path, backend="ray")


def test_nothing_of_ray_is_imported_without_the_flag(tmp_path):
    code = (
        "import sys, json, ragstone; from tests.engine.backends.rows import rows, METRICS;"
        f"ragstone.evaluate(rows(5), METRICS, {str(tmp_path)!r});"
        "print(json.dumps([name for name in sys.modules if name.split('.')[0] in ('ray', 'dask')]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(found.stdout.splitlines()[-1]) == []


def test_an_unreachable_cluster_is_told(tmp_path):
    code = (
        "import ragstone; from tests.engine.backends.rows import rows, METRICS\n"
        f"try: ragstone.evaluate(rows(5), METRICS, {str(tmp_path)!r}, backend='ray')\n"
        "except ragstone.RagstoneError as error: print('told:', error)"
    )
    environment = {**os.environ, "RAY_ADDRESS": "127.0.0.1:1"}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)
    assert "told: no Ray cluster answers at 127.0.0.1:1" in found.stdout, found.stderr[-2000:]


def test_quiet_is_silent(tmp_path):
    data = tmp_path / "rows.jsonl"
    data.write_text(
        "".join(json.dumps({"question": "q", "answer": f"a {n}", "references": ["a"]}) + "\n" for n in range(20))
    )
    command = [
        sys.executable,
        "-m",
        "ragstone",
        "run",
        str(data),
        "-m",
        "token_f1",
        "--backend",
        "ray",
        "--workers",
        "1",
    ]
    done = subprocess.run([*command, "-q", "-o", str(tmp_path / "out")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("checker", [plain, Pairs(), "own.py:overlap"])
def test_checkers_of_the_user(tmp_path, checker):
    """Functions of a module that no worker can import, and one in a file."""
    (tmp_path / "own.py").write_text(FILE)
    checker = f"{tmp_path}/{checker}" if isinstance(checker, str) else checker
    given = [{**row, "answer_claims": row["answer"].split(". ")} for row in ROWS]
    alone = evaluate(given, METRIC, tmp_path, checker=checker)
    same(alone, evaluate(given, METRIC, tmp_path, checker=checker, backend="ray", workers=2))
    assert all(row["status"] == "ok" for row in alone.scores.to_pylist())
