"""Options of `ragstone truth synthesise`."""


def test_the_ground_truth_must_be_named(cli, home):
    printed = cli("truth", "synthesise", "answers.jsonl")
    assert (printed.code, "--to NAME" in printed.err) == (2, True)
