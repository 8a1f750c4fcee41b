"""Faults of machines and of systems under test: what was finished is kept, the rest says why, and nothing shows our code."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import COMMAND
from tests.e2e.odd_server import OddServer, http
from tests.e2e.stranger import METRICS, decent, lines, row, samples, the_run, values

BASIC = ["run", "answers.jsonl", "-o", "out", "-m", METRICS]


def clean(done):
    for word in ("Traceback", "internal error", "Exception ignored", "NoneType"):
        assert word not in done.stdout + done.stderr, done.stderr
    return done


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


ENVIRONMENTS = {
    "no home": {"HOME": None, "XDG_CACHE_HOME": None, "RAGSTONE_CACHE": None},
    "a home that is gone": {"HOME": "/gone/home", "XDG_CACHE_HOME": None, "RAGSTONE_CACHE": None},
    "a temporary folder that is gone": {"TMPDIR": "/gone/tmp"},
    "plain C": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII": {"PYTHONIOENCODING": "ascii"},
    "Latin-1": {"PYTHONIOENCODING": "latin-1"},
    "German": {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"},
    "Turkish": {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"},
    "20 columns": {"COLUMNS": "20"},
    "no columns": {"COLUMNS": "0"},
    "columns in words": {"COLUMNS": "wide", "LINES": "-1"},
    "a dumb terminal": {"TERM": "dumb"},
    "no terminal": {"TERM": None},
    "optimised": {"PYTHONOPTIMIZE": "2"},
    "development": {"PYTHONDEVMODE": "1"},
    "another time zone": {"TZ": "Asia/Kathmandu"},
    "no time zone": {"TZ": "Mars/Olympus"},
    "a proxy of nonsense": {"HTTPS_PROXY": "nonsense", "HTTP_PROXY": "http://127.0.0.1:9"},
    "no path": {"PATH": ""},
    "forced colours": {"FORCE_COLOR": "1"},
    "no user": {"USER": None, "LOGNAME": None},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments(shell, home, environment, name):
    Path("answers.jsonl").write_bytes(lines(row(), row(id="ü", answer="größer → 🚢")))
    changes = ENVIRONMENTS[name]
    env = {key: value for key, value in {**environment, **changes}.items() if value is not None}
    for command in (BASIC, ["show", "latest", "-o", "out", "--full"], ["explain", "latest", "2", "-o", "out"]):
        done = subprocess.run(
            [*COMMAND, *command],
            cwd=home,
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
        clean(done)
        assert done.returncode == 0, done.stderr
    assert values(the_run(), "exact_match") == [1.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 500, 4_000, 12_000])
def test_a_full_disk(shell, size):
    """A limit on the size of files in place of a disk: writing fails in the same place, with another number."""
    done = clean(
        shell(
            *BASIC,
            preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), limit(resource.RLIMIT_FSIZE, size)()),
        )
    )
    assert done.returncode in (0, 1), done.stderr
    if done.returncode:
        assert "cannot write" in done.stderr
        assert "out" in done.stderr
    assert shell(*BASIC).returncode == 0
    finished = [path for path in Path("out/runs").iterdir() if (path / "run.json").exists()]
    assert all(len(values(path, "exact_match")) == 2 for path in finished)


@pytest.mark.slow
def test_few_open_files(shell):
    done = clean(shell(*BASIC, preexec_fn=limit(resource.RLIMIT_NOFILE, 64)))
    assert done.returncode == 0, done.stderr
    done = clean(shell(*BASIC, preexec_fn=limit(resource.RLIMIT_NOFILE, 9)))
    assert done.returncode in (0, 1), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0o077, 0o777, 0o000])
def test_masks(shell, mask):
    done = clean(shell(*BASIC, preexec_fn=lambda: os.umask(mask)))
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 0:
        assert (the_run() / "scores.parquet").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_streams_that_are_closed(shell, home, environment):
    """`| head`, `>&-`, `<&-`, `> /dev/full`: none is a crash of ours."""
    me = " ".join(COMMAND)
    for line, codes in (
        (f"{me} run answers.jsonl -o out -m {METRICS} | head -c 1", (0,)),
        (f"{me} metrics | head -n 1", (0,)),
        (f"{me} metrics --json | head -c 10", (0,)),
        (f"{me} run answers.jsonl -o out -m {METRICS} >&-", (0, 1)),
        (f"{me} run answers.jsonl -o out -m {METRICS} 2>&-", (0, 1)),
        (f"{me} run answers.jsonl -o out -m {METRICS} <&-", (0,)),
        (f"{me} run answers.jsonl -o out -m {METRICS} >/dev/full", (1,)),
        (f"{me} show latest -o out >/dev/full", (1,)),
        (f"{me} run - -o out -m {METRICS} <&-", (1, 2)),
    ):
        done = subprocess.run(["bash", "-c", line], cwd=home, env=environment, capture_output=True, text=True)
        clean(done)
        assert done.returncode in codes, (line, done.returncode, done.stderr)


@pytest.mark.slow
def test_a_folder_that_is_gone(home, environment):
    Path("gone").mkdir()
    Path("answers.jsonl").rename("../answers-of-gone.jsonl") if not Path("../answers-of-gone.jsonl").exists() else None
    line = f"cd gone && rmdir ../gone && {' '.join(COMMAND)} run x.jsonl"
    done = subprocess.run(["bash", "-c", line], cwd=home, env=environment, capture_output=True, text=True)
    clean(done)
    assert done.returncode in (1, 2), done.stderr


SLOW_METRIC = """
import asyncio, os
from ragstone.registry import evidence, metric

