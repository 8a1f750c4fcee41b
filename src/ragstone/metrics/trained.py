"""The label that people would give, as a judge trained on their labels guesses."""

from __future__ import annotations

from ragstone.registry import metric


@metric(
    "trained_grade",
    family="model_scored",
    judges="answer",
    against="references",
    source="a judge of one's own (ragstone train), after ARES (Saad-Falcon et al. 2023)",
    misleads=(
        "It knows the labels that it was trained on: other people, questions or systems may be judged otherwise. `ragstone "
        "agree` holds it against new labels, and with --ppi takes its bias out."
    ),
    slow=True,
)
def trained_grade(expected_label: float) -> float:
    """What people would say of the answer, as a judge guesses that was trained on your own labels.

    0 for the lowest label and 1 for the highest: for labels of yes and no, the probability of yes. A question that it was
    trained on is judged by the part of it that never saw that question. Needs --judge trained/NAME.
    """
    return expected_label
