"""Options about the user's own system, for the commands that ask it, and what asking it would take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.engine.systems import SystemQuote

SystemName = Annotated[
    str,
    typer.Option(
        "--system",
        metavar="SPEC",
        help="The system: rag.py:function (or a LangChain chain or LlamaIndex query engine there), cmd:./rag --k 5, "
        "a model such as openai/gpt-4o-mini, or the address of a chat endpoint, http://host/v1#model.",
        show_default=False,
    ),
]
Template = Annotated[
    str | None,
    typer.Option(
        "--template",
        metavar="FILE",
        help="The text that a bare model is asked with, with {question} and {contexts}.",
        show_default=False,
    ),
]
Version = Annotated[
    str | None,
    typer.Option(
        "--system-version",
        metavar="TEXT",
        help="Tells one state of the system from the next, so that no answer of another one is used.",
        show_default=False,
    ),
]
Concurrency = Annotated[int, typer.Option("-j", "--concurrency", min=1, help="How many questions at once.")]
SystemTimeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="For one answer.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask again what was answered before.")]


def show_quote(quote: SystemQuote, json: bool, about: str = "", final: bool = True) -> None:
    """What asking a system would take and, where that is all that was wanted, that it was not asked."""
    from dataclasses import asdict

    from ragstone.report.plain import counted

    if json:
        import json as json_module

        typer.echo(json_module.dumps(asdict(quote), indent=2, ensure_ascii=False))
        return
    cost = "unknown, only the system knows" if quote.cost_usd is None else f"{quote.cost_usd:,.4f} usd"
    calls, asked = counted(round(quote.calls), "call"), about or counted(quote.questions, "question")
    typer.echo(f"{calls} of {quote.system} for {asked}")
    if quote.calls < quote.questions:
        typer.echo(f"  the other {quote.questions - quote.calls:,.0f} are in the cache, or the same as others")
    typer.echo(f"  tokens in {quote.input_tokens:,.0f}, out {quote.output_tokens:,.0f}; cost {cost}")
    end = " Nothing was asked." if final else ""
    typer.echo(f"  about {quote.seconds:,.0f} s; the time is a rule of thumb.{end}")
