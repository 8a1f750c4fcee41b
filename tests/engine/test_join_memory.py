"""The parts of a run are joined part by part: memory does not grow with their number."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.data.schema import evidence_schema
from ragstone.engine import results
from ragstone.storage.places import open_place
from ragstone.storage.runs import write_table

SCHEMA = evidence_schema(pa.list_(pa.string()))
# In a process of its own, because the peak of a process never falls. `ru_maxrss` would include that of the parent process.
MEASURE = """
import sys
from tests.engine.test_join_memory import SCHEMA, results, open_place
home = open_place(sys.argv[1])
results._join([home / "part.parquet"] * 5, home / "first.parquet", SCHEMA)
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
before = peak()
results._join([home / "part.parquet"] * int(sys.argv[2]), home / "joined.parquet", SCHEMA)
print(peak() - before)
"""


def write_part(home, rows):
    cell = {"value": ["some words"] * 4, "status": "ok", "reason": None, "inputs": "0" * 16, "signature": "v1"}
    cells = [{"sample_id": f"s{number}", **cell} for number in range(rows)]
    write_table(home / "part.parquet", pa.Table.from_pylist(cells, schema=SCHEMA))


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_does_not_grow_with_the_number_of_parts(tmp_path):
    write_part(open_place(str(tmp_path)), 20)
    grown_kb = {}
    for parts in (200, 2_000):
        command = [sys.executable, "-c", MEASURE, str(tmp_path), str(parts)]
        grown_kb[parts] = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        assert pq.read_metadata(tmp_path / "joined.parquet").num_rows == 20 * parts
    # A row group per part would take 20 MB.
    assert grown_kb[2_000] - grown_kb[200] < 6_000


def test_small_parts_share_row_groups(tmp_path):
    home = open_place(str(tmp_path))
    write_part(home, 30)
    results._join([home / "part.parquet"] * 100, home / "joined.parquet", SCHEMA)
    file = pq.ParquetFile(tmp_path / "joined.parquet")
    assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [2_010, 990]
    assert file.read().column("sample_id").to_pylist() == [f"s{number}" for number in range(30)] * 100
