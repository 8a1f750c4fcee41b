from datetime import UTC, datetime

import pytest

from ragstone.formats.values import as_time, no_time_note, watch_times


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-01T08:00:00+00:00",
        "2024-05-01T08:00:00Z",
        "2024-05-01T08:00:00",
        "2024-05-01 10:00:00+02:00",
        "2024-05-01 08:00:00 UTC",
        1714550400,
        1714550400.0,
        1714550400000,
        1714550400_000_000_000,
        "1714550400",
        "1714550400000",
        datetime(2024, 5, 1, 8),
        datetime(2024, 5, 1, 8, tzinfo=UTC),
    ],
)
def test_every_spelling_of_a_moment(value):
    assert as_time(value) == "2024-05-01T08:00:00+00:00"


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "yesterday",
        0,
        5.0,
        True,
        float("nan"),
        float("inf"),
        1e300,
        [],
        "12",
        10**400,
        -(10**400),
        "0001-01-01T00:00:00+23:00",
    ],
)
def test_what_is_no_moment(value):
    assert as_time(value) is None


def test_columns_whose_values_are_all_times_are_named():
    columns = {}
    for day in (1, 2):
        values = {
            "opened": f"2026-10-0{day}T10:01:00Z",
            "closed at": f"2026-10-0{day}",
            "number": "1714550400",
            "took": 3,
        }
        watch_times(columns, {**values, "due": "2026-10-01" if day == 1 else "soon"})
    assert [name for name, is_time in columns.items() if is_time] == ["opened", "closed at"]
    note = no_time_note(2, 2, "rows", columns, "name the column")
    assert note.endswith("; name the column: --map 'time=closed at' or --map time=opened")
