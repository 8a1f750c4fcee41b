"""ragstone judge-check: examine a judge before it is trusted."""

from __future__ import annotations

from typing import Any

from ragstone.cli.options import argument, shared, with_models
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.tools.model_options import ModelOptions


@with_models("prompts")
def judge_check(
    judge: str = argument(
        "JUDGE", "Judge model: openai/gpt-4o-mini, ollama/llama3.1, llama/NAME, file.py:function, local."
    ),
    concurrency: int = shared("concurrency"),
    models: ModelOptions = ModelOptions(),
    calibrate: bool = shared("calibrate"),
    quote: bool = shared("quote"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Examine a judge with 40 labelled items.

    Claims, answers, pairs and JSON in five languages: how often it is right, what it costs and how to ask it.
    """
    from ragstone.agreement.judge_check import check_dict, check_judge, quote_check
    from ragstone.cli.screen import console, noting
    from ragstone.report.calibrations import calibration_dict, calibration_report
    from ragstone.report.judge_check import check_report
    from ragstone.report.quote import line_report

    options: dict[str, Any] = models.keywords()
    if quote:
        line = quote_check(judge, options, concurrency)
        print_json(vars(line)) if json else console().print(line_report(line))
        return
    check = check_judge(judge, options, concurrency, noting(quiet or json), calibrate)
    if json:
        found = [calibration_dict(check.calibrated)] if check.calibrated else []
        print_json({**check_dict(check), **({"calibration": found} if calibrate else {})})
        return
    console().print()
    console().print(check_report(check))
    if check.calibrated:
        console().print(calibration_report([check.calibrated]))
    way = {} if check.best.way == "local" else {"verdicts": check.best.way}
    next_steps((command_line("run", "DATA", judge=judge, base_url=models.base_url, **way), "use it"))
