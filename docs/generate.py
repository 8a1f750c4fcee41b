"""Writes the pages that are made from the code: docs/metrics.md, docs/cli.md, docs/api.md and the picture of the demo.

`make docs` runs it; a test fails when a page no longer says what the code does.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from importlib import import_module, resources
from inspect import Parameter, getattr_static, getdoc, isfunction, signature
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rich.console import Console
from typer.main import get_command

import ragstone
from ragstone.cli.app import app
from ragstone.engine.catalogue import MetricCard, cards, set_names
from ragstone.engine.evaluate import evaluate
from ragstone.models.local_judge import read_card
from ragstone.report.judges import card_lines
from ragstone.report.run import run_report
from ragstone.tools.aspects import packaged_aspects
from ragstone.tools.model_options import ModelOptions

DOCS = Path(__file__).parent
MADE = "<!-- Made by `make docs` from the code. Do not edit. -->\n"
# These commands take the arguments of other programs.
FOREIGN = ("trec", "ragchecker")
# The same flag, but each command has its own default.
OWN = ("--output",)
CLI = """# Command line

Exit codes: 0 success, 1 runtime error, 2 usage error or bad input, 3 gate failed, 4 nothing scored, most RAGChecker cells failed or gate undecided, 130 interrupted.
Progress goes to standard error. `NO_COLOR` is supported. There is no telemetry.

A command reads its defaults from [ragstone.toml](config.md). `ragstone COMMAND --help` shows its options in groups.
"""
TRUST = """# How far to trust the local judge

By default a small model that comes with Ragstone judges claims and answers (35 MB, on the CPU, no network). It is good enough to tell
which of two systems is better over some dozens of questions, not to decide about a single answer: of 160 English claims by two writers who
knew neither the judge nor its training data (`tests/models/natural_claims.jsonl`: conditions, sums, comparisons), it tells supported from
not supported on 122 (76 %, 95 % interval 69 – 82 %; always "not supported": 67 %), with an area of 0.79. The tables below are kinder to it.
Figures: the model's card (`ragstone models show local-judge`); recipe: `training/`.

- *Unseen domains* were written for this measurement by the writers of the training pairs; nothing was fitted or chosen on them. Their claims are
  hard on purpose: words mislead. *Supported* and *not supported* lines are their kinds of claims.
- *Kept domains* were not trained on, but probabilities and thresholds are fitted on them.
- *Public sets* have labels by people; other rows of the same sets were trained on.
- *Token overlap*: share of the claim's words in the evidence. *Reference contained*: the answer contains the reference word for word.