@evidence
async def verdict(answer: str) -> str:
    open("started", "w").close()
    await asyncio.sleep(0.02)
    return answer

@metric("judged_row", family="mine", bounds=(0, None))
def judged(verdict: str) -> float:
    return float(verdict)
"""
SLOW_RUN = ["run", "data.jsonl", "--metrics-file", "mine.py", "-m", "judged_row", "-o", "out", "-j", "4"]


SIGNALS = ("SIGTERM", "SIGHUP", "SIGQUIT")


@pytest.fixture
def started(home, environment):
    """A run of 400 rows that takes two seconds or more, just started."""
    Path("data.jsonl").write_bytes(lines(*[{"id": f"s{n}", "question": "q", "answer": str(n)} for n in range(400)]))
    Path("mine.py").write_text(SLOW_METRIC)
    processes = []

    def start(*options):
        Path("started").unlink(missing_ok=True)
        process = subprocess.Popen(
            [*COMMAND, *SLOW_RUN, *options],
            cwd=home,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Ignored signals are inherited, such as SIGHUP under nohup and SIGQUIT in the background of a shell.
            preexec_fn=lambda: [signal.signal(getattr(signal, name), signal.SIG_DFL) for name in SIGNALS],  # noqa: PLW1509
        )
        processes.append(process)
        deadline = time.monotonic() + 60
        while not Path("started").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def finish(shell, *options):
    done = clean(shell(*SLOW_RUN, *options, timeout=120))
    assert done.returncode == 0, done.stderr
    [folder] = [path for path in Path("out/runs").iterdir() if (path / "run.json").exists()]
    assert values(folder, "judged_row") == [float(n) for n in range(400)]
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", SIGNALS)
def test_signals(shell, started, name):
    process = started()
    time.sleep(0.5)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "Traceback" not in err, err
    finish(shell, "--resume")


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 0.0005, 0.002, 0.05, 0.4])
def test_ctrl_c_twice(shell, started, pause):
    process = started()
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    time.sleep(pause)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode in (130, -2), err
    # The second one may come while Python cleans up, which the interpreter itself reports.
    assert "Traceback" not in err.partition("Exception ignored in")[0], err
    finish(shell, "--resume")


@pytest.mark.slow
def test_kill_at_random_moments(shell, started):
    """Killed five times at other moments, then finished: equal to a run that was never killed."""
    chance = random.Random(7)
    process = started()
    for _ in range(5):
        time.sleep(chance.uniform(0.05, 1.2))
        process.kill()
        process.communicate()
        process = started("--resume")
    process.kill()
    process.communicate()
    finish(shell, "--resume")
    assert len(list(Path("out/runs").iterdir())) == 1


@pytest.mark.slow
def test_a_store_that_is_deleted_meanwhile(shell, started):
    process = started()
    time.sleep(0.7)
    shutil.rmtree("out")
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    assert "internal error" not in err, err
    if process.returncode == 0:
        assert values(the_run(), "judged_row") == [float(n) for n in range(400)]
    else:
        assert process.returncode == 1
        assert "out" in err
    shutil.rmtree("out", ignore_errors=True)
    finish(shell)


@pytest.mark.slow
def test_data_that_changes_meanwhile(shell, started):
    """The file is rewritten after it was read; the run is of what was read, or says so."""
    process = started()
    Path("data.jsonl").write_bytes(lines(row()))
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    assert "internal error" not in err, err
    if process.returncode == 0:
        assert len(samples(the_run())) == 400


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b'{"pid": 1}', b"\xff", b"{}"])
def test_a_damaged_note_of_the_owner(shell, started, content):
    """owner.json of an interrupted run: a pid of another program, or no JSON."""
    process = started()
    time.sleep(0.5)
    process.kill()
    process.communicate()
    [folder] = Path("out/runs").iterdir()
    (folder / "owner.json").write_bytes(content)
    done = clean(shell(*SLOW_RUN, "--resume", timeout=120))
    assert done.returncode in (0, 1), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "empty", "zeros"])
def test_damaged_parts(shell, home, environment, damage):
    """Finished parts of an interrupted run that are damaged are computed again, or named."""
    rows = [{"id": f"s{n}", "question": "q", "answer": str(n)} for n in range(250)]
    Path("data.jsonl").write_bytes(lines(*rows))
    Path("mine.py").write_text(SLOW_METRIC.replace("0.02", "0.05 if int(answer) < 220 else 600"))
    process = subprocess.Popen(
        [*COMMAND, *SLOW_RUN, "-j", "64"], cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while len(list(Path("out/runs").glob("*/parts/*/scores.parquet"))) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.communicate()
    Path("mine.py").write_text(SLOW_METRIC.replace("0.02", "0.05 if int(answer) < 220 else 600"))
    part = sorted(Path("out/runs").glob("*/parts/*/scores.parquet"))[0]
    content = part.read_bytes()
    part.write_bytes({"cut": content[:-20], "empty": b"", "zeros": bytes(len(content))}[damage])
    Path("mine.py").touch()
    try:
        done = shell(*SLOW_RUN, "-j", "64", "--resume", timeout=8)
    except subprocess.TimeoutExpired:
        return  # it computes the rest, whose rows wait
    clean(done)
    assert done.returncode == 1
    assert "scores.parquet" in done.stderr


SYSTEMS = {
    "returns nothing": "def answer(question):\n    return None\n",
    "returns a number": "def answer(question):\n    return 5\n",
    "returns bytes": "def answer(question):\n    return b'x'\n",
    "returns nan": "def answer(question):\n    return float('nan')\n",
    "returns a generator": "def answer(question):\n    yield 'x'\n",
    "returns a triple": "def answer(question):\n    return 'a', ['b'], 'c'\n",
    "wrong contexts": "def answer(question):\n    return {'answer': 'x', 'contexts': [5]}\n",
    "wrong cost": "def answer(question):\n    return {'answer': 'x', 'cost_usd': 'much'}\n",
    "cost nan": "def answer(question):\n    return {'answer': 'x', 'cost_usd': float('nan')}\n",
    "no answer": "def answer(question):\n    return {'contexts': ['x']}\n",
    "exits": "import sys\ndef answer(question):\n    sys.exit(3)\n",
    "raises an odd error": "class E(Exception):\n    def __str__(self):\n        raise ValueError('no text')\ndef answer(question):\n    raise E\n",
    "raises a group": "def answer(question):\n    raise ExceptionGroup('g', [ValueError('x')])\n",
    "raises stop": "def answer(question):\n    raise StopIteration\n",
    "raises stop, async": "async def answer(question):\n    raise StopAsyncIteration\n",
    "recurses": "def answer(question):\n    return answer(question)\n",
    "no memory": "def answer(question):\n    raise MemoryError\n",
    "odd keys": "def answer(question):\n    return {1: 'x', 'answer': 'y', ('a',): object()}\n",
    "surrogates": "def answer(question):\n    return 'x\\ud800'\n",
    "wrong signature": "def answer():\n    return 'x'\n",
    "object in metadata": "def answer(question):\n    return {'answer': 'y', 'when': object()}\n",
    "prints": "import os\ndef answer(question):\n    print('noise'); os.write(1, b'more noise\\n')\n    return 'x'\n",
    "a lambda": "answer = lambda question: 'x'\n",
    "a constant": "answer = 5\n",
    "a broken import": "import nonsense_that_is_not_there\ndef answer(question):\n    return 'x'\n",
    "exits on import": "import sys; sys.exit(0)\ndef answer(question):\n    return 'x'\n",
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_functions(cli, home, name):
    """Every question is a row: with an answer, or with the reason in its metadata."""
    Path("rag.py").write_text(SYSTEMS[name])
    printed = cli("truth", "collect", "answers.jsonl", "--system", "rag.py:answer", "-o", "new.jsonl", "--no-cache")
    decent(printed)
    if printed.code in (1, 2) and not Path("new.jsonl").exists():
        assert "rag.py" in printed.err
        return
    found = [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()]
    assert [one["id"] for one in found] == ["a", "b"]
    for one in found:
        assert isinstance(one.get("answer"), str) or one["metadata"]["system_error"], one
    again = cli("run", "new.jsonl", "-o", "out", "-m", METRICS)
    decent(again)
    assert again.code in (0, 4), again.err
    assert len(samples(the_run())) == 2


PROGRAMS = {
    "exits with 1": "import sys; print('oops', file=sys.stderr); sys.exit(1)",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "prints nothing": "",
    "prints no UTF-8": "import sys; sys.stdout.buffer.write(b'\\xff\\xfe')",
    "prints half a JSON": 'print(\'{"answer": "x\')',
    "prints a list": "print('[1, 2]')",
    "prints wrong contexts": 'print(\'{"answer": "x", "contexts": {"a": 1}}\')',
    "does not read": "import sys; sys.stdin.close(); print('x')",
    "prints NaN": "print('{\"answer\": NaN}')",
    "prints nul": "print('a\\0b')",
    "prints 20 MB": "print('x' * 20_000_000)",
    "sleeps": "import time; time.sleep(60)",
    "leaves a child": "import subprocess; subprocess.Popen(['sleep', '5']); print('x')",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(cli, home, name):
    Path("rag.py").write_text(PROGRAMS[name])
    started = time.monotonic()
    printed = cli(
        "truth",
        "collect",
        "answers.jsonl",
        "--system",
        f"cmd:{sys.executable} rag.py",
        "-o",
        "new.jsonl",
        "--no-cache",
        "--timeout",
        "2",
        "--deadline",
        "20",
    )
    assert time.monotonic() - started < 40
    decent(printed)
    found = [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()]
    assert [one["id"] for one in found] == ["a", "b"]
    for one in found:
        assert isinstance(one.get("answer"), str) or one["metadata"]["system_error"], one


def test_a_program_that_is_not_there(cli, home):
    for target in ("cmd:./gone", "cmd:answers.jsonl", "cmd:'unclosed"):
        printed = cli("truth", "collect", "answers.jsonl", "--system", target, "-o", "new.jsonl", "--no-cache")
        decent(printed)
        assert printed.code in (1, 2), printed.err
        assert not Path("new.jsonl").exists() or "failed" in printed.out


REPLIES = {
    "no choices": (http(b'{"choices": []}'), None),
    "no JSON": (http(b"hello"), None),
    "a filter": (http(b'{"choices": [{"message": {"content": null}, "finish_reason": "content_filter"}]}'), None),
    "parts": (http(b'{"choices": [{"message": {"content": [{"type": "text", "text": "21:40"}]}}]}'), "21:40"),
    "empty": (http(b'{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}'), ""),
    "cut": (http(b'{"choices": [{"message": {"content": "21:4"}, "finish_reason": "length"}]}'), "21:4"),
    "413": (http(b"large", status="413 Large"), None),
    "events": (http(b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n', kind="text/event-stream"), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REPLIES)
def test_endpoints(cli, home, monkeypatch, name):
    monkeypatch.setenv("RAGSTONE_SYSTEM_KEY", "sk-secret-of-the-system")
    reply, wanted = REPLIES[name]
    with OddServer(lambda number, _: [reply]) as server:
        server.truth = lambda body: {}
        printed = cli(
            "truth",
            "collect",
            "answers.jsonl",
            "--system",
            f"{server.base_url}#m",
            "-o",
            "new.jsonl",
            "--no-cache",
            "--timeout",
            "2",
            "--deadline",
            "4",
        )
    decent(printed)
    assert "sk-secret" not in printed.out + printed.err
    if not Path("new.jsonl").exists():
        assert wanted is None
        assert printed.code in (1, 2)
        return
    found = [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()]
    assert len(found) == 2
    for one in found:
        assert (one.get("answer") or None) == (wanted or None), one
        assert wanted is not None or one["metadata"]["system_error"]
