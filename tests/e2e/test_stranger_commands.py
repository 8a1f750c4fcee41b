"""Options, settings and stores of a stranger: nonsense is refused in words, damage is named, and text stays text."""

import csv
import json
import os
import shutil
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

import ragstone
from tests.e2e.stranger import METRICS, decent, lines, row, samples, the_run, values, write

DATA = "question,answer,references,chunk_1,chunk_3,chunk_10,chunk_2\nq,x,x,one,three,ten,two\n"

RUN_OPTIONS = {
    "--map": "--map",
    "--map question": "question",
    "--map question=nowhere": "nowhere",
    "--map =answer": "=answer",
    "--map soul=answer": "soul",
    "--map question=answer --map answer=answer": "one column",
    "--map question=answer --map question=question": "question",
    "--map contexts=part_*": "part_*",
    "--map contexts=*": "*",
    "--limit 0": "limit",
    "--limit -3": "limit",
    "--limit many": "limit",
    "--workers 0": "workers",
    "--workers -1": "workers",
    "-j 0": "concurrency",
    "--timeout 0": "timeout",
    "--timeout nan": "timeout",
    "--timeout -5": "timeout",
    "--deadline 0": "deadline",
    "--deadline -1": "deadline",
    "--deadline inf": "deadline",
    "--budget -1": "budget",
    "--budget nan": "budget",
    "--budget 5eur": "budget",
    "--rpm 0": "rpm",
    "--tpm -1": "tpm",
    "--repeats 0": "repeats",
    "--param k": "k",
    "--format nonsense": "nonsense",
    "--encoding": "encoding",
    "--matcher magic": "magic",
    "--backend cloud": "cloud",
    "--claims words --judge judge.py:judge -m ragchecker": "words",
    "--scale feet --judge judge.py:judge -m grade": "feet",
    "--truth": "truth",
    "--truth nowhere": "nowhere",
    "--truth ../x": "../x",
    "--truth x@y": "x@y",
    "--judge": "judge",
    "--judge nonsense": "nonsense",
    "--judge nowhere.py:f": "nowhere.py",
    "--metrics-file nowhere.py": "nowhere.py",
    "--aspects nowhere.toml": "nowhere.toml",
    "--prompts nowhere --judge judge.py:judge -m ragchecker": "nowhere",
    "--webhook ftp://x": "ftp",
    "--webhook nonsense": "--webhook",
    "--as pdf": "pdf",
    "--agreement 2": "agreement",
    "-m nonsense": "nonsense",
    "-m token_f2": "token_f1",
    "-m recall@0": "recall",
    "-m recall@-1": "recall@-1",
    "-m recall@x": "recall@x",
    "-m recall@5@6": "recall@5@6",
    "-m recall@1.5": "recall@1.5",
    "-m token_f1(": "token_f1(",
    "-m token_f1(foo=1)": "foo",
    "-m precision(rel=two)@5": "rel",
    "-m ndcg(condensed=maybe)": "condensed",
    "-m token_f1)": "token_f1",
    "-m token_f1@5": "token_f1",
    "-m ,": "metric",
    "-m recall@99999999999999999999999": "recall",
    "-o ''": "the path is empty",
}


@pytest.mark.parametrize("options", RUN_OPTIONS)
def test_options_of_run(cli, home, options):
    write({"data.csv": DATA, "judge.py": "def judge(prompts):\n    return ['{}' for _ in prompts]\n"})
    before = sorted(os.listdir())
    printed = cli("run", "data.csv", *[part.strip("'") for part in options.split(" ")])
    decent(printed)
    assert printed.code == 2, (printed.code, printed.out, printed.err)
    assert RUN_OPTIONS[options] in printed.err
    assert sorted(set(os.listdir()) - {"__pycache__"}) == before  # Python's own, beside judge.py


def test_numbered_columns_are_in_order_of_their_numbers(cli, home):
    write({"data.csv": DATA})
    printed = cli("run", "data.csv", "--map", "contexts=chunk_*", "-o", "out", "-m", METRICS)
    assert printed.code == 0, printed.err
    assert [chunk["text"] for chunk in samples(the_run())[0]["contexts"]] == ["one", "two", "three", "ten"]


