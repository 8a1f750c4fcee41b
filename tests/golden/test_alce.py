"""ALCE (Gao et al. 2023), section 4: a worked example of its citation recall and precision, counted by hand.

Recall of a statement is 1 if it has citations and the cited passages together entail it. A citation is irrelevant if its
passage alone does not entail the statement and the others do without it. A citation has precision 1 if its statement has
recall 1 and it is not irrelevant. Recall is averaged over statements, precision over citations.
"""

import pytest

import ragstone

E, N = "entailment", "neutral"
ANSWER = (
    "The harbour opens at nine [1]. The ferry takes an hour [1][3]. The captain was born in Arden [2][4]. "
    "The lighthouse is red [2]. The pier is long. The museum is free [9]."
)
CLAIMS = [
    "The harbour opens at nine.",
    "The ferry takes an hour.",
    "The captain was born in Arden.",
    "The lighthouse is red.",
    "The pier is long.",
    "The museum is free.",
]
ROW = {
    "question": "What about the harbour?",
    "answer": ANSWER,
    "contexts": ["one", "two", "three", "four"],
    "answer_claims": CLAIMS,
    "answer_claims_in_contexts": [
        [E, N, N, N],  # its passage entails it: recall 1, precision 1
        [N, N, E, N],  # passage 3 does without passage 1, which is irrelevant: recall 1, precision 0 and 1
        [N, N, N, N],  # only together: recall 1, both are needed
        [E, N, N, N],  # passage 1 would have been right: recall 0, precision 0
        [N, E, N, N],  # no citation: recall 0
        [N, N, N, N],  # there is no passage 9: recall 0, precision 0
    ],
    "answer_claims_in_all_contexts": [E, E, E, E, E, N],
}
EXPECTED = {
    "citation_recall": 3 / 6,
    "citation_precision": 4 / 7,
    "citation_f1": 8 / 15,
    "uncited_claims": 1 / 6,
    "wrongly_cited_claims": 1 / 6,
    "unresolved_citations": 1 / 7,
}


@pytest.fixture(scope="module")
def run():
    return ragstone.evaluate([ROW], "citations")


@pytest.mark.parametrize("name", EXPECTED)
def test_the_worked_example(run, name):
    assert run.summary()[name].mean == pytest.approx(EXPECTED[name], abs=1e-12)


def test_nobody_was_asked(run):
    assert run.info["totals"]["calls"] == 0
    assert {step for step in run.info["evidence"] if "citations" in step} == {"answer_citations", "claim_citations"}


def test_without_any_citation_both_are_0_as_in_alce():
    plain = {**ROW, "answer": " ".join(CLAIMS)}
    summary = ragstone.evaluate([plain], "citations").summary()
    assert [summary[name].mean for name in ("citation_recall", "citation_precision", "citation_f1")] == [0.0, 0.0, 0.0]
    assert summary["uncited_claims"].mean == 1.0
    assert summary["unresolved_citations"].n_skipped == 1


def test_given_citations_win():
    given = [{"chunk": "2", "text": "The pier is long"}, {"chunk": "1", "start": 0, "end": 30}]
    summary = ragstone.evaluate([{**ROW, "citations": given}], "citations").summary()
    assert summary["citation_recall"].mean == pytest.approx(2 / 6)
    assert summary["citation_precision"].mean == 1.0
    assert summary["unresolved_citations"].mean == 0.0
