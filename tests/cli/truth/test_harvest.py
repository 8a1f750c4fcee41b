"""Ground truth from a log."""

import json

from ragstone.truth.store import TruthStore
from tests.watch.logs import request, write_lines


def test_from_logs_on_a_server_to_versions_on_a_server(cli, bucket, logs, signals):
    printed = cli(
        *("truth", "harvest", logs, "--signals", signals, "--deployment", "guide", "--since", "2024-05-01"),
        *("--until", "2024-05-31", "--to", "guide", "-n", 50, "--mask", "--accept", "-o", bucket.url, "--json"),
    )
    assert printed.code == 0, printed.err
    said = json.loads(printed.out)
    counts = said["counts"]
    assert counts["rows"] == 10
    assert counts["parts"] == 3
    assert counts["left_out"] == {"rows without an answer": 1, "incomplete or damaged parts": 1}
    assert counts["exchanges"] == 6
    assert counts["remarks"] == 1
    assert counts["repeated_questions"] == 1
    assert counts["signals"] == {"like": 4, "dislike": 1, "copy": 1}
    assert counts["signals_in_conversations"] == {"regenerate": 0, "thanks": 0, "complaint": 1}
    assert counts["signals_left_out"] == {
        "signals of an unknown kind: smile": 1,
        "ratings that the same user changed later": 1,
    }
    assert counts["signals_of_unknown_answers"] == 1
    assert (counts["good"], counts["bad"], counts["unclear"]) == (2, 2, 2)
    assert (counts["drawn"], counts["duplicates_among_drawn"], counts["review"]) == (5, 1, 2)
    assert counts["cases"] == {"good": 2, "bad": 2}
    assert counts["masked"] == {"e-mail": 1}
    assert [info["rows"] for info in said["saved"]] == [4, 2]
    cases = {case.id: case for case in TruthStore(bucket.url).read("guide").cases}
    assert cases["r1"].references == ["At eight."]
    assert cases["r1"].weight == 2.0  # it was asked twice
    assert cases["r7"].question == "My mail is [e-mail 1], who am I?"
    review = {case.id: case for case in TruthStore(bucket.url).read("guide-review").cases}
    assert review["r2"].metadata["why"] == ["the user disliked it"]
    assert review["r4"].metadata["why"] == ["the next message complains"]


def test_what_a_person_reads(cli, logs, signals, tmp_path):
    printed = cli(
        *("truth", "harvest", logs, "--signals", signals, "--deployment", "guide", "--until", "2024-05-31"),
        *("--to", "guide", "-o", tmp_path / "root"),
    )
    assert printed.code == 0, printed.err
    assert (
        "10 rows in 3 parts read, 6 exchanges, 5 sampled, 1 of them duplicates: 2 good, 2 bad, 0 unclear" in printed.out
    )
    assert "incomplete or damaged parts" in printed.out
    assert "guide@1: 4 cases" in printed.out
    assert "guide-review@1: 2 cases" in printed.out
    assert "good answers are proposed as references" in printed.out
    shown = cli("truth", "show", "guide-review", "-o", tmp_path / "root")
    assert "Where is the fish market?" in shown.out
    again = cli(
        *("truth", "harvest", logs, "--signals", signals, "--deployment", "guide", "--until", "2024-05-31"),
        *("--to", "guide", "-o", tmp_path / "root"),
    )
    assert "nothing new: guide" in again.out
    assert len(TruthStore(str(tmp_path / "root")).versions("guide")) == 1


def test_the_time_of_an_exchange_can_be_mapped(cli, tmp_path):
    rows = [request(number, f"2026-11-{10 + number % 2}") for number in range(20)]
    log = write_lines(tmp_path / "app.jsonl", [{"visited": row.pop("time"), **row} for row in rows])
    base = ("truth", "harvest", log, "--to", "desk", "-n", 10, "-o", tmp_path / "root")
    refused = cli(*base, "--map", "metadata.time=visited")
    assert (refused.code, "unknown field 'metadata.time'" in refused.err) == (2, True)
    printed = cli(*base, "--map", "time=visited")
    assert printed.code == 0, printed.err
    assert {case.metadata["day"] for case in TruthStore(str(tmp_path / "root")).read("desk").cases} == {
        "2026-11-10",
        "2026-11-11",
    }


def test_exchanges_without_a_time_are_noted(cli, tmp_path):
    rows = [request(number) for number in range(20)]
    log = write_lines(tmp_path / "app.jsonl", [{"visited": row.pop("time"), **row} for row in rows])
    printed = cli("truth", "harvest", log, "--to", "desk", "-n", 10, "-o", tmp_path / "root")
    told = " ".join(printed.err.split())
    assert "20 of 20 exchanges have no time that can be read (columns: app, visited); their period is unknown." in told
    assert "Name the column: --map time=visited" in told
    log = write_lines(tmp_path / "odd.jsonl", [{"day_of_visit": "Monday", **row} for row in rows])
    printed = cli("truth", "harvest", log, "--to", "odd", "-n", 10, "-o", tmp_path / "root")
    assert "Name the column: --map time=COLUMN" in " ".join(printed.err.split())
