"""Options about models, for the commands that may ask one. None is asked unless it is named."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def _model(flag: str, help: str) -> Any:
    return typer.Option(flag, metavar="MODEL", help=help, show_default=False)


Judge = Annotated[
    str | None,
    _model(
        "--judge",
        "Who is asked what metrics need: openai/gpt-4o-mini, ollama/llama3.1, any provider/model of LiteLLM, file.py:function, local for the judge on this machine, local>openai/gpt-4o-mini to ask only where that is unsure, or trained/NAME of `ragstone train`.",
    ),
]
Extractor = Annotated[str | None, _model("--extractor", "Another model for taking texts apart into claims.")]
CheckerModel = Annotated[str | None, _model("--checker", "Another model for checking claims.")]
Agreement = Annotated[
    float,
    typer.Option(
        "--agreement", metavar="SHARE", help="How sure the local judge must be where another stands above it."
    ),
]
Embedder = Annotated[
    str | None,
    _model(
        "--embedder",
        "Who turns texts into vectors: local, openai/text-embedding-3-small, or several with + whose mean counts.",
    ),
]
Scorer = Annotated[
    str | None,
    _model(
        "--scorer",
        "Who says how likely texts are: local, hf/google/flan-t5-small, or vllm/… where /completions knows echo.",
    ),
]
RewardModel = Annotated[str | None, _model("--reward-model", "A reward model of the store, for answer_reward.")]
ToxicityModel = Annotated[str | None, _model("--toxicity-model", "A classifier of the store, for toxicity.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Address of an OpenAI-compatible server.", show_default=False),
]
Claims = Annotated[str, typer.Option("--claims", metavar="FORM", help="Claims as sentences or as triplets.")]
ClaimsPerCall = Annotated[
    int, typer.Option("--claims-per-call", min=1, help="How many claims are checked in one call.")
]
ChunksPerCall = Annotated[int, typer.Option("--chunks-per-call", min=1, help="Against how many chunks.")]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="How often each verdict is asked for; the majority counts.")
]
Scale = Annotated[
    str, typer.Option("--scale", help="What grades are given on: points (0 to 100), stars (1 to 5) or ten (1 to 10).")
]
Grading = Annotated[
    str,
    typer.Option(
        "--grading",
        metavar="MANNERS",
        help="How grades are come by, with commas: cot, few-shot, rubric, own-reference.",
        show_default=False,
    ),
]
Aspects = Annotated[
    list[str],
    typer.Option(
        "--aspects",
        metavar="FILE",
        help="A TOML file with aspects of your own, for grade.<aspect>. Repeatable.",
        show_default=False,
    ),
]
Prompts = Annotated[
    str | None,
    typer.Option("--prompts", metavar="FOLDER", help="Prompts of your own in place of ours.", show_default=False),
]
QuoteOnly = Annotated[bool, typer.Option("--quote", help="Say what it would cost, and stop. No call is made.")]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="5usd", help="Stop before more than this is spent.", show_default=False),
]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="For one attempt of a call.")]
Deadline = Annotated[
    float | None,
    typer.Option("--deadline", metavar="SECONDS", help="For all calls together.", show_default=False),
]
RequestsPerMinute = Annotated[
    float | None, typer.Option("--rpm", metavar="N", help="At most so many calls a minute.", show_default=False)
]
TokensPerMinute = Annotated[
    float | None, typer.Option("--tpm", metavar="N", help="At most so many tokens a minute.", show_default=False)
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Do not use replies of earlier runs.")]


def read_names(written: str) -> list[str]:
    """The names of a list with commas."""
    return [name.strip() for name in written.split(",") if name.strip()]


def load_aspects(files: list[str]) -> None:
    """Make the aspects of the user's files known as metrics."""
    if files:
        from ragstone.metrics.grades import register_aspects

        for file in files:
            register_aspects(file)


Concurrency = Annotated[
    int, typer.Option("-j", "--concurrency", min=1, help="How many model calls may wait at a time.")
]


def read_calls(
    base_url: str | None,
    budget: str | None,
    timeout: float,
    deadline: float | None,
    rpm: float | None,
    tpm: float | None,
    no_cache: bool,
    prompts: str | None,
) -> dict[str, Any]:
    """How models are asked, by the names that the engine has for it."""
    return {
        "base_url": base_url,
        "budget": budget,
        "timeout_s": timeout,
        "deadline_s": deadline,
        "requests_per_minute": rpm,
        "tokens_per_minute": tpm,
        "cache": not no_cache,
        "prompts": prompts,
    }
