"""Rows with our names, full of what breaks readers and writers."""

from hypothesis import strategies as st

from ragstone.formats.coercion import coerce
from ragstone.formats.loose_contexts import union_of_steps

# Signs of CSV, JSON and databases, line ends of all kinds, halves of characters, and our own words.
_CELLS = [
    "",
    " ",
    "\\N",
    "\\\\N",
    '"',
    '""',
    "'",
    "\\",
    "a,b;c\td",
    "=1+1",
    "[1]",
    "[",
    "{",
    "null",
    "NaN",
    "True",
    "-0.0",
]
_CHARACTERS = ["\r", "\r\n", "\n", "\0", "\x1c", "\u2028", "\ufeff", "\ud800", "é", "😀", "٣"]
_WORDS = ["query", "question", "line 1: "]
nasty = st.text(max_size=8) | st.sampled_from([*_CELLS, *_CHARACTERS, *_WORDS])
names = st.one_of(
    nasty, st.sampled_from(["query", "metrics", "ragstone.facts", "ragstone.metadata", "results", "metadata"])
)
plain = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), nasty)
values = st.recursive(
    plain | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(nasty, inner, max_size=2),
    max_leaves=4,
)
grades = st.floats(-1e6, 1e6) | st.integers(-3, 3)
chunk = st.fixed_dictionaries(
    {"text": nasty},
    optional={
        "id": st.integers(0, 9) | nasty.map(lambda text: f"d{text}"),
        "score": grades,
        "source": nasty | st.none(),
    },
)
claim = st.one_of(nasty, st.lists(nasty, min_size=1, max_size=3))
verdict = st.sampled_from(["Entailment", "neutral", "CONTRADICTION"])
steps = st.lists(
    st.fixed_dictionaries(
        {"tool": st.sampled_from(["search", "fetch"])},
        optional={"query": nasty, "contexts": st.lists(chunk, max_size=2), "seconds": st.floats(0, 9)},
    ),
    max_size=2,
)
optional_fields = {
    "question": nasty | st.none(),
    "answer": nasty | st.none(),
    "references": nasty | st.lists(nasty, max_size=3),
    "reference_contexts": st.lists(nasty, max_size=2),
    "relevance": st.dictionaries(st.integers(0, 5).map(lambda n: f"d{n}"), grades, max_size=3),
    "facts": st.lists(
        st.fixed_dictionaries(
            {"text": nasty},
            optional={
                "kind": st.sampled_from(["citation", "statement"]),
                "source": nasty,
                "importance": st.sampled_from(["vital", "okay"]),
            },
        ),
        max_size=2,
    ),
    "answerable": st.booleans(),
    "documents": st.lists(nasty, max_size=2),
    "history": st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant"]), "text": nasty},
            optional={"contexts": st.lists(chunk, max_size=2)},
        ),
        max_size=2,
    ),
    "rewritten_question": nasty | st.none(),
    "steps": steps,
    "expected_steps": steps,
    "citations": st.lists(
        st.fixed_dictionaries({"chunk": st.integers(1, 3)}, optional={"start": st.just(0), "text": nasty}).map(
            lambda cited: {**cited, "end": 2} if "start" in cited else cited
        ),
        max_size=2,
    ),
    "metadata": st.dictionaries(names, values, max_size=3),
}


@st.composite
def rows(draw):
    """Rows with our names whose parts agree with each other."""
    made = []
    for number in range(draw(st.integers(1, 4))):
        row = {"id": f"{number}:{draw(nasty)}|", **draw(st.fixed_dictionaries({}, optional=optional_fields))}
        chunks = draw(st.none() | st.lists(nasty, max_size=3) | st.lists(chunk, max_size=3))
        row["contexts"] = chunks
        for side, other in (("answer", "reference"), ("reference", "answer")):
            claims = draw(st.none() | st.lists(claim, max_size=2))
            if claims is not None:
                row[f"{side}_claims"] = claims
                row[f"{side}_claims_in_{other}"] = [draw(verdict) for _ in claims]
                # Without contexts, a row gets the chunks of its steps.
                judged = union_of_steps(coerce("steps", row.get("steps") or [])) if chunks is None else chunks
                row[f"{side}_claims_in_contexts"] = [[draw(verdict) for _ in judged or ()] for _ in claims]
        made.append(row)
    return made
