"""Writes the files of the example in docs/systems/ares.md, and checks their scores."""

import random
from pathlib import Path

chance = random.Random(7)
head, rows, labelled = "id\tQuery\tDocument\tAnswer", [], []
for number in range(200):
    is_faithful = chance.random() < 0.7
    day = "Monday" if is_faithful else "Sunday"
    row = f"q{number}\tWhen does boat {number} leave?\tBoat {number} leaves on Monday.\tBoat {number} leaves on {day}."
    rows.append(row)
    if number % 5 == 0:
        labelled.append(f"{row}\t{int(is_faithful)}")
Path("nq_unlabeled_output.tsv").write_text("\n".join([head, *rows]))
Path("nq_labeled_output.tsv").write_text("\n".join([f"{head}\tAnswer_Faithfulness_Label", *labelled]))
