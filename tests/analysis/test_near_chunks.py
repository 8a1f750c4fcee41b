"""A sentence is near to a claim if it has most of its words; its numbers may differ."""

from time import process_time

import pytest

from ragstone.analysis.fact_causes import near_sentence, quoted

CHUNKS = {1: "Helmets are recommended.", 2: "Divers are at least 18 years old. The season starts in May."}


@pytest.mark.parametrize(
    ("claim", "near"),
    [
        ("Divers must be at least 18 years old.", (2, '"Divers are at least 18 years old."')),
        ("Divers must be at least 16 years old.", (2, '"Divers are at least 18 years old."')),
        ("Divers bring towels and fins.", None),
        ("A helmet is recommended.", (1, '"Helmets are recommended."')),
        ("18", None),
        ("", None),
    ],
)
def test_near_sentences(claim, near):
    assert near_sentence(claim, CHUNKS) == near


def test_a_heading_is_no_evidence():
    chunks = {1: "Opening hours – pool\nThe pool is open from nine, on Wednesdays too."}
    assert near_sentence("The pool has opening hours.", chunks) == (
        1,
        '"The pool is open from nine, on Wednesdays too."',
    )


@pytest.mark.parametrize("rule", ["|---|---|", "| :--- | ---: |", "--- | ---"])
def test_the_head_of_a_table_is_no_evidence(rule):
    chunks = {1: f"| Hive tool | Price in the shop |\n{rule}\n| Hive tool of steel | £12 |"}
    assert near_sentence("The price of a hive tool is £9.", chunks, 1 / 3) == (1, '"Hive tool of steel; £12"')


def test_a_rule_below_a_sentence_hides_nothing_and_blanks_take_no_time():
    text = "The price of a hive tool is £12."
    assert near_sentence("The price of a hive tool is £9.", {1: f"{text}\n\n---\n\n## Next"}) == (1, f'"{text}"')
    assert near_sentence("The price of a hive tool is £9.", {1: f"{text}\n---\nfooter"}) == (1, f'"{text}"')
    started = process_time()
    near_sentence("The price of a hive tool is £9.", {1: f"{text}{' ' * 64_000}\n{' ' * 64_000}x"})
    assert process_time() - started < 2


def test_a_long_sentence_is_shortened():
    rank, quote = near_sentence("Boats are washed.", {3: f"Boats are washed {'very ' * 40}often."})
    assert (rank, quote[:18], quote[-2:]) == (3, '"Boats are washed ', '…"')
    assert len(quote) <= 83


def test_of_a_long_sentence_the_part_about_the_claim_is_quoted():
    text = "For every assured shorthold tenancy Harrow & Finch takes a security deposit equal to five weeks' rent."
    assert quoted(text, "The deposit is six weeks' rent.").endswith(
        "takes a security deposit equal to five weeks' rent.\""
    )
    assert quoted(text, "Each assured tenancy pays it.").startswith('"For every assured shorthold tenancy')
    assert quoted("x" * 200, "x") == f'"{"x" * 80}…"'
