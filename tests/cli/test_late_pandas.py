"""pyarrow does not load pandas for a command, and works with it once other code has loaded it."""

import subprocess
import sys

import pytest

pytest.importorskip("pandas")

FIRST = "import sys\nfrom ragstone.cli.evaluation import leave_pandas_out\nleave_pandas_out()\nimport pyarrow as pa\n"


def run(code):
    done = subprocess.run([sys.executable, "-c", FIRST + code], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def test_arrays_do_not_load_pandas():
    assert run("pa.array([1, None]); pa.table({'a': ['x']}); print('pandas' in sys.modules)") == ["False"]


def test_pandas_imported_later_works_with_pyarrow():
    code = "import pandas as pd\nseries = pd.Series([1.0, float('nan')])\n"
    code += "print(pa.array(series).null_count)\nprint(pa.array(pd.Series(pd.Categorical(['x', None]))).null_count)\n"
    code += "print(pa.Table.from_pandas(pd.DataFrame({'a': series})).to_pandas().a.isna().sum())\n"
    assert run(code) == ["1", "1", "1"]


def test_a_table_becomes_a_frame_without_an_import():
    assert run("print(pa.table({'a': [1, 2]}).to_pandas().a.sum())") == ["3"]


def test_the_second_call_and_a_loaded_pandas_change_nothing():
    code = "before = list(sys.meta_path); leave_pandas_out(); print(before == sys.meta_path)\n"
    code += "import pandas; leave_pandas_out(); print(any('Late' in type(one).__name__ for one in sys.meta_path))"
    assert run(code) == ["True", "False"]
