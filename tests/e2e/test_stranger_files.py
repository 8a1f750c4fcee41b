"""Odd text files of a stranger: encodings, line ends, types, names, CSV of other programs."""

import json
from pathlib import Path

import pytest

from tests.e2e.stranger import METRICS, check, lines, refused, row, scored, write

# Hundreds of odd files through the whole command; the readers have quick tests of their own.
pytestmark = pytest.mark.slow

ONE = {"exact_match": [1.0]}
TWO = {"exact_match": [1.0, 0.0]}
UMLAUT = {"id": "a", "question": "Größe?", "answer": "groß", "references": ["groß"]}
CSV = "id,question,answer,references\r\na,q,groß,groß\r\n"
PAIR = [row(), row(id="b", answer="22:00")]

ENCODINGS = {
    "bom.jsonl": (b"\xef\xbb\xbf" + lines(row()), [], scored(1, **ONE)),
    "bom.json": (b"\xef\xbb\xbf" + json.dumps([row()]).encode(), [], scored(1, **ONE)),
    "bom_twice.jsonl": (
        b"\xef\xbb\xbf" + lines(row()) + b"\xef\xbb\xbf" + lines(row(id="b", answer="22:00")),
        [],
        refused("line 2"),
    ),
    "bom_quoted.csv": (
        ('\ufeff"id","question","answer","references"\n"a","q","x","x"\n').encode(),
        [],
        scored(1, **ONE),
    ),
    "utf16.csv": (CSV.encode("utf-16"), [], refused("UTF-16")),
    "utf16_told.csv": (CSV.encode("utf-16"), ["--encoding", "utf-16"], refused("save the file as UTF-8")),
    "utf16_excel.txt": (
        CSV.replace(",", "\t").encode("utf-16"),
        ["--encoding", "utf-16"],
        refused("save the file as UTF-8"),
    ),
    "utf16_no_bom.csv": (CSV.encode("utf-16-le"), ["--encoding", "utf-16-le"], refused("save the file as UTF-8")),
    "utf16_told.jsonl": (
        json.dumps(UMLAUT, ensure_ascii=False).encode("utf-16"),
        ["--encoding", "utf-16"],
        refused("save the file as UTF-8"),
    ),
    "latin1_told.jsonl": (
        json.dumps(UMLAUT, ensure_ascii=False).encode("latin-1"),
        ["--encoding", "latin-1"],
        scored(1, **ONE),
    ),
    "shift_jis.csv": (
        "id,question,answer,references\na,q,東京,東京\n".encode("shift_jis"),
        ["--encoding", "shift_jis"],
        scored(1, **ONE),
    ),
    "wrong_encoding_told.csv": (CSV.encode("cp1252"), ["--encoding", "ascii"], refused("ascii")),
    "unknown_encoding.csv": (CSV.encode(), ["--encoding", "klingon"], refused("klingon")),
    "no_text_encoding.csv": (CSV.encode(), ["--encoding", "rot13"], refused("rot13")),
    "zlib_encoding.csv": (CSV.encode(), ["--encoding", "zlib"], refused("zlib")),
    "cut_inside_a_character.jsonl": (json.dumps(UMLAUT, ensure_ascii=False).encode()[:-3], [], refused("line 1")),
    "overlong_utf8.jsonl": (b'{"question": "\xc0\xaf", "answer": "a"}\n', [], refused("line 1")),
    "cp1252_row_9.csv": (
        b"id,question,answer\n" + b"".join(b"%d,q,a\n" % n for n in range(7)) + b"x,q,\xe9\n",
        [],
        refused("--encoding"),
    ),
}
LINE_ENDS = {
    "crlf.jsonl": (lines(*PAIR).replace(b"\n", b"\r\n"), [], scored(2, **TWO)),
    "mixed_ends.csv": (b"id,question,answer,references\r\na,q,x,x\nb,q2,x,y\r\n", [], scored(2, **TWO)),
    "old_mac.csv": (b"id,question,answer,references\ra,q,x,x\rb,q2,x,y\r", [], refused("line 1")),
    "line_separator.jsonl": (
        lines(json.dumps(row(answer="21:40\u2028\x85\x0c", references=["21:40\u2028\x85\x0c"]), ensure_ascii=False)),
        [],
        scored(1, **ONE),
    ),
    "line_separator.csv": (
        "id,question,answer,references\na,q,x\u2028y\x0cz,x\u2028y\x0cz\n".encode(),
        [],
        scored(1, **ONE),
    ),
    "blank_between.jsonl": (lines(row(), "", "  ", row(id="b", answer="no")), [], scored(2, **TWO)),
    "no_end.jsonl": (lines(*PAIR).rstrip(), [], scored(2, **TWO)),
    "newline_in_cell.csv": (
        b'id,question,answer,references\na,"two\nlines","x\r\ny","x\r\ny"\nb,q,x,y\n',
        [],
        scored(2, **TWO),
    ),
    "nul_in_cell.csv": (b"id,question,answer,references\na,q\0r,x,x\n", [], scored(1, **ONE)),
    "blank_lines.csv": (b"\n\nid,question,answer,references\n\na,q,x,x\n\n\nb,q2,x,y\n\n", [], scored(2, **TWO)),
}
DOCUMENTS = {
    "columns.json": ({"question": ["q", "r"], "answer": ["x", "x"], "references": ["x", "y"]}, scored(2, **TWO)),
    "columns_by_index.json": (
        {"question": {"0": "q", "1": "r"}, "answer": {"0": "x", "1": "x"}, "references": {"0": "x", "1": "y"}},
        refused("a mapping"),
    ),
    "uneven_columns.json": ({"question": ["q", "r"], "answer": ["x"]}, refused("uneven_columns.json")),
    "split.json": (
        {"columns": ["question", "answer", "references"], "index": [0, 1], "data": [["q", "x", "x"], ["r", "x", "y"]]},
        refused("columns, data, index"),
    ),
    "table.json": (
        {"schema": {"fields": []}, "data": [{"question": "q", "answer": "x", "references": "x"}]},
        scored(1, **ONE),
    ),
    "wrapped.json": ({"data": [row()]}, scored(1, **ONE)),
    "wrapped_oddly.json": ({"version": 3, "items": [row()]}, refused("items, version")),
    "two_lists.json": ({"train": [row()], "test": [row(id="b")]}, refused("train")),
    "by_id.json": (
        {
            "q1": {"question": "q", "answer": "x", "references": "x"},
            "q2": {"question": "r", "answer": "x", "references": "y"},
        },
        refused("q1, q2"),
    ),
    "one_row.json": (row(), scored(1, **ONE)),
    "nested_list.json": ([[row()]], refused("nested_list.json")),
    "list_with_null.json": ([row(), None], refused("item 2")),
    "list_with_text.json": ([row(), "end"], refused("item 2")),
    "text_in_text.json": (json.dumps([row()]), scored(1, **ONE)),
}
BROKEN = {
    "pretty_twice.json": (
        json.dumps(row(), indent=1) + "\n" + json.dumps(row(id="b", answer="no"), indent=1),
        refused("line 12"),
    ),
    "commented.json": ('[{"question": "q", "answer": "a"} // first\n]', refused("line 1")),
    "undefined.jsonl": ('{"question": "q", "answer": undefined}\n', refused("line 1")),
    "nan_answer.jsonl": (
        '{"question": "q", "answer": NaN, "references": ["x"]}\n',
        scored(1, code=4, exact_match=[None]),
    ),
    "garbage_after.json": (json.dumps([row()]) + "\nthe end", refused("line 2")),
    "lines_with_commas.jsonl": (
        json.dumps(row()) + ",\n" + json.dumps(row(id="b")) + ",\n",
        refused("line 1", "comma"),
    ),
    "array_by_lines.jsonl": (
        "[\n" + json.dumps(row()) + ",\n" + json.dumps(row(id="b", answer="no")) + "\n]\n",
        scored(2, **TWO),
    ),
    "header_line.jsonl": (
        '{"version": 1, "exported": "2026-01-01"}\n' + json.dumps(row()) + "\n",
        scored(2, "line 1", exact_match=[None, 1.0]),
    ),
    "rows_as_lists.jsonl": ('["q", "a"]\n["r", "b"]\n', refused("line 2")),
    "deep_10000.jsonl": (
        '{"question": "q", "extra": ' + "[" * 10_000 + "]" * 10_000 + "}\n",
        refused("nested too deeply"),
    ),
    "record_separator.json": (
        "\x1e" + json.dumps(row()) + "\n\x1e" + json.dumps(row(id="b", answer="no")) + "\n",
        refused("cannot detect"),
    ),
    "escaped_nul.jsonl": (lines(row(answer="21:40\0", references=["21:40\0"])).decode(), scored(1, **ONE)),
    "controls.jsonl": (lines(row(answer="\u202e21:40\u200f\x07\x1b[31m")).decode(), scored(1)),
}


