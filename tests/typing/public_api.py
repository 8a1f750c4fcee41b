"""The public API as a user's typed program writes it. Type checkers read this file; nothing runs it.

`mypy --strict` and pyright must accept every line, and refuse the lines marked with `type: ignore`.
"""

from pathlib import Path

import ragstone
from ragstone import (
    Comparison,
    Diagnosis,
    Explanation,
    Gate,
    Missing,
    Quote,
    Run,
    Summary,
    Worst,
    compare,
    evaluate,
    evidence,
    metric,
)


def ask(prompts: list[str]) -> list[str]:
    return ["yes"] * len(prompts)


def show(progress: ragstone.Progress) -> None:
    print(progress.stage, progress.done, progress.total)


@metric
def polite(answer: str) -> float:
    return float("please" in answer)


@evidence
def words(answer: str) -> list[str]:
    return answer.split()


async def my_system(question: str) -> str:
    return question


rows = [{"question": "When?", "answer": "At nine.", "references": ["nine"]}]
run: Run = ragstone.evaluate(
    rows,
    ["token_f1", polite],
    Path("store"),
    name="old",
    columns={"question": "prompt"},
    params={"chunk_size": 256},
    progress=show,
    judge=ragstone.Judge("openai/gpt-4o-mini", extractor=ask, budget="5usd", timeout_s=30, grading=["cot"]),
    checker=("cheap", "openai/gpt-4o-mini"),
    backend="ray:8",
)
collected: ragstone.Dataset = ragstone.collect(
    my_system, "questions.jsonl", "answers.jsonl", concurrency=4, timeout_s=9.0
)


async def inside_a_loop() -> Run:
    return await ragstone.evaluate_async(collected, [polite], judge="local", limit=5)


quick: Run = evaluate("answers.jsonl", "quick", progress=False)
opened: Run = ragstone.open_run("latest", root="store")

summary: Summary = run.summary()
for row in summary:
    mean: float | None = row.mean
    reason: str | None = row.reason

diagnosis: Diagnosis = run.diagnose(chunks="chunks.jsonl", documents=[Path("documents")])
limits: str = diagnosis.limits
first: str = diagnosis.causes[0].cause.name
advice: list[str] = [item.text for item in diagnosis.advice]
failing: int = diagnosis.failing
sentence: str = diagnosis.headline

worst: Worst = run.worst(10)
sample_id: str = worst[0].id
score: float | None = worst[0].scores["token_f1"]
explanation: Explanation = run.explain(worst[0], "token_f1")
same: Explanation = run.explain(3)
question: str | None = explanation.sample.question
cause: str | None = explanation.cause
why: list[str] = [finding.why for finding in explanation.findings]

missing: Missing = run.missing
reasons: list[tuple[str, str, int]] = [(item.metric, item.reason, item.count) for item in missing.failed]

comparison: Comparison = ragstone.compare(run, "new", ["token_f1"], slices=["topic"], correction="holm")
other: Comparison = compare("old", Path("store/runs/new"))
difference: float | None = comparison["token_f1"].difference
verdict: str | None = comparison["token_f1"].verdict

gate: Gate = ragstone.gate(
    run, min={"token_f1": 0.8}, against="old", max_drop={"recall@5": 0.02}, max_rise={"cost": "10%"}
)
strict: Gate = ragstone.gate("new", against=run, max_drop=0.02)
code: int = gate.exit_code
passes: bool = bool(gate)
values: list[float | None] = [item.value for item in gate.checks]

quote: Quote = ragstone.quote(rows, judge="openai/gpt-4o-mini")
calls: float = quote.total.calls
cost: float | None = quote.total.cost_usd


@metric("answer_words")
def answer_words(answer: str) -> float:
    """Number of words of the answer."""
    return float(len(answer.split()))


scores: dict[str, list[float | None]] = ragstone.score_lists("token_f1", answer=["nine"], references=[["nine"]])
one: ragstone.Score = ragstone.score_row(rows[0], "token_f1")
judged: ragstone.Score = ragstone.score_row(rows[0], polite, judge=ragstone.Judge("local"))

ragstone.evaluate(rows, juge="openai/gpt-4o-mini")  # type: ignore[call-arg]
ragstone.evaluate(rows, repeats=3)  # type: ignore[call-arg]
ragstone.Judge(timeout_s="thirty")  # type: ignore[arg-type]
ragstone.collect(my_system, "questions.jsonl", concurrency="many")  # type: ignore[arg-type]
ragstone.compare(run)  # type: ignore[call-arg]
ragstone.compare(run, "new", correction="bonferroni")  # type: ignore[arg-type]
ragstone.gate(run, minimum={"token_f1": 0.8})  # type: ignore[call-arg]
run.worst("ten")  # type: ignore[arg-type]
