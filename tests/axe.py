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


def barriers(page, rules=()):
    """What hinders people, grave ones only: the rule, how grave it is, and the first elements. All rules, or these."""
    script = _script()
    if script is None:
        (pytest.fail if REQUIRED else pytest.skip)("axe-core is not there: pip install axe-playwright-python")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {script} }}")
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{item['impact']} {item['id']}: {[node['html'][:120] for node in item['nodes'][:3]]}"
        for item in found["violations"]
        if item["impact"] in GRAVE
    ]


def barriers_in_both_schemes(page):
    """Those in light, and in dark those of colours: the page is the same otherwise."""
    found = barriers(page)
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {problem}" for problem in barriers(page, ["color-contrast", "link-in-text-block"])]
    page.emulate_media(color_scheme="light")
    return found
