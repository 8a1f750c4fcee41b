"""Systems whose answers are known: the oracle's world, in which it is known who is right, by how much."""

import ragstone
from tests.oracle.language import join, say
from tests.oracle.world import _other_value, make_samples, truth


def world_rows(count, quality, seed=0, language="en"):
    """Answers of a system that tells the first `quality(number, asked)` attributes rightly and leaves out the others."""
    rows = []
    for number, sample in enumerate(make_samples(count, seed, (language,))):
        right = [truth(language, sample.subject, name) for name in sample.asked]
        told = right[: quality(number, len(right))]
        rows.append(
            {
                "id": f"q{number}",
                "question": sample.question,
                "answer": join(language, [say(language, meaning) for meaning in told]) or "I do not know.",
                "references": [join(language, [say(language, meaning) for meaning in right])],
                "contexts": [join(language, [say(language, meaning) for meaning in right])],
            }
        )
    return rows


def wrong_answer(row_sample, language="en"):
    """All attributes that were asked for, each with a wrong value."""
    right = [truth(language, row_sample.subject, name) for name in row_sample.asked]
    return join(language, [say(language, _other_value(language, meaning)) for meaning in right])


def store_run(root, name, rows):
    """A stored run of a system, with something cheap computed."""
    return ragstone.evaluate(rows, ["exact_match"], root, name=name)


def whole(number, asked):
    """Everything."""
    return asked


def half(number, asked):
    """Every second answer is whole, the others lack something."""
    return asked if number % 2 else asked - 1


def little(number, asked):
    """One attribute."""
    return 1
