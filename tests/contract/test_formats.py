"""Laws that every format must obey; a new one is covered the day it is written."""

import copy
import warnings
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.schema import GIVEN_EVIDENCE, samples_schema
from ragstone.errors import RagstoneError
from ragstone.formats import find_format, formats, open_reader, read_dataset, write_dataset
from ragstone.formats.base import RowFormat, WritableFormat
from ragstone.formats.catalogue import recognise
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from tests.formats.fixtures import fixture_of
from tests.formats.strategies import rows

FORMATS = formats()
WRITABLE = {name: item for name, item in FORMATS.items() if isinstance(item, WritableFormat)}
ROW_FORMATS = [name for name, item in FORMATS.items() if isinstance(item, RowFormat)]
# What each format writes, told by the name; a format that holds every field of every sample must give all of it back.
TARGETS = {
    "ragstone": ("copy.jsonl", "copy.parquet", "copy.csv"),
    "ragchecker": ("copy.json",),
    "dial": ("copy",),
    "ragas": ("copy.jsonl", "copy.json"),
    "unitxt": ("copy.jsonl",),
    "deepeval": ("copy.json",),
    "beir": ("copy",),
    "hf": ("copy",),
}
HOLD_EVERYTHING = [(name, target) for name in ("ragstone", "ragchecker", "hf") for target in TARGETS[name]]

every_format = pytest.mark.parametrize("name", FORMATS)
every_row_format = pytest.mark.parametrize("name", ROW_FORMATS)


def files_of(name, folder):
    files = fixture_of(name)(folder)
    return files if len(files) > 1 else files[0]


def rows_of(name, folder):
    """The rows of a fixture as a program would hold them."""
    source = Source(files_of(name, folder))
    rows = [row.values for row in source.rows(Report())]
    empty = source.kind == "csv" and any(value == "" for row in rows for value in row.values())
    assert not empty, (
        f"fill all cells in fixture_{name}: an empty one is unknown in a file, and an empty text in memory"
    )
    return rows


@every_format
def test_it_says_what_it_is(name):
    item = FORMATS[name]
    assert item.name == name
    assert name.isidentifier()
    assert item.title
    assert "\n" not in item.title
    assert set(item.given) <= set(GIVEN_EVIDENCE)
    assert find_format(name) is item
    page = Path(__file__).parents[2] / "docs/formats.md"
    assert f"\n| `{name}` |" in page.read_text(encoding="utf-8"), (
        f"add {name} to the table of formats in docs/formats.md"
    )


@every_row_format
def test_row_formats_have_marks_and_known_columns(name):
    item = FORMATS[name]
    assert item.marks
    assert all(item.marks)
    assert set(item.columns.values()) <= set(samples_schema(item.given).names)
    assert set(item.names) <= set(samples_schema(item.given).names)


@every_format
def test_its_files_are_recognised_as_its_own_and_as_nobody_else_s(name, tmp_path):
    files = fixture_of(name)(tmp_path)
    assert recognise([Source(file) for file in files]).name == name
    # Our own names are the plainest, so other formats may have some of them; ours is the last to be asked.
    others = [item for item in FORMATS.values() if item.name not in (name, "ragstone")]
    assert [item.name for item in others if item.recognises([Source(file) for file in files])] == []


@every_format
def test_every_batch_has_the_schema(name, tmp_path):
    reader = open_reader(files_of(name, tmp_path))
    batches = list(reader.batches())
    assert reader.schema == samples_schema(FORMATS[name].given)
    assert all(batch.schema == reader.schema for batch in batches)
    for batch in batches:
        batch.validate(full=True)
    ids = [sample_id for batch in batches for sample_id in batch.column("id").to_pylist()]
    assert len(set(ids)) == len(ids) > 0


@every_format
def test_reading_twice_gives_the_same(name, tmp_path):
    files = files_of(name, tmp_path)
    reader = open_reader(files)
    first, second = (pa.Table.from_batches(reader.batches(), schema=reader.schema) for _ in range(2))
    assert first == second
    assert read_dataset(files, format=name).fingerprint == read_dataset(files).fingerprint


def test_every_writable_format_is_tested():
    assert set(TARGETS) == set(WRITABLE)


@pytest.mark.parametrize(
    ("name", "target"), [(name, target) for name, targets in TARGETS.items() for target in targets]
)
def test_its_own_files_come_back_as_they_were(name, target, tmp_path):
    before = read_dataset(files_of(name, tmp_path))
    write_dataset(before.table.to_batches(), str(tmp_path / target), name, before.info)
    assert read_dataset(str(tmp_path / target)).fingerprint == before.fingerprint


