"""How often the local judge obeys its laws on the texts of a folder: one text file per domain, a paragraph per line."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path

from benchmarks.laws import LAWS, Trial, contained, read_texts
from benchmarks.results import Result
from ragstone.models.local_judge import Judgements, open_local_judge
from ragstone.tools.local_judges import LocalChecker

TEXTS_VARIABLE = "RAGSTONE_LAW_TEXTS"
# A rule decides the first law; the others run the model, on fewer sentences.
_SENTENCES, _JUDGED = 1_000, 40


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Held of tried, per law and domain; what failed goes to `.benchmarks/laws.jsonl`."""
    folder = os.environ.get(TEXTS_VARIABLE, "")
    if not folder:
        print("skipped: name a folder with --texts", file=sys.stderr)
        return []
    judge = open_local_judge()
    checker = LocalChecker(Judgements(judge), judge.card, "")
    texts = read_texts(Path(folder), _SENTENCES)
    print(f"{sum(map(len, texts.values())):,} sentences of {len(texts)} domains")
    trials: dict[str, list[Trial]] = {}
    for name, law in LAWS.items():
        trials[name] = asyncio.run(law(texts, checker, _SENTENCES if law is contained else _JUDGED, 0))
        print(f"{name}: {_result(name, trials[name]).note}", flush=True)
    _write_failures(trials)
    print(_by_domain(trials))
    return [_result(name, found) for name, found in trials.items()]


def _result(name: str, trials: list[Trial]) -> Result:
    held = sum(trial.held for trial in trials)
    share = held / len(trials) if trials else 1.0
    return Result(name, share, "agreement", at_least=1.0, note=f"{held:,} of {len(trials):,}")


def _by_domain(trials: dict[str, list[Trial]]) -> str:
    """One row per domain, one column per law."""
    counts = {
        name: (Counter(t.domain for t in found if t.held), Counter(t.domain for t in found))
        for name, found in trials.items()
    }
    rows = [["domain", *trials], ["---"] * (len(trials) + 1)]
    domains = sorted({trial.domain for found in trials.values() for trial in found})
    rows += [[name, *(f"{held[name]} of {tried[name]}" for held, tried in counts.values())] for name in domains]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _write_failures(trials: dict[str, list[Trial]]) -> None:
    path = Path(".benchmarks") / "laws.jsonl"
    path.parent.mkdir(exist_ok=True)
    failed = [{"law": name, **trial._asdict()} for name, found in trials.items() for trial in found if not trial.held]
    path.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in failed), encoding="utf-8")
    print(f"{len(failed):,} failures: {path}", file=sys.stderr)
