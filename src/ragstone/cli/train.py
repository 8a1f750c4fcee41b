"""ragstone train: train a judge on human labels."""

from __future__ import annotations

from ragstone.cli.agree import NO_LABELS, join_labels
from ragstone.cli.options import RUNS, argument, load_metrics_files, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.errors import UsageError


def train(
    name: str = argument("NAME", "Name of the judge; use it as --judge trained/NAME."),
    runs: list[str] = argument("RUN...", f"{RUNS} One per system."),
    human: list[str] = shared("human"),
    metrics: list[str] = shared("metrics"),
    map: list[str] = shared("map"),
    value: list[str] = shared("value"),
    metrics_file: list[str] = shared("metrics_file"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Train a small judge on your own labels."""
    from dataclasses import asdict

    from ragstone.agreement.train import train_judge
    from ragstone.cli.screen import console
    from ragstone.models.trained import check_name, save_trained
    from ragstone.report.agreement import agreement_dict
    from ragstone.report.estimates import training_report

    load_metrics_files(metrics_file)
    plain = check_name(name)
    if not human:
        raise UsageError(NO_LABELS)
    training = train_judge(join_labels(runs, human, metrics, map, value, out), plain)
    path = save_trained(training.judge)
    if json:
        card = {"judge": f"trained/{plain}", "path": path, "signature": training.judge.signature}
        read = {"uses": list(training.judge.card.uses), "unused": list(training.remarks)}
        advantage = asdict(training.advantage) if training.advantage else None
        verdict = {"recommended": training.recommended, "advantage": advantage}
        print_json({**card, **read, **verdict, **agreement_dict(training.agreement)})
        return
    console().print(training_report(training, path))
    if training.recommended:
        step = command_line("run", "DATA", judge=f"trained/{plain}", out=out, metrics_file=metrics_file)
        next_steps((step, "evaluate with this judge"))
