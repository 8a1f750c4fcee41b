"""Writes the pages that are made from code and other pages: metrics, names, cli, api, trust, differences, llms.txt, and the picture of the demo.

`make docs` runs it; a test fails when a page no longer says what the code does.
"""

from __future__ import annotations

import io
import json
import os
import re
import runpy
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

import ragstone
from ragstone.agreement.labelled_sets import SETS, SetResult
from ragstone.analysis.diagnosis import diagnose
from ragstone.cli.app import app
from ragstone.engine.catalogue import MetricCard, cards, set_names
from ragstone.engine.evaluate import evaluate
from ragstone.models.large_judge import read_large_card
from ragstone.models.local_judge import read_card
from ragstone.registry import CATALOGUE
from ragstone.registry.foreign_names import read_systems
from ragstone.report.judges import card_lines, large_card_lines, sets_table
from ragstone.report.run import run_summary
from ragstone.report.table import Column, Table, columns
from ragstone.tools.aspects import packaged_aspects
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.model_options import ModelOptions
from ragstone.views.run import RunView

DOCS = Path(__file__).parent
MADE = "<!-- Made by `make docs` from the code. Do not edit. -->\n"
# These commands take the arguments of other programs.
FOREIGN = ("trec", "ragchecker")
# The same flag, but each command has its own default.
OWN = ("--output",)
CLI = """# Command line

Exit codes: 0 success, 1 runtime error, 2 usage error or bad input, 3 gate failed, 4 nothing scored, too many cells failed (`--max-failed`) or gate undecided, 130 interrupted.
Progress goes to standard error. `NO_COLOR` is supported. There is no telemetry.

A command reads its defaults from [ragstone.toml](config.md). `ragstone COMMAND --help` shows its options in groups.
"""
SYSTEMS = "unitxt ragas ragchecker ares rgb erag trec dial nlg-evaluators llm-judges auepora crag alce trec-rag"
DIFFERENCES = """# Where Ragstone differs, and why

On English text Ragstone's numbers equal those of the original tools, given the same verdicts and labels. This page lists every intended
difference; the first table is about all tools, the others are those of the pages on each system.

## All tools

| what | other tools | Ragstone | why |
|---|---|---|---|
| an empty text in place of references | SQuAD's script and sacrebleu score it: 0, or 1 if the answer is empty too | the row has no ground truth and is skipped | exports write missing references as empty cells |
| a share of nothing | 0, 1 or NaN | skipped, with the reason | it is undefined |
| a chunk with an id and an empty text | scored as an empty text | its text is unknown: metrics of texts skip the row, metrics of ids are computed | traces and RAGAS store ids only |
| paired intervals of runs with the same scores | an exact interval of this many pairs, such as ±0.10 for 25 | 0 to 0 and "identical", for every metric | the runs are compared, not what other rows might show |
| tokens of a model span inside a model span | most viewers of traces sum both | counted once, from the inner span | the framework repeats what the client reports |
| `factscore` (Min et al. 2023) | one page per subject | one index of the whole corpus; claims as in all other metrics | answers are about many subjects |
| `consistency.claims` (SelfCheckGPT, Manakul et al. 2023) | sentences against sampled answers | claims against whole answers | a sentence may be half right |
"""
TRUST = """# How far to trust the local judge

By default a small model that comes with Ragstone judges claims and answers (35 MB, on the CPU, no network). It is good enough to tell
which of two systems is better over some dozens of questions, not to decide about a single answer: of 160 English claims by two writers who
knew neither the judge nor its training data (`tests/models/natural_claims.jsonl`: conditions, sums, comparisons), it tells supported from
not supported on 115 (72 %, 95 % interval 64 – 78 %; always "not supported": 67 %), with an area of 0.77; the judge before had 122. Of 420 English claims
of 17 domains that were written apart, it is right on 79 % (area 0.87; comparisons, tables and computed amounts of kept domains 0.80), and of 200 answers on
86 % (area 0.93). It finds three in ten contradictions there (nine of ten that it names are). The [large judge](#the-large-judge) has 88 % of these claims right (area 0.95). The tables below are kinder.
Figures: the model's card (`ragstone models show local-judge`); recipe: `training/`.

- *Unseen domains* were written for this measurement by the writers of the training pairs; nothing was fitted on them, but they and the claims
  written apart were in view when the weights of two training stages were mixed. Their claims are hard on purpose: words mislead. *Supported* and *not supported* lines are their kinds of claims.
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

**Means** are pulled to the middle: good systems score too low, bad systems too high. So tables show an *estimated human score* (≈) with a 95 %
interval in place of the mean, which is in `--full`, in JSON and in the tooltip. The judge's mean on rows that people accept and on rows that they reject was measured on many domains (*accepted*, *refused* ±
spread between domains). Both levels rise with the words that claims share with their texts: between answer and reference they are moved to the word
coverage of the run (`totals.local_means` in run.json), against chunks the interval is wider by its spread. Sets whose claims share few words with their
chunks are covered least (table below). From these two levels and the mean of a run, Ragstone estimates the share of rows that people would accept, with a
uniform prior. This assumes that your texts differ from those domains as much as the domains differ from each other. For 130 sentences of
news summaries, nearly verbatim, the judge's mean is .85 and people accept .815; the interval .82 – 1.00 just misses it.
The intervals of seven other public sets contain what people say. Labels (`ragstone agree RUN --human labels.csv`, PPI) or a stronger judge
narrow the interval. `compare` and `gate` do not add this error: they assume that it is the same for both runs, so a difference may be too
small but is not reversed.

**Numbers.** A rule refuses a claim of the local judge with a number, unit, weekday or month that no given text contains, and gives its
reason. Three sets, from easy to hard (rule and model together; caught means a support below .5):

- 456 right claims with a number from answers as language models write them, each against its answer, looked at once: 1 refused (0.2 %).
  Of 420 copies with one changed number (a 1 in front, a 0 behind, digits swapped, another digit), 98 % are caught.
- 374 right claims of answers against all retrieved chunks, on which the rule was tuned: 2 refused (0.5 %). Of 220 changed ones 86 % are
  caught; the rest mostly are numbers that another chunk has for another thing, and totals.
- 1,588 right claims with a number that were written to be hard: 9 % are refused (4 to 16 % by set), because they compute a number or apply
  a limit to a case that no question names. So a refusal leaves a claim up to .25 of support, and only a number in place of the
  claim's, among most of its words, is called a contradiction (85 % of such refusals are).

Language models are not checked by this rule.

**Contradictions.** A claim is called contradicted from the probability on at which nine of ten were right in domains left out. In unseen
domains the judge finds CONTRADICTIONS; of the 53
contradictions among the 160 claims of other writers it finds three, and calls four others. Comparisons, order of steps, sums over tables and lists are beyond it: on 544 claims
about tables, lists and headings, most of which the weights of today were trained on, the area was .67 before. Cells are compared by rule now:
on 60 claims about the tables of one price list the area is .85 (.49 before), and all 65 cells that the rule refused on four sets were wrong.

**Causes** of rows that are wrong are right less often than the status: CAUSES in labelled RAG rows, by the cause that its writer named.
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
        "or with `all`. `ragstone metrics NAME` prints one entry. [Names in papers and other tools](names.md) are understood too.",
        "",
        "A cell is *ok*, *skipped* or *failed*; the last two have a reason. Means are over ok cells. Verdicts of the local judge count [with their expected value](claims.md#how-unsure-verdicts-count). "
        "The line in code style gives syntax, range, direction, needed fields and tools. "
        '"Best over references" is the largest value over all references of a row.',
        "",
        "## What is judged against what",
        "",
        "The targets of [Auepora](systems/auepora.md), and some more.",
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


NAMES = """# Names in papers and other tools