def table(name):
    data, expected = {**DOCUMENTS, **BROKEN}[name]
    return data if isinstance(data, str) else json.dumps(data), expected


@pytest.mark.parametrize("name", [*ENCODINGS, *LINE_ENDS])
def test_encodings_and_line_ends(cli, home, name):
    content, options, expected = {**ENCODINGS, **LINE_ENDS}[name]
    write({name: content})
    check(cli("run", name, "-o", "out", "-m", METRICS, *options), expected)


@pytest.mark.parametrize("name", [*DOCUMENTS, *BROKEN])
def test_documents(cli, home, name):
    content, expected = table(name)
    write({name: content})
    check(cli("run", name, "-o", "out", "-m", METRICS), expected)


TYPES = {
    "answer true": (row(answer=True, references=["true"]), scored(1, **ONE)),
    "answer list": (row(answer=["21:40"]), refused("line 1", "answer")),
    "answer number": (row(answer=42, references=["42"]), scored(1, **ONE)),
    "answer null": (row(answer=None), scored(1, exact_match=[None], code=4)),
    "answer empty": (row(answer=""), scored(1, exact_match=[0.0])),
    "question number": (row(question=7), scored(1, **ONE)),
    "question list": (row(question=["q"]), refused("line 1", "question")),
    "references mapping": (row(references={"text": "21:40"}), refused("line 1", "references")),
    "references nested": (row(references=[["21:40"]]), refused("line 1", "references")),
    "references null inside": (row(references=["21:40", None]), refused("line 1", "references")),
    "references number": (row(answer="5", references=5), refused("line 1", "references")),
    "references empty text": (row(references=""), scored(1, exact_match=[None], code=4)),
    "references of empty texts": (row(references=["", " "]), scored(1, exact_match=[0.0])),
    "references false": (row(references=False), refused("line 1", "references")),
    "contexts mapping by rank": (row(contexts={"0": "x", "1": "y"}), refused("line 1", "contexts")),
    "contexts null inside": (row(contexts=["x", None]), refused("line 1", "contexts")),
    "contexts nested": (row(contexts=[["x"]]), refused("line 1", "contexts")),
    "contexts text null": (row(contexts=[{"text": None, "id": "c"}]), scored(1)),
    "contexts numbers": (row(contexts=[1, 2]), refused("line 1", "contexts")),
    "contexts bool": (row(contexts=True), refused("line 1", "contexts")),
    "context score text": (row(contexts=[{"text": "x", "score": "high"}]), refused("line 1", "score")),
    "context score true": (row(contexts=[{"text": "x", "score": True}]), refused("line 1", "score")),
    "context score numeral": (row(contexts=[{"text": "x", "score": "0.5"}]), scored(1, **ONE)),
    "context id number": (row(contexts=[{"text": "x", "id": 17}], relevance={"17": 1}), scored(1, recall=[1.0])),
    "context id float": (row(contexts=[{"text": "x", "id": 17.0}], relevance={"17": 1}), scored(1, recall=[1.0])),
    "relevance numbers": (row(contexts=[{"text": "x", "id": "17"}], relevance=[17]), scored(1, recall=[1.0])),
    "relevance true": (row(contexts=[{"text": "x", "id": "c"}], relevance={"c": True}), refused("line 1", "relevance")),
    "relevance numeral": (row(contexts=[{"text": "x", "id": "c"}], relevance={"c": "2"}), scored(1, recall=[1.0])),
    "relevance word": (
        row(contexts=[{"text": "x", "id": "c"}], relevance={"c": "yes"}),
        refused("line 1", "relevance"),
    ),
    "relevance null": (row(contexts=[{"text": "x", "id": "c"}], relevance={"c": None}), scored(1, recall=[None])),
    "relevance number": (row(relevance=1), scored(1, recall=[None])),
    "relevance of nobody": (row(contexts=[{"text": "x", "id": "c"}], relevance={"d": 1}), scored(1, recall=[0.0])),
    "facts mapping": (row(facts={"text": "x"}), refused("line 1", "facts")),
    "facts without text": (row(facts=[{"kind": "citation"}]), refused("line 1", "facts")),
    "facts of unknown kind": (row(facts=[{"text": "x", "kind": "rumour"}]), refused("line 1", "kind")),
    "facts empty": (row(facts=[""]), scored(1, fact_recall=[None])),
    "answerable in words": (row(answerable="perhaps"), refused("line 1", "answerable")),
    "citation beyond": (row(citations=[{"chunk": 99}]), scored(1, **ONE)),
    "citation zero": (row(citations=[{"chunk": 0}]), scored(1, **ONE)),
    "citation backwards": (row(citations=[{"chunk": 1, "start": 4, "end": 2}]), refused("line 1", "citations")),
    "citation after the end": (row(citations=[{"chunk": 1, "start": 0, "end": 900}]), scored(1, **ONE)),
    "citation of other words": (row(citations=[{"chunk": 1, "text": "not in the answer"}]), scored(1, **ONE)),
    "history text": (row(history="earlier"), refused("line 1", "history")),
    "history unknown role": (row(history=[{"role": "god", "text": "x"}]), refused("line 1", "role")),
    "history without text": (row(history=[{"role": "user"}]), refused("line 1", "history")),
    "steps of numbers": (row(steps=[1]), refused("line 1", "steps")),
    "steps negative seconds": (row(steps=[{"tool": "search", "seconds": -1}]), scored(1, **ONE)),
    "documents number": (row(documents=5), refused("line 1", "documents")),
    "metadata list": (row(metadata=[1]), refused("line 1", "metadata")),
    "metadata big number": (row(metadata={"n": 10**30}), scored(1, **ONE)),
    "extra column of mixed types": (row(extra={"a": [1, {"b": None}]}), scored(1, **ONE)),
    "id true": (row(id=True), refused("line 1", "id")),
    "id list": (row(id=["a"]), refused("line 1", "id")),
    "id empty": (row(id=""), refused("line 1", "id")),
    "id number": (row(id=3.0), scored(1, **ONE)),
    "id very long": (row(id="i" * 10_000), scored(1, **ONE)),
    "id of a path": (row(id="../../../etc/passwd"), scored(1, **ONE)),
    "name in capitals": ({"Question": "q", "ANSWER": "x", "References": ["x"]}, scored(1, **ONE)),
    "name with spaces": ({" question ": "q", "answer ": "x", "references": ["x"]}, scored(1, **ONE)),
    "name twice by case": ({"question": "q", "answer": "x", "Answer": "y", "references": ["x"]}, scored(1, **ONE)),
    "infinite in metadata": (
        '{"question": "q", "answer": "x", "references": ["x"], "metadata": {"n": 1e400}}',
        scored(1, **ONE),
    ),
    "nan in metadata": (
        '{"question": "q", "answer": "x", "references": ["x"], "metadata": {"n": NaN}}',
        scored(1, **ONE),
    ),
    "nan in another column": ('{"question": "q", "answer": "x", "references": ["x"], "n": NaN}', scored(1, **ONE)),
    "nan as a score": ('{"question": "q", "contexts": [{"text": "x", "score": NaN}]}', scored(1, code=4)),
}


