"""Rows for runs that many work on."""

METRICS = ["token_f1", "rouge_l", "recall@3", "ndcg@5", "fact_recall", "fact_mrr", "refusal"]


def rows(count):
    """Answers with contexts, references, facts and relevance."""
    return [
        {
            "id": f"q{number}",
            "question": f"Which boat leaves at {number % 24}:15?",
            "answer": f"The boat to island {number % 13} leaves at {number % 24}:15."
            if number % 11
            else "I do not know.",
            "contexts": [
                {"id": f"c{number % 5}", "text": f"Island {number % 13} is reached at {number % 24}:15."},
                {"id": f"d{number % 7}", "text": f"Bicycles cost {number} crowns."},
            ],
            "references": [f"the boat to island {number % 12}"],
            "facts": [f"Island {number % 13}", f"{number} crowns", "an anchor"],
            "relevance": {"c1": 1, "c2": 2, "d3": 1},
        }
        for number in range(count)
    ]


def is_short(answer: str) -> float:
    """A metric that other processes can import."""
    return float(len(answer) < 40)
