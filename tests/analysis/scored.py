"""Runs with any scores: the metrics read them from the metadata of the samples."""

import json
import shutil

import numpy as np

from ragstone.engine.evaluate import evaluate
from ragstone.errors import Skip
from ragstone.registry import metric


def declare(catalogue):
    """Metrics that take what is in the metadata; None is skipped, a text is a failure."""

    def read(metadata, name):
        value = (metadata or {}).get(name)
        if value is None:
            raise Skip(f"no {name}")
        return float(value)

    @metric("quality", judges="answer", against="references", bounds=(0.0, 1.0))
    def quality(metadata: dict) -> float:
        """A score from 0 to 1."""
        return read(metadata, "quality")

    @metric("right", judges="answer", against="references", bounds=(0.0, 1.0))
    def right(metadata: dict) -> float:
        """0 or 1."""
        return read(metadata, "right")

    @metric("delay", judges="answer", against="references", bounds=(0.0, None), better="lower")
    def delay(metadata: dict) -> float:
        """The lower the better."""
        return read(metadata, "delay")

    @metric("size", judges="answer", against="references", bounds=(None, None), better="none")
    def size(metadata: dict) -> float:
        """No direction."""
        return read(metadata, "size")


_MADE = {}


def copy_runs(build, factory, root):
    """The folder that `build(folder)` fills: made once in this process, then copied."""
    if build not in _MADE:
        folder = factory.mktemp("made")
        build(folder)
        _MADE[build] = folder
    shutil.copytree(_MADE[build], root, dirs_exist_ok=True)


def make_run(root, name, metrics=("quality",), ids=None, questions=None, params=None, more=None, **scores):
    """A stored run with these scores, a list a metric."""
    count = len(next(iter(scores.values())))
    rows = []
    for row in range(count):
        given = {metric: values[row] for metric, values in scores.items()}
        given = {
            key: value if isinstance(value, str) or value is None else float(value) for key, value in given.items()
        }
        rows.append(
            {
                "id": ids[row] if ids else f"s{row}",
                "question": questions[row] if questions else f"question {row}",
                "answer": "a",
                "metadata": {**given, **{key: values[row] for key, values in (more or {}).items()}},
            }
        )
    path = root / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return evaluate(path, list(metrics), root / "store", name=name, params=params)


def noise(seed, count, spread=0.1, centre=0.5):
    """Scores around a centre, from 0 to 1."""
    return np.clip(np.random.default_rng(seed).normal(centre, spread, count), 0, 1)