@pytest.mark.parametrize("name", TYPES)
def test_types(cli, home, name):
    """The second line is good: its row must not hide what is wrong with the first."""
    first, expected = TYPES[name]
    write({"odd.jsonl": lines(first)})
    check(cli("run", "odd.jsonl", "-o", "out", "-m", METRICS), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in TYPES.items() if case[1].code == 2])
def test_a_wrong_type_in_a_later_line_is_found_too(cli, home, name):
    first, expected = TYPES[name]
    write({"odd.jsonl": lines(*[row(id=f"good{number}") for number in range(300)], first)})
    printed = cli("run", "odd.jsonl", "-o", "out", "-m", METRICS)
    check(printed, refused(*[word.replace("line 1", "line 301") for word in expected.words]))


MANY = {
    "ids 1 and '1'": (lines(row(id=1), row(id="1")), refused("line 2", "id")),
    "ids that look alike": (lines(row(id="caf\u00e9"), row(id="cafe\u0301", answer="no")), scored(2, **TWO)),
    "ids with a space": (lines(row(id="a"), row(id="a ", answer="no")), refused("line 2", "id")),
    "the same question without ids": (lines(row(id="-"), row(id="-", answer="no")), scored(2, **TWO)),
    "some without ids": (lines(row(), row(id="-", answer="no")), scored(2, **TWO)),
    "contexts in one row only": (lines(row(contexts="-"), row(id="b", answer="no")), scored(2, **TWO)),
    "text and list": (lines(row(references="21:40"), row(id="b", references=["x"])), scored(2, **TWO)),
    "another schema": (
        lines(row(), {"id": "b", "user_input": "q", "response": "a", "reference": "a"}),
        scored(2, "line 1", exact_match=[None, 1.0]),
    ),
    "late references": (
        lines(*[{"id": str(n), "question": f"q{n}", "answer": "a"} for n in range(2000)], row()),
        scored(2001),
    ),
    "metadata of two types": (
        lines(row(extra=1), row(id="b", extra="one", answer="no"), row(id="c", extra={"n": 1})),
        scored(3),
    ),
    "a column that changes its type": (lines(row(extra=[1]), row(id="b", extra=2.5, answer="no")), scored(2, **TWO)),
}


