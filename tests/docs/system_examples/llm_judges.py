"""Writes the files of the example in docs/systems/llm-judges.md, and checks their scores."""

from pathlib import Path

import ragstone

questions = [
    {"question_id": 81, "category": "travel", "turns": ["When does the boat leave?"]},
    {"question_id": 82, "category": "travel", "turns": ["When does the museum open?"]},
]
answers = {
    "vicuna": [
        {"question_id": 81, "choices": [{"turns": ["Soon."]}]},
        {"question_id": 82, "choices": [{"turns": ["No."]}]},
    ],
    "gpt-4": [
        {"question_id": 81, "choices": [{"turns": ["At 9."]}]},
        {"question_id": 82, "choices": [{"turns": ["At 10."]}]},
    ],
}
asked = {each["question_id"]: each["turns"][0] for each in questions}
for model, lines in answers.items():
    rows = [
        {
            "id": str(each["question_id"]),
            "question": asked[each["question_id"]],
            "answer": each["choices"][0]["turns"][0],
        }
        for each in lines
    ]
    ragstone.evaluate(rows, ["distinct_1"], "ragstone-store", name=model)
Path("judge.py").write_text(
    "import re\n"
    "def judge(prompts):\n"
    "    last = [prompt.rpartition('<answer_a')[2].partition('</answer_a')[0] for prompt in prompts]\n"
    "    winners = ['A' if re.search('At [0-9]', answer) else 'B' for answer in last]\n"
    '    return [\'{"reasoning": "It gives a time.", "winner": "%s"}\' % winner for winner in winners]\n'
)
