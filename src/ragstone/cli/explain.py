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
        next_steps(_next_of_metric(run, explanation.case.sample.id, metric, out, metrics_file))


def _next_of_metric(run: str, sample: str, metric: str, out: str, metrics_file: list[str]) -> tuple[str, str]:
    """The command for the meaning of a metric. A metric of a file that was not named here has no entry; its family may."""
    from ragstone.engine.metric_choice import find_metric

    for name in (metric.split("@", maxsplit=1)[0], metric.partition(".")[0]):
        if find_metric(name):
            return command_line("metrics", name, metrics_file=metrics_file), "what the metric means"
    return command_line("explain", run, sample, out=out, metrics_file=metrics_file), "the whole sample"
