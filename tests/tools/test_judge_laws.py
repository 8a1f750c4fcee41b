"""Laws that the shipped judge obeys on sentences it was not trained on: descriptions of packages, and Python's reference."""

import asyncio
import random
import re
from importlib.metadata import distributions
from pydoc_data.topics import topics

import pytest

from ragstone.models.local_judge import Judgements, open_local_judge
from ragstone.text.sentences import sentences
from ragstone.text.verbatim import contains_statement
from ragstone.tools.local_judges import LocalChecker

FORMS = ["{}", "- {}", "1. {}", "> {}", "**{}**", '"{}"', "  {}\n", "Section 4: {}", "# Notes\n\n{}", "Guide > Use\n{}"]
PLAIN = re.compile(r"[A-Z][^`|<>\[\]{}=_*#\\]{30,200}[a-z]\.")


def _sentences_of(text):
    found = (text[start:end].strip() for start, end in sentences(text))
    return [one for one in found if PLAIN.fullmatch(one) and "\n" not in one and len(one.split()) > 5]


@pytest.fixture(scope="module")
def texts():
    """Sentences by package or topic."""
    read = {item.metadata["Name"]: item.metadata.get_payload() or "" for item in distributions()}
    read |= {name: re.sub(r"\n *(?=\S)", " ", text) for name, text in topics.items()}
    by_package = {name: _sentences_of(text) for name, text in read.items()}
    return {name: list(dict.fromkeys(found)) for name, found in sorted(by_package.items()) if len(found) > 5}


@pytest.fixture(scope="module")
def checker():
    judge = open_local_judge()
    return LocalChecker(Judgements(judge), judge.card, "")


def test_a_sentence_is_supported_by_itself_and_by_what_contains_it(texts):
    rng = random.Random(1)
    tried, missed = 0, []
    for found in texts.values():
        for sentence in found:
            form = rng.choice(FORMS)
            around = rng.sample(found, 2)
            tried += 1
            if not contains_statement(f"{around[0]}\n{form.format(sentence)}\n{around[1]}", sentence):
                missed.append((form, sentence))
    assert tried > 1000, "few texts are installed"
    assert len(missed) <= 0.01 * tried, missed[:5]


@pytest.mark.slow
def test_unrelated_evidence_contradicts_nothing(texts, checker):
    rng = random.Random(2)
    names = list(texts)

    async def weigh():
        pairs = [(rng.choice(texts[one]), " ".join(rng.sample(texts[other], 3))) for one, other in _two(names, rng)]
        return [(await checker.weigh([claim], [evidence]))[0][0] for claim, evidence in pairs]

    verdicts = asyncio.run(weigh())
    assert sum(verdict == "contradiction" for verdict in verdicts) <= 2
    assert sum(verdict == "entailment" for verdict in verdicts) <= 0.03 * len(verdicts)


def _two(names, rng, count=150):
    return [rng.sample(names, 2) for _ in range(count)]


@pytest.mark.slow
def test_an_unrelated_sentence_turns_no_support_into_contradiction(texts, checker):
    rng = random.Random(3)

    async def weigh():
        turned = []
        for one, other in _two(list(texts), rng, 100):
            # Cut in two, so that the rule of whole sentences does not decide.
            evidence = " ".join(rng.sample(texts[one], 3))
            claim = rng.choice(_sentences_of(evidence)).replace(".", ", as described.")
            [[alone]] = await checker.weigh([claim], [evidence])
            [[more]] = await checker.weigh([claim], [f"{evidence} {rng.choice(texts[other])}"])
            turned.append(alone == "entailment" and more == "contradiction")
        return turned

    assert not any(asyncio.run(weigh()))


@pytest.mark.slow
def test_a_claim_and_its_denial_are_not_both_supported(texts, checker):
    rng = random.Random(4)
    claims = [one for found in texts.values() for one in found if " is " in one and " not " not in one]

    async def weigh():
        both = []
        for claim in rng.sample(claims, min(100, len(claims))):
            [[denied]] = await checker.weigh([claim.replace(" is ", " is not ", 1)], [claim])
            both.append(denied == "entailment")
        return both

    found = asyncio.run(weigh())
    assert sum(found) <= 0.05 * len(found)
