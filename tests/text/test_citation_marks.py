"""Citation marks in all their spellings, and what only looks like one."""

import pytest

from ragstone.text.citation_marks import Cited, find_chunks, find_marks, resolve

CHUNKS = [
    Cited("a", "https://port.example/hours"),
    Cited("doc-3", "docs/handbook.pdf"),
    Cited("c", "docs/handbook.pdf"),
    Cited("d"),
]


def cited(text, chunks=CHUNKS):
    """The ranks of the cited chunks by mark; an empty list for one that names nothing."""
    marks, references = find_marks(text)
    found = [(text[mark.start : mark.end], resolve(mark, chunks, references)) for mark in marks]
    return [(mark, [[at + 1 for at in some] for some in each]) for mark, each in found if each is not None]


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("At nine [1].", [[1]]),
        ("At nine.[1]", [[1]]),
        ("The gene p53[1] mutates.", [[1]]),
        ("On macOS[2] it runs.", [[2]]),
        ("It costs nine for a return [2].", [[2]]),
        ("At nine[1][2].", [[1], [2]]),
        ("At nine [1, 3].", [[1], [3]]),
        ("At nine [1; 3].", [[1], [3]]),
        ("At nine [1 and 3].", [[1], [3]]),
        ("At nine [1-3].", [[1], [2], [3]]),
        ("At nine [1–2, 4].", [[1], [2], [4]]),
        ("At nine [2, p. 14].", [[2]]),
        ("At nine [[2]].", [[2]]),
        ("At nine [doc-3].", [[2]]),
        ("At nine [doc 4].", [[4]]),
        ("At nine [Doc 1, Doc 4].", [[1], [4]]),
        ("At nine [Source 1].", [[1]]),
        ("At nine [Document #4].", [[4]]),
        ("At nine [source: handbook.pdf].", [[2, 3]]),
        ("At nine [handbook.pdf].", [[2, 3]]),
        ("At nine [handbook].", [[2, 3]]),
        ("At nine [c].", [[3]]),
        ("At nine 【1†source】.", [[1]]),
        ("At nine 【4:0†handbook.pdf】.", [[2, 3]]),
        ("At nine 【4:1†source】.", [[2]]),
        ("At nine 【2†L5-L12】.", [[2]]),
        ("At nine 【2】.", [[2]]),
        ("At nine.¹", [[1]]),
        ("At nine¹,² sharp.", [[1], [2]]),
        ("At nine<sup>2</sup>.", [[2]]),
        ("At nine<sup>[1, 2]</sup>.", [[1], [2]]),
        ("At nine ([hours](https://port.example/hours)).", [[1]]),
        ("At nine [1](https://port.example/hours#winter).", [[1]]),
        ("At nine [[1]](https://port.example/hours/).", [[1]]),
        ("At nine, https://www.port.example/hours.", [[1]]),
        ("At nine [7].", [[]]),
        ("At nine [doc-9].", [[]]),
        ("At nine [2](https://elsewhere.example).", [[]]),
        ("At nine 【3†lost.pdf】.", [[]]),
    ],
)
def test_spellings(text, ranks):
    assert [one for _, each in cited(text) for one in each] == ranks


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("At nine.[^1]\n\n[^1]: handbook.pdf, page 3", [[2, 3]]),
        ("At nine.[^hours]\n\n[^hours]: https://port.example/hours", [[1]]),
        ("At nine.[^2]\n\n[^2]: The harbour handbook", [[2]]),
        ("At nine.[^9]", [[]]),
        ("At nine [1].\n\n[1]: https://port.example/hours", [[1]]),
        ("At nine [1].\n\nSources:\n[1] handbook.pdf\n[2] https://port.example/hours", [[2, 3]]),
        ("At nine [2].\n\n## References\n1. handbook.pdf\n2. https://port.example/hours", [[1]]),
        ("At nine [1].\n\n[1] Harbour handbook, 2021", [[1]]),
        ("At nine [1].\n\n[1]: https://elsewhere.example/x", [[]]),
        ("At nine [1].\n\n[1]: chunk 4", [[4]]),
    ],
)
def test_footnotes_and_lists_of_references(text, ranks):
    assert [one for _, each in cited(text) for one in each] == ranks


@pytest.mark.parametrize(
    "text",
    [
        "Use `rows[1]` here.",
        "```python\nx = rows[1]\n```",
        "~~~\nsee [1]\n",
        "Take x[1] and my_list[2] and arr[3].",
        "Set total = [1, 2].",
        "def f():\n  return [1]",
        "rows[0][1] is the first.",
        "In [1999] and from [2019-2021].",
        "The interval [1, 3] is closed; so is the range [1-4].",
        "From [0, 1] and [0].",
        'The reply is {"ids": [1, 2]}.',
        "values[1] = 5",
        "- [x] done\n- [ ] open",
        "It is [sic] so [...] [citation needed] [emphasis added].",
        "[1] Buy bread\n[2] Buy milk",
        "A [link](https://elsewhere.example) and ![1](https://port.example/hours).",
        "It has 20 m² and 10³ cm³ and 3 km².",
        "x² + y² = z²",
        r"\[1\] is escaped, and $[1, 2]$ is a formula.",
        "[1990-1999] was a decade. [12345] is long.",
        "【注意】 and 【】 and [] and [[ ]]",
        "HTTP://",
        "[",
        "]" * 50 + "[" * 50,
        "(1) one (2) two",
        "",
    ],
)
def test_what_is_no_citation(text):
    assert cited(text) == []


def test_a_source_with_several_chunks_is_one_citation():
    assert cited("So [handbook.pdf, d].") == [("[handbook.pdf, d]", [[2, 3], [4]])]


def test_numbers_are_ranks_before_they_are_ids():
    chunks = [Cited("3"), Cited("1"), Cited("17")]
    assert cited("So [1] and [17].", chunks) == [("[1]", [[1]]), ("[17]", [[3]])]
    assert find_chunks("1", chunks) == (1,)
    assert find_chunks("2", chunks) == (1,)
    assert find_chunks("nothing", chunks) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["[" * 20_000, "[1" * 10_000, "[1](" * 5_000, "`[1]" * 5_000, "1, " * 20_000 + "]", "[^" * 9_000]
)
def test_hostile_texts_are_read_quickly(text):
    find_marks(text)


def test_without_chunks_a_mark_names_nothing():
    assert cited("At nine [1].", []) == [("[1]", [[]])]
