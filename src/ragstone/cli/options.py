"""The options that several commands share: one table with their flags, types and help."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import typer

from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions

DEFAULT_ROOT = "ragstone-store"
DATA, METRICS, MODELS, COST = "Data", "Metrics", "Judge and other models", "Limits and cost"
OUTPUT, EXECUTION = "Output", "Execution"
PANELS = (DATA, METRICS, MODELS, COST, OUTPUT, EXECUTION)


class Shared(NamedTuple):
    """An option as every command that has it declares it. The first long flag is its name, the others are old spellings."""

    flags: str
    panel: str
    help: str
    default: Any = None
    metavar: str | None = None
    minimum: float | None = None
    envvar: str | None = None
    hidden: bool = False


SHARED = {
    # Data
    "format": Shared("--format", DATA, "Format of the data; detected by default."),
    "map": Shared("--map", DATA, "Column name in the data: --map question=prompt. Repeatable.", [], "OURS=THEIRS"),
    "split_contexts": Shared("--split-contexts", DATA, r"Text between the chunks of one cell: '||' or '\n'.", None, "TEXT"),
    "encoding": Shared("--encoding", DATA, "Encoding of a text file that is not UTF-8: cp1252.", None, "NAME"),
    "limit": Shared("-n --limit", DATA, "Use at most N samples.", None, "N", 1),
    "truth": Shared("--truth", DATA, "Score against this ground truth, newest version or @N.", None, "NAME[@N]"),
    "value": Shared("--value", DATA, "Number for a label in words: --value fine=1. Repeatable.", [], "WORD=NUMBER"),
    "human": Shared(
        "--human", DATA, "Labels: CSV, JSONL or Parquet with sample_id and label; or demo. Repeatable.", [], "FILE"
    ),
    "documents": Shared("--documents", DATA, "Files or folders with the documents. Repeatable.", [], "PATH"),
    "run": Shared("--run --runs", DATA, "Stored run: folder, id or name.", [], "RUN"),
    "against": Shared("--against", DATA, "Run to compare with.", None, "RUN"),
    "seed": Shared("--seed", EXECUTION, "Random seed; the same seed makes the same choices.", 0),
    # Metrics
    "metrics": Shared("-m --metrics", METRICS, "Metrics, families or sets, separated by commas.", [], "NAMES"),
    "metrics_file": Shared("--metrics-file", METRICS, "Python file with your own metrics, or a mixture (TOML). Repeatable.", [], "FILE"),
    "aspects": Shared("--aspects", METRICS, "TOML file with your own aspects and checklists. Repeatable.", [], "FILE"),
    "aspect": Shared("--aspect", METRICS, "Aspect in which answers are compared.", "quality", "NAME"),
    "threshold": Shared("--threshold", METRICS, "Score from which a result counts as yes.", None, "SCORE"),
    "slice": Shared("--slice", METRICS, "Also show each value of a metadata column. Repeatable.", [], "COLUMN"),
    "cluster": Shared("--cluster", METRICS, "Column whose equal values are resampled together; conversations by default, none for single rows.", None, "COLUMN"),
    "correction": Shared("--correction", METRICS, "Correction for many metrics: joint, holm, bh or none.", "joint"),
    "anyway": Shared("--anyway", METRICS, "Compare although metrics or judges differ.", False),
    # Models
    "judge": Shared(
        "--judge",
        MODELS,
        "Judge model: openai/gpt-4o-mini, ollama/llama3.1, llama/NAME, file.py:function, local, trained/NAME, or "
        "local>openai/gpt-4o-mini to escalate uncertain verdicts.",
        None,
        "MODEL",
    ),
    "extractor": Shared("--extractor", MODELS, "Model that extracts claims.", None, "MODEL"),
    "checker": Shared("--checker", MODELS, "Model that checks claims.", None, "MODEL"),
    "agreement": Shared(
        "--agreement", MODELS, "Confidence at which the local judge decides without escalating.", 0.9, "SHARE"
    ),
    "embedder": Shared(
        "--embedder", MODELS, "Embedding model: local, openai/text-embedding-3-small, or a+b for the mean.", None, "MODEL"
    ),
    "scorer": Shared(
        "--scorer", MODELS, "Model for token probabilities: local, hf/NAME, or a server with echo.", None, "MODEL"
    ),
    "reward_model": Shared("--reward-model", MODELS, "Local reward model.", None, "MODEL", hidden=True),
    "toxicity_model": Shared("--toxicity-model", MODELS, "Local toxicity classifier.", None, "MODEL", hidden=True),
    "corpus": Shared(
        "--corpus", MODELS, "Documents, or a JSONL file of chunks, to look claims up in (factscore). Repeatable.", [], "PATH"
    ),
    "base_url": Shared("--base-url", MODELS, "Address of an OpenAI-compatible server.", None, "URL"),
    "claims": Shared("--claims", MODELS, "Form of claims: sentences or triplets.", "sentences", "FORM"),
    "claims_per_call": Shared("--claims-per-call", MODELS, "Claims checked per call.", 25, "N", 1, hidden=True),
    "chunks_per_call": Shared("--chunks-per-call", MODELS, "Chunks checked per call.", 10, "N", 1, hidden=True),
    "repeats": Shared("--repeats", MODELS, "Times each question is asked.", 1, "N", 1),
    "verdicts": Shared(
        "--verdicts", MODELS, "Verdicts by token probabilities or as JSON: auto, tokens or json.", "auto", "HOW"
    ),
    "no_exam": Shared("--no-exam", MODELS, "Do not examine the judge first.", False),
    "calibrate": Shared("--calibrate", MODELS, "Calibrate the judge by the result, for later runs.", False),
    "no_calibration": Shared("--no-calibration", MODELS, "Do not use what --calibrate measured.", False),
    "scale": Shared("--scale", MODELS, "Scale of grades: points (0-100), stars (1-5), ten (1-10) or binary.", "points"),
    "grading": Shared("--grading", MODELS, "Grading steps: cot, few-shot, rubric, own-reference.", "", "NAMES"),
    "prompts": Shared("--prompts", MODELS, "Folder with prompts that replace the built-in ones.", None, "FOLDER"),
    "template": Shared("--template", MODELS, "Prompt file for a bare model: {question}, {contexts}.", None, "FILE"),
    "system": Shared(
        "--system",
        MODELS,
        "System under test: file.py:function, cmd:COMMAND, a model, or the URL of a chat endpoint.",
        None,
        "SPEC",
    ),
    "system_version": Shared("--system-version", MODELS, "Version of the system, part of the cache key.", None, "TEXT"),
    # Limits and cost
    "quote": Shared("--quote", COST, "Estimate the cost and stop. No call is made.", False),
    "budget": Shared("--budget", COST, "Stop before more than this is spent, for example 5usd.", None, "AMOUNT"),
    "timeout": Shared("--timeout", COST, "Time limit per call.", 120.0, "SECONDS"),
    "deadline": Shared("--deadline", COST, "Time limit for all calls together.", None, "SECONDS"),
    "rpm": Shared("--rpm", COST, "Maximum calls per minute.", None, "N"),
    "tpm": Shared("--tpm", COST, "Maximum tokens per minute.", None, "N"),
    "batch": Shared("--batch", COST, "Ask language models through their batch API: half the price, up to a day.", False),
    "batch_folder": Shared(
        "--batch-folder", COST, "Write requests to files for vLLM's run_batch, and read its results.", None, "FOLDER"
    ),
    "no_cache": Shared("--no-cache", COST, "Do not use replies stored by earlier runs.", False),
    # Output
    "out": Shared(
        "-o --out --root", OUTPUT, "Folder or s3:// root of runs and ground truth.", DEFAULT_ROOT, "ROOT", None,
        "RAGSTONE_ROOT",
    ),
    "name": Shared("--name", OUTPUT, "Name of the run.", "", "TEXT"),
    "to": Shared("--to", OUTPUT, "Ground truth to create or extend.", None, "NAME"),
    "to_format": Shared("--to-format --to", OUTPUT, "Format to write: ragstone, beir, deepeval, dial, hf, ragas, ragchecker or unitxt.", "ragstone"),
    "author": Shared("--author", OUTPUT, "Author of the version; your user name by default.", None, "NAME"),
    "note": Shared("--note", OUTPUT, "Reason for the version, shown in the history.", "", "TEXT"),
    "show": Shared("--show", OUTPUT, "Number of samples to show.", 3, "N", 0),
    "full": Shared("--full", OUTPUT, "Show every metric and long texts in full.", False),
    "markdown": Shared("--markdown", OUTPUT, "Print Markdown.", False),
    "json": Shared("--json", OUTPUT, "Print JSON.", False),
    "quiet": Shared("-q --quiet", OUTPUT, "No progress and no notes.", False),
    # Execution
    "concurrency": Shared("-j --concurrency", EXECUTION, "Maximum number of calls at a time.", 16, "N", 1),
    "resume": Shared("--resume", EXECUTION, "Continue an interrupted run.", False),
    "backend": Shared("--backend", EXECUTION, "Execution backend: local or ray.", "local"),
    "workers": Shared(
        "--workers", EXECUTION, "Number of worker processes; all cores by default.", None, minimum=1
    ),
}  # fmt: skip
_UNSET: Any = object()

# Arguments of several commands.
RUN = "Run: folder, URL, id or name under --out; `latest` is the newest."
RUNS = "Runs: folders, URLs, ids or names under --out; `latest` is the newest."


def option(default: Any, flags: str, help: str, panel: str = OUTPUT, **more: Any) -> Any:
    """An option of one command: `option(None, "--by", "Parameter to order by.", metavar="PARAM")`."""
    shown = default is not ... and default not in (None, "", False) and default != []
    return typer.Option(default, *flags.split(), help=help, rich_help_panel=panel, show_default=shown, **more)


def shared(name: str, default: Any = _UNSET) -> Any:
    """An option of the table; a command may have a default of its own."""
    item = SHARED[name]
    return option(
        item.default if default is _UNSET else default,
        item.flags,
        item.help,
        item.panel,
        metavar=item.metavar,
        min=item.minimum,
        envvar=item.envvar,
        hidden=item.hidden,
    )


def argument(metavar: str, help: str, default: Any = ...) -> Any:
    """A positional argument; required unless it has a default."""
    return typer.Argument(default, metavar=metavar, help=help, show_default=False)


def data_argument(default: Any = ..., help: str = "File, folder or URL; - is standard input.") -> Any:
    """The data of a command."""
    return argument("DATA...", help, default)


# The options that every command with models has; the type of each, and the field of ModelOptions if its name differs.
CALL_OPTIONS = ("base_url", "budget", "timeout", "deadline", "rpm", "tpm", "no_cache")
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("timeout", "agreement"), float),
    **dict.fromkeys(("deadline", "rpm", "tpm"), float | None),
    **dict.fromkeys(("claims_per_call", "chunks_per_call", "repeats"), int),
    **dict.fromkeys(("claims", "scale", "grading", "verdicts"), str),
    **dict.fromkeys(("no_cache", "no_exam", "no_calibration", "batch"), bool),
    "corpus": list[str],
}
_FIELDS = {
    "timeout": "timeout_s",
    "deadline": "deadline_s",
    "rpm": "requests_per_minute",
    "tpm": "tokens_per_minute",
}


def with_models(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: adds the named model options and the call limits, and passes them as `models: ModelOptions`."""
    names = (*names, *CALL_OPTIONS)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapper(**values: Any) -> None:
            chosen = {name: values.pop(name) for name in names}
            command(models=_read_models(chosen), **values)

        kind = inspect.Parameter.KEYWORD_ONLY
        added = [
            inspect.Parameter(name, kind, default=shared(name), annotation=_TYPES.get(name, str | None))
            for name in names
        ]
        parameters = []
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            parameters += added if parameter.name == "models" else [parameter.replace(kind=kind)]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return wrapper

    return decorate


