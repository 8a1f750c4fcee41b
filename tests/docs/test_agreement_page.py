"""The commands of docs/agreement.md, docs/comparing.md and docs/gates.md work as printed after `ragstone demo`, and print what is shown."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import ragstone.metrics  # noqa: F401  (fills the catalogue before a test isolates it)

DOCS = Path(__file__).parents[2] / "docs"
_RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]+")


def shown(page):
    """Each command of a page with the output below it."""
    text = (DOCS / page).read_text()
    found = {}
    for block in re.findall(r"^```\w*\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found[command.partition(" #")[0].strip()] = output
    return found


def plain(text):
    """The lines without run ids and white space at their ends."""
    return [_RUN_ID.sub("RUN", line).rstrip() for line in text.splitlines() if line.strip()]


def check_shown(printed, expected):
    """All lines that the page shows are printed, in this order."""
    lines = iter(plain(printed))
    for line in plain(expected):
        assert line == "…" or line in lines, line


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "models"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_comparing(cli):
    commands = {
        line: output
        for line, output in (shown("comparing.md") | shown("gates.md")).items()
        if "latest" not in line and line != "ragstone demo"
    }
    assert [line.split()[1] for line in commands] == ["demo", "demo", "compare", "gate"]
    for line, output in commands.items():
        printed = cli(*shlex.split(line)[1:])
        assert printed.code == (4 if "gate" in line else 0)
        check_shown(printed.out, output)


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_agreement(cli, monkeypatch):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'ragstone[local]'")
    monkeypatch.delenv("RAGSTONE_LOCAL_JUDGE")
    commands = {
        line: output for line, output in (shown("agreement.md") | shown("preferences.md")).items() if "demo" in line
    }
    assert [line.split()[1] for line in commands] == ["demo", "demo", "agree", "agree", "agree", "train", "agree"]
    for line, output in commands.items():
        printed = cli(*shlex.split(line)[1:])
        assert printed.code == 0, printed.err
        # Other processors round the local judge's scores in another way, so only the first words are compared.
        if first := plain(output)[:1]:
            assert first == ["…"] or plain(printed.out)[0] == first[0]


def test_estimates(cli, home):
    """An artificial judge: 60 of 400 answers of two systems are labelled."""
    random = np.random.default_rng(0)
    labelled = set(random.choice(400, 60, replace=False).tolist())
    labels = ["sample_id,system,label"]
    for system, quality in (("old", 0.7), ("new", 0.78)):
        good = random.random(400) < quality
        judge = np.clip(np.where(good, random.beta(9, 2, 400), random.beta(4, 5, 400)), 0, 1)
        rows = [{"id": f"q{n}", "question": f"Question {n}?", "answer": str(judge[n])} for n in range(400)]
        (home / f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        labels += [f"q{n},{system},{int(good[n])}" for n in sorted(labelled)]
    (home / "labels.csv").write_text("\n".join(labels))
    (home / "judge.py").write_text(
        "from ragstone.registry import metric\n\n\n"
        "@metric('judge', bounds=(0, 1))\n"
        "def judge(answer: str) -> float:\n    return float(answer)\n"
    )
    for system in ("old", "new"):
        assert (
            cli("run", f"{system}.jsonl", "-m", "judge", "--metrics-file", "judge.py", "--name", system, "-q").code == 0
        )
    [(line, output)] = [item for item in shown("agreement.md").items() if "--ppi -m judge" in item[0]]
    printed = cli(*shlex.split(line)[1:]).out
    check_shown(printed, output)