SETTINGS = {
    "broken": ("metrics = [", "ragstone.toml"),
    "unknown key": ("metrix = ['token_f1']\n", "metrix"),
    "unknown section": ("[fly]\nhigh = 1\n", "fly"),
    "wrong type": ("[run]\nlimit = 'many'\n", "limit"),
    "wrong list": ("[run]\nmetrics = [1, 2]\n", "metrics"),
    "negative": ("[run]\nlimit = -1\n", "limit"),
    "a table for a value": ("[run.limit]\nx = 1\n", "limit"),
    "map of numbers": ("[map]\nquestion = 5\n", "question"),
    "map of nothing": ("[map]\nsoul = 'x'\n", "soul"),
    "nan": ("[run]\ntimeout = nan\n", "timeout"),
    "true for a number": ("[run]\nlimit = true\n", "limit"),
    "twice": ("[run]\nlimit = 1\nlimit = 2\n", "ragstone.toml"),
    "latin-1": ("# gr\xfc\xdfe\n".encode("latin-1"), "utf-8"),
    "nul": (b"limit = 1\0\n", "ragstone.toml"),
    "a list at the top": ("judge = ['a', 'b']\n", "judge"),
    "json": ('{"limit": 1}\n', "ragstone.toml"),
    "unknown metric": ("[run]\nmetrics = ['nonsense']\n", "nonsense"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_files(cli, home, name):
    content, word = SETTINGS[name]
    write({"ragstone.toml": content})
    printed = cli("run", "answers.jsonl")
    decent(printed)
    assert printed.code == 2, printed.err
    assert word in printed.err
    assert not Path("ragstone-store").exists()


@pytest.mark.slow
def test_settings_that_are_fine(cli, home):
    """A byte-order mark, Windows line ends, an empty file, metrics in one text."""
    for number, content in enumerate(
        ("", "\ufeff[run]\r\nmetrics = ['token_f1']\r\n", "[run]\nmetrics = 'token_f1,exact_match'\n")
    ):
        write({"ragstone.toml": content})
        printed = cli("run", "answers.jsonl", "-o", f"out{number}")
        assert printed.code == 0, printed.err
    Path("ragstone.toml").unlink()
    Path("ragstone.toml").mkdir()
    printed = cli("run", "answers.jsonl", "-o", "out9")
    decent(printed)
    assert printed.code in (0, 2)


@pytest.fixture(scope="module")
def stored_runs(tmp_path_factory):
    """Two runs with names: `a` and `b`, of the same 12 rows, and `c` of others."""
    folder = tmp_path_factory.mktemp("stored")
    for name, start, wrong in (("a", 0, 3), ("b", 0, 5), ("c", 100, 5)):
        rows = [
            row(id=f"s{n}", question=f"question {n}?", answer="no" if n % wrong == 0 else "21:40")
            for n in range(start, start + 12)
        ]
        (folder / f"{name}.jsonl").write_bytes(lines(*rows))
        ragstone.evaluate(folder / f"{name}.jsonl", metrics=METRICS.split(","), out=folder / "out", name=name)
    return folder


@pytest.fixture
def runs(stored_runs, home):
    """A copy of these runs, to be damaged."""
    shutil.copytree(stored_runs, home, dirs_exist_ok=True)
    return {name: folder_of(name) for name in "abc"}


def folder_of(name):
    [found] = [
        path for path in Path("out/runs").iterdir() if json.loads((path / "run.json").read_text())["name"] == name
    ]
    return found


GATES = {
    "--min token_f1": "token_f1",
    "--min token_f1=": "token_f1",
    "--min =0.5": "=0.5",
    "--min token_f1=nan": "nan",
    "--min token_f1=inf": "inf",
    "--min token_f1=high": "high",
    "--min nonsense=0.5": "nonsense",
    "--max-drop nonsense=0.1 --against b": "nonsense",
    "--max-drop -0.1 --against b": "-0.1",
    "--max-drop token_f1=0.1": "--against",
    "--max-worse token_f1=1.5 --against b": "1.5",
    "--max-worse token_f1=-1 --against b": "-1",
    "--max-new-failures many --against b": "many",
    "--max-new-failures -1 --against b": "-1",
    "--max-new-failures 0": "--against",
    "--min token_f1=0.1 --max-failed 7": "max-failed",
    "--min token_f1=0.1 --inconclusive maybe": "maybe",
    "--max-drop token_f1=0.1 --against nowhere": "nowhere",
    "--max-drop token_f1=0.1 --against b --baseline main": "baseline",
    "--min token_f1=0.1 --junit answers.jsonl/j.xml": "answers.jsonl",
}


@pytest.mark.parametrize("options", GATES)
def test_gates_of_nonsense(cli, runs, options):
    printed = cli("gate", "a", "-o", "out", *options.split(" "))
    decent(printed)
    assert printed.code in (1, 2), (printed.code, printed.out)
    assert GATES[options] in printed.err


def test_runs_without_common_rows(cli, runs):
    for command in (["compare", "a", "c"], ["report", "a", "c", "-o", "page.html"], ["compare", "a", "b", "c"]):
        store = "--root" if command[0] == "report" else "-o"
        printed = cli(*command, store, "out")
        decent(printed)
        assert printed.code in (1, 2), printed.out
        assert "no " in printed.err
    printed = cli("gate", "a", "--against", "c", "--max-drop", "token_f1=0.1", "-o", "out")
    decent(printed)
    assert printed.code in (1, 2, 4)


OTHERS = [
    ["compare", "a", "b", "-o", "out", "--slice", "nowhere"],
    ["compare", "a", "b", "-o", "out", "--cluster", "nowhere"],
    ["compare", "a", "b", "-o", "out", "-m", "nonsense"],
    ["compare", "a", "b", "-o", "out", "--show", "-1"],
    ["compare", "a", "b", "c", "-o", "out", "--by", "nowhere"],
    ["compare", "a", "-o", "out"],
    ["compare", "a", "nowhere", "-o", "out"],
    ["show", "nowhere", "-o", "out"],
    ["show", "", "-o", "out"],
    ["show", "../../..", "-o", "out"],
    ["show", "latest", "-o", "empty"],
    ["show", "a", "-o", "answers.jsonl"],
    ["explain", "a", "nobody", "-o", "out"],
    ["explain", "a", "0", "-o", "out"],
    ["explain", "a", "-1", "-o", "out"],
    ["explain", "a", "999", "-o", "out"],
    ["explain", "a", "s1", "nonsense", "-o", "out"],
    ["diagnose", "a", "--chunks", "nowhere.jsonl", "-o", "out"],
    ["diagnose", "a", "--documents", "nowhere", "-o", "out"],
    ["report", "a", "--root", "out", "-o", "answers.jsonl/x.html"],
    ["report", "a", "--root", "out", "--worst", "-2", "-o", "x.html"],
    ["report", "a", "--root", "out", "--latex", "--markdown"],
    ["agree", "a", "-o", "out", "--human", "nowhere.csv"],
    ["agree", "a", "-o", "out", "--human", "answers.jsonl"],
    ["judge", "a", "b", "-o", "out"],
    ["push", "a", "--to", "nowhere", "-o", "out"],
    ["pull", "nowhere"],
    ["trec", "answers.jsonl", "a.jsonl", "nDCG@10"],
    ["fuse", "answers.jsonl", "a.jsonl", "-o", "fused.run"],
    ["erag", "answers.jsonl", "--system", "nowhere.py:f", "-o", "out"],
    ["stress", "answers.jsonl", "--system", "cmd:cat", "--rates", "0:1:0", "-o", "out"],
    ["stress", "answers.jsonl", "--system", "cmd:cat", "--rates", "2,3", "-o", "out"],
    ["stress", "answers.jsonl", "--system", "cmd:cat", "--passages", "0", "-o", "out"],
    ["metrics", "nonsense"],
    ["validate"],
    ["convert", "answers.jsonl"],
    ["truth", "collect", "answers.jsonl", "--system", "cmd:"],
    ["truth", "collect", "answers.jsonl", "--system", "http://"],
    ["truth", "collect", "answers.jsonl", "--system", "rag.py"],
    ["truth", "collect", "answers.jsonl", "--system", "answers.jsonl:f"],
    ["truth", "signals", "answers.jsonl", "--since", "tomorrowish"],
    ["truth", "estimate", "a", "-o", "out"],
    ["watch", "w", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--rate", "2", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--rate", "0", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--rate", "nan", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--per-period", "0", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--period", "month", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--now", "soon", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--grace", "-1h", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--every", "0s", "--once"],
    ["watch", "w", "--from", "a.jsonl", "--rate-of", "phone=2", "--strata", "app", "--once"],
    ["watch", "w", "--from", "nowhere/x.jsonl", "--once"],
    ["sweep", "nowhere.toml"],
    ["sweep", "answers.jsonl"],
    ["cache", "burn"],
    ["fly"],
]


def test_other_commands(cli, runs):
    """Each is refused with a message, and none leaves a file."""
    before = sorted(os.listdir())
    failures = []
    for command in OTHERS:
        printed = cli(*command)
        fine = printed.code in (1, 2) and "error" in printed.err.lower() and sorted(os.listdir()) == before
        text = printed.out + printed.err
        if not fine or any(word in text for word in ("Traceback", "internal error", "NoneType", "KeyError")):
            failures.append((" ".join(command), printed.code, printed.err[-300:] or printed.out[-300:]))
            for extra in set(os.listdir()) - set(before):
                shutil.rmtree(extra) if Path(extra).is_dir() else Path(extra).unlink()
    assert not failures, "\n".join(map(str, failures))


DAMAGE = {
    "run.json empty": lambda run: (run / "run.json").write_text(""),
    "run.json cut": lambda run: (run / "run.json").write_text((run / "run.json").read_text()[:100]),
    "run.json list": lambda run: (run / "run.json").write_text("[]"),
    "run.json null": lambda run: (run / "run.json").write_text("null"),
    "run.json binary": lambda run: (run / "run.json").write_bytes(b"\xff\xfe\x00"),
    "run.json other": lambda run: (run / "run.json").write_text('{"id": 5, "metrics": "all"}'),
    "run.json folder": lambda run: ((run / "run.json").unlink(), (run / "run.json").mkdir()),
    "no samples": lambda run: (run / "samples.parquet").unlink(),
    "no scores": lambda run: (run / "scores.parquet").unlink(),
    "no summary": lambda run: (run / "summary.parquet").unlink(),
    "no evidence": lambda run: shutil.rmtree(run / "evidence", ignore_errors=True),
    "scores cut": lambda run: cut(run / "scores.parquet"),
    "samples cut": lambda run: cut(run / "samples.parquet"),
    "summary cut": lambda run: cut(run / "summary.parquet"),
    "scores of json": lambda run: (run / "scores.parquet").write_text("{}"),
    "scores of samples": lambda run: shutil.copy(run / "samples.parquet", run / "scores.parquet"),
    "samples of scores": lambda run: shutil.copy(run / "scores.parquet", run / "samples.parquet"),
}
READERS = [
    ["show", "a", "-o", "out"],
    ["diagnose", "a", "-o", "out"],
    ["explain", "a", "s1", "-o", "out"],
    ["compare", "a", "b", "-o", "out"],
    ["gate", "a", "--min", "token_f1=0.1", "-o", "out"],
    ["report", "a", "--root", "out", "-o", "page.html"],
    ["show", "b", "-o", "out"],
    ["show", "latest", "-o", "out"],
]


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_runs(cli, runs, name):
    """Named by its folder too; the other runs of the store are readable."""
    DAMAGE[name](runs["a"])
    failures = []
    for command in [*READERS, ["show", str(runs["a"])]]:
        printed = cli(*command)
        text = printed.out + printed.err
        if (
            any(word in text for word in ("Traceback", "internal error", "NoneType", "KeyError", "Arrow"))
            or "nan" in printed.out.split()
        ) or (command[1] == "b" and printed.code != 0):
            failures.append((command, printed.code, text[-400:]))
    assert not failures, "\n".join(map(str, failures))


def test_a_store_with_strange_things_in_it(cli, runs):
    """Files of editors, empty folders and dead links among the runs."""
    Path("out/runs/.DS_Store").write_bytes(b"\0\1")
    Path("out/runs/notes.txt").write_text("mine")
    Path("out/runs/empty").mkdir()
    Path("out/runs/\U0001f6a2 x").mkdir()
    os.symlink("gone", "out/runs/dead")
    os.symlink(".", "out/runs/loop")
    for command in READERS:
        printed = cli(*command)
        decent(printed)
        assert printed.code == 0, (command, printed.err)
    decent(cli("doctor"))


@pytest.mark.slow
def test_damaged_ground_truth(cli, home):
    assert cli("truth", "import", "answers.jsonl", "harbour", "-o", "out").code == 0
    folder = Path("out/truth/harbour/v1")
    commands = [
        ["truth", "show", "harbour"],
        ["truth", "list"],
        ["truth", "history", "harbour"],
        ["truth", "diff", "harbour"],
        ["truth", "export", "harbour", "x.jsonl"],
        ["truth", "check", "harbour"],
        ["truth", "suspects", "harbour"],
        ["run", "answers.jsonl", "--truth", "harbour"],
        ["truth", "accept", "harbour", "--all"],
    ]
    table, metadata = (folder / "ground_truth.parquet").read_bytes(), (folder / "metadata.json").read_text()
    failures = []
    for broken_table, broken_metadata in (
        (table[:-20], metadata),
        (b"", metadata),
        (b"{}", metadata),
        (table, ""),
        (table, "[]"),
        (table, metadata[:50]),
        (table, '{"name": 1}'),
        (None, metadata),
        (table, None),
    ):
        for path, content in (
            (folder / "ground_truth.parquet", broken_table),
            (folder / "metadata.json", None if broken_metadata is None else broken_metadata.encode()),
        ):
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
        for command in commands:
            printed = cli(*command, "-o", "out")
            text = printed.out + printed.err
            if any(word in text for word in ("Traceback", "internal error", "NoneType", "KeyError", "Arrow")):
                failures.append(
                    (command, broken_table and broken_table[:10], broken_metadata and broken_metadata[:20], text[-300:])
                )
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "harbour@0",
        "harbour@-1",
        "harbour@x",
        "harbour@99",
        "harbour@",
        "@1",
        "nowhere",
        "../harbour",
        "harbour/v1",
        "",
        "a b",
        "x" * 300,
    ],
)
def test_names_of_ground_truth(cli, home, name):
    assert cli("truth", "import", "answers.jsonl", "harbour", "-o", "out").code == 0
    printed = cli("truth", "show", name, "-o", "out")
    decent(printed)
    assert printed.code in (1, 2), printed.out
    if "@" not in name and name not in ("nowhere", "a b"):
        printed = cli("truth", "import", "answers.jsonl", name, "-o", "out")
        decent(printed)
        assert printed.code in (1, 2), printed.out
    assert sorted(os.listdir("out/truth")) == ["harbour"]


