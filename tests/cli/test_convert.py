"""Write samples in another format."""

import json


def test_the_old_and_the_new_spelling_of_the_file(cli, home):
    for flag in ("-o", "--out", "--output"):
        assert cli("convert", "answers.jsonl", flag, f"{flag}.jsonl").code == 0
        assert json.loads((home / f"{flag}.jsonl").read_text().splitlines()[0])["question"]


def test_the_file_must_be_named(cli, home):
    printed = cli("convert", "answers.jsonl")
    assert (printed.code, "--out" in printed.err) == (2, True)
