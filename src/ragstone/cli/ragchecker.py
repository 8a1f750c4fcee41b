"""ragstone ragchecker: for people who come from RAGChecker, with that tool's own flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import DEFAULT_ROOT, Quiet, Root
from ragstone.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from ragstone.storage.runs import Run

# That tool's names for groups of metrics.
_GROUPS = {"all_metrics": "ragchecker"} | {
    f"{group}_metrics": f"ragchecker.{group}" for group in ("overall", "retriever", "generator")
}


def _flag(name: str, help: str, **words: Any) -> Any:
    """An option as that tool spells it, with underscores, and as the rest of ours, with dashes."""
    spellings = dict.fromkeys([f"--{name}", f"--{name.replace('_', '-')}"])
    return typer.Option(*spellings, help=help, show_default=False, **words)


def ragchecker(
    input_path: Annotated[str, _flag("input_path", "RAGChecker's inputs, or outputs with claims and verdicts.")],
    output_path: Annotated[str, _flag("output_path", "The file to write.")],
    more_metrics: Annotated[
        list[str],
        typer.Argument(
            metavar="[METRIC]...", help="More metrics after --metrics, as that tool takes them.", show_default=False
        ),
    ] = [],  # noqa: B006  (typer reads the default, nobody changes it)
    metrics: Annotated[
        list[str],
        _flag(
            "metrics",
            "Groups (all_metrics, overall_metrics, retriever_metrics, generator_metrics) or metrics; all_metrics by default.",
        ),
    ] = [],  # noqa: B006
    extractor_name: Annotated[str | None, _flag("extractor_name", "The model that extracts claims.")] = None,
    checker_name: Annotated[
        str | None, _flag("checker_name", "The model that checks claims; the extractor's by default.")
    ] = None,
    extractor_api_base: Annotated[str | None, _flag("extractor_api_base", "The address of the extractor.")] = None,
    checker_api_base: Annotated[str | None, _flag("checker_api_base", "The address of the checker.")] = None,
    batch_size_extractor: Annotated[
        int, _flag("batch_size_extractor", "How many calls may wait at a time; the larger of the two counts.", min=1)
    ] = 32,
    batch_size_checker: Annotated[int, _flag("batch_size_checker", "Likewise.", min=1)] = 32,
    joint_check_num: Annotated[
        int | None, _flag("joint_check_num", "How many claims are checked in one call.", min=1)
    ] = None,
    disable_joint_check: Annotated[
        bool, _flag("disable_joint_check", "Check each claim in a call of its own.")
    ] = False,
    extractor_max_new_tokens: Annotated[
        int | None, _flag("extractor_max_new_tokens", "Taken and not used: a reply is as long as it must be.")
    ] = None,
    openai_api_key: Annotated[
        str | None, _flag("openai_api_key", "Refused: keys belong into the environment, as OPENAI_API_KEY.")
    ] = None,
    out: Root = DEFAULT_ROOT,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run of the same data and metrics.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a RAGChecker file, written and printed as that tool does; files with claims and verdicts need no model."""
    from ragstone.cli.run import TOO_FEW_CELLS, show_run
    from ragstone.cli.screen import remark

    if openai_api_key is not None:
        raise UsageError(
            "--openai_api_key: a key on the command line shows in the list of processes and in the shell's history. "
            "Put it into the environment: export OPENAI_API_KEY=…"
        )
    if extractor_max_new_tokens is not None and not quiet:
        remark("--extractor_max_new_tokens has no effect here")
    options = {
        "format": "ragchecker",
        "concurrency": max(batch_size_extractor, batch_size_checker),
        "resume": resume,
        **_models(extractor_name or checker_name, checker_name or extractor_name),
        **_address(extractor_api_base, checker_api_base),
        **_claims_per_call(1 if disable_joint_check else joint_check_num),
    }
    chosen = [_metric(name) for text in [*metrics, *more_metrics] for name in text.split(",")] or ["ragchecker"]
    finished = show_run(input_path, chosen, out, options, json=False, quiet=quiet, table=False)
    if not finished.info["metrics"]:
        raise UsageError(_nothing_computed(finished))
    write_results(finished, output_path, printed=True, quiet=quiet)
    if not any(row.n_ok for row in finished.summary()):
        raise typer.Exit(TOO_FEW_CELLS)


def write_results(finished: Run, target: str, printed: bool, quiet: bool) -> None:
    """Write a run as that tool's file, and print its means as that tool does."""
    import json

    from ragstone.cli.screen import remark
    from ragstone.report.ragchecker import printed_form, write_ragchecker
    from ragstone.storage.places import open_place

    groups = write_ragchecker(finished, open_place(target))
    if printed:
        typer.echo(json.dumps(printed_form(groups), indent=2))
    if not quiet:
        remark(f"RAGChecker's results in {target}, the run in {finished.path}")


def _nothing_computed(finished: Run) -> str:
    reasons = dict.fromkeys(row.reason for row in finished.summary() if row.reason)
    return (
        f"nothing could be computed: {'; '.join(reasons)}. Claims and verdicts come from models: "
        "name them with --extractor_name and --checker_name"
    )


def _metric(name: str) -> str:
    """Our name for a metric or group of that tool."""
    from ragstone.report.ragchecker import GROUPS

    known = [*_GROUPS, *(metric for group in GROUPS.values() for metric in group)]
    if name not in known:
        raise UnknownNameError("RAGChecker metric", name, known, f"There are: {', '.join(known)}.")
    return _GROUPS.get(name, f"ragchecker.{name}")


def _models(extractor: str | None, checker: str | None) -> dict[str, str]:
    """The models under the names that we give them; claims are triplets there."""
    named = {"extractor": extractor, "checker": checker}
    models = {role: _model(name) for role, name in named.items() if name}
    # The judge on this machine cannot write triplets.
    claims = "sentences" if models.get("extractor", "").startswith("local") else "triplets"
    return {**models, "claims": claims} if models else {}


def _model(name: str) -> str:
    """A bare name is OpenAI's there; a function in a file is ours."""
    return name if "/" in name or ".py:" in name or name == "local" else f"openai/{name}"


def _address(extractor: str | None, checker: str | None) -> dict[str, str]:
    if extractor and checker and extractor != checker:
        raise UsageError(
            f"--extractor_api_base {extractor} and --checker_api_base {checker} differ: one address serves both. "
            "Put a proxy before them, or name one of the models by its provider"
        )
    address = extractor or checker
    return {"base_url": address} if address else {}


def _claims_per_call(number: int | None) -> dict[str, int]:
    return {} if number is None else {"claims_per_call": number}
