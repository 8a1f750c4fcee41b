"""axe-core in a page that a browser shows: the barriers that it finds. It comes with axe-playwright-python."""

from functools import cache
from importlib import resources

import pytest

from tests.browser import REQUIRED

GRAVE = ("critical", "serious", "moderate")


@cache
def _script():
    try:
        return (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    except ModuleNotFoundError:
        return None


def barriers(page):
    """What hinders people, grave ones only: the rule, how grave it is, and the first elements."""
    script = _script()
    if script is None:
        (pytest.fail if REQUIRED else pytest.skip)("axe-core is not there: pip install axe-playwright-python")
    page.evaluate(f"() => {{ {script} }}")
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{item['impact']} {item['id']}: {[node['html'][:120] for node in item['nodes'][:3]]}"
        for item in found["violations"]
        if item["impact"] in GRAVE
    ]
