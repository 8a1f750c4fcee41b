"""The commands of `ragstone`, in the groups in which `--help` shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

import click

from ragstone._version import __version__
from ragstone.cli.help import COMPARE, EVALUATE, JUDGES, STRESS, TOOLS, TRUTH, PanelGroup

# Each command is the function `a_name` of the module `a_name`, or of that in _MODULES, loaded when the command is used.
# The text is the first paragraph of its docstring, so that `ragstone --help` loads no command.
COMMANDS: dict[str, dict[str, str]] = {
    EVALUATE: {
        "demo": "Evaluate the shipped example: 25 questions about a ferry line.",
        "init": "Write a settings file, a tiny example and a CI file into this folder.",
        "run": "Evaluate retrieved chunks and answers, and store the run.",
        "watch": "Evaluate a random sample of production logs with reference-free metrics, as a series of runs.",
        "show": "Print the scores of a stored run, or some of its rows.",
        "runs": "List the stored runs.",
        "view": "Show runs in a browser, label answers and edit ground truth.",
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
        "agree": "Compare metrics with human labels or preferences to see which one to trust.",
        "labels": "List and export the labels that people gave in the viewer, or label rows here.",
        "train": "Train a small judge on your own labels.",
    },
    STRESS: {
        "stress": "Test a generator with noisy, missing, false and hostile passages.",
        "simulate": "Let simulated users talk to your system, and write the conversations for `ragstone run`.",
        "erag": "Score each retrieved chunk by the answer it gives alone.",
    },
    TOOLS: {
        "metrics": "List metrics, or explain one.",
        "validate": "Check data, and name the column that would help most.",
        "convert": "Write samples in another format.",
        "pull": "Read traces from Langfuse, Phoenix or LangSmith.",
        "push": "Write scores onto traces of Langfuse, Phoenix or LangSmith.",
        "receive": "Receive spans by OTLP-HTTP and append them to a file.",
        "models": "List, install and remove local models.",
        "cache": "Show or clear the stored replies of models and the outputs of the local judge.",
        "batches": "List or end the batches of `run --batch` whose replies are not collected yet.",
        "mcp": "Serve runs and documentation to coding assistants over MCP, read only.",
        "skill": "Write a skill folder for coding assistants: when to run what, and how to read the JSON.",
        "doctor": "Show packages, settings, keys and leftovers of killed processes.",
        "trec": "Evaluate a TREC run as trec_eval does; nothing is stored.",
        "fuse": "Fuse the ranked lists of several runs into one run.",
        "pool": "Let a judge label the pooled chunks of several runs as relevant or not, or grade them from 0 to 3.",
        "ragchecker": "Evaluate a RAGChecker file with RAGChecker's flags.",
    },
}
_MODULES = {
    "show": "explain",
    "runs": "explain",
    "diagnose": "explain",
    "push": "pull",
    "batches": "cache",
    "train": "agree",
    "labels": "agree",
}
_MODULES |= {"judge-check": "audit", "receive": "view", "convert": "validate"}
_PANELS = {name: panel for panel, lines in COMMANDS.items() for name in lines}


class LateCommands(Mapping[str, click.Command]):
    """The commands by name; each is loaded when it is looked up, so that `ragstone --help` stays fast."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            self._loaded[name] = _load_command(name, _PANELS[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in _PANELS

    def __iter__(self) -> Iterator[str]:
        return iter(_PANELS)

    def __len__(self) -> int:
        return len(_PANELS)


class RootGroup(PanelGroup):
    """The commands of `ragstone`."""

    def summaries(self) -> Iterator[tuple[str, str, str]]:
        """From the table: no command is loaded."""
        return ((panel, name, line) for panel, lines in COMMANDS.items() for name, line in lines.items())


def _load_command(name: str, panel: str) -> click.Command:
    from ragstone.cli.click_options import make_command

    if name != "truth":
        module = import_module(f"ragstone.cli.{_MODULES.get(name, name)}")
        return make_command(name, getattr(module, name.replace("-", "_")), panel)
    from ragstone.cli.truth import COMMANDS as TRUTH_COMMANDS

    inner = [
        make_command(f"truth {name}", function, panel)
        for panel, functions in TRUTH_COMMANDS.items()
        for name, function in functions.items()
    ]
    return PanelGroup(name="truth", help=COMMANDS[TRUTH]["truth"], commands=inner)


def _show_version(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    del param
    if is_asked:
        click.echo(f"ragstone {__version__}")
        ctx.exit()


app = RootGroup(
    name="ragstone",
    help="Evaluate retrieval-augmented generation: measure quality, compare versions, find what to fix.",
    commands=LateCommands(),
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            callback=_show_version,
            is_eager=True,
            expose_value=False,
            help="Show the version and exit.",
        )
    ],
)
