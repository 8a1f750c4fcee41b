"""What the cases of strangers share: a file, a command, and what must come of it."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

METRICS = "exact_match,token_f1,recall,fact_recall"
NEVER = ("Traceback", "internal error", "NoneType", "KeyError", "object at 0x", "ArrowInvalid", "UnicodeDecodeError")


@dataclass(frozen=True)
class Refused:
    """The command ends with this code, says these words, and leaves nothing behind."""

    words: tuple[str, ...]
    code: int = 2


@dataclass(frozen=True)
class Scored:
    """The run has so many rows, these values of metrics row by row, and these words on standard error."""

    rows: int
    values: dict[str, list[float | None]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    code: int = 0


def refused(*words: str, code: int = 2) -> Refused:
    return Refused(words, code)


def scored(rows: int, *words: str, code: int = 0, **values: list[float | None]) -> Scored:
    return Scored(rows, values, words, code)


def lines(*rows: Any) -> bytes:
    """Rows as JSON lines; a text is a line as it is."""
    return b"".join((row if isinstance(row, str) else json.dumps(row)).encode() + b"\n" for row in rows)


def row(**changes: Any) -> dict[str, Any]:
    """A good row with changes; None removes a field."""
    good = {"id": "a", "question": "When does it leave?", "answer": "21:40", "references": ["21:40"], "contexts": ["x"]}
    return {name: value for name, value in {**good, **changes}.items() if value != "-"}


def write(files: dict[str, bytes | str]) -> None:
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def the_run(root: str = "out") -> Path:
    [folder] = (Path(root) / "runs").iterdir()
    return folder


def samples(folder: Path) -> list[dict[str, Any]]:
    return pq.read_table(folder / "samples.parquet").to_pylist()


def values(folder: Path, metric: str) -> list[float | None]:
    """The values of a metric in the order of the rows; None is a cell without one."""
    cells = pq.read_table(folder / "scores.parquet").to_pylist()
    assert all(cell["value"] is None or math.isfinite(cell["value"]) for cell in cells)
    assert all((cell["status"] == "ok") == (cell["value"] is not None) for cell in cells)
    assert all(cell["reason"] for cell in cells if cell["status"] != "ok")
    by_id = {cell["sample_id"]: cell["value"] for cell in cells if cell["metric"] == metric}
    return [by_id.get(sample["id"]) for sample in samples(folder)]


def decent(printed: Any) -> None:
    """No trace of our own code, whatever happened."""
    for word in NEVER:
        assert word not in printed.out + printed.err, printed.err


def check(printed: Any, expected: Refused | Scored, root: str = "out") -> None:
    decent(printed)
    assert printed.code == expected.code, (printed.code, printed.err)
    for word in expected.words:
        assert word in printed.err, printed.err
    if isinstance(expected, Refused):
        assert "error: " in printed.err
        assert not Path(root).exists(), "something was stored"
        return
    folder = the_run(root)
    assert len(samples(folder)) == expected.rows
    for metric, wanted in expected.values.items():
        found = values(folder, metric)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert one == other or (one is not None and other is not None and abs(one - other) < 1e-3), (metric, found)
