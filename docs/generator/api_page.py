"""Makes docs/api.md: the public Python names, from their docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from importlib import import_module
from inspect import Parameter, getattr_static, getdoc, isfunction, signature
from typing import Any

from generator.marked_blocks import MADE

import ragstone
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.model_options import ModelOptions

API = """# Python API

Every name of `import ragstone`, from its docstring. [From Python](python.md) shows how they are used and what stability means.
"""
# Types inside the results, in reading order; each with its module.
PARTS = {
    "ragstone.data.summary": ("SummaryRow",),
    "ragstone.analysis.diagnosis": ("CauseCount", "Advice"),
    "ragstone.analysis.cause_names": ("Cause", "Outcome", "Finding"),
    "ragstone.analysis.part_metrics": ("Reading",),
    "ragstone.analysis.sample_order": ("WorstSample",),
    "ragstone.analysis.explain": ("Cell", "Working"),
    "ragstone.data.share": ("Items",),
    "ragstone.storage.scores": ("MissingScores",),
    "ragstone.analysis.comparison": ("ChangedSample", "Slice"),
    "ragstone.analysis.differences": ("Difference",),
    "ragstone.analysis.gates": ("Checked",),
    "ragstone.analysis.gate_conditions": ("Check",),
    "ragstone.engine.quote": ("QuoteLine",),
}


def api_page() -> str:
    """The public functions with their arguments, then the classes with what they offer."""
    values = {name: getattr(ragstone, name) for name in ragstone.__all__ if name != "__version__"}
    functions = {name: value for name, value in values.items() if not isinstance(value, type)}
    lines = [MADE, API, "## Functions"]
    for name, function in functions.items():
        lines += ["", f"### {name}", "", *_function_entry(name, function)]
    lines += ["", "## Model options", "", "Keyword arguments of `Judge`, after the model.", ""]
    described, types = _described(ModelOptions, "Attributes:"), JudgingOptions.__annotations__
    options = [field for field in fields(ModelOptions) if field.name != "judge"]
    kinds = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name]) for one in options
    ]
    lines += [*_argument_table(kinds, described), "", "## Classes"]
    for name, kind in values.items():
        if isinstance(kind, type):
            lines += ["", f"### {name}", "", *_class_entry(kind)]
    lines += ["", "## Parts of results", "", "You get these from results; there is no need to import them."]
    for module, names in PARTS.items():
        for name in names:
            lines += ["", f"### {name}", "", *_class_entry(getattr(import_module(module), name))]
    return "\n".join(lines) + "\n"


def _function_entry(name: str, function: Any) -> Iterator[str]:
    given = signature(function)
    own = [one for one in given.parameters.values() if one.kind is not one.VAR_KEYWORD]
    described = _described(function, "Args:")
    # A table of arguments has their defaults.
    plain = [one.name if one.default is one.empty else f"{one.name}={_default_text(one)}" for one in own]
    shown = [one.name for one in own if one.default is one.empty] + ["…"] if described else plain
    keywords = [at for at, one in enumerate(own) if one.kind is one.KEYWORD_ONLY]
    if keywords and not described:
        shown.insert(keywords[0], "*")
    more = ", **options" if len(own) < len(given.parameters) else ""
    yield f"`{name}({', '.join(shown)}{more}) -> {_type_text(given.return_annotation)}`"
    yield ""
    yield _summary(function)
    if described:
        yield ""
        yield from _argument_table(own, described)


def _argument_table(parameters: Sequence[Parameter], described: Mapping[str, str]) -> Iterator[str]:
    yield "| argument | type | default | meaning |"
    yield "|---|---|---|---|"
    for one in parameters:
        default = "" if one.default is one.empty else f"`{_default_text(one)}`"
        cells = (f"`{one.name}`", f"`{_type_text(one.annotation)}`", default, described[one.name])
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _default_text(parameter: Parameter) -> str:
    return "…" if callable(parameter.default) else repr(parameter.default)


def _class_entry(kind: type) -> Iterator[str]:
    """The docstring, the fields that it does not describe on one line, then all others."""
    yield _summary(kind)
    described, types = _described(kind, "Attributes:"), _annotations(kind)
    members = [name for name in dict.fromkeys(_members(kind)) if not name.startswith("_")]
    plain = [name for name in types if not name.startswith("_") and name not in members and name not in described]
    if plain:
        yield ""
        yield "Fields: " + ", ".join(f"`{name}: {_type_text(types[name])}`" for name in plain) + "."
    if described or members:
        yield ""
    for name, text in described.items():
        yield f"- `{name}: {_type_text(types[name])}`: {text}"
    for name in members:
        member = getattr_static(kind, name)
        given = signature(getattr(kind, name)) if isfunction(member) or isinstance(member, classmethod) else None
        own = [one.replace(annotation=one.empty) for one in given.parameters.values()] if given else []
        shown = [one for one in own if one.name != "self"]
        call = str(given.replace(parameters=shown, return_annotation=given.empty)) if given else ""
        yield f"- `{name}{call}`: {_summary(member)}"


def _members(kind: type) -> list[str]:
    """The methods and properties of our own classes."""
    ours = [base for base in kind.__mro__ if base.__module__.startswith("ragstone")]
    wanted = (property, cached_property, classmethod)
    return [
        name for base in ours for name, value in vars(base).items() if isfunction(value) or isinstance(value, wanted)
    ]


def _annotations(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("__annotations__", {})
    return found


def _summary(thing: Any) -> str:
    """The docstring without its lists of arguments, on one line."""
    text = getdoc(thing.func if isinstance(thing, cached_property) else thing) or ""
    return " ".join(re.split(r"^(?:Args|Attributes|Model options):$", text, flags=re.MULTILINE)[0].split())


def _described(thing: Any, heading: str) -> dict[str, str]:
    part = (getdoc(thing) or "").partition(f"{heading}\n")[2].partition("\n\n")[0]
    found = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", part, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def _type_text(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", str(annotation))
    return re.sub(r"\b(?:runs|engine|os|pa|np)\.", "", text).replace("str | PathLike[str]", "Path")
