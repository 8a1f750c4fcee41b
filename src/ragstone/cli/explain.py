"""ragstone explain: one sample of a run and the evidence behind its scores."""

from __future__ import annotations

from ragstone.cli.find_run import find_run
from ragstone.cli.options import RUN, argument, load_metrics_files, shared
from ragstone.cli.output import command_line, next_steps, print_json


def explain(
    run: str = argument("RUN", RUN),
    sample: str = argument("SAMPLE", "Id of a sample, or its row number."),
    metric: str | None = argument("[METRIC]", "Metric of the run to explain.", None),
    full: bool = shared("full"),
    metrics_file: list[str] = shared("metrics_file"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Show one sample with the evidence behind its scores."""
    from ragstone.cli.screen import console
    from ragstone.compare.explain import explain_sample
    from ragstone.report.explain import explanation_dict, explanation_report

    load_metrics_files(metrics_file)
    explanation = explain_sample(find_run(run, out), sample, metric)
    if json:
        print_json(explanation_dict(explanation))
        return
    console().print(explanation_report(explanation, full))
    if metric is None:
        step = command_line("explain", run, explanation.case.sample.id, "METRIC", out=out, metrics_file=metrics_file)
        next_steps((step, "how one score was computed"))
    else:
        next_steps((command_line("metrics", metric.split("@")[0]), "what the metric means"))