@every_format
def test_problems_of_a_broken_file_are_told_and_nothing_else_is_raised(name, tmp_path):
    path = tmp_path / "broken"
    for content in (
        b"\x80\x81\xfe",
        b'{"question": ',
        b"[[1], 2]",
        b'{"question": 1}\n[]\n',
        b"a,b\n1\n",
        b"PAR1",
        b"\0",
    ):
        path.write_bytes(content)
        with pytest.raises(Exception) as caught:  # noqa: PT011  (which one is what the next lines test)
            read_dataset(str(path), format=name)
        said = (
            f"{caught.type.__name__}: {caught.value} on {content!r}. A file named with --format may lack every column"
        )
        assert hasattr(caught.value, "exit_code"), said
        assert "broken" in str(caught.value), said


# Samples with nasty contents


def values(dataset):
    """The fields that each sample has."""
    return [{name: value for name, value in row.items() if value is not None} for row in dataset.table.to_pylist()]


@pytest.mark.parametrize(("name", "target"), HOLD_EVERYTHING, ids=[target for _, target in HOLD_EVERYTHING])
@given(rows=rows())
def test_samples_come_back_as_they_were(name, target, tmp_path_factory, rows):
    before = read_dataset(rows)
    path = str(tmp_path_factory.getbasetemp() / f"law_{target}")
    assert write_dataset(before.table.to_batches(), path, name) == len(rows)
    after = read_dataset(path, format=name)
    assert values(after) == values(before)
    assert after.fingerprint == before.fingerprint


@given(rows=rows(), size=st.integers(1, 5))
def test_row_groups_make_no_difference(tmp_path_factory, rows, size):
    before = read_dataset(rows)
    path = tmp_path_factory.getbasetemp() / "law_groups.parquet"
    pq.write_table(before.table, path, row_group_size=size)
    assert read_dataset(str(path)).fingerprint == before.fingerprint


@given(rows=rows())
def test_what_the_user_holds_is_left_alone(rows):
    held = copy.deepcopy(rows)
    read_dataset(held)
    assert held == rows


# Things in memory


def hugging_face(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        datasets = pytest.importorskip("datasets")
        return datasets.Dataset.from_list(rows)


HOLDERS = {
    "list": list,
    "tuple": tuple,
    "pandas": pd.DataFrame,
    "pandas with its own types": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "polars": pl.DataFrame,
    "Arrow table": pa.Table.from_pylist,
    "Arrow batch": lambda rows: pa.Table.from_pylist(rows).combine_chunks().to_batches()[0],
    "Hugging Face": hugging_face,
    "Hugging Face, a selection": lambda rows: hugging_face([*rows, *rows]).select(range(len(rows))),
}


@every_row_format
def test_rows_in_memory_are_left_alone(name, tmp_path):
    rows = rows_of(name, tmp_path)
    held = copy.deepcopy(rows)
    assert read_dataset(held).fingerprint == read_dataset(files_of(name, tmp_path)).fingerprint
    assert held == rows


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
@every_row_format
def test_tables_in_memory_give_the_same_samples_as_the_file(name, hold, tmp_path):
    rows = rows_of(name, tmp_path)
    keys = dict.fromkeys(key for row in rows for key in row)
    try:
        held = hold(
            [{key: row.get(key) for key in keys} for row in rows]
        )  # some look for columns in the first row only
    except (pa.ArrowException, pl.exceptions.PolarsError, TypeError) as error:
        pytest.skip(f"such rows cannot be held so: {error}")
    reader = open_reader(held)
    assert reader.format.name == name
    assert read_dataset(held).fingerprint == read_dataset(files_of(name, tmp_path)).fingerprint


JUNK = (7, True, None, "x", "[1]", [], [1], ["x"], [None], [[]], {}, {"a": 1})


def places_in(value, path=()):
    """The way to each value inside a row, at most four steps deep; of a list the first item."""
    if 0 < len(path) <= 4:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places_in(item, (*path, key))


@pytest.mark.slow
@every_format
def test_a_value_of_another_kind_is_read_or_refused_with_a_message(name, tmp_path):
    """No value, however deep, may end in an internal error."""
    files = fixture_of(name)(tmp_path)
    if len(files) > 1 or not Path(files[0]).is_file():
        pytest.skip("its rows are in several files")
    for row in [row.values for row in Source(files[0]).rows(Report())][:3]:
        for path in places_in(row):
            for junk in JUNK:
                changed = copy.deepcopy(row)
                inner = changed
                for key in path[:-1]:
                    inner = inner[key]
                inner[path[-1]] = junk
                try:
                    list(read_dataset([changed], format=name))
                except RagstoneError:
                    pass
                except Exception as error:
                    pytest.fail(f"{path} = {junk!r}: {type(error).__name__}: {error}")
