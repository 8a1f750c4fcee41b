"""Options and output of `ragstone truth extract`."""

import json


def test_the_ground_truth_must_be_named(cli, home):
    printed = cli("truth", "extract", "answers.jsonl")
    assert (printed.code, "--to NAME" in printed.err) == (2, True)


def test_answers_that_nobody_checked_are_named(cli, home):
    row = {"question": "When does it go?", "answer": "It goes at 21:40.", "contexts": ["It goes at 21:40 daily."]}
    refusal = {"question": "Is there a gym?", "answer": "I could not find any information.", "contexts": ["Nothing."]}
    home.joinpath("log.jsonl").write_text("\n".join(map(json.dumps, (row, refusal))))
    printed = cli("truth", "extract", "log.jsonl", "--to", "desk")
    assert "1 answer taken as right, even if a run calls them wrong: check them" in printed.err, printed.err
    assert "no answer that gives one" in printed.out
