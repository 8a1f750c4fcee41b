"""Score stored runs against another version."""

import json

from tests.cli.truth.conftest import ROWS, write


def test_rescore(cli, data, store, tmp_path):
    cli("truth", "import", data, "harbour")
    answers = write(
        tmp_path / "answers.jsonl",
        [{"id": row["id"], "question": row["question"], "answer": "12 metres"} for row in ROWS],
    )
    cli("run", answers, "--truth", "harbour", "-m", "token_f1,exact_match", "--name", "base")
    write(data, [{**ROWS[0], "references": ["13 metres"]}, ROWS[1]])
    cli("truth", "import", data, "harbour")
    done = cli("truth", "rescore", "base", "--truth", "harbour")
    assert done.code == 0
    # One word of two is right, for both.
    assert "token_f1      0.750  0.500   2" in done.out
    assert "base → base on harbour@2, stored in" in done.out
    found = json.loads(cli("truth", "rescore", "base", "--truth", "harbour@1", "--json").out)
    assert [(row["metric"], row["before"], row["after"]) for row in found[0]["metrics"]] == [
        ("token_f1", 0.75, 0.75),
        ("exact_match", 0.5, 0.5),
    ]
    assert cli("truth", "rescore", "nothing", "--truth", "harbour").code == 2


def test_rescore_shows_the_headlines(cli, data, store, tmp_path):
    cli("truth", "import", data, "harbour")
    answers = write(
        tmp_path / "answers.jsonl",
        [{"id": row["id"], "question": row["question"], "answer": "12", "contexts": ["12"]} for row in ROWS],
    )
    names = "token_f1,token_recall,k_precision,refusal,exact_match,rouge_l"
    cli("run", answers, "--truth", "harbour", "-m", names, "--name", "base")
    short = cli("truth", "rescore", "base", "--truth", "harbour").out
    assert "token_recall" in short
    assert "exact_match" not in short
    assert "2 more metrics with --full" in short
    full = cli("truth", "rescore", "base", "--truth", "harbour", "--full").out
    assert all(name in full for name in names.split(","))
    assert "more metric" not in full
