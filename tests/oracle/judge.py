"""The perfect judge of the world: it reads the texts of a prompt and replies what is true.

It understands the world's sentences and nothing else, so what it says is right by definition. What it is shown is what
stood in the prompt: a prompt that garbles its data gets wrong replies, and the tests notice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from string import ascii_uppercase
from typing import Any

from tests.oracle.expected import claims, entities, generated_questions
from tests.oracle.language import REFUSALS, Statement, join, language_of_thing, read, read_question, read_triplet, say
from tests.oracle.verdicts import needed, useful, verdict
from tests.oracle.world import is_true, truth
from tests.oracle.writing import answer_from_memory, answer_from_passages, new_question

Data = Mapping[str, Any]


def judge(prompt: str, data: Data) -> Any:
    """The true reply to a prompt about some data."""
    return _TASKS[prompt](data)


def _claims(data: Data) -> dict[str, Any]:
    return {"claims": [statement.text for statement in claims(read(data["text"]))]}


def _triplets(data: Data) -> dict[str, Any]:
    found = [statement.meaning for statement in claims(read(data["text"])) if statement.meaning]
    return {"triplets": [dict(zip(("subject", "relation", "object"), meaning, strict=True)) for meaning in found]}


def _claims_and_entities(data: Data) -> dict[str, Any]:
    return {**_claims(data), "entities": entities(read(data["text"]))}


def _verdicts(data: Data) -> dict[str, Any]:
    said = read(data["text"])
    return {
        "verdicts": [
            {"claim": number, "verdict": _on(claim, said)} for number, claim in enumerate(data["claims"], start=1)
        ]
    }


def _context_verdicts(data: Data) -> dict[str, Any]:
    chunks = [read(chunk) for chunk in data["chunks"]]
    replies = []
    for number, claim in enumerate(data["claims"], start=1):
        found = [_on(claim, chunk) for chunk in chunks]
        replies.append(
            {
                "claim": number,
                "supported_by": _letters(found, "entailment") or _pair_that_entails(claim, chunks),
                "contradicted_by": _letters(found, "contradiction"),
            }
        )
    return {"verdicts": replies}


def _pair_that_entails(claim: str, chunks: Sequence[Sequence[Statement]]) -> list[str]:
    """The first two chunks from which a claim follows in combination, if there are any."""
    labelled = zip(ascii_uppercase, chunks, strict=False)
    pairs = (
        f"{one[0]}+{other[0]}"
        for one, other in combinations(labelled, 2)
        if _on(claim, [*one[1], *other[1]]) == "entailment"
    )
    return [pair for pair in [next(pairs, None)] if pair]


def _questions(data: Data) -> dict[str, Any]:
    said = read(data["answer"])
    noncommittal = any(statement.text in REFUSALS.values() for statement in said)
    questions = [] if noncommittal else generated_questions(claims(said), int(data["count"]))
    return {"questions": questions, "noncommittal": noncommittal}


def _needed_sentences(data: Data) -> dict[str, Any]:
    asked = read_question(data["question"])
    assert asked, f"no question of the world: {data['question']!r}"
    sentences = [_only(read(sentence)) for sentence in data["sentences"]]
    return {"needed": [place for place, is_needed in enumerate(needed(*asked, sentences), start=1) if is_needed]}


def _usefulness(data: Data) -> dict[str, Any]:
    wanted = [statement.meaning for statement in claims(read(data["answer"])) if statement.meaning]
    found = useful(wanted, [read(chunk) for chunk in data["chunks"]])
    return {"useful": [letter for letter, is_useful in zip(ascii_uppercase, found, strict=False) if is_useful]}


def _answer_match(data: Data) -> dict[str, Any]:
    """An answer matches a reference if it entails all that this claims, and claims nothing against it."""
    said = read(data["answer"])
    found = []
    for number, reference in enumerate(map(read, data["references"]), start=1):
        told = all(_on(claim.text, said) == "entailment" for claim in claims(reference))
        denied = any(_on(claim.text, reference) == "contradiction" for claim in claims(said))
        found += [number] if told and claims(reference) and not denied else []
    return {"matches": found}


def _grade(data: Data) -> dict[str, Any]:
    """The worth of the answer as a share; the server puts it on the scale that the prompt names."""
    return {"grade": worth(data["answer"], data)}


def _relevance_grade(data: Data) -> dict[str, Any]:
    """3 if a passage says all that is asked and nothing else, 2 if it says some of it, 1 if it is about the ship, otherwise 0."""
    return {"match": (grade := relevance_grade(data["question"], data["passage"])), "trust": 3, "grade": grade}


def relevance_grade(question: str, passage: str) -> int:
    """The grade of a passage, as UMBRELA words it."""
    subject, attributes = read_question(question) or ("", [])
    assert attributes, f"no question of the world: {question!r}"
    said, language = read(passage), language_of_thing(subject)
    told = [verdict(truth(language, subject, name), said) == "entailment" for name in attributes]
    if any(told):
        return 3 if all(told) and len(said) <= len(told) else 2
    return int(any(statement.meaning and statement.meaning.subject == subject for statement in said))


# Right answers to questions that are not about the world, for tests that bring some.
KNOWN: dict[str, str] = {}


def _own_reference(data: Data) -> dict[str, Any]:
    """The whole truth about what is asked."""
    if data["question"] in KNOWN:
        return {"answer": KNOWN[data["question"]]}
    subject, attributes = read_question(data["question"]) or ("", [])
    assert attributes, f"no question of the world: {data['question']!r}"
    language = language_of_thing(subject)
    return {"answer": join(language, [say(language, truth(language, subject, name)) for name in attributes])}


def _pair(data: Data) -> dict[str, Any]:
    first, second = worth(data["answer_a"], data), worth(data["answer_b"], data)
    winner = "tie" if first == second else "A" if first > second else "B"
    return {"reasoning": f"{first:.2f} against {second:.2f}", "winner": winner}


def worth(answer: str, data: Data) -> float:
    """How much of what is wanted an answer tells, halved if it says anything false: by the reference where there is one."""
    if data.get("question") in KNOWN:
        return float(KNOWN[data["question"]] in answer)
    said = read(answer)
    told = claims(said)
    if "reference" in data:
        wanted = [claim.meaning for claim in claims(read(data["reference"])) if claim.meaning]
    elif "question" not in data:
        return 1.0 if told else 0.25
    else:
        subject, attributes = read_question(data["question"]) or ("", [])
        language = language_of_thing(subject)
        wanted = [truth(language, subject, name) for name in attributes]
    share = sum(verdict(meaning, said) == "entailment" for meaning in wanted) / len(wanted)
    return share if all(is_true(claim.meaning) for claim in told if claim.meaning) else share / 2


def _token_support(data: Data) -> str:
    """A claim of one sentence, or a nugget of several."""
    said = read(data["evidence"])
    if len(read(data["claim"])) > 1:
        return "yes" if _contained(data["claim"], said) == "support" else "no"
    return "yes" if _on(data["claim"], said) == "entailment" else "no"


def _token_contradiction(data: Data) -> str:
    stands = {"entailment": "true", "contradiction": "false"}
    return stands.get(_on(data["claim"], read(data["evidence"])), "unknown")


def _token_match(data: Data) -> str:
    return "yes" if _answer_match({**data, "references": [data["reference"]]})["matches"] else "no"


def _token_part(data: Data) -> str:
    return "yes" if _contained(data["claim"], read(data["evidence"])) != "not_support" else "no"


def _nuggets(data: Data) -> dict[str, Any]:
    said = read(data["answer"])
    labels = [_contained(nugget, said) for nugget in data["nuggets"]]
    return {"labels": [{"nugget": number, "label": label} for number, label in enumerate(labels, start=1)]}


def _contained(nugget: str, said: Sequence[Statement]) -> str:
    """How far statements contain a nugget of one or more sentences; a part that is denied spoils the rest."""
    found = [verdict(part.meaning, said) for part in read(nugget) if part.meaning]
    assert found, f"no nugget of the world: {nugget!r}"
    if all(word == "entailment" for word in found):
        return "support"
    return "partial_support" if "entailment" in found and "contradiction" not in found else "not_support"


def _new_nuggets(data: Data) -> dict[str, Any]:
    """What passages assert about the ship of the question, each once, and not what is known."""
    subject, _ = read_question(data["question"]) or ("", [])
    known = {statement.meaning for statement in read(data["known"])} if data["known"] != "none" else set()
    found: dict[Any, str] = {}
    for statement in (one for passage in data["passages"] for one in claims(read(passage))):
        if statement.meaning and statement.meaning.subject == subject and statement.meaning not in known:
            found.setdefault(statement.meaning, statement.text)
    return {"nuggets": list(found.values())}


def _nugget_importance(data: Data) -> dict[str, Any]:
    """What the question asks for is vital."""
    _, attributes = read_question(data["question"]) or ("", [])
    return {
        "ranked": [
            {"nugget": number, "importance": "vital" if _asked(nugget, attributes) else "okay"}
            for number, nugget in enumerate(data["nuggets"], start=1)
        ]
    }


def _asked(nugget: str, attributes: Sequence[str]) -> bool:
    return any(part.meaning and part.meaning.attribute in attributes for part in read(nugget))


def _checklist(data: Data) -> dict[str, Any]:
    """Items are statements: yes where the answer makes them; those about another ship than the question's do not apply."""
    subject, _ = read_question(data["question"]) or ("", [])
    said, verdicts = read(data["answer"]), []
    for number, item in enumerate(data["items"], start=1):
        meaning = _only(read(item)).meaning
        assert meaning, f"no item of the world: {item!r}"
        word = "yes" if verdict(meaning, said) == "entailment" else "no"
        word = word if meaning.subject == subject else "not_applicable"
        verdicts.append({"item": number, "reason": f"It is about the {meaning.subject}.", "verdict": word})
    return {"items": verdicts}


