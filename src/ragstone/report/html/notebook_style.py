"""The style of reports inside a notebook: scoped to the output, with only the rules that the output uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ragstone.report.html.page import read_asset

# Twice, so that the rules win against those of the notebook for tables.
_SCOPE = ".ragstone.ragstone"
# How notebooks, editors and documentation sites mark their theme.
_THEMES = {
    "light": ('[data-jp-theme-light="true"]', ".vscode-light", '[theme="light"]', '[data-md-color-scheme="default"]'),
    "dark": ('[data-jp-theme-light="false"]', ".vscode-dark", '[theme="dark"]', '[data-md-color-scheme="slate"]'),
}
_OWN = """{scope} { background: var(--paper); color: var(--ink); font: 14px/1.5 var(--sans); font-variant-numeric: tabular-nums; padding: .6rem .8rem; max-width: 1100px; text-align: left; }
{scope} .headline { font-size: 1.25rem; } {scope} h3 { font-size: 1rem; color: inherit; } {scope} h4 { font-size: .8rem; color: var(--soft); }
{scope} tbody tr:nth-child(n) { background: none; } {scope} table { table-layout: auto; border: 0; margin: 0; color: inherit; } {scope} th, {scope} td { max-width: none; white-space: normal; }
{scope} .n, {scope} .fix { white-space: nowrap; } {scope} .n { text-align: right; } {scope} mark { padding: 0 .1em; }
"""
_DARK_MEDIA = "(prefers-color-scheme: dark)"


def notebook_style(fragment: str) -> str:
    """The style sheet of a fragment of HTML."""
    used = _names_in(fragment)
    light, dark = _variables()
    lines = [f".ragstone {{ {light} }}", f"@media {_DARK_MEDIA} {{ .ragstone {{ {dark} }} }}"]
    for theme, variables in (("light", light), ("dark", dark)):
        lines.append(f"{', '.join(f'{mark} .ragstone' for mark in _THEMES[theme])} {{ {variables} }}")
    for media, selectors, declarations in _rules():
        kept = [f"{_SCOPE} {selector}" for selector in selectors if _needs(selector) <= used]
        if kept:
            rule = f"{', '.join(kept)} {{ {declarations} }}"
            lines.append(f"@media {media} {{ {rule} }}" if media else rule)
    return "\n".join([*lines, _OWN.replace("{scope}", _SCOPE)])


def _names_in(fragment: str) -> set[str]:
    """The elements and the classes of a fragment, classes with a dot."""
    elements = re.findall(r"<([a-z][a-z0-9]*)", fragment)
    classes = re.findall(r'\bclass="?([^">]*)', fragment)
    return {*elements, *(f".{name}" for names in classes for name in names.split())}


@cache
def _needs(selector: str) -> frozenset[str]:
    """The elements and classes without which a selector matches nothing."""
    bare = re.sub(r"\[[^\]]*\]|::?[\w-]+(\([^)]*\))?", "", selector)
    elements = re.findall(r"(?:^|[\s>+~])([a-z][a-z0-9]*)", bare)
    return frozenset({*elements, *(f".{name}" for name in re.findall(r"\.([\w-]+)", bare))})


@cache
def _variables() -> tuple[str, str]:
    """The colours and fonts in light and dark."""
    light, dark = (
        " ".join(declarations.split()) for declarations in re.findall(r":root \{(.*?)\}", _sheet(), re.DOTALL)[:2]
    )
    return light.replace("color-scheme: light dark", "color-scheme: light"), f"color-scheme: dark; {dark}"


@cache
def _sheet() -> str:
    """The style sheet of the pages without comments and without what is only for paper."""
    text = re.sub(r"/\*.*?\*/", "", read_asset("style.css"), flags=re.DOTALL)
    return re.sub(r"^@media print \{.*?^\}", "", text, flags=re.DOTALL | re.MULTILINE)


@cache
def _rules() -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """The rules of the style sheet: media condition, selectors and declarations."""
    return tuple(_read_rules())


def _read_rules() -> Iterator[tuple[str, tuple[str, ...], str]]:
    media = ""
    for condition, selectors, declarations, end in re.findall(r"@media ([^{]*)\{|([^{}@]+)\{([^{}]*)\}|(\})", _sheet()):
        if condition or end:
            media = condition.strip()
        elif not {":root", "html", "body"} & {name.split()[0] for name in selectors.split(",")}:
            names = tuple(name.strip() for name in selectors.split(","))
            yield media, names, " ".join(declarations.split())
