"""ragstone ragchecker: evaluate with the flags of the RAGChecker command line."""

from __future__ import annotations

from typing import Any

from ragstone.cli.evaluation import evaluate_data, fail_if_too_few_scored, write_ragchecker_results
from ragstone.cli.options import DATA, METRICS, OUTPUT, argument, option, shared
from ragstone.cli.output import command_line, next_steps, remark
from ragstone.errors import UnknownNameError, UsageError
from ragstone.tools.model_options import MODELS

# RAGChecker's names for groups of metrics.
_GROUPS = {"all_metrics": "ragchecker"} | {
    f"{group}_metrics": f"ragchecker.{group}" for group in ("overall", "retriever", "generator")
}


def _flag(default: Any, name: str, help: str, panel: str = MODELS, **more: Any) -> Any:
    """An option as RAGChecker spells it, with underscores, and with dashes."""
    return option(default, " ".join(dict.fromkeys([f"--{name}", f"--{name.replace('_', '-')}"])), help, panel, **more)


def ragchecker(
    input_path: str = _flag(..., "input_path", "RAGChecker's input, or its output with claims and verdicts.", DATA),
    output_path: str = _flag(..., "output_path", "File to write.", OUTPUT),
    more_metrics: list[str] = argument("[METRIC]...", "More metrics after --metrics.", []),
    metrics: list[str] = _flag([], "metrics", "Metrics or groups: all_metrics (default), overall_metrics, …", METRICS),
    extractor_name: str | None = _flag(None, "extractor_name", "Model that extracts claims."),
    checker_name: str | None = _flag(None, "checker_name", "Model that checks claims; the extractor by default."),
    extractor_api_base: str | None = _flag(None, "extractor_api_base", "Address of the extractor."),
    checker_api_base: str | None = _flag(None, "checker_api_base", "Address of the checker."),
    batch_size_extractor: int = _flag(32, "batch_size_extractor", "Calls at a time; the larger of the two.", min=1),
    batch_size_checker: int = _flag(32, "batch_size_checker", "Calls at a time; the larger of the two.", min=1),
    joint_check_num: int | None = _flag(None, "joint_check_num", "Claims checked per call.", min=1),
    disable_joint_check: bool = _flag(False, "disable_joint_check", "Check each claim in its own call."),
    extractor_max_new_tokens: int | None = _flag(None, "extractor_max_new_tokens", "Accepted and ignored."),
    openai_api_key: str | None = _flag(None, "openai_api_key", "Refused: set OPENAI_API_KEY instead."),
    out: str = shared("out"),
    resume: bool = shared("resume"),
    quiet: bool = shared("quiet"),
) -> None:
    """Evaluate a RAGChecker file with RAGChecker's flags."""
    if openai_api_key is not None:
        raise UsageError(
            "--openai_api_key: a key on the command line is visible in the process list and the shell history. "
            "Set it in the environment: export OPENAI_API_KEY=…"
        )
    if extractor_max_new_tokens is not None and not quiet:
        remark("--extractor_max_new_tokens has no effect here")
    claims_per_call = 1 if disable_joint_check else joint_check_num
    if extractor_api_base and checker_api_base and extractor_api_base != checker_api_base:
        raise UsageError(
            f"--extractor_api_base {extractor_api_base} and --checker_api_base {checker_api_base} differ: only one address is supported. "
            "Use a proxy for both, or name one of the models by its provider"
        )
    address = extractor_api_base or checker_api_base
    options: dict[str, Any] = {
        "format": "ragchecker",
        "concurrency": max(batch_size_extractor, batch_size_checker),
        "resume": resume,
        **_models(extractor_name or checker_name, checker_name or extractor_name),
        **({"base_url": address} if address else {}),
        **({} if claims_per_call is None else {"claims_per_call": claims_per_call}),
    }
    chosen = [_metric(name) for text in [*metrics, *more_metrics] for name in text.split(",")] or ["ragchecker"]
    finished = evaluate_data(input_path, chosen, out, options, quiet, json=False)
    if not finished.info["metrics"]:
        reasons = dict.fromkeys(row.reason for row in finished.summary() if row.reason)
        raise UsageError(
            f"no metric could be computed: {'; '.join(reasons)}. Claims and verdicts need models: "
            "name them with --extractor_name and --checker_name"
        )
    write_ragchecker_results(finished, output_path, is_printed=True, quiet=quiet)
    if not quiet:
        next_steps((command_line("diagnose", finished.id, out=out), "see what limits quality"), err=True)
    fail_if_too_few_scored(finished)


def _metric(name: str) -> str:
    """Our name for a metric or group of RAGChecker."""
    from ragstone.report.exports import GROUPS

    known = [*_GROUPS, *(metric for group in GROUPS.values() for metric in group)]
    if name not in known:
        raise UnknownNameError("RAGChecker metric", name, known, f"Choose from: {', '.join(known)}.")
    return _GROUPS.get(name, f"ragchecker.{name}")


def _models(extractor: str | None, checker: str | None) -> dict[str, str]:
    """The models by our option names; RAGChecker's claims are triplets."""
    named = {"extractor": extractor, "checker": checker}
    # In RAGChecker a name without a provider is OpenAI's.
    models = {
        role: name if "/" in name or ".py:" in name or name == "local" else f"openai/{name}"
        for role, name in named.items()
        if name
    }
    # The local judge cannot write triplets.
    claims = "sentences" if models.get("extractor", "").startswith("local") else "triplets"
    return {**models, "claims": claims} if models else {}