def _simulated_user(data: Data) -> dict[str, Any]:
    """Asks for the last part that is open, in its own words; a part is reached by an answer that names crowns."""
    heard = [text for text in data["messages"] if text.startswith("assistant: ")]
    reached = [number for number, part in enumerate(data["goal"], 1) if "fare" in part and "crowns" in " ".join(heard)]
    wanted = [part for number, part in enumerate(data["goal"], 1) if number not in reached]
    return {"reached": reached, "leaves": not wanted, "message": f"And {wanted[-1]}?" if wanted else ""}


def _pass_fail(data: Data) -> dict[str, Any]:
    share = worth(data["answer"], data)
    return {"reasoning": f"It is worth {share:.2f}.", "verdict": "pass" if share > 0.5 else "fail"}


def _decision(data: Data) -> dict[str, Any]:
    """Yes if the answer says what is asked about it, in a statement of the world."""
    meaning = _only(read(data["ask"])).meaning
    assert meaning, f"no statement of the world: {data['ask']!r}"
    word = "yes" if verdict(meaning, read(data["answer"])) == "entailment" else "no"
    return {"reason": f"It is about the {meaning.subject}.", "choice": word}


def _citations(data: Data) -> dict[str, Any]:
    """The first sentence of the passages that asserts each claim of the answer, as it stands there."""
    sentences = [statement for passage in data["passages"] for statement in read(passage)]
    wanted = [statement.meaning for statement in claims(read(data["answer"])) if statement.meaning]
    found = [
        next((item.text for item in sentences if item.stance == "asserts" and item.meaning == meaning), None)
        for meaning in wanted
    ]
    return {"citations": [text for text in dict.fromkeys(found) if text]}


