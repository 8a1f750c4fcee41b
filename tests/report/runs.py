"""Runs for the tests of reports: the shipped example in two versions, and one full of hostile text with claims and verdicts."""

import json
from importlib import resources

import ragstone

METRICS = ["fact_recall", "fact_precision", "recall", "token_f1", "rouge_l", "answerability_accuracy"]
BIDI = "\u202emorf\u2066"
EVIL = f"</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"q\" 'q' {{{{ 7*7 }}}} {BIDI}\x1b[31m\x00"
YES, NO, SILENT = "Entailment", "Contradiction", "Neutral"


def harbour_rows(system):
    file = resources.files("ragstone.examples") / "harbour" / f"{system}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def harbour(system, root, metrics=METRICS):
    file = resources.files("ragstone.examples") / "harbour" / f"{system}.jsonl"
    return ragstone.evaluate(str(file), metrics, root, name=f"harbour-{system}")


def hostile_rows(count=3):
    """RAGChecker's form, claims and verdicts included, so that no judge is needed."""
    return [
        {
            "query_id": f"id{number} {EVIL}",
            "query": f"What? {EVIL}",
            "gt_answer": f"The boat is red. It leaves at nine. {EVIL}",
            "response": f"The boat is red. It leaves at ten. {EVIL}",
            "retrieved_context": [
                {"doc_id": f"doc {EVIL}", "text": f"The boat is red. {EVIL}"},
                {"doc_id": "b", "text": "It leaves at ten."},
            ],
            "response_claims": ["The boat is red.", "It leaves at ten."],
            "gt_answer_claims": ["The boat is red.", f"It leaves at nine. {EVIL}"],
            "answer2response": [YES, NO],
            "response2answer": [YES, NO],
            "retrieved2response": [[YES, SILENT], [SILENT, YES]],
            "retrieved2answer": [[YES, SILENT], [SILENT, NO]],
        }
        for number in range(count)
    ]


def hostile(root, name=EVIL, count=3):
    file = root / "hostile.json"
    file.write_text(json.dumps({"results": hostile_rows(count)}))
    return ragstone.evaluate(file, ["ragchecker", "token_f1"], root, name=name, params={"evil": EVIL})
