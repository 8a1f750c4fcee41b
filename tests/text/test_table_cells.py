"""Claims about the cells of tables, with tables of domains that the rule was not written for (table_claims.jsonl)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ragstone.text.layout import tables
from ragstone.text.table_cells import check_cells

FARES = """Fares per person.

| Zone | Adult | Child |
|---|---|---|
| A | 3 € | 1 € |
| B | 5 € | 2 € |

A dog travels for 2 €."""
ROWS = [
    json.loads(line) for line in Path(__file__).with_name("table_claims.jsonl").read_text(encoding="utf-8").splitlines()
]


def _said(claim: str, text: str) -> str:
    check = check_cells(claim, text)
    return "left" if check is None else "agrees" if check.agrees else "refuses"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("An adult pays 5 € in zone B.", "agrees"),
        ("An adult pays 3 € in zone B.", "refuses"),
        ("An adult pays 2 € in zone B.", "refuses"),  # that is the child's fare
        ("An adult pays 4 € in zone B.", "left"),  # the rule for numbers decides
        ("An adult pays 5 €.", "left"),
        ("A ticket costs 5 €.", "left"),
        ("In zone B an adult pays more than 3 €.", "left"),
        ("An adult does not pay 3 € in zone B.", "left"),
        ("Adults pay 8 € in zones A and B together.", "left"),
    ],
)
def test_a_cell_is_named_by_its_row_and_column(claim, said):
    assert _said(claim, FARES) == said


def test_the_reason_names_the_cell():
    check = check_cells("An adult pays 3 € in zone B.", FARES)
    assert check
    assert check.reason == "the table says B: Adult 5 €"


def test_items_may_be_columns():
    text = "| | Fox | Owl |\n|---|---|---|\n| Weight | 6 kg | 1 kg |\n| Food | mice | voles |"
    assert _said("The fox weighs 6 kg.", text) == "agrees"
    assert _said("The owl weighs 6 kg.", text) == "refuses"
    assert _said("The food of the owl is mice.", text) == "refuses"


NOTICE = """| Notice | Charge |
|---|---|
| more than 60 days | 10% |
| 60 to 31 days | 25% |
| 30 days or fewer | half |"""
POST = "| Class | Weight | Price |\n|---|---|---|\n| S | up to 2 kg | $4 |\n| M | over 2 to 10 kg | $9 |\n| L | 10.5 kg or more | $20 |"


@pytest.mark.parametrize(
    ("claim", "text", "said"),
    [
        ("With 45 days' notice, 25% is charged.", NOTICE, "agrees"),
        ("With 70 days' notice, 25% is charged.", NOTICE, "refuses"),
        ("With 60 days' notice, 25% is charged.", NOTICE, "agrees"),
        ("With ten days' notice, the charge is half.", NOTICE, "agrees"),
        ("With 45 days' notice or 50 days' notice, 10% is charged.", NOTICE, "left"),
        ("A parcel of 6 kg belongs to class S.", POST, "refuses"),
        ("Class M is for parcels of 6 kg.", POST, "left"),
        ("Class M begins at 10 kg.", POST, "left"),
    ],
)
def test_a_number_within_limits_names_a_row(claim, text, said):
    assert _said(claim, text) == said


def test_a_year_is_not_within_limits():
    text = "| Bin | Fee | For |\n|---|---|---|\n| 60 litres | €96.00 | 1–2 persons |\n| 80 litres | €99.00 | 3 or more persons |"
    assert _said("The 2025 schedule has a fee of €96.00 for the 60-litre bin.", text) in ("left", "agrees")
    assert _said("The 60-litre bin is for five persons.", text) == "refuses"


def test_a_text_without_tables_is_left_to_the_judge():
    assert check_cells("An adult pays 5 €.", "An adult pays 5 €; a child | pays 2 €.") is None
    assert tables("An adult pays 5 €, a child 2 €.") == ()


def test_claims_about_tables_of_three_domains():
    said = Counter((row["label"], _said(row["claim"], row["evidence"])) for row in ROWS)
    assert not said["supported", "refuses"]
    assert not said["contradicted", "agrees"] + said["not_stated", "agrees"]
    # The others compare, negate, or use other words than the heads.
    assert said["supported", "agrees"] >= 15
    assert said["contradicted", "refuses"] >= 17


LAUNDRETTE = """| Branch | Saturday in summer | Saturday in winter | Closed day |
|---|---|---|---|
| K – Fernhurst | 8 a.m. – 2 p.m. | 9 a.m. – 1 p.m. | Monday, every 2 weeks |
| L – Millcrest | 7 a.m. – 3 p.m. | 10 a.m. – 4 p.m. | Friday, every 4 weeks |"""
SERVICES = """| Service | Load | Price |
|---|---|---|
| First wash | up to 8 kg | £4 |
| Second wash | up to 8 kg | £3 |
| Express wash in one hour | up to 5 kg | £6 |"""


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        # The named cell has the number: hours of another season refute nothing.
        ("In Fernhurst you can come until 2 p.m. on a Saturday in summer.", "left"),
        ("In Fernhurst you can come until 2 p.m. on a Saturday in winter.", "refuses"),
        # A name behind its letter, a place that ends like a superlative, and "every" as a rhythm.
        ("The closed day in Millcrest is Friday, every four weeks.", "agrees"),
        ("The closed day in Millcrest is Monday.", "refuses"),
    ],
)
def test_names_and_hours(claim, said):
    assert _said(claim, LAUNDRETTE) == said


def test_a_word_of_all_heads_names_no_column_and_two_numbers_two():
    assert _said("The load of an express wash is 8 kg.", SERVICES) == "refuses"
    seats = "| Item | Seats | Price |\n|---|---|---|\n| Bench | 4 | £6 |\n| Stool | 1 | £2 |"
    assert _said("A bench costs £6 and seats four people.", seats) == "agrees"
    assert _said("A bench costs £2 and seats four people.", seats) == "refuses"
    assert _said("An express wash works out at £3 per half hour.", SERVICES) == "left"


def _table(*rows: str) -> str:
    head, *others = [f"| {row} |" for row in rows]
    return "\n".join([head, "|---" * (head.count("|") - 1) + "|", *others])


TRAILS = _table("Trail | Length", "Fern Loop | 5 km", "Pine Ridge | 9 km")
REFUNDS = _table("Return after | Refund", "6 – 12 months | 50 %", "12 – 24 months | 25 %")
BINS = _table("Town | Closed day", "Millcrest | Friday, every 4 weeks", "Elmhalt | Monday, every 2 weeks")
COPIES = _table("Copies | Price", "100 – 1000 | £110", "1001 – 2500 | £70")
PLANS = _table("Plan | Data", "A – Basic | 5 GB", "C – Basic Plus | 10 GB")


@pytest.mark.parametrize(
    ("claim", "text", "said"),
    [
        ("Shortest trail: Pine Ridge, length 9 km.", TRAILS, "left"),
        ("The length of the Pine Ridge trail is 9 km.", TRAILS, "agrees"),
        # Which of the rows is not sure: 12 months are the end of one and the start of the other.
        ("The refund after 12 months is 25 %.", REFUNDS, "left"),
        ("The closed day in Millcrest is Friday every week.", BINS, "left"),
        ("The closed day in Millcrest is Friday every 4 weeks.", BINS, "agrees"),
        ("The price of 2000 copies is £70.", COPIES, "agrees"),
        ("The price of 2000 copies is £110.", COPIES, "refuses"),
        ("The Basic Plus plan has 5 GB of data.", PLANS, "refuses"),
        ("The Basic Plus plan has 10 GB of data.", PLANS, "agrees"),
    ],
)
def test_what_a_reviewer_found(claim, text, said):
    assert _said(claim, text) == said


@pytest.mark.parametrize("seed", ["0", "3", "7", "11"])
def test_the_order_of_sets_decides_nothing(seed):
    heads = "Boat | Adult summer weekday price | Adult winter weekday price | Child summer weekend price"
    text = _table(f"{heads} | Adult summer weekend price | Child winter weekend price", "Tarn | £5 | £4 | £2 | £6 | £3")
    claim = "The price of the Tarn for an adult is £5 on a summer weekday and £4 on a winter weekday."
    program = f"from ragstone.text.table_cells import check_cells; print(check_cells({claim!r}, {text!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "None\n"


BERTHS = """| Berth | Summer | Winter | Deposit |
|---|---|---|---|
| Pier A | 40 EUR | 25 EUR | 100 EUR |
| Pier B | 60 EUR | 35 EUR | 40 EUR |"""


@pytest.mark.parametrize(
    ("claim", "agrees"),
    [
        # No column is named: several cells of the row may be meant, and other texts may say 60 EUR.
        ("For electricity at Pier A we charge up to 60 EUR.", None),
        ("The deposit for Pier A is 40 EUR.", False),
        ("In winter, Pier A costs 35 EUR.", False),
        ("In winter, Pier A costs 25 EUR.", True),
    ],
)
def test_only_a_cell_of_the_named_row_and_column_denies_a_number(claim, agrees):
    check = check_cells(claim, BERTHS)
    assert (check and check.agrees) is agrees


def test_the_only_cell_of_its_kind_needs_no_column_name():
    check = check_cells(
        "A kayak is 15 EUR.", "| Boat | Seats | Price |\n|---|---|---|\n| Kayak | 1 | 12 EUR |\n| Canoe | 3 | 15 EUR |"
    )
    assert check is not None
    assert not check.agrees
