"""Lists and tables as running text."""

import pytest

from ragstone.text.layout import readable
from ragstone.text.passages import Passages


def test_items_of_a_list_do_not_run_together():
    text = "## Not insured\n- diving deeper than 30 metres\n- motor racing\n\n1. Check in\n2. Wait in your lane.\n"
    assert readable(text) == (
        "Not insured:\ndiving deeper than 30 metres;\nmotor racing;\n\nCheck in;\nWait in your lane.\n"
    )


def test_a_line_above_a_list_is_its_heading_and_a_wrapped_sentence_goes_on():
    assert readable("What we lend\n* drill\n* projector") == "What we lend:\ndrill;\nprojector"
    assert readable("The pool is open\nuntil nine.\nBring a towel") == "The pool is open\nuntil nine.\nBring a towel"


_ROWS = "Size: small; Price: 8 €.\nSize: large; Price: 12 €."


@pytest.mark.parametrize(
    "table",
    [
        "| Size | Price |\n|:---|---:|\n| small | 8 € |\n| **large** | 12 € |",
        "Size | Price\n--- | ---\nsmall | 8 €\nlarge | 12 €",
        "Size\tPrice\nsmall\t8 €\nlarge\t12 €",
        "<table><tr><th>Size</th><th>Price</th></tr><tr><td>small</td><td>8&nbsp;€</td></tr>"
        "<tr><td><b>large</b></td><td>12 €</td></tr></table>",
    ],
)
def test_rows_of_a_table_repeat_its_heads(table):
    assert readable(table).strip() == _ROWS


@pytest.mark.parametrize(
    ("table", "first"),
    [
        ("Branch;Mon;Tue\nCentral;9-19;9-20\nEast;closed;10-18", "Branch: Central; Mon: 9-19; Tue: 9-20."),
        ("        50 Hz   60 Hz\nKX 20   62      65\nKX 40   68      71", ""),
        ("Ferritin;15–150;µg/l\nCreatinine;0.5–0.9;mg/dl\nIron;9–30;µg/dl", "Ferritin; 15–150; µg/l."),
        ("Course: Crawl | Places: 0\nCourse: Aqua | Places: 4\nCourse: Baby | Places: 1", "Course: Crawl; Places: 0."),
        ("| | Windows | Linux |\n|---|---|---|\n| Chrome | ✔ | ✘ |", "Chrome; Windows: yes; Linux: no."),
    ],
)
def test_tables_without_rules_or_heads(table, first):
    assert readable(table).startswith(first)


def test_prose_with_commas_and_signs_stays():
    text = "We sell bread, rolls, cakes.\nWe bake them early, at dawn, by hand.\nAsk for rye, oat, spelt if a < b and c > d."
    assert readable(text) == text
    assert readable("- one line") == "one line"


def test_an_item_is_read_with_its_heading():
    items = "\n".join(f"- {name} of at least two years" for name in ("Tenants", "Members", "Owners", "Guests"))
    text = readable(f"About us\n\n{'We like gardens. ' * 10}\n\n**Excluded**\n{items}")
    assert "Excluded:" in Passages(text).around("Guests of two years may vote.", 20)
