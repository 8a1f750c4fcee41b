"""ragstone push, as typed."""

import json

from tests.platforms import records
from tests.platforms.conftest import start

__all__ = ["start"]


def make_run(cli, home, rows):
    (home / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert cli("run", "log.jsonl", "-m", "k_precision,distinct_2", "--name", "november").code == 0


def test_scores_are_written_and_counted(cli, home, start):
    fake = start("langfuse")
    make_run(cli, home, records.langfuse_observations())
    printed = cli("push", "november", "--to", "langfuse")
    assert printed.code == 0
    assert "3 scores of run november written to langfuse: k_precision, distinct_2" in printed.out
    assert "1 skipped or failed cells were not written" in printed.err
    assert len(fake.written) == 3
    assert cli("push", "latest", "--to", "langfuse", "-m", "k_precision", "-q").out == ""


def test_scores_that_are_not_taken_are_an_error(cli, home, start):
    start("phoenix")
    spans = records.phoenix_spans()
    for span in spans:
        span["context"] = {"trace_id": "c" * 32, "span_id": span["context"]["span_id"].replace("0", "9")}
        span["parent_id"] = span["parent_id"] and span["parent_id"].replace("0", "9")
    make_run(cli, home, spans)
    printed = cli("push", "november", "--to", "phoenix")
    assert printed.code == 1
    assert "were not taken by phoenix: " in printed.err
    assert cli("push", "november", "--to", "phenix").code == 2
