"""ragstone demo: evaluate the shipped example."""

from __future__ import annotations

import click

from ragstone.cli.evaluation import evaluate_data, show_run
from ragstone.cli.options import argument, shared
from ragstone.cli.output import command_line, next_steps
from ragstone.cli.view import open_viewer, page_of, serve
from ragstone.errors import UnknownNameError

_SYSTEMS = ("better", "worse", "chat", "sweep", "attacks")


def demo(
    system: str = argument("[better|worse|chat|sweep|attacks]", "System of the example.", "better"),
    browse: bool = shared("open"),
    out: str = shared("out"),
    full: bool = shared("full"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Evaluate the shipped example: 25 questions about a ferry line.

    Two systems answered them. The third, `chat`, is an assistant: 14 turns with citations, steps and cost. `sweep` runs 12
    settings of a toy system. `attacks` adds hostile chunks to the passages of two toy generators.
    """
    import os
    from importlib import resources

    from ragstone.analysis.sample_order import worst_rows

    # The example takes seconds, also where the large judge is installed.
    os.environ.setdefault("RAGSTONE_LARGE_JUDGE", "off")
    if system not in _SYSTEMS:
        raise UnknownNameError("system", system, _SYSTEMS, f"Choose from: {', '.join(_SYSTEMS)}.")
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        if system == "sweep":
            _sweep(str(folder / "sweep.toml"), out, json, quiet)
            return
        if system == "attacks":
            _attack(str(folder), out, json, quiet)
            return
        data, options = str(folder / f"{system}.jsonl"), {"name": f"harbour-{system}"}
        finished = evaluate_data(data, [], out, options, quiet, json)
        diagnosis = show_run(finished, out, json, full, quiet)
    if json or diagnosis is None:
        return
    [row] = worst_rows(finished, diagnosis.faulty, 1)
    sample = finished.samples[row].id
    click.echo(f"\nstored in {finished.path} as {finished.name}")
    if not quiet:
        _show_next(system, sample, out)
    if browse:
        path = page_of(finished.id, sample, out)
        serve(open_viewer(out, path), path, browse)


def _show_next(system: str, sample: str, out: str) -> None:
    name = f"harbour-{system}"
    # `view` takes the root as its argument.
    opened = command_line("view", out, "--open", run=name, sample=sample)
    steps = [(opened, "open this sample in the browser")]
    if system == "chat":
        steps.append((command_line("explain", name, "c2-2", out=out), "a turn with a wrong answer, in the terminal"))
    if system == "worse":
        both = ("harbour-worse", "harbour-better")
        steps += [
            (command_line("compare", *both, out=out), "compare both systems"),
            (command_line("agree", *both, human="demo", out=out), "compare the metrics with human labels"),
        ]
    if system == "better":
        steps += [
            (command_line("demo", "worse", out=out), "evaluate the other system of the example"),
            (command_line("demo", "chat", out=out), "conversations, citations, steps and cost"),
        ]
    next_steps(
        *steps,
        (command_line("metrics", "fact_recall"), "what a metric means and when it misleads"),
        (command_line("run", "answers.jsonl"), "evaluate your own data"),
    )


def _attack(folder: str, out: str, json: bool, quiet: bool) -> None:
    from ragstone.cli.stress import run_and_show
    from ragstone.formats import read_dataset
    from ragstone.stress.beds import ATTACKS, Setting
    from ragstone.stress.run import prepare

    prepared = prepare(list(read_dataset(f"{folder}/better.jsonl")), Setting(beds=ATTACKS))
    systems = [f"{folder}/generators.py:{name}" for name in ("obedient", "careful")]
    run_and_show(prepared, systems, out, {"system_options": {"cache": False}}, json, quiet)


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
