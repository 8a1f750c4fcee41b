"""Writes the files of the example in docs/systems/rgb.md, and checks their scores."""

import json
from pathlib import Path

rows = [
    {
        "id": number,
        "query": f"How long is the {ship}?",
        "answer": [f"{number + 30} metres"],
        "positive": [f"The {ship} is {number + 30} metres long.", f"At {number + 30} metres, the {ship} is not small."],
        "negative": [f"The {ship} is painted blue.", f"The {ship} sails on Mondays.", f"Few know the {ship}."],
    }
    for number, ship in enumerate(["Maren", "Blue Lantern", "Gull"])
]
Path("en_refine.json").write_text("\n".join(map(json.dumps, rows)))
Path("generate.py").write_text(
    "def answer(question, contexts):\n"
    "    known = [text for text in contexts if 'metres' in text]\n"
    "    return known[0] if known else 'I can not answer because of insufficient information in documents.'\n"
)