`ragstone metrics NAME`, `-m NAME`, `metrics=["NAME"]` in Python and ragstone.toml understand the names below. Case, hyphens, spaces,
underscores and dots do not count: `K-Precision`, `k precision` and `k_precision` are one name. Cut-offs may be written as in trec_eval:
`ndcg_cut.10`, `P_5`, `recall_at_3`. The name of the tool may precede a name: `mlflow.faithfulness`, `ragas.metrics.Faithfulness`,
`metrics.rag.end_to_end.answer_correctness`; `*` below is any text, for names with a prefix.

```
$ ragstone run answers.jsonl -m faithfulness
error: metric 'faithfulness' is ambiguous: say which of unitxt.faithfulness (unitxt), ragas.faithfulness (RAGAS), ragchecker.faithfulness (RAGChecker). `ragstone metrics faithfulness` shows them.
```

- *same*: it is computed.
- *choice*: several metrics have this name. You are asked which.
- *differs*: ours is another formula or another prompt. You are asked to write our name, so that no score is mistaken for another.
- *command*: a method, not a metric.
- *not computed*: the nearest metric is named.

A name without a tool means the metric that one tool computes in the same way. If several tools compute different metrics under
it, you are asked. Your own metrics come first. A misspelled name is never computed; similar names are suggested.
"""
_KINDS = {"near": "differs", "absent": "not computed"}


def names_page() -> str:
    """The names of other systems and what each leads to, one table per system."""
    lines = [MADE, NAMES]
    for title, system in read_systems().items():
        rows: dict[tuple[str, str, str], list[str]] = {}
        for meanings in system.names.values():
            known = (one for one in meanings if all(find_name(metric) for metric in one.metrics))
            meaning = next(known, meanings[-1])
            targets = ", ".join(f"`{one}`" for one in (*meaning.commands, *meaning.metrics))
            row = (targets, _KINDS.get(meaning.kind, meaning.kind), meaning.note)
            rows.setdefault(row, []).append(f"`{meaning.name or title}`")
        lines += [f"## {'The field' if title == 'any' else title}", "", "| name | here | | |", "|---|---|---|---|"]
        lines += [f"| {', '.join(names)} | {' | '.join(row)} |" for row, names in rows.items()]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def find_name(name: str) -> bool:
    """Whether a metric or set exists."""
    return name in CATALOGUE.sets() or CATALOGUE.find(re.split(r"[(@]", name)[0]) is not None


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
    commands = dict(_commands(app))
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
    shown = [one.name if one.default is one.empty else f"{one.name}={_default_text(one)}" for one in own]
    keywords = [at for at, one in enumerate(own) if one.kind is one.KEYWORD_ONLY]
    if keywords:
        shown.insert(keywords[0], "*")
    more = ", **options" if len(own) < len(given.parameters) else ""
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


SETS_TITLE = """## On the labelled sets

