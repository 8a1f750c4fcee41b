"""Makes docs/names.md: the names of other systems and what each leads to."""

from __future__ import annotations

import re

from generator.marked_blocks import MADE

from ragstone.registry import CATALOGUE
from ragstone.registry.foreign_names import read_systems

NAMES = """# Names in papers and other tools

`ragstone metrics NAME`, `-m NAME`, `metrics=["NAME"]` in Python and ragstone.toml understand the names below. Case, hyphens, spaces,
underscores and dots do not count: `K-Precision`, `k precision` and `k_precision` are one name, so spellings of our own names are not listed. Cut-offs may be written as in trec_eval:
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
    """The names of other systems and what each leads to: the same metrics in one paragraph per system, the others in a table."""
    lines = [MADE, NAMES]
    for title, system in read_systems().items():
        rows: dict[tuple[str, str, str], list[str]] = {}
        for meanings in system.names.values():
            known = (one for one in meanings if all(find_name(metric) for metric in one.metrics))
            meaning = next(known, meanings[-1])
            targets = ", ".join(f"`{one}`" for one in (*meaning.commands, *meaning.metrics))
            if meaning.kind == "same" and not meaning.note and _is_spelling(meaning.name, *meaning.metrics):
                continue
            row = (targets, _KINDS.get(meaning.kind, meaning.kind), meaning.note)
            rows.setdefault(row, []).append(f"`{meaning.name or title}`")
        lines += [f"## {'The field' if title == 'any' else title}", ""]
        same = [f"{', '.join(names)} = {row[0]}" for row, names in rows.items() if row[1:] == ("same", "")]
        lines += [f"Same: {'; '.join(same)}.", ""] if same else []
        others = {row: names for row, names in rows.items() if row[1:] != ("same", "")}
        if others:
            lines += ["| name | here | |", "|---|---|---|"]
            lines += [f"| {', '.join(names)} | {row[0]} | {_remark(*row[1:])} |" for row, names in others.items()]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _is_spelling(name: str, *metrics: str) -> bool:
    """Whether a name is that of our metric, but for case and separators."""
    plain = re.sub(r"[\W_]", "", name.lower())
    return [plain] == [re.sub(r"[\W_]", "", one) for one in metrics]


def _remark(kind: str, note: str) -> str:
    return f"{kind}: {note}" if note else kind


def find_name(name: str) -> bool:
    """Whether a metric or set exists."""
    return name in CATALOGUE.sets() or CATALOGUE.find(re.split(r"[(@]", name)[0]) is not None
