"""The commands of `ragstone`, in the groups in which `--help` shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from ragstone._version import __version__
from ragstone.cli.help import COMPARE, EVALUATE, JUDGES, STRESS, TOOLS, TRUTH, PanelCommand, PanelGroup

# Each command is the function `a_name` of the module `a_name`, loaded when the command is used.
# The text is the first paragraph of its docstring, so that `ragstone --help` loads no command.
COMMANDS: dict[str, dict[str, str]] = {
    EVALUATE: {
        "demo": "Evaluate the shipped example: 25 questions about a ferry line.",
        "init": "Write a settings file, a tiny example and a CI file into this folder.",
        "run": "Evaluate retrieved chunks and answers, and store the run.",
        "watch": "Evaluate a random sample of production logs with reference-free metrics, as a series of runs.",
        "show": "Print the scores of a stored run.",
        "view": "Show runs in a browser and edit ground truth.",
        "diagnose": "Find what limits quality and why samples fail.",
        "explain": "Show one sample with the evidence behind its scores.",
    },
    COMPARE: {
        "compare": "Test whether B is better than A; rank three or more runs.",
        "gate": "Pass or fail a run in CI.",
        "sweep": "Run many settings of your system, and stop those that cannot win.",
        "report": "Write a run or a comparison as one file that opens offline.",
    },
    TRUTH: {"truth": "Create, version and repair ground truth."},
    JUDGES: {
        "judge": "Compare answers pairwise with a judge.",
        "judge-check": "Examine a judge with 40 labelled items.",
        "audit": "Test a judge for bias.",
        "agree": "Compare metrics with human labels to see which one to trust.",
        "train": "Train a small judge on your own labels.",
    },
    STRESS: {
        "stress": "Test a generator with noisy, missing and false passages.",
        "erag": "Score each retrieved chunk by the answer it gives alone.",
    },
    TOOLS: {
        "metrics": "List metrics, or explain one.",
        "validate": "Check data and list the metrics that it allows.",
        "convert": "Write samples in another format.",
        "pull": "Read traces from Langfuse, Phoenix or LangSmith.",
        "push": "Write scores onto traces of Langfuse, Phoenix or LangSmith.",
        "receive": "Receive spans by OTLP-HTTP and append them to a file.",
        "models": "List, install and remove local models.",
        "cache": "Show or clear the stored replies of models.",
        "batches": "List or end the batches of `run --batch` whose replies are not collected yet.",
        "doctor": "Show packages, settings, keys and leftovers of killed processes.",
        "trec": "Evaluate a TREC run as trec_eval does; nothing is stored.",
        "fuse": "Fuse the ranked lists of several runs into one run.",
        "pool": "Let a judge label the pooled chunks of several runs as relevant or not.",
        "ragchecker": "Evaluate a RAGChecker file with RAGChecker's flags.",
    },
}
_PANELS = {name: panel for panel, lines in COMMANDS.items() for name in lines}
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class LateCommands(Mapping[str, Any]):
    """Commands by name; each is loaded when it is looked up."""

    def __init__(self, names: Mapping[str, str], load: Callable[[str], Any]) -> None:
        self._names = names
        self._load = load
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class RootGroup(PanelGroup):
    """The commands of `ragstone`, each loaded at first use so that `ragstone --help` stays fast."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = LateCommands(_PANELS, _load_command)

    def summaries(self, ctx: Any) -> Iterator[tuple[str, str, str]]:
        """From the table: no command is loaded."""
        del ctx
        return ((panel, name, line) for panel, lines in COMMANDS.items() for name, line in lines.items())


class TruthGroup(PanelGroup):
    """The commands of `ragstone truth`, loaded at first use."""

    _loaded: dict[str, Any] | None = None

    @property
    def commands(self) -> Any:
        """The commands by name."""
        if self._loaded is None:
            from ragstone.cli.truth import COMMANDS as TRUTH_COMMANDS

            self._loaded = {
                name: _make_command(f"truth {name}", command, panel)
                for panel, commands in TRUTH_COMMANDS.items()
                for name, command in commands.items()
            }
        return self._loaded

    @commands.setter
    def commands(self, found: Any) -> None:
        """The base class sets an empty dict, which is ignored."""


def _make_group(cls: Any, name: str | None, help: str | None) -> typer.Typer:
    return typer.Typer(
        cls=cls,
        name=name,
        help=help,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_HELP,
    )


def _load_command(name: str) -> Any:
    if name == "truth":
        return get_command(truth)
    function = name.replace("-", "_")
    return _make_command(name, getattr(import_module(f"ragstone.cli.{function}"), function), _PANELS[name])


def _make_command(path: str, command: Callable[..., None], panel: str) -> Any:
    from ragstone.cli.config import reads_config

    alone = _make_group(PanelGroup, None, None)
    name = path.rsplit(" ", maxsplit=1)[-1]
    alone.command(name, cls=PanelCommand, rich_help_panel=panel)(reads_config(path, command))
    return get_command(alone)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"ragstone {__version__}")
        raise typer.Exit


app = _make_group(
    RootGroup,
    None,
    "Evaluate retrieval-augmented generation: measure quality, compare versions, find what to fix.",
)
truth = _make_group(TruthGroup, "truth", COMMANDS[TRUTH]["truth"])


@truth.callback()
def _truth() -> None:
    pass


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    del version
