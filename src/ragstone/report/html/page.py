"""Render page data to one HTML file. Templates escape all data; the policy allows only our style and script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from ragstone._version import __version__
from ragstone.number_format import dollars, number, places_for, signed, with_interval
from ragstone.report.html import charts
from ragstone.report.html.marked_text import diff_text, hue, marked_text
from ragstone.storage.durable import user_folder
from ragstone.views.phrases import numbered, visible
from ragstone.views.run import by_part

# Characters that end a script element, open a comment, or break a line in JavaScript but not in JSON.
_UNSAFE_IN_SCRIPT = re.compile("[<>&\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Statistical terms of the pages in plain words.
_TERMS = {
    "p": "How often a difference at least this large would appear by chance if both runs were equally good. Below 0.05 counts as a difference.",
    "MDE": "Minimum detectable effect: the smallest true difference that this many pairs detect with 80 % power.",
    "95 % interval": "Values that fit the data: 95 of 100 such intervals contain the true value.",
    "p50, p95": "Half of the answers are at most as slow as p50, 95 of 100 at most as slow as p95.",
    "Somers' D": "How well scores order the answers as people do: 1 always, 0 as by chance, −1 always the wrong way round.",
    "Spearman": "How well two rankings agree: 1 the same order, 0 no relation, −1 the reverse order.",
    "Kendall": "How well two rankings agree, counted by pairs: 1 the same order, 0 no relation, −1 the reverse order.",
    "Pearson": "How well one number follows the other on a straight line: 1 perfectly, 0 not at all.",
    "kappa": "Agreement beyond chance: 1 always the same, 0 as by chance.",
}


def render_page(template: str, data: Mapping[str, Any], embedded: Mapping[str, Any]) -> str:
    """The whole file. `embedded` holds the same data for programs, as JSON inside the page."""
    style, script = read_asset("style.css"), read_asset("script.js")
    text = (
        _environment()
        .get_template(template)
        .render(
            **data,
            version=__version__,
            policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'",
            style=Markup(style),  # noqa: S704  (our own file)
            script=Markup(script),  # noqa: S704
            embedded=script_json(embedded),
        )
    )
    # JSON may contain half a surrogate pair, which UTF-8 does not allow.
    return text.encode("utf-8", "replace").decode("utf-8")


def render_fragment(template: str, data: Mapping[str, Any]) -> str:
    """A part of a page without style and script, for notebooks."""
    text = _environment().get_template(template).render(**data)
    return text.encode("utf-8", "replace").decode("utf-8")


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The numbers of a result without some of its entries, such as texts and paths, to be embedded."""
    return {name: value for name, value in values.items() if name not in names}


def script_json(value: Any) -> Markup:
    """JSON that is safe inside a script element, for any text."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return Markup(_UNSAFE_IN_SCRIPT.sub(lambda match: f"\\u{ord(match[0]):04x}", written))  # noqa: S704  (escaped)


def breakable(name: str) -> Markup:
    """A metric name that may break after a dot, an underscore or a bracket."""
    return Markup("<wbr>").join(re.split(r"(?<=[._(@])(?=.)", visible(name)))


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def read_asset(name: str) -> str:
    """A file of this package."""
    return (resources.files("ragstone.report.html") / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return make_environment(lambda name: read_asset(f"templates/{name}"))


class _CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates in the user's cache: compiling those of a page takes half a second of CPU time."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a template; a page does not fail because the disk is full or read-only."""
        with suppress(OSError):
            Path(self.directory).mkdir(mode=0o700, parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def make_environment(read: Callable[[str], str]) -> Environment:
    """The templates of the reports and of the viewer, with their filters and charts."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(read),
        # Control and bidirectional characters in data become visible codes. Markup values come from our own code.
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_CompiledTemplates(str(user_folder("cache") / "templates"), f"{__version__}-%s"),
    )
    environment.filters |= {
        "thousands": lambda number: f"{number:,}",
        "breakable": breakable,
        "number": number,
        "signed": signed,
        "places": lambda values: places_for(*values),
        "numbered": lambda numbers, word: numbered(word, numbers),
        "by_part": by_part,
        "dollars": dollars,
        "tone": hue,
    }
    environment.globals |= {
        # A page in the viewer is live: it links to other pages and waits for what is not ready.
        "live": False,
        "marked": partial(marked_text, views=False),
        "diffed": diff_text,
        "layout": "base.html",
        "terms": _TERMS,
        "with_interval": with_interval,
        "spark": charts.spark,
        "spread_strip": charts.spread_strip,
        "strip": charts.strip,
        "strip_axis": lambda low, high: charts.strip_axis(charts.strip_scale(low, high)),
        "tradeoff": charts.tradeoff,
        "share_bar": charts.bar,
        "stacked": charts.stacked,
    }
    return environment
