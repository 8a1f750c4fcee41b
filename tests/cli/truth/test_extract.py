"""Options of `ragstone truth extract`."""


def test_the_ground_truth_must_be_named(cli, home):
    printed = cli("truth", "extract", "answers.jsonl")
    assert (printed.code, "--to NAME" in printed.err) == (2, True)
