"""Cases from a few letters: y says so, n says otherwise, . is silent; a word a claim, a letter a chunk."""

from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk, Claim, Fact, Sample

WORDS = {"y": "entailment", "n": "contradiction", ".": "neutral"}


def verdicts(letters):
    return [WORDS[letter] for letter in letters]


def matrix(words):
    return [verdicts(word) for word in words.split()]


def claim_case(said="", found="", right="", founded="", chunks=None, together=None, founded_together=None, **rest):
    """`said` and `right` have a letter a claim; `found` and `founded` a word a claim with a letter a chunk."""
    evidence = {
        "reference_claims": [Claim(f"r{number}") for number in range(1, len(said) + 1)],
        "reference_claims_in_answer": verdicts(said),
        "reference_claims_in_contexts": matrix(found) or [[] for _ in said],
        "answer_claims": [Claim(f"a{number}") for number in range(1, len(right) + 1)],
        "answer_claims_in_reference": verdicts(right),
        "answer_claims_in_contexts": matrix(founded) or [[] for _ in right],
    }
    if together is not None:
        evidence["reference_claims_in_all_contexts"] = verdicts(together)
    if founded_together is not None:
        evidence["answer_claims_in_all_contexts"] = verdicts(founded_together)
    width = max((len(word) for word in f"{found} {founded}".split()), default=0)
    texts = [f"chunk {rank}" for rank in range(1, width + 1)] if chunks is None else chunks
    known = {"answer": "An answer.", "question": "A question?", **rest.pop("sample", {})}
    sample = Sample("s", contexts=[Chunk(text) for text in texts], **known)
    return Case(sample, evidence | rest)


def fact_case(facts, chunks, answer="", references=(), ranks=None, **known):
    """Facts are looked for in the chunks by plain search."""
    chunks = [chunk if isinstance(chunk, Chunk) else Chunk(chunk) for chunk in chunks]
    where = [next((rank for rank, chunk in enumerate(chunks, 1) if fact in chunk.text), None) for fact in facts]
    sample = Sample(
        "s",
        question=known.pop("question", "A question?"),
        answer=answer,
        contexts=chunks,
        references=list(references) or None,
        facts=[Fact(fact) for fact in facts],
        **known,
    )
    return Case(sample, {"fact_ranks": where if ranks is None else ranks, "fact_matches": []})


def told(outcome):
    """The findings as (cause, about, chunks)."""
    return [(one.cause.name, one.about, one.chunks) for one in outcome.findings]
