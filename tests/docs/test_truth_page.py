"""What docs/truth.md shows of versions, rescoring and suspects is what the commands print."""

import json
import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "truth.md"
GUIDE = (
    "The basin is 14 metres deep since it was dredged. The pier is 300 metres long. The light was built by Ole Vik.\n"
)
SHOWN = ("import", "diff", "rescore", "suspects")


def case(name, question, reference, fact):
    return {"id": name, "question": question, "references": [reference], "facts": [fact], "documents": ["guide.md"]}


CASES = [
    case("depth", "How deep is the harbour?", "12 metres", "The basin is 12 metres deep"),
    case("pier", "How long is the pier?", "300 metres", "The pier is 300 metres long"),
    case("light", "Who built the light?", "Anna Berg", "The light was built by Ole Vik"),
]
ANSWERS = {
    "base": ["14 metres", "300 metres", "Ole Vik"],
    "other": ["The harbour is 14 metres deep.", "300 metres", "It was built by Ole Vik."],
}


def shown():
    """Each command of the page with what stands below it."""
    found = {}
    for _, block in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("ragstone truth ") and command.split()[2] in SHOWN:
                found[command] = output
    return found


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines(tmp_path / "truth.jsonl", CASES)
    (tmp_path / "guide.md").write_text(GUIDE)
    sentences = [f"{text}." for text in GUIDE.strip().rstrip(".").split(". ")]
    for name, texts in ANSWERS.items():
        rows = [
            {"id": row["id"], "question": row["question"], "answer": text, "contexts": [sentence]}
            for row, text, sentence in zip(CASES, texts, sentences, strict=True)
        ]
        lines(tmp_path / f"{name}.jsonl", rows)
    return tmp_path


def test_the_page_shows_what_the_commands_print(cli, folder):
    commands = shown()
    assert sorted(command.split()[2] for command in commands) == sorted(SHOWN)

    def check(action):
        [command] = [command for command in commands if command.split()[2] == action]
        done = cli(*shlex.split(command)[1:])
        assert done.code == 0, done.err
        printed = [line.rstrip() for line in done.out.splitlines()]
        expected = commands[command].rstrip("\n").splitlines()
        assert printed[: len(expected)] == expected

    check("import")
    for name in ANSWERS:
        cli("run", f"{name}.jsonl", "--truth", "harbour", "-m", "token_f1,fact_recall", "--name", name, "-q")
    mended = json.loads(json.dumps(CASES).replace("12 metres", "14 metres").replace("Anna Berg", "Ole Vik"))
    lines(folder / "truth.jsonl", mended)
    cli("truth", "import", "truth.jsonl", "harbour")
    check("diff")
    check("rescore")
    check("suspects")
