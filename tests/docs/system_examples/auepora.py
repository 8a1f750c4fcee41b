"""Writes the files of the example in docs/systems/auepora.md, and checks their scores."""

import ragstone

row = {
    "question": "When does the last boat leave?",  # query
    "contexts": [{"id": "t1", "text": "The last boat leaves at 21:40."}, {"id": "d2", "text": "Dogs travel free."}],
    "relevance": ["t1"],  # candidates
    "answer": "The last boat leaves at 21:40.",  # response
    "references": ["At 21:40."],  # sample response
    "metadata": {"latency_s": 0.8},
}
targets = {
    "retrieval, accuracy": "precision@2",
    "generation, faithfulness": "k_precision",
    "generation, correctness": "token_recall",
    "latency": "system.latency",
}
scores = ragstone.evaluate([row], list(targets.values())).summary()
assert [line.mean for line in scores] == [0.5, 1.0, 1.0, 0.8]
