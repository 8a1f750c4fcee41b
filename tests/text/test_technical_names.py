"""Technical names: which of them no text has, and which take the place of others."""

from __future__ import annotations

import pytest

from ragstone.text.claim_numbers import check_numbers
from ragstone.text.technical_names import replaced_name, strange_names

MANUAL = """## Telescope control

Run `dome-ctl park --force-close` to shut the dome at once. Set `DOME_WIND_LIMIT` or the setting `dome.wind_limit` to the
wind speed at which it shuts by itself; `mount.setSlewRate` sets the speed of the mount. The status page is `/status`.
"""


@pytest.mark.parametrize(
    ("claim", "names"),
    [
        ("To shut the dome at once, run dome-ctl park --force-shut.", ("--force-shut", "--force-close")),
        ("`DOME_MAX_WIND` sets the wind speed at which it shuts.", ("DOME_MAX_WIND", "DOME_WIND_LIMIT")),
        ("The speed of the mount is set with `setRate`.", ("setRate", "setSlewRate")),
        ("The status page is `/health`.", ("/health", "/status")),
        ("To shut the dome at once, run dome-ctl park “--Force-Close”.", None),
        ("The status page is https://dome.example/status.", None),
        # Made from the option by a rule, and without another name of its kind.
        ("Set the variable DOME_FORCE_CLOSE to shut the dome at once.", None),
        ("The error code is OBS-4041.", None),
        # The question has it.
        ("No, the page `/weather` shows no status.", None),
    ],
)
def test_a_name_in_place_of_another(claim, names):
    assert replaced_name(claim, [MANUAL], "What does `/weather` show?") == names


def test_a_claim_with_another_name_is_not_supported():
    refusal = check_numbers("To shut the dome at once, add --force-shut.", [MANUAL])
    assert refusal is not None
    assert refusal.reason == "the text says --force-close, not --force-shut"
    assert not refusal.contradicted


def test_a_name_is_strange_without_another_one():
    assert strange_names("Use X-Dome-Key.", MANUAL) == {"X-Dome-Key": []}
