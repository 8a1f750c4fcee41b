"""Verdicts for tests: written as letters, and drawn at random."""

from hypothesis import strategies as st

WORDS = {"e": "entailment", "n": "neutral", "c": "contradiction"}


def verdicts(letters: str) -> list[str]:
    """`enc` as verdicts, one a claim."""
    return [WORDS[letter] for letter in letters]


def matrix(*rows: str) -> list[list[str]]:
    """A row a claim, a letter a chunk."""
    return [verdicts(row) for row in rows]


@st.composite
def ledgers(draw, least_answer=0, least_reference=0, least_chunks=0):
    """All verdicts of a row: as many as there are claims of the answer and of the reference, and chunks."""
    answer = draw(st.integers(least_answer, 6))
    reference = draw(st.integers(least_reference, 6))
    chunks = draw(st.integers(least_chunks, 5))
    word = st.sampled_from(list(WORDS.values()))

    def many(size):
        return draw(st.lists(word, min_size=size, max_size=size))

    return {
        "answer_claims_in_reference": many(answer),
        "reference_claims_in_answer": many(reference),
        "answer_claims_in_contexts": [many(chunks) for _ in range(answer)],
        "reference_claims_in_contexts": [many(chunks) for _ in range(reference)],
    }
