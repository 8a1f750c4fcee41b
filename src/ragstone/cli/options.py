"""The options that several commands share: one table, with those of models; and how commands declare their own."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args, get_origin

from ragstone.errors import UsageError
from ragstone.tools.model_options import COST, MODELS, ModelOptions, Option
from ragstone.tools.model_options import OPTIONS as MODEL_OPTIONS

DEFAULT_ROOT = "ragstone-store"
# As in storage, which is slow to import.
MAX_FAILED = 0.05
DATA, METRICS, OUTPUT, EXECUTION = "Data", "Metrics", "Output", "Execution"
PANELS = (DATA, METRICS, MODELS, COST, OUTPUT, EXECUTION)
_ROOT = Option(
    "-o --out --root",
    OUTPUT,
    "Folder or s3:// root of runs and ground truth.",
    DEFAULT_ROOT,
    "ROOT",
    envvar="RAGSTONE_ROOT",
)

SHARED: dict[str, Option] = {
    # Data
    "format": Option("--format", DATA, "Format of the data; detected by default."),
    "map": Option("--map", DATA, "Column name in the data: --map question=prompt. Repeatable.", [], "OURS=THEIRS"),
    "split_contexts": Option("--split-contexts", DATA, r"Text between the chunks of one cell: '||' or '\n'.", None, "TEXT"),
    "encoding": Option("--encoding", DATA, "Encoding of a text file that is not UTF-8: cp1252.", None, "NAME"),
    "limit": Option("-n --limit", DATA, "Use at most N samples.", None, "N", 1, type=int),
    "truth": Option("--truth", DATA, "Score against this ground truth, newest version or @N.", None, "NAME[@N]"),
    "value": Option("--value", DATA, "Number for a label in words: --value fine=1. Repeatable.", [], "WORD=NUMBER"),
    "human": Option(
        "--human", DATA, "Labels: CSV, JSONL or Parquet with sample_id and label; or demo. Repeatable.", [], "FILE"
    ),
    "documents": Option("--documents", DATA, "Files or folders with the documents. Repeatable.", [], "PATH"),
    "run": Option("--run --runs", DATA, "Stored run: folder, id or name.", [], "RUN"),
    "against": Option("--against", DATA, "Run to compare with.", None, "RUN"),
    "baseline": Option("--baseline", DATA, "Compare with the newest stored run of this branch.", None, "BRANCH"),
    "seed": Option("--seed", EXECUTION, "Random seed; the same seed makes the same choices.", 0),
    "signals": Option("--signals", DATA, "Table of user signals, or DIAL's ratings. Repeatable.", [], "FILE"),
    "deployment": Option("--deployment", DATA, "Only this deployment. Repeatable.", [], "NAME"),
    "since": Option("--since", DATA, "First day, for example 2024-05-01.", None, "DAY"),
    "until": Option("--until", DATA, "Last day.", None, "DAY"),
    "mask": Option("--mask", DATA, "Replace e-mail addresses, phone, card and account numbers.", False),
    # Metrics
    "weights": Option("--weights", METRICS, "Weights of the signals; the default ones otherwise.", None, "FILE.toml"),
    "metrics": Option("-m --metrics", METRICS, "Metrics, families or sets, separated by commas.", [], "NAMES"),
    "metrics_file": Option("--metrics-file", METRICS, "Python file with your own metrics, or a mixture (TOML). Repeatable.", [], "FILE"),
    "aspects": Option("--aspects", METRICS, "TOML file with your own aspects and checklists. Repeatable.", [], "FILE"),
    "aspect": Option("--aspect", METRICS, "Aspect in which answers are compared.", "quality", "NAME"),
    "threshold": Option("--threshold", METRICS, "Score from which a result counts as yes.", None, "SCORE", type=float),
    "slice": Option("--slice", METRICS, "Also show each value of a metadata column. Repeatable.", [], "COLUMN"),
    "cluster": Option("--cluster", METRICS, "Column whose equal values are resampled together; conversations or rows of one question by default, none for single rows.", None, "COLUMN"),
    "correction": Option("--correction", METRICS, "Correction for many metrics: joint, holm, bh or none.", "joint"),
    "anyway": Option("--anyway", METRICS, "Compare although metrics or judges differ.", False),
    # Models
    "calibrate": Option("--calibrate", MODELS, "Calibrate the judge by the result, for later runs.", False),
    "template": Option("--template", MODELS, "Prompt file for a bare model: {question}, {contexts}.", None, "FILE"),
    "system": Option(
        "--system",
        MODELS,
        "System under test: file.py:function, cmd:COMMAND, a model, or the URL of a chat endpoint.",
        None,
        "SPEC",
    ),
    "system_version": Option("--system-version", MODELS, "Version of the system, part of the cache key.", None, "TEXT"),
    **MODEL_OPTIONS,
    # Limits and cost
    "quote": Option("--quote", COST, "Estimate the cost and stop. No call is made.", False),
    "batch_folder": Option(
        "--batch-folder", COST, "Write requests to files for vLLM's run_batch, and read its results.", None, "FOLDER"
    ),
    "max_failed": Option(
        "--max-failed", COST, "Largest share of failed cells: above it, `run` exits with 4 and a gate is undecided.",
        MAX_FAILED, "SHARE", 0, 1,
    ),
    # Output
    "out": _ROOT,
    # The root for commands that write one file.
    "root": _ROOT._replace(flags="--root"),
    "name": Option("--name", OUTPUT, "Name of the run.", "", "TEXT"),
    "to": Option("--to", OUTPUT, "Ground truth to create or extend.", None, "NAME"),
    "to_format": Option("--to-format --to", OUTPUT, "Format to write: ragstone, beir, deepeval, dial, hf, ragas, ragchecker or unitxt.", "ragstone"),
    "author": Option("--author", OUTPUT, "Author of the version or label; your user name by default.", None, "NAME"),
    "note": Option("--note", OUTPUT, "Reason for the version, shown in the history.", "", "TEXT"),
    "show": Option("--show", OUTPUT, "Number of samples to show.", 3, "N", 0),
    "dry_run": Option("--dry-run", OUTPUT, "Show what would be done; write nothing.", False),
    "full": Option("--full", OUTPUT, "Show every metric and long texts in full.", False),
    "markdown": Option("--markdown", OUTPUT, "Print Markdown.", False),
    "json": Option("--json", OUTPUT, "Print JSON.", False),
    # Of every command with --json.
    "fields": Option("--fields", OUTPUT, "Fields of the JSON to print: name,summary.metric,summary.mean.", "", "NAMES"),
    "top": Option("--top", OUTPUT, "Print only the first N items of lists in the JSON.", None, "N", 1, type=int),
    "quiet": Option("-q --quiet", OUTPUT, "No progress and no notes.", False),
    "webhook": Option("--webhook", OUTPUT, "Post the results to this URL.", None, "URL"),
    "webhook_format": Option("--webhook-format", OUTPUT, "json or slack.", "json", "FORM", hidden=True),
    "html": Option("--html", OUTPUT, "Also write the result as an HTML page.", None, "FILE"),
    "open": Option("--open", OUTPUT, "Open the browser.", False),
    "port": Option("--port", OUTPUT, "Port; 0 takes a free one.", 8765, "N", 0, 65535),
    "host": Option("--host", OUTPUT, "Address to listen on; any but this machine's own needs a token.", "127.0.0.1"),
    "token": Option("--token", OUTPUT, "Access token; created if needed.", envvar="RAGSTONE_TOKEN"),
    # Execution
    "concurrency": Option("-j --concurrency", EXECUTION, "Maximum number of calls at a time.", 16, "N", 1),
    "resume": Option("--resume", EXECUTION, "Continue an interrupted run.", False),
    "backend": Option("--backend", EXECUTION, "Execution backend: local or ray.", "local"),
    "workers": Option(
        "--workers", EXECUTION, "Number of worker processes; all cores by default.", None, "N", 1, type=int
    ),
}  # fmt: skip
# The model options of every command with models.
CALL_OPTIONS = ("base_url", "budget", "timeout", "deadline", "rpm", "tpm", "no_cache")
EVERY_MODEL_OPTION = tuple(name for name in MODEL_OPTIONS if name not in CALL_OPTIONS)
# Arguments of several commands.
RUN = "Run: folder, URL, id or name under --out; `latest` is the newest."
RUNS = "Runs: folders, URLs, ids or names under --out; `latest` is the newest."


class Argument(NamedTuple):
    """A positional argument of a command; required unless it has a default."""

    metavar: str
    help: str
    default: Any = ...
    envvar: str | None = None


class Bundle(NamedTuple):
    """Options of the table that a command gets as one value."""

    names: tuple[str, ...]
    make: Callable[[dict[str, Any]], Any]


class Reading(NamedTuple):
    """How data is read, in the order of the arguments of `open_reader`."""

    format: str | None
    columns: dict[str, str]
    limit: int | None
    split_contexts: str | None = None
    encoding: str | None = None

    def flags(self) -> dict[str, Any]:
        """The same as options of a command."""
        columns = [f"{ours}={theirs}" for ours, theirs in self.columns.items()]
        return {**self._asdict(), "columns": None, "map": columns}


def shared(name: str, *default: Any) -> Any:
    """An option of the table; a command may have a default of its own."""
    return SHARED[name]._replace(default=default[0]) if default else SHARED[name]


def option(default: Any, flags: str, help: str, panel: str = OUTPUT, **more: Any) -> Any:
    """An option of one command: `option(None, "--by", "Parameter to order by.", metavar="PARAM")`."""
    return Option(flags, panel, help, default, **more)


def argument(metavar: str, help: str, default: Any = ..., envvar: str | None = None) -> Any:
    """A positional argument; required unless it has a default."""
    return Argument(metavar, help, default, envvar)


def data_argument(default: Any = ..., help: str = "File, folder or URL; - is standard input.") -> Any:
    """The data of a command."""
    return Argument("DATA...", help, default)


def model_options(*names: str) -> Any:
    """The named options of models and the limits of calls, as one `ModelOptions`."""

    def make(values: dict[str, Any]) -> ModelOptions:
        values["batch"] = values.pop("batch_folder", None) or values.get("batch")
        return ModelOptions.from_command_line(values)

    return Bundle((*names, *CALL_OPTIONS), make)


def reading_options(*names: str) -> Any:
    """The format, the columns, the limit and the named options of data, as one `Reading`."""
    make = lambda values: Reading(columns=parse_map(values.pop("map")), **values)  # noqa: E731
    return Bundle(("format", "map", *names, "limit"), make)


def split_kind(kind: Any) -> tuple[Any, bool]:
    """The type of one value, and whether there are several: `list[str]` is str and True, `int | None` is int and False."""
    if isinstance(kind, types.UnionType):
        kind = next(one for one in get_args(kind) if one is not type(None))
    return (get_args(kind)[0], True) if get_origin(kind) is list else (kind, False)


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
        if found.setdefault(name, value) != value:
            raise UsageError(f"{option} names {name} twice, with {found[name]} and with {value}; choose one")
    return found


def parse_map(pairs: list[str]) -> dict[str, str]:
    """The columns of `--map`."""
    return parse_pairs("--map", "OURS=THEIRS", "question=prompt", pairs)


def sources(data: list[str]) -> list[str] | str:
    """One path as a text, several as a list."""
    return data[0] if len(data) == 1 else data


def load_metrics_files(files: Sequence[str]) -> None:
    """Registers the metrics of the user's files: Python, or the TOML of a mixture."""
    for file in files:
        if file.endswith(".toml"):
            from ragstone.metrics.mixed import read_mixture, register_mixture

            register_mixture(read_mixture(file))
        else:
            from ragstone.registry.declare import import_metrics_file

            import_metrics_file(file)


def load_aspects(files: Sequence[str]) -> None:
    """Registers the aspects of the user's files as metrics."""
    for file in files:
        from ragstone.metrics.grades import register_aspects

        register_aspects(file)