SWEEP = """
objective = "token_f1"
[system]
target = "rag.py:answer"
[data]
questions = "answers.jsonl"
[settings]
k = [1, 2]
"""
SWEEPS = {
    "broken": (SWEEP + "x = [", "sweep.toml"),
    "no system": (SWEEP.replace("[system]", "[sistem]"), "sistem"),
    "no target": (SWEEP.replace('target = "rag.py:answer"', ""), "target"),
    "no file": (SWEEP.replace("rag.py", "gone.py"), "gone.py"),
    "no function": (SWEEP.replace("rag.py:answer", "rag.py:reply"), "reply"),
    "no questions": (SWEEP.replace("answers.jsonl", "gone.jsonl"), "gone.jsonl"),
    "no settings": (SWEEP.replace("k = [1, 2]", ""), "setting"),
    "an empty list": (SWEEP.replace("[1, 2]", "[]"), "k"),
    "one value": (SWEEP.replace("[1, 2]", "1"), "two settings"),
    "both kinds": (SWEEP + "[[setting]]\nk = 1\n", "setting"),
    "names twice": (
        SWEEP.replace("[settings]\nk = [1, 2]", '[[setting]]\nname = "x"\nk = 1\n[[setting]]\nname = "x"\nk = 2\n'),
        "x",
    ),
    "unknown objective": (SWEEP.replace("token_f1", "nonsense"), "nonsense"),
    "alpha": (SWEEP + "[halving]\nalpha = 2\n", "alpha"),
    "growth": (SWEEP + "[halving]\ngrowth = 0.5\n", "growth"),
    "wrong budget": (SWEEP + '[models]\nbudget = "lots"\n', "budget"),
    "unknown model option": (SWEEP + "[models]\ncolour = 1\n", "colour"),
    "unknown key": ("speed = 1\n" + SWEEP, "speed"),
    "two values alike": (SWEEP.replace("[1, 2]", "[1, 1]"), "k"),
    "nan": (SWEEP.replace("[1, 2]", "[1.0, nan]"), "k"),
    "a table as a value": (SWEEP.replace("[1, 2]", "[{a = 1}, {a = 2}]"), "k"),
    "syntax error": (SWEEP.replace("rag.py", "bad.py"), "bad.py"),
}