def _stance(data: Data) -> dict[str, Any]:
    """The world's refusals decline; who says that a text has factual errors says so in these words."""
    declines = any(refusal in data["answer"] for refusal in REFUSALS.values())
    return {"declines": declines, "reports_errors": "factual errors" in data["answer"]}


def _on(claim: str, statements: Sequence[Statement]) -> str:
    meaning = read_triplet(claim) or _only(read(claim)).meaning
    assert meaning, f"no claim of the world: {claim!r}"
    return verdict(meaning, statements)


def _only(statements: list[Statement]) -> Statement:
    assert len(statements) == 1, f"more or less than one sentence: {statements}"
    return statements[0]


def _letters(found: list[str], wanted: str) -> list[str]:
    return [letter for letter, given in zip(ascii_uppercase, found, strict=False) if given == wanted]


_TASKS: dict[str, Callable[[Data], Any]] = {
    "claims": _claims,
    "triplets": _triplets,
    "claims_and_entities": _claims_and_entities,
    "verdicts": _verdicts,
    "context_verdicts": _context_verdicts,
    "questions": _questions,
    "needed_sentences": _needed_sentences,
    "usefulness": _usefulness,
    "answer_match": _answer_match,
    "stance": _stance,
    "citations": _citations,
    "new_question": new_question,
    "answer_from_passages": answer_from_passages,
    "answer_from_memory": answer_from_memory,
    "relevance_grade": _relevance_grade,
    "grade": _grade,
    "own_reference": _own_reference,
    "pair": _pair,
    "standalone_question": lambda data: {"question": data["question"]},
    "simulated_user": _simulated_user,
    "token_support": _token_support,
    "token_contradiction": _token_contradiction,
    "token_match": _token_match,
    "token_pair": lambda data: "yes" if _pair(data)["winner"] == "A" else "no",
    "token_part": _token_part,
    "nuggets": _nuggets,
    "new_nuggets": _new_nuggets,
    "nugget_importance": _nugget_importance,
    "checklist": _checklist,
    "pass_fail": _pass_fail,
    "decision": _decision,
}