def _read_models(values: Mapping[str, Any]) -> ModelOptions:
    fields = {_FIELDS.get(name, name): value for name, value in values.items() if not name.startswith("no_")}
    fields["batch"] = fields.pop("batch_folder", None) or fields.get("batch", False)
    if "corpus" in fields:
        fields["corpus"] = fields["corpus"] or None
    if "grading" in fields:
        fields["grading"] = tuple(name.strip() for name in fields["grading"].split(",") if name.strip())
    switches: dict[str, Any] = {name: not values.get(f"no_{name}") for name in ("cache", "exam", "calibration")}
    return ModelOptions(**fields, **switches)


def system_options(models: ModelOptions, template: str | None, version: str | None, concurrency: int) -> dict[str, Any]:
    """How the system under test is called, by the names of the engine's SystemOptions."""
    names = ("base_url", "timeout_s", "deadline_s", "requests_per_minute", "tokens_per_minute", "budget", "cache")
    calls = {name: getattr(models, name) for name in names}
    return {"template": template, "version": version, "concurrency": concurrency, **calls}


def parse_pairs(option: str, form: str, example: str, pairs: list[str]) -> dict[str, str]:
    """`NAME=VALUE` texts as a dict."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"{option} {pair}: write it as {form}, for example {option} {example}")
        found[name] = value
    return found


def parse_map(pairs: list[str]) -> dict[str, str]:
    """The columns of `--map`."""
    return parse_pairs("--map", "OURS=THEIRS", "question=prompt", pairs)


def sources(data: list[str]) -> list[str] | str:
    """One path as a text, several as a list."""
    return data[0] if len(data) == 1 else data


def load_metrics_files(files: list[str]) -> None:
    """Registers the metrics of the user's files: Python, or the TOML of a mixture."""
    from ragstone.registry.declare import import_metrics_file

    for file in files:
        if file.endswith(".toml"):
            from ragstone.metrics.mixed import read_mixture, register_mixture

            register_mixture(read_mixture(file))
        else:
            import_metrics_file(file)


def load_aspects(files: list[str]) -> None:
    """Registers the aspects of the user's files as metrics."""
    if files:
        from ragstone.metrics.grades import register_aspects

        for file in files:
            register_aspects(file)