@pytest.mark.parametrize("name", SWEEPS)
def test_sweeps(cli, home, name):
    content, word = SWEEPS[name]
    write({"sweep.toml": content, "rag.py": "def answer(question, k=1):\n    return 'x'\n", "bad.py": "def answer(:\n"})
    printed = cli("sweep", "sweep.toml", "-o", "out")
    decent(printed)
    assert printed.code in (1, 2), printed.out
    assert word in printed.err


@pytest.mark.slow
def test_damaged_watches(cli, home):
    log = [
        {"id": str(n), "time": f"2025-11-0{1 + n % 3}T00:00:00Z", "question": "q", "answer": "a", "contexts": ["a"]}
        for n in range(30)
    ]
    write({"app.jsonl": lines(*log)})
    first = cli("watch", "w", "--from", "app.jsonl", "--rate", "1", "-m", "refusal", "--once")
    assert first.code == 0, first.err
    failures = []
    for name in (
        "watch.json",
        "state.json",
        *[f"periods/{path.name}" for path in list(Path("w/periods").iterdir())[:1]],
    ):
        for content in (b"", b"{", b"[]", b"null", b"\xff", b"{}", b'{"settings": 5}'):
            shutil.rmtree("copy", ignore_errors=True)
            shutil.copytree("w", "copy")
            Path("copy", name).write_bytes(content)
            for command in (["watch", "copy", "--once"], ["report", "copy", "-o", "page.html"]):
                printed = cli(*command)
                text = printed.out + printed.err
                if any(word in text for word in ("Traceback", "internal error", "NoneType", "KeyError", "Arrow")):
                    failures.append((name, content, command[0], printed.code, text[-300:]))
    assert not failures, "\n".join(map(str, failures))


