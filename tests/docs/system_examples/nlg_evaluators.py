"""Writes the files of the example in docs/systems/nlg-evaluators.md, and checks their scores."""

import ragstone

reference = "The last boat leaves at nine from the old pier"
texts = {
    "good": ["The last boat leaves at nine", "The last boat leaves from the old pier at nine", "At nine from the pier"],
    "bad": ["Dogs travel free", "The boat is blue and old", "At ten"],
}
summeval = {
    f"doc{number}": {
        "ref_summs": [reference],
        "sys_summs": {
            "good": {"sys_summ": texts["good"][number], "scores": {"coherence": 5 - number}},
            "bad": {"sys_summ": texts["bad"][number], "scores": {"coherence": 1 + number / 2}},
        },
    }
    for number in range(3)
}
labels = ["sample_id,system,label"]
for system in texts:
    rows = []
    for name, document in summeval.items():
        summary = document["sys_summs"][system]
        rows.append({"id": name, "answer": summary["sys_summ"], "references": document["ref_summs"]})
        labels.append(f"{name},{system},{summary['scores']['coherence']}")
    ragstone.evaluate(rows, ["rouge_l", "bleu"], "ragstone-store", name=system)
with open("labels.csv", "w") as file:
    file.write("\n".join(labels))
