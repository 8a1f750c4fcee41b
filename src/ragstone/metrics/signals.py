"""The answer as its users saw it, by what they did with it."""

from __future__ import annotations

from ragstone.errors import Skip
from ragstone.registry import metric
from ragstone.text.signals import WEIGHTS


@metric(
    "like_rate",
    family="signals",
    judges="answer",
    against="metadata",
    source="user signals of DIAL: like and dislike, copy, regenerate, reading time, the next message",
    misleads=(
        "Few users press a button, and those who do are not like the others. People like what reads well, also where it is "
        "wrong. A rate over the answers that have a signal says nothing about the rest."
    ),
    sets=("reference_free",),
    slow=True,  # it is not: but most data has no signals, and then a plain run would show an empty metric
)
def like_rate(
    user_signals: dict[str, float],
    like: float = WEIGHTS["like"],
    dislike: float = -WEIGHTS["dislike"],
    copy: float = WEIGHTS["copy"],
    regenerate: float = -WEIGHTS["regenerate"],
    reading_time: float = WEIGHTS["reading_time"],
    thanks: float = WEIGHTS["thanks"],
    complaint: float = -WEIGHTS["complaint"],
) -> float:
    """The users' signals speak for the answer: the share of their weight that does.

    Sum of the weights of the signals for the answer / sum of all weights. For: like, copy, thanks in the next message, time enough
    to read it; against: dislike, regenerate, a complaint in the next message, too short a time. With likes and dislikes
    alone it is the plain rate of likes. Weights are confidences as log-odds; 0 leaves a signal out. Skipped when the
    answer has no signal.
    """
    for_it = {"like": like, "copy": copy, "thanks": thanks}
    against_it = {"dislike": dislike, "regenerate": regenerate, "complaint": complaint}
    read = user_signals.get("reading_time", 0.0)
    good = sum(weight * user_signals.get(name, 0.0) for name, weight in for_it.items()) + reading_time * max(read, 0.0)
    bad = sum(weight * user_signals.get(name, 0.0) for name, weight in against_it.items()) - reading_time * min(
        read, 0.0
    )
    if min(*for_it.values(), *against_it.values(), reading_time) < 0:
        raise ValueError("a weight is below 0; 0 leaves a signal out")
    if not good + bad:
        raise Skip("no user signal that has a weight")
    return good / (good + bad)
