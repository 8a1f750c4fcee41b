"""The local judge: how many pairs a second at two lengths, what memory, how long until the first verdict.

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

# Rows with five chunks of 150 words, and the seconds that 100 of them should take on two cores.
ROWS, MOST_SECONDS = 50, 18.0
_ROWS = """
import json, os, random, time
import ragstone
pick = random.Random(7).choice
things = "ferry ticket harbour lamp crew cabin fare pier crane engine deck permit guest parcel".split()
def sentence():
    return f"The {{pick(things)}} of the {{pick(things)}} is {{pick(('open', 'closed', 'free', 'red', 'old'))}} from {{pick(range(1, 99))}} to {{pick(range(1, 99))}} every day."
def text(count):
    return " ".join(sentence() for _ in range(count))
rows = [
    {{"id": str(n), "question": "What is open?", "answer": text(4), "references": [text(3)], "contexts": [text(11) for _ in range(5)]}}
    for n in range({rows})
]
started = time.process_time()
ragstone.evaluate(rows, "ragchecker", judge="local", cache=False)
print(json.dumps((time.process_time() - started) * 100 / {rows}))
"""


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Pairs of a claim and its evidence."""
    if not Store().find("local-judge"):
        print("this copy has no weights of the local judge", file=sys.stderr)
        return []
    done = measure([sys.executable, "-c", _JUDGE.format(lengths=[(length, count) for length, count, _ in LENGTHS])])
    loaded, *times = json.loads(done.output)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    seconds = json.loads(measure([sys.executable, "-c", _ROWS.format(rows=ROWS)]).output) / cores
    results = [Result("local judge: 100 rows of 5 chunks, ragchecker, by CPU time", seconds, "s", at_most=MOST_SECONDS)]
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
