"""Models on this machine: how many sentences and rows a second, what memory, how long until the first one.

The rate by CPU time is that of an idle machine: on one that others use too the clock says little.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks.processes import command_line, measure
from benchmarks.results import Result
from ragstone.models.store import Store

SENTENCES = 2_000
SCORED = 20
ROWS = 400
# About 20 tokens each, as a sentence of an answer has; none twice, since each text is encoded once.
_SENTENCE = "The harbour light number {0} stands on the eastern mole and was first lit in the autumn of {1}."
_ENCODE = f"""
import json, time
started = time.perf_counter()
from ragstone.models.embedders import open_encoder
model = open_encoder("{{name}}")
model.encode(["one"])
loaded = time.perf_counter() - started
texts = ["{_SENTENCE}".format(number, 1500 + number % 500) for number in range({SENTENCES})]
clock, cpu = time.perf_counter(), time.process_time()
for start in range(0, len(texts), 256):
    model.encode(texts[start : start + 256])
print(json.dumps([loaded, time.perf_counter() - clock, time.process_time() - cpu]))
"""

_SCORE = f"""
import json, time
started = time.perf_counter()
from ragstone.models.scorers import open_language_model
model = open_language_model("local/smollm2")
model.log_probabilities([("", "one")])
loaded = time.perf_counter() - started
texts = ["{_SENTENCE}".format(number, 1500 + number) for number in range({SCORED})]
cpu, tokens = time.process_time(), 0
for text in texts:
    tokens += len(model.log_probabilities([("", text)])[0])
scored = tokens / (time.process_time() - cpu)
cpu = time.process_time()
chunk = " ".join(texts)
model.log_probabilities([(chunk, "one")])
print(json.dumps([loaded, scored, tokens / (time.process_time() - cpu)]))
"""


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Embeddings alone and in a run; probabilities of texts."""
    store = Store()
    results: list[Result] = []
    if store.find("minilm"):
        results += [*_encode("local/minilm", at_least=150), *_in_a_run()]
    if store.find("wordllama"):
        results += _encode("local/wordllama")
    if store.find("smollm2") and find_spec("xllamacpp"):
        results += _score()
    if not results:
        print("no model is here: ragstone models pull minilm", file=sys.stderr)
    return results


def _encode(name: str, at_least: float | None = None) -> list[Result]:
    done = measure([sys.executable, "-c", _ENCODE.replace("{name}", name)])
    loaded, seconds, cpu_seconds = json.loads(done.output)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    idle = SENTENCES / cpu_seconds * cores
    return [
        Result(f"{name}: sentences by the clock", SENTENCES / seconds, "texts/s", at_least=at_least),
        Result(f"{name}: sentences by CPU time", idle, "texts/s", at_least=at_least, note=f"times {cores} cores"),
        Result(f"{name}: until the first vector", loaded, "s"),
        Result(f"{name}: peak memory", done.peak_bytes / 1e9, "GB", at_most=1.0, binding=True),
    ]


def _score() -> list[Result]:
    done = measure([sys.executable, "-c", _SCORE])
    loaded, scored, read = json.loads(done.output)
    return [
        Result("local/smollm2: tokens scored by CPU time", scored, "tokens/s", note="one core"),
        Result("local/smollm2: tokens read before them", read, "tokens/s", note="one core"),
        Result("local/smollm2: until the first number", loaded, "s"),
        Result("local/smollm2: peak memory", done.peak_bytes / 1e9, "GB", at_most=1.0, binding=True),
    ]


def _in_a_run() -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.jsonl"
        rows = (
            {"question": f"Where is {number}?", "answer": _text(number), "references": [_text(number + ROWS)]}
            for number in range(ROWS)
        )
        data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        command = [*command_line(), "run", str(data), "-m", "semantic_similarity", "--out", folder, "--quiet"]
        done = measure(command)
    note = f"{done.cpu_seconds:.1f} s of CPU with start and storing"
    return [Result("ragstone run: texts by the clock", 2 * ROWS / done.seconds, "texts/s", note=note)]


def _text(number: int) -> str:
    return _SENTENCE.format(number, 1500 + number % 500)
