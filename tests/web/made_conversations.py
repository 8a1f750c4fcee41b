"""A run with conversations: the second turn of the second one is wrong, and texts are hostile in the third."""

import json

import ragstone
from tests.report.runs import EVIL

YES, NO = "entailment", "contradiction"


def _turn(conversation, number, wrong=False, extra=""):
    question = f"What does ticket {number} of {conversation} cost? {extra}"
    said = f"Ticket {number} costs {number + 50 if wrong else number} crowns."
    truth = f"Ticket {number} costs {number} crowns."
    return question, {
        "id": f"{conversation}-{number}",
        "question": question,
        "answer": f"{said} {extra}",
        "references": [truth],
        "contexts": [f"Ticket {number} costs {number} crowns. {extra}", "Dogs travel free."],
        "metadata": {"conversation": f"{conversation} {extra}"},
        "answer_claims": [{"text": said}],
        "reference_claims": [{"text": truth}],
        "answer_claims_in_reference": [NO if wrong else YES],
        "reference_claims_in_answer": [NO if wrong else YES],
        "answer_claims_in_contexts": [[NO if wrong else YES, "neutral"]],
        "reference_claims_in_contexts": [[YES, "neutral"]],
    }


def conversation_rows():
    rows = []
    for name, turns in (("first", 3), ("second", 3), ("third", 2)):
        history = (
            [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Welcome"}] if name == "first" else []
        )
        for number in range(1, turns + 1):
            wrong = name == "second" and number == 2
            question, row = _turn(name, number, wrong, EVIL if name == "third" else "")
            rows.append({**row, "history": list(history)})
            history += [{"role": "user", "text": question}, {"role": "assistant", "text": row["answer"]}]
    # Turns are in order of their history, whatever the order of the rows is.
    return [*rows[::2], *rows[1::2]]


def conversation_run(root):
    file = root / "conversations.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in conversation_rows()))
    return ragstone.evaluate(file, ["ragchecker", "token_f1"], root, name="chat")
