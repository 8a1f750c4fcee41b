"""The local judge: pairs per second at two lengths, seconds per 1,000 rows, memory, time until the first verdict.

The rate by CPU time is that of an idle machine: on one that others use too the clock says little.
"""

from __future__ import annotations

import json
import os
import sys

from benchmarks.processes import measure
from benchmarks.results import Result
from ragstone.models.store import Store

# Pieces of words in a pair, how many pairs, and how many a second it should be on two cores.
LENGTHS = ((50, 600, 200.0), (300, 120, 27.0))
_JUDGE = """
import json, time
started = time.perf_counter()
from ragstone.models.local_judge import Pair, open_local_judge
judge = open_local_judge()
judge.run([Pair("support", "one", "two")])
found = [time.perf_counter() - started]
for length, count in {lengths}:
    # Three marks, and ten words that each are one piece; the number of the pair makes it another one each time.
    text = " ".join(("the light on the east side of the harbour is").split()[n % 10] for n in range(length - 15))
    pairs = [Pair("support", text, f"the light is on the east side of it {{n % 10}} {{n // 10 % 10}}") for n in range(100)]
    pairs = [Pair("support", f"{{'the of on is'.split()[n % 4]}} {{first}}", second) for n in range(-(-count // 100)) for _, first, second in pairs][:count]
    clock, cpu = time.perf_counter(), time.process_time()
    for start in range(0, count, 64):
        judge.run(pairs[start : start + 64])
    found += [time.perf_counter() - clock, time.process_time() - cpu]
print(json.dumps(found))
"""

# Rows with five chunks of 150 words, and the seconds that 1,000 of them should take on two cores.
ROWS, MOST_SECONDS = 20, 180.0
# How the claims of a row come about: sentences that no chunk has, or those of one chunk in other words.
KINDS = {"unsupported": "of its own", "supported": "from a chunk"}
_ROWS = """
import json, random, time
import ragstone
from ragstone.models.local_judge import LocalJudge
pick = random.Random(7).choice
things = "ferry ticket harbour lamp crew cabin fare pier crane engine deck permit guest parcel".split()
def facts(count):
    return [(pick(things), pick(things), pick(("open", "closed", "free", "red", "old")), pick(range(1, 99)), pick(range(1, 99))) for _ in range(count)]
def text(facts):
    return " ".join("The {{}} of the {{}} is {{}} from {{}} to {{}} every day.".format(*fact) for fact in facts)
def reworded(facts):
    return " ".join("Each day from {{3}} to {{4}}, the {{1}} has a {{0}} that is {{2}}.".format(*fact) for fact in facts)
def row(number, supported):
    chunks = [facts(11) for _ in range(5)]
    answer, reference = (reworded(chunks[2][:4]), reworded(chunks[2][2:5])) if supported else (text(facts(4)), text(facts(3)))
    return {{"id": str(number), "question": "What is open?", "answer": answer, "references": [reference], "contexts": list(map(text, chunks))}}
read, compute = [], LocalJudge.run
LocalJudge.run = lambda judge, pairs: read.append(len(pairs)) or compute(judge, pairs)
found = {{}}
for kind in {kinds}:
    rows = [row(number, kind == "supported") for number in range({rows})]
    read.clear()
    clock, cpu = time.perf_counter(), time.process_time()
    ragstone.evaluate(rows, "ragchecker", judge=ragstone.Judge("local", cache=False))
    found[kind] = sum(read), time.perf_counter() - clock, time.process_time() - cpu
print(json.dumps(found))
"""


def _rows(claims: str, figures: tuple[int, float, float], cores: int) -> list[Result]:
    pairs, clock, cpu = figures
    name = f"local judge: 5 chunks per row, claims {claims}"
    return [
        Result(f"{name}, pairs per row", pairs / ROWS, "pairs"),
        Result(f"{name}, by CPU time", pairs / cpu * cores, "pairs/s"),
        Result(f"{name}, 100 rows by the clock", clock * 100 / ROWS, "s"),
        Result(
            f"local judge: 1,000 rows, claims {claims}, CPU of all cores",
            cpu * 1000 / ROWS / cores,
            "s",
            at_most=MOST_SECONDS,
        ),
    ]


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Pairs of a claim and its evidence."""
    if not Store().find("local-judge"):
        print("this copy has no weights of the local judge", file=sys.stderr)
        return []
    done = measure([sys.executable, "-c", _JUDGE.format(lengths=[(length, count) for length, count, _ in LENGTHS])])
    loaded, *times = json.loads(done.output)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = json.loads(measure([sys.executable, "-c", _ROWS.format(rows=ROWS, kinds=list(KINDS))]).output)
    results = [result for kind, figures in found.items() for result in _rows(KINDS[kind], figures, cores)]
    for number, (length, count, wanted) in enumerate(LENGTHS):
        clock, cpu = times[2 * number : 2 * number + 2]
        idle = Result(f"local judge: {length} tokens by CPU time", count / cpu * cores, "pairs/s", at_least=wanted)
        results += [
            Result(f"local judge: {length} tokens by the clock", count / clock, "pairs/s", at_least=wanted),
            idle,
        ]
    return [
        *results,
        Result("local judge: until the first verdict", loaded, "s"),
        Result("local judge: peak memory", done.peak_bytes / 1e9, "GB", at_most=1.0, binding=True),
    ]