@pytest.mark.parametrize("name", MANY)
def test_rows_that_do_not_fit_together(cli, home, name):
    content, expected = MANY[name]
    write({"odd.jsonl": content})
    check(cli("run", "odd.jsonl", "-o", "out", "-m", METRICS), expected)


HEAD = "id,question,answer,references,contexts\n"
CELLS = {
    "semicolons": ("id;question;answer;references\na;q;x;x\nb;r;x;y\n", [], scored(2, **TWO)),
    "tabs": ("id\tquestion\tanswer\treferences\na\tq\tx\tx\nb\tr\tx\ty\n", [], scored(2, **TWO)),
    "pipes": ("id|question|answer|references\na|q|x|x\nb|r|x|y\n", [], refused("cannot detect")),
    "excel's sep line": ("sep=;\nid;question;answer;references\na;q;x;x\nb;r;x;y\n", [], scored(2, **TWO)),
    "index of pandas": (",question,answer,references\n0,q,x,x\n1,r,x,y\n", [], scored(2, **TWO)),
    "spaces in the header": ("id, question , answer,references\na,q,x,x\nb,r,x,y\n", [], scored(2, **TWO)),
    "no-break space in the header": ("id,question,answer\u00a0,references\na,q,x,x\nb,r,x,y\n", [], scored(2, **TWO)),
    "capitals in the header": ("ID,Question,Answer,References\na,q,x,x\nb,r,x,y\n", [], scored(2, **TWO)),
    "twice after trimming": ("id,question,answer,answer ,references\na,q,x,z,x\n", [], refused("answer")),
    "a column without a name": ("id,question,answer,references,\na,q,x,x,\nb,r,x,y,\n", [], scored(2, **TWO)),
    "two columns without a name": ("id,question,answer,references,,\na,q,x,x,,\nb,r,x,y,,\n", [], scored(2, **TWO)),
    "no header": ("When does it leave?,At 21:40\nDo dogs pay?,No\n", [], refused("--map")),
    "leading zeros": (HEAD + "a,q,007,007,x\nb,r,7,007,x\n", [], scored(2, **TWO)),
    "numbers as texts": (HEAD + "a,q,1.0,1.0,x\nb,r,1,2,x\n", [], scored(2, **TWO)),
    "words for nothing": (HEAD + "a,q,NA,NA,x\nb,r,null,None,x\n", [], scored(2, **TWO)),
    "truth words": (HEAD + "a,q,TRUE,TRUE,x\nb,r,TRUE,FALSE,x\n", [], scored(2, **TWO)),
    "dates": (HEAD + "a,q,2026-01-02,2026-01-02,x\nb,r,2026-01-02,2026-01-03,x\n", [], scored(2, **TWO)),
    "a huge integer": (
        HEAD + "a,q,123456789012345678901234567890,123456789012345678901234567890,x\nb,r,1e5,100000,x\n",
        [],
        scored(2, **TWO),
    ),
    "answers in brackets": (HEAD + 'a,q,[sic],[sic],x\nb,r,"[1]","[2]",x\n', [], refused("line 2", "references")),
    "numpy's lists": (HEAD + "a,q,x,x,\"['one text' 'another text']\"\n", [], scored(1, **ONE)),
    "a cut list": (HEAD + 'a,q,x,x,"[""one"", ""tw"\n', [], refused("contexts")),
    "a list of numbers": (HEAD + 'a,q,x,x,"[1, 2]"\n', [], refused("contexts")),
    "one mapping as contexts": (HEAD + "a,q,x,x,\"{'text': 'x'}\"\n", [], scored(1, **ONE)),
    "code as contexts": (HEAD + "a,q,x,x,\"__import__('os').system('touch hacked')\"\n", [], scored(1, **ONE)),
    "code in a list": (HEAD + "a,q,x,x,\"['a', __import__('os').system('touch hacked')]\"\n", [], refused("contexts")),
    "a long cell": (HEAD + "a,q," + "y" * 200_000 + ",x,x\n", [], scored(1, exact_match=[0.0])),
    "an unclosed quote far down": (HEAD + "a,q,x,x,x\n" * 1 + 'b,"r,x,y,x\nc,q,x,x,x\n', [], refused("line 3")),
    "quotes inside": (HEAD + 'a,q,say "x",say "x",x\nb,r,x,y,x\n', [], scored(2, **TWO)),
    "too many cells": (HEAD + "a,q,x,x,x\nb,r,x,y,x,z\n", [], refused("line 3")),
    "many columns": (
        "id,question,answer,references," + ",".join(f"c{n}" for n in range(3000)) + "\na,q,x,x" + ",1" * 3000 + "\n",
        [],
        scored(1, **ONE),
    ),
    "formulas": (HEAD + "a,q,=1+1,=1+1,x\nb,r,@SUM(A1),-1,x\n", [], scored(2, **TWO)),
    "gaps in numbered columns": (
        "question,answer,chunk_1,chunk_3,chunk_10,chunk_2\nq,x,one,three,ten,two\n",
        ["--map", "contexts=chunk_*"],
        scored(1, code=4),
    ),
    "comments": ("# exported yesterday\nid,question,answer,references\na,q,x,x\n", [], refused("cannot detect")),
    "markdown table": ("| question | answer |\n|---|---|\n| q | a |\n", [], refused("cells")),
}


@pytest.mark.parametrize("name", CELLS)
def test_csv_of_other_programs(cli, home, name):
    content, options, expected = CELLS[name]
    write({"cells.csv": content})
    check(cli("run", "cells.csv", "-o", "out", "-m", METRICS, *options), expected)
    assert not Path("hacked").exists()
