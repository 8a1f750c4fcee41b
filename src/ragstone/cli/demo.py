"""ragstone demo: evaluate the shipped example."""

from __future__ import annotations

from ragstone.cli.evaluation import evaluate_data, show_run
from ragstone.cli.options import argument, shared
from ragstone.cli.output import command_line, next_steps
from ragstone.errors import UnknownNameError

_SYSTEMS = ("better", "worse", "chat", "sweep")


def demo(
    system: str = argument("[better|worse|chat|sweep]", "System of the example.", "better"),
    out: str = shared("out"),
    full: bool = shared("full"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Evaluate the shipped example: 25 questions about a ferry line.

    Two systems answered them. The third, `chat`, is an assistant: 14 turns with citations, steps and cost. `sweep` runs 12
    settings of a toy system.
    """
    from importlib import resources

    if system not in _SYSTEMS:
        raise UnknownNameError("system", system, _SYSTEMS, f"Choose from: {', '.join(_SYSTEMS)}.")
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        if system == "sweep":
            _sweep(str(folder / "sweep.toml"), out, json, quiet)
            return
        data, options = str(folder / f"{system}.jsonl"), {"name": f"harbour-{system}"}
        show_run(evaluate_data(data, [], out, options, quiet, json), json, full)
    if json or quiet:
        return
    steps = [(command_line("demo", "worse", out=out), "evaluate the other system of the example")]
    if system == "chat":
        steps = [
            (command_line("diagnose", "harbour-chat", out=out), "which part limits quality"),
            (
                command_line("explain", "harbour-chat", "c2-2", out=out),
                "the turn with a wrong answer: claims, citations, steps",
            ),
        ]
    if system == "worse":
        both = ("harbour-worse", "harbour-better")
        steps = [
            (command_line("compare", *both, out=out), "compare both systems"),
            (command_line("agree", *both, human="demo", out=out), "compare the metrics with human labels"),
        ]
    if system == "better":
        steps.append((command_line("demo", "chat", out=out), "conversations, citations, steps and cost"))
    next_steps(
        *steps,
        (command_line("metrics", "fact_recall"), "what a metric means and when it misleads"),
        (command_line("run", "answers.jsonl"), "evaluate your own data"),
    )


def _sweep(path: str, out: str, json: bool, quiet: bool) -> None:
    from ragstone.cli.sweep import sweep_and_show
    from ragstone.sweep.plan import read_plan

    results = sweep_and_show(read_plan(path), out, False, json, quiet)
    if json or quiet:
        return
    first, second = (one.run for one in results.standings[:2])
    next_steps(
        (command_line("compare", second, first, out=out), "the two best settings in detail"),
        (command_line("sweep", path, out=out), "the same from its file: copy it for your own system"),
    )