`ragstone judge-check --sets --judge local --checker factcg` compares judges on sets that come with Ragstone (`--sets claims,tables`, `--limit 50`,
`--json`). No judge of ours was trained on them; `languages` and `tables` have domains of their own. The same command measures what you
[pull](judges.md#the-fields-checkers).
"""
PUBLISHED = """Published figures of checkers that you can pull: balanced accuracy in per cent on LLM-AggreFact (11 sets) and on its RAGTruth part, at a
threshold of one half. They were not measured here, are on other data than the table above, and about 16 % of the labels of such
benchmarks are wrong or ambiguous (arXiv 2506.13342).

| checker | parameters | LLM-AggreFact | RAGTruth | by |
|---|--:|--:|--:|---|
| `factcg` | 0.4 B | 75.6 | 82.3 | its authors |
| `minicheck-flan-t5` | 0.8 B | 75.0 | 78.0 | authors of FactCG |
| `minicheck-roberta` | 0.4 B | 73.5 | 77.2 | authors of FactCG |
| `minicheck-deberta` | 0.4 B | 73.1 | 78.8 | authors of FactCG |
| `alignscore` | 0.4 B | 70.5 | 71.7 | authors of FactCG |
| `bespoke-minicheck` | 7 B | 77.4 | | its authors |
| `granite-guardian-3.3`, without reasons | 8 B | 76.1 | 82.2 | its authors |
| `granite-guardian-4.1`, without reasons | 8 B | 76.0 | | its authors |
| `hhem-2.1-open` | 0.1 B | 71.8 | | a survey |
| `true-nli` | 11 B | 61.1 | | a survey |
| for scale: GPT-4o (2024-05-13) | | 75.9 | 84.3 | authors of FactCG |
"""


def sets_section() -> list[str]:
    """Judges on the labelled sets, from `training/judge_sets/NAME.json`."""
    rows = [
        row
        for path in sorted((DOCS.parent / "training" / "judge_sets").glob("*.json"))
        for row in json.loads(path.read_text())
    ]
    about = [f"- *{name}*: {text}." for name, text in SETS.items()]
    made = (
        "Measured again by `ragstone judge-check --sets --judge NAME --json > training/judge_sets/NAME.json`, then `make docs`. "
        "Speeds are those of a shared machine with two cores. Empty cells: the judge does not read the set, or the set has no such labels."
    )
    return (
        [SETS_TITLE, *about, "", *sets_table([SetResult(**row) for row in rows]).markdown(), made, "", PUBLISHED]
        if rows
        else []
    )


STATUS_TITLE = """## The status of a row

Each row is *wrong*, *look* or *fine* by the [probability that its answer is wrong](diagnosis.md#the-status-of-a-row). It comes from a logistic
regression of what the judge measured (weights: `src/ragstone/analysis/row_status.json`, recipe: `training/row_status.py`), fitted on rows with known faults
that were written for this. The figures are those of domains left out, for data of which 30 % is wrong. A larger share of wrong answers
makes *wrong* more often right and *fine* less often. The weights of the large judge are also used where it decides only what the small one is unsure of:
in 20 domains that the weights had not seen, the area was 0.95 then, 0.96 with the large judge alone and 0.90 with the small one.

[Labels of people](viewer.md#label-answers) come before all that was measured: the probability is 1 minus the mean of the labels of an answer, from 0.03 to 0.97. A row
labelled right is *fine* and has no cause; one labelled wrong is *wrong*, with or without a cause; one labelled partly right, or on which people disagree, needs a look.

The least flattering figures come from assistants of small organisations with 40 questions and two versions each, 14 and 8 faults planted, written by writers
who did not see the program; nothing was fitted on them.

- Large judge, five assistants (a vet, a recycling yard and a climbing gym in English, a museum in German, a cooking school in Spanish): 77 of 79 rows
  called *wrong* were wrong, 270 of 281 called *fine* were fine, and 40 of 400 needed a look. Of 110 faults 99 were *wrong* or *look* (left out: mostly
  an invented sentence beside a right answer); of 290 good rows two were called *wrong*. The second version fixed 45 rows: 39 were found, with one false;
  it broke 15: 11 were found, with 9 false. Its probabilities were computed on a GPU in half precision.
- Without references (three of these): 48 of 66 faults and 81 of 174 good rows needed a look, and no row was called *wrong*. Answers that are
  incomplete, from an old document or about another question cannot be told from right ones then, and what a question itself says is not counted as known.
- Small judge, the vet and the climbing gym: all 26 rows called *wrong* were wrong, 104 of 113 called *fine* were fine, and 21 of 160 needed a look. Of 44 faults
  35 were *wrong* or *look* (left out: incomplete answers, an addition, swapped names, an old document); of 116 good rows none was called *wrong*. Of 18 rows that the second
  version fixed 14 were found, of 6 that it broke 3, with one false. Without references (the vet), 17 of 22 faults and 26 of 58 good rows needed a look.

The weights before found the causes of 26 of 35 flagged faults of two other assistants; causes were not counted again.
"""


def status_section() -> list[str]:
    """How often the status of a row was right, by judge and by what there is to go by."""
    models = json.loads((resources.files("ragstone.analysis") / "row_status.json").read_text(encoding="utf-8"))[
        "models"
    ]
    shown = ("wrong is wrong", "fine is fine", "look", "faults not called fine", "good rows called wrong", "AUC")
    table = Table([Column("judge"), Column("there are"), *columns("rows", "domains", *shown)])
    for judge, kinds in models.items():
        for kind, model in kinds.items():
            never = model["most"] < 0.9
            figures = [
                "never" if never and name.endswith("wrong") else f"{model['left out'][name]:.2f}" for name in shown
            ]
            table.add(judge, kind, str(model["rows"]), str(model["domains"]), *figures)
    return [STATUS_TITLE, *table.markdown()]


def trust_page() -> str:
    """How far the local judge can be trusted, from its card."""
    with resources.as_file(resources.files("ragstone.models") / "weights" / "local_judge") as folder:
        told, facts = [*card_lines(read_card(folder))], json.loads((folder / "card.json").read_text(encoding="utf-8"))
    found, causes = facts["measured"]["contradiction with rules, unseen domains"], facts["causes"]
    text = TRUST.replace(
        "CONTRADICTIONS",
        f"{100 * found['recall']:.0f} % of the contradictions, and {100 * found['precision']:.0f} % of its verdicts are right",
    )
    text = text.replace("CAUSES", f"{causes['other']['right']} of {causes['other']['rows']}")
    return (
        "\n".join(
            [
                MADE,
                text,
                *status_section(),
                *sets_section(),
                "## The small judge\n",
                *told,
                "\n## The large judge\n",
                *large_card_lines(read_large_card()),
            ]
        )
        + "\n"
    )


def differences_page() -> str:
    """All differences on purpose: those from all tools, then those that the pages on each system list."""
    parts = [MADE, DIFFERENCES]
    for name in SYSTEMS.split():
        text = (DOCS / "systems" / f"{name}.md").read_text(encoding="utf-8")
        table = text.partition("\n## Differences on purpose\n")[2].strip()
        # Links are relative to the folder of the page.
        table = re.sub(r"\]\((?!\.\./|#|https?:)", "](systems/", table).replace("](../", "](")
        title = text.partition("\n")[0].removeprefix("# ")
        parts.append(f"## {title}\n\n{table}\n\nMore: [{title}](systems/{name}.md).\n")
    return "\n".join(parts)


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
        console.print(run_summary(RunView.of(run), diagnose(run)))
        picture = console.export_svg(title="ragstone demo", unique_id="demo")
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Yields the path and text of each page."""
    yield DOCS / "metrics.md", metrics_page()
    yield DOCS / "names.md", names_page()
    yield DOCS / "cli.md", cli_page()
    yield DOCS / "api.md", api_page()
    yield DOCS / "trust.md", trust_page()
    yield DOCS / "differences.md", differences_page()
    yield DOCS / "images" / "demo.svg", demo_picture()
    yield DOCS / "llms.txt", runpy.run_path(str(DOCS / "llms_text.py"))["llms_text"]()


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _default(parameter: Any) -> str:
    default = parameter.default
    return f" ({default})" if isinstance(default, str | int) and not isinstance(default, bool) and default != "" else ""


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(DOCS.parent)}")