A larger model is better by far: the teacher of 1.5 billion parameters reaches an area of 0.99 on the same claims. `ragstone run
answers.jsonl --judge "local>openai/gpt-4o-mini"` escalates uncertain cases to a stronger model ([judges](judges.md#the-judge-on-this-machine)).

Laws (`python -m benchmarks laws --texts FOLDER`) on 17,330 sentences of 19 domains of Debian documentation, not trained on:

|law|held of tried|
|---|--:|
|a text supports what it contains (rule)|34,660 of 34,660|
|unrelated evidence contradicts nothing|760 of 760|
|an unrelated sentence turns no support into contradiction|760 of 760|
|a claim and its negation are not both supported (about half by rule)|760 of 760|
|swapped roles are not supported (about half by rule)|90 of 106|
|layout changes no verdict|758 of 760|

**Means** are pulled to the middle: good systems get too little, bad ones too much. So reports add what people would probably say (95 %):
the judge's values of rows that people accept and refuse were measured on many domains (*accepted*, *refused* ± spread between them), and a
run's mean is read back to the share of accepted rows, all shares being equally likely before. This assumes that your texts differ from
those domains as these differ from each other; of 16 public sets with short claims, the judge before covered only 10. Labels
(`ragstone agree RUN --human labels.csv`, PPI) or a stronger judge narrow the interval. `compare` and `gate` do not add this error: they
assume that it is the same for both runs, so that a difference is too small, not reversed.

**Causes** say how sure the judge is of them: the product of the probabilities of the verdicts that decided, scaled down to how often
such causes were true in labelled RAG rows (34 of 146 were). Most are below 50 %: look there, but check. It is not a share of samples.
"""


def metrics_page() -> str:
    """All metrics: a table of what is judged against what, then one section per metric."""
    known = cards()
    graded = [card for card in known if card.family == "grade"]
    lines = [
        MADE,
        "# Metrics",
        "",
        "Write a metric as `name`, `name@k` or `name(param=value)`, and separate several with commas. Sets: "
        f"{', '.join(f'`{name}`' for name in set_names())}, `all`, and `quick`. `quick` is the default: all fast metrics, plus "
        "those that need a model if you name one or the data contains its verdicts. *Slow* metrics are computed only by name "
        "or with `all`. `ragstone metrics NAME` prints one entry.",
        "",
        "A cell is *ok*, *skipped* or *failed*; the last two have a reason. Means are over ok cells. Verdicts of the local judge count [with their expected value](claims.md#how-unsure-verdicts-count). "
        "The line in code style gives syntax, range, direction, needed fields and tools. "
        '"Best over references" is the largest value over all references of a row.',
        "",
        "## What is judged against what",
        "",
        "| judges | against | metrics |",
        "|---|---|---|",
    ]
    for judges, against in dict.fromkeys((card.judges, card.against) for card in known):
        names = [
            _link(card) for card in known if (card.judges, card.against) == (judges, against) and card not in graded
        ]
        if any((card.judges, card.against) == (judges, against) for card in graded):
            names.append("[`grade.*`](#grade)")
        lines.append(f"| {judges} | {against} | {', '.join(names)} |")
    for card in known:
        if card not in graded:
            lines += ["", f"## {card.name}", "", *_entry(card)]
        elif card is graded[0]:
            lines += ["", "## grade", "", *_grades(card)]
    return "\n".join(lines) + "\n"


def _link(card: MetricCard) -> str:
    return f"[`{card.name}`](#{card.name.replace('.', '')})"


def _entry(card: MetricCard) -> Iterator[str]:
    """The meaning, the facts on one line, the formula, and when the metric misleads."""
    yield card.meaning
    yield ""
    yield _facts(card)
    if card.details:
        yield ""
        yield card.details
    yield ""
    yield f"- *Misleads:* {card.misleads}"
    yield f"- *Source:* {card.source}." + (f" *Aliases:* {', '.join(card.aliases)}." if card.aliases else "")


def _facts(card: MetricCard) -> str:
    tools = f"; {', '.join(card.tools)}" if card.tools else ""
    arrow = {"higher is better": " ↑", "lower is better": " ↓"}.get(card.direction, "")
    slow = " · *slow*" if card.slow else ""
    return f"`{card.usage}` · {card.range}{arrow} · {', '.join(card.needs)}{tools}{slow}"


def _grades(card: MetricCard) -> Iterator[str]:
    """The grades of all aspects in one section: they differ only in the aspect."""
    yield "The judge's grade of the answer for one aspect. `grade.ASPECT.with_reference` also shows the judge the first reference."
    yield ""
    yield _facts(card).replace(card.name, "grade.ASPECT")
    yield ""
    yield re.sub(r': 0 is ".*?", 1 is ".*?"\. ', ". ", " ".join(card.details.split()))
    yield ""
    yield "| aspect | what is graded | also shown | 0 is |"
    yield "|---|---|---|---|"
    for aspect in packaged_aspects().values():
        yield f"| `{aspect.name}` | {aspect.instruction} | {', '.join(aspect.shows)} | {aspect.opposite} |"
    yield ""
    yield f"- *Misleads:* {card.misleads}"
    yield f"- *Source:* {card.source}."


def cli_page() -> str:
    """The shared options once, then every command with its own options."""
    commands = dict(_commands(get_command(app)))
    uses = Counter(_name(p) for command in commands.values() for p in command.params if _is_option(p))
    shared = {
        _name(p): p
        for name, command in commands.items()
        for p in command.params
        if _is_option(p) and name not in FOREIGN and uses[_name(p)] > 2 and _name(p) not in OWN
    }
    lines = [MADE, CLI, "## Shared options", "", "| option | meaning |", "|---|---|"]
    lines += [_row(shared[name]) for name in sorted(shared, key=lambda name: name.lstrip("-"))]
    for name, command in commands.items():
        arguments = " ".join(_metavar(p) for p in command.params if not _is_option(p))
        lines += ["", f"## ragstone {name}", "", f"`ragstone {name} {arguments}`".replace(" `", "`"), ""]
        lines += [command.help or "", ""]
        own = [p for p in command.params if (_is_option(p) and shared.get(_name(p)) is None) or name in FOREIGN]
        also = [f"`{_name(p)}`" for p in command.params if p not in own and _is_option(p)]
        rows = [p for p in command.params if not _is_option(p) and name not in FOREIGN] + own
        if rows:
            lines += ["| option | meaning |", "|---|---|", *map(_row, rows), ""]
        lines += [f"Shared: {', '.join(also)}."] if also else []
    return "\n".join(lines).rstrip() + "\n"


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _name(parameter: Any) -> str:
    return str(next((flag for flag in parameter.opts if flag.startswith("--")), parameter.opts[0]))


def _row(parameter: Any) -> str:
    flags = parameter.opts if _is_option(parameter) else [_metavar(parameter)]
    text = (parameter.help or "").replace("|", "\\|")
    return f"| {', '.join(f'`{flag}`' for flag in flags).replace('|', chr(92) + '|')}{_default(parameter)} | {text} |"


def _commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its full name; groups are expanded."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


API = """# Python API

Every name of `import ragstone`, from its docstring. [From Python](python.md) shows how they are used and what stability means.
"""
# Types inside the results, in reading order; each with its module.
PARTS = {
    "ragstone.data.summary": ("SummaryRow",),
    "ragstone.compare.diagnosis": ("CauseCount", "Advice"),
    "ragstone.compare.cause_names": ("Cause", "Outcome", "Finding"),
    "ragstone.compare.signs": ("Reading",),
    "ragstone.compare.worst_samples": ("WorstSample",),
    "ragstone.compare.explain": ("Cell", "Working", "Counted"),
    "ragstone.storage.missing_scores": ("MissingScores",),
    "ragstone.compare.comparison": ("ChangedSample", "Slice"),
    "ragstone.compare.differences": ("Difference",),
    "ragstone.compare.gates": ("Checked",),
    "ragstone.compare.gate_conditions": ("Check",),
    "ragstone.engine.quote": ("QuoteLine",),
}


def api_page() -> str:
    """The public functions with their arguments, then the classes with what they offer."""
    values = {name: getattr(ragstone, name) for name in ragstone.__all__ if name != "__version__"}
    functions = {name: value for name, value in values.items() if not isinstance(value, type)}
    lines = [MADE, API, "## Functions"]
    for name, function in functions.items():
        lines += ["", f"### {name}", "", *_function_entry(name, function)]
    lines += ["", "## Model options", "", "Keyword arguments of `evaluate` and `quote`.", ""]
    described = _described(ModelOptions, "Attributes:")
    shared = [one for one in signature(ragstone.evaluate).parameters.values() if one.name in described]
    lines += [*_argument_table(shared, described), "", "## Classes"]
    for name, kind in values.items():
        if isinstance(kind, type):
            lines += ["", f"### {name}", "", *_class_entry(kind)]
    lines += ["", "## Parts of results", "", "You get these from results; there is no need to import them."]
    for module, names in PARTS.items():
        for name in names:
            lines += ["", f"### {name}", "", *_class_entry(getattr(import_module(module), name))]
    return "\n".join(lines) + "\n"


def _function_entry(name: str, function: Any) -> Iterator[str]:
    options = {field.name for field in fields(ModelOptions)}
    given = signature(function)
    own = [one for one in given.parameters.values() if one.name not in options]
    shown = [one.name if one.default is one.empty else f"{one.name}={_default_text(one)}" for one in own]
    keywords = [at for at, one in enumerate(own) if one.kind is one.KEYWORD_ONLY]
    if keywords:
        shown.insert(keywords[0], "*")
    more = ", **model_options" if len(own) < len(given.parameters) else ""
    yield f"`{name}({', '.join(shown)}{more}) -> {_type_text(given.return_annotation)}`"
    yield ""
    yield _summary(function)
    described = _described(function, "Args:")
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
    return dict(re.findall(r"^    (\w+): (.*)$", part, flags=re.MULTILINE))


def _type_text(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", str(annotation))
    return re.sub(r"\b(?:runs|engine|os|pa|np)\.", "", text).replace("str | PathLike[str]", "Path")


def trust_page() -> str:
    """How far the local judge can be trusted, from its card."""
    with resources.as_file(resources.files("ragstone.models") / "weights" / "local_judge") as folder:
        told = [*card_lines(read_card(folder))]
    return "\n".join([MADE, TRUST, *told]) + "\n"


def demo_picture() -> str:
    """The output of the demo as an SVG that loads nothing from outside."""
    with (
        resources.as_file(resources.files("ragstone.examples") / "harbour") as folder,
        tempfile.TemporaryDirectory() as out,
        # Which local models there are on this machine must not decide what is drawn.
        patch.dict(os.environ, {"RAGSTONE_MODELS": out, "RAGSTONE_LOCAL_JUDGE": "off"}),
    ):
        run = evaluate(folder / "better.jsonl", out=out)
        console = Console(record=True, width=98, file=io.StringIO(), force_terminal=True, highlight=False)
        console.print(run_report(run, full=False))
        picture = console.export_svg(title="ragstone demo", unique_id="demo")
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Yields the path and text of each page."""
    yield DOCS / "metrics.md", metrics_page()
    yield DOCS / "cli.md", cli_page()
    yield DOCS / "api.md", api_page()
    yield DOCS / "trust.md", trust_page()
    yield DOCS / "images" / "demo.svg", demo_picture()


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _default(parameter: Any) -> str:
    default = parameter.default
    return f" ({default})" if isinstance(default, str | int) and not isinstance(default, bool) and default != "" else ""


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
