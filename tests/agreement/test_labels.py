"""Labels of people: read from any table, words and numbers alike, and every fault told with its place."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.agreement.labels import parse_words, read_human
from ragstone.errors import InputError, UnknownNameError, UsageError


def write(path, text):
    path.write_text(text)
    return path


def values(labels):
    return [label.value for label in labels.labels]


def test_words_numbers_and_booleans(tmp_path):
    rows = "sample_id,label\na,Yes\nb,no\nc,GOOD\nd,bad\ne,0.25\nf,true\ng,False\nh,-3\n"
    assert values(read_human(write(tmp_path / "l.csv", rows))) == [1, 0, 1, 0, 0.25, 1, 0, -3]
    lines = "".join(json.dumps({"sample_id": n, "label": value}) + "\n" for n, value in enumerate([True, False, 4]))
    found = read_human(write(tmp_path / "l.jsonl", lines))
    assert values(found) == [1, 0, 4]
    assert [label.sample_id for label in found.labels] == ["0", "1", "2"]


def test_parquet_with_all_columns(tmp_path):
    table = pa.table(
        {"sample_id": ["a", "a"], "system": ["s", "s"], "label": [1, 2], "annotator": ["x", "y"], "chance": [0.5, None]}
    )
    pq.write_table(table, tmp_path / "l.parquet")
    first, second = read_human(tmp_path / "l.parquet").labels
    assert (first.system, first.annotator, first.chance) == ("s", "x", 0.5)
    assert (second.annotator, second.chance) == ("y", None)


def test_words_of_ones_own_and_other_columns(tmp_path):
    path = write(tmp_path / "l.csv", "id,verdict\na,ok\nb,great=\n")
    found = read_human(path, parse_words(["ok=0.5", "great==1"]), {"sample_id": "id", "label": "verdict"})
    assert values(found) == [0.5, 1]


@pytest.mark.parametrize("pair", ["ok", "=1", "ok=", "ok=much"])
def test_a_word_needs_a_number(pair):
    with pytest.raises(UsageError, match="WORD=NUMBER"):
        parse_words([pair])


def test_rows_without_a_label_are_counted(tmp_path):
    found = read_human(write(tmp_path / "l.csv", "sample_id,label\na,\nb,1\nc,  \n"))
    assert (values(found), found.empty) == ([1], 2)


def test_faults_are_told_together_with_their_places(tmp_path):
    path = write(tmp_path / "l.csv", "sample_id,label,chance\na,so-so,\n,1,\nc,inf,\nd,1,2\n")
    with pytest.raises(InputError) as caught:
        read_human(path)
    text = str(caught.value)
    assert "4 problems" in text
    assert "line 2: label: cannot be read: 'so-so'" in text
    assert "--value so-so=0.5" in text
    assert "line 3: sample_id: is empty" in text
    assert "line 5: chance" in text


def test_a_missing_column_names_those_that_are_there(tmp_path):
    with pytest.raises(UnknownNameError, match=r"unknown column 'label'.*Did you mean labels\?.*--map label=THEIRS"):
        read_human(write(tmp_path / "l.csv", "sample_id,labels\na,1\n"))


def test_nobody_labels_a_row_twice(tmp_path):
    path = write(tmp_path / "l.csv", "sample_id,system,label,annotator\na,s,1,ann\na,s,0,ann\na,t,0,ann\na,s,0,bo\n")
    with pytest.raises(InputError, match="ann has labelled sample a of s twice"):
        read_human(path)
