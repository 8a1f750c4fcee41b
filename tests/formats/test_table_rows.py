"""Every Arrow type can be a column: as metadata it is kept, as a field it is read or refused with a reason."""

from __future__ import annotations

import decimal
import json
import subprocess
import sys
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.errors import InputError
from ragstone.formats.reader import read_dataset
from ragstone.formats.sources import rows_of

HUGE = 2**62
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MOMENT = 1_763_370_000  # 2025-11-17 09:00:00 UTC


class _OwnType(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.timestamp("ns"), "ragstone.tests.own")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def _numbers() -> dict[str, pa.Array]:
    plain = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    found = {str(kind): pa.array([1, None], kind) for kind in plain}
    found |= {str(kind): pa.array([np.float16(1.5), None], kind) for kind in (pa.float16(), pa.float32(), pa.float64())}
    found["largest"] = pa.array([2**64 - 1, 1], pa.uint64())
    found["nan"] = pa.array([float("nan"), float("inf")])
    for kind in (pa.decimal128(20, 2), pa.decimal256(40, 2)):
        found[str(kind)] = pa.array([decimal.Decimal("1.25"), None], kind)
    return found


def _times() -> dict[str, pa.Array]:
    found: dict[str, pa.Array] = {}
    for unit, factor in PER_SECOND.items():
        for zone in (None, "UTC", "Europe/Berlin", "+02:00", "No/Where"):
            found[f"{unit} {zone}"] = pa.array([MOMENT * factor + 1, None], pa.timestamp(unit, tz=zone))
        for name, kind in (("timestamp", pa.timestamp(unit)), ("duration", pa.duration(unit))):
            found[f"{name} {unit} far"] = pa.array([HUGE, -HUGE], pa.int64()).cast(kind)
        found[f"duration {unit}"] = pa.array([1_234_567, None], pa.duration(unit))
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        found[str(kind)] = pa.array([5, None], kind)
    found["date32"] = pa.array([20_000, None], pa.date32())
    found["date32 far"] = pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32())
    found["date64"] = pa.array([20_000 * 86_400_000, None], pa.date64())
    found["interval"] = pa.array([(1, 2, 3), None], pa.month_day_nano_interval())
    return found


def _texts() -> dict[str, pa.Array]:
    found = {str(kind): pa.array(["abc", None], kind) for kind in (pa.string(), pa.large_string(), pa.string_view())}
    for kind in (pa.binary(), pa.large_binary(), pa.binary(3), pa.binary_view()):
        found[str(kind)] = pa.array([b"abc", None], kind)
        found[f"{kind} image"] = pa.array([b"\xff\xfe\0", None], kind)
    offsets = pa.array([0, 3, 4], pa.int32()).buffers()[1]
    found["not UTF-8"] = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xed\xa0\xbdx")])
    return found


def _nested() -> dict[str, pa.Array]:
    exact = pa.timestamp("ns", "UTC")
    deep = pa.struct([("a", exact), ("b", pa.list_(pa.struct([("c", pa.time64("ns"))])))])
    ends = pa.array([2], pa.int32())
    return {
        "list": pa.array([["a"], None]),
        "large list": pa.array([["a"], None], pa.large_list(pa.string())),
        "fixed list": pa.array([["a", "b"], None], pa.list_(pa.string(), 2)),
        "list of times": pa.array([[1], None], pa.list_(exact)),
        "struct": pa.array([{"a": 1}, None]),
        "struct of times": pa.array([{"a": 1, "b": [{"c": 3}]}, None], deep),
        "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        "map of times": pa.array([[("a", 1)], None], pa.map_(pa.string(), exact)),
        "dictionary": pa.array(["a", "b"]).dictionary_encode(),
        "dictionary of times": pa.array([1, 2], exact).dictionary_encode(),
        "null": pa.nulls(2),
        "bool": pa.array([True, None]),
        "runs": pa.RunEndEncodedArray.from_arrays(ends, pa.array(["a"])),
        "runs of times": pa.RunEndEncodedArray.from_arrays(ends, pa.array([1], exact)),
        "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([uuid.UUID(int=7).bytes, None], pa.binary(16))),
        "own": pa.ExtensionArray.from_storage(_OwnType(), pa.array([1, None], pa.timestamp("ns"))),
        "union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
    }


ALL = {**_numbers(), **_times(), **_texts(), **_nested()}
FIELDS = ("question", "answer", "contexts", "references", "id", "metadata", "relevance", "answerable", "facts", "steps")


def _table(name: str, column: pa.Array) -> pa.Table:
    own = {"id": pa.array(["1", "2"]), "question": pa.array(["When?", "Where?"]), "answer": pa.array(["nine", "here"])}
    return pa.table({**own, name: column})


@pytest.mark.parametrize("name", ALL)
def test_any_type_can_be_metadata(name, tmp_path):
    table = _table("extra", ALL[name])
    data = [table]
    try:
        pq.write_table(table, tmp_path / "t.parquet")
        data.append(tmp_path / "t.parquet")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # Parquet has no such type or value
        pass
    for source in data:
        found = read_dataset(source).table["metadata"].to_pylist()
        assert len(found) == 2
        if name not in ("null", "nan"):
            assert "extra" in json.loads(found[0])


@pytest.mark.parametrize("field", [*FIELDS, "timestamp", "latency_s"])
def test_any_type_can_be_mapped_or_is_refused(field):
    for column in ALL.values():
        try:
            read_dataset(_table(field, column))
        except InputError as error:
            assert field in str(error)  # noqa: PT017  (some types fit)


def test_values_keep_what_they_say():
    names = ("uuid", "not UTF-8", "binary", "binary image", "largest", "decimal128(20, 2)")
    shown = {
        name: json.loads(read_dataset(_table("extra", ALL[name])).table["metadata"][0].as_py())["extra"]
        for name in names
    }
    assert shown == {
        "uuid": "00000000-0000-0000-0000-000000000007",
        "not UTF-8": "���",
        "binary": "abc",
        "binary image": "3 bytes",
        "largest": 2**64 - 1,
        "decimal128(20, 2)": 1.25,
    }


def test_a_large_decimal_id_is_exact():
    ids = pa.array([decimal.Decimal(12345678901234567890), decimal.Decimal(2)], pa.decimal128(38, 0))
    assert read_dataset(_table("id", ids)).table["id"].to_pylist() == ["12345678901234567890", "2"]


_WITHOUT_PANDAS = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import pyarrow as pa
from ragstone.formats.sources import rows_of
from tests.formats.test_table_rows import ALL
for column in ALL.values():
    rows_of(pa.record_batch([column], ["x"]))
exact = [ALL[name] for name in ("ns None", "ns UTC", "time64[ns]", "duration ns", "map of times")]
print([rows_of(pa.record_batch([column], ["x"]))[0]["x"] for column in exact])
"""


def test_nanoseconds_do_not_need_pandas():
    done = subprocess.run([sys.executable, "-c", _WITHOUT_PANDAS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(
        [
            "2025-11-17 09:00:00.000000001",
            "2025-11-17 09:00:00.000000001Z",
            "00:00:00.000000005",
            "1234567 ns",
            [("a", "1970-01-01 00:00:00.000000001Z")],
        ]
    )


def test_rows_have_the_order_of_the_columns():
    batch = pa.record_batch([pa.array([1, 2]), pa.array(["a", None])], ["b", "a"])
    assert rows_of(batch) == [{"b": 1, "a": "a"}, {"b": 2, "a": None}]