EVIL = {
    "id": "<script>alert(1)</script>",
    "question": '=HYPERLINK("http://evil.example","click") | a | b |',
    "answer": "</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) `code` \u202eevil\u2066 \x07",
    "references": ["](http://evil.example) **bold** $\\input{/etc/passwd}$ & % # _ ~ ^ {"],
    "contexts": [
        {
            "text": "]]> <!-- --> &lt;b&gt; <iframe src='//evil.example'>",
            "id": '"><svg onload=alert(1)>',
            "source": "javascript:alert(1)",
        }
    ],
    "metadata": {"topic": "<b>bold</b>\n| x |", "javascript:x": "y"},
}


class Tags(HTMLParser):
    """The tags and their attributes of a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_injection_into_reports(cli, home):
    write(
        {
            "evil.jsonl": lines(
                *[{**EVIL, "id": f"{EVIL['id']}{n}", "answer": EVIL["answer"] + str(n)} for n in range(8)]
            )
        }
    )
    for name in ("<b>one</b>", "two](x) | y"):
        printed = cli("run", "evil.jsonl", "-o", "out", "--name", name, "-m", METRICS, "--param", "k=<i>x</i>")
        assert printed.code == 0, printed.err
        assert "\x07" not in printed.out
        assert "\u202e" not in printed.out
    assert cli("report", "latest", "--root", "out", "-o", "page.html", "--slice", "topic").code == 0
    assert cli("report", "<b>one</b>", "two](x) | y", "--root", "out", "-o", "both.html").code == 0
    for page in ("page.html", "both.html"):
        text = Path(page).read_text()
        tags = Tags()
        tags.feed(text)
        assert not any(
            tag in ("iframe", "img")
            or (tag == "svg" and "onload" in attrs)
            or any(key.startswith("on") for key in attrs)
            for tag, attrs in tags.found
        )
        assert not any(str(attrs.get("href", "")).lower().startswith("javascript") for _, attrs in tags.found)
        assert "alert(1)</script>" not in text
        assert "\u202e" not in text
    markdown = cli("report", "latest", "--root", "out", "--markdown", "--slice", "topic")
    assert markdown.code == 0
    assert "<script>" not in markdown.out
    for line in (line for line in markdown.out.splitlines() if line.startswith("|")):
        assert "<b>" not in line
    latex = cli("report", "latest", "--root", "out", "--latex")
    assert "\\input{" not in latex.out
    explained = cli("explain", "latest", "1", "-o", "out", "--full")
    assert explained.code == 0
    assert "\x07" not in explained.out
    gate = cli(
        "gate",
        "latest",
        "--against",
        "<b>one</b>",
        "--max-worse",
        "token_f1=0",
        "-o",
        "out",
        "--junit",
        "j.xml",
        "--markdown",
        "g.md",
    )
    assert gate.code in (0, 3, 4), gate.err
    ET.parse("j.xml")
    assert "<b>one</b>" not in Path("g.md").read_text()


def test_formulas_in_exported_tables(cli, home):
    """What a spreadsheet would run is read back as it was."""
    write(
        {
            "evil.jsonl": lines(
                *[
                    {"id": f"{sign}x", "question": f"{sign}1+1", "answer": f"{sign}cmd|' /C calc'!A0"}
                    for sign in "=+-@\t"
                ]
            )
        }
    )
    assert cli("convert", "evil.jsonl", "-o", "evil.csv").code == 0
    with open("evil.csv", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 5
    assert cli("convert", "evil.csv", "-o", "back.jsonl").code == 0
    back = [json.loads(line) for line in Path("back.jsonl").read_text().splitlines()]
    assert [one["answer"] for one in back] == [f"{sign}cmd|' /C calc'!A0" for sign in "=+-@\t"]


@pytest.mark.parametrize("name", ["", " ", "a/b", "..", "a\nb", "\x1b[31m", "x" * 500, "latest", "🚢", "-o", "%s"])
def test_names_of_runs(cli, home, name):
    """A name is a label: any text, or a refusal; never a path and never a command to the terminal."""
    printed = cli("run", "answers.jsonl", "-o", "out", "-m", METRICS, f"--name={name}")
    decent(printed)
    assert "\x1b[31m" not in printed.out + printed.err
    if printed.code == 0:
        assert values(the_run(), "exact_match") == [0.0, 0.0]
        shown = cli("show", "latest", "-o", "out")
        assert shown.code == 0
        assert "\x1b[31m" not in shown.out
    else:
        assert printed.code == 2
        assert "name" in printed.err
