"""ragstone gate: does this run pass?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.config import ACCEPT, Config, find_config, find_criteria
from ragstone.cli.options import DATA, METRICS, OUTPUT, RUN, argument, load_metrics_files, option, shared
from ragstone.cli.output import command_line, console, find_folder, find_run, next_steps, print_json, remark
from ragstone.errors import StorageError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from ragstone.analysis.acceptance import Criterion
    from ragstone.analysis.alignment import Baseline
    from ragstone.analysis.gate_conditions import Check, GateOutcome
    from ragstone.analysis.gates import Gate
    from ragstone.storage.runs import Run

_CONDITION = "METRIC=VALUE"


def gate(
    run: str = argument("RUN", RUN),
    least: list[str] = option([], "--min", "Minimum mean. Repeatable.", METRICS, metavar=_CONDITION),
    most: list[str] = option([], "--max", "Maximum mean. Repeatable.", METRICS, metavar=_CONDITION),
    against: str | None = shared("against"),
    baseline: str | None = shared("baseline"),
    require_baseline: bool = option(
        False, "--require-baseline", "The first run in a store is undecided instead of passed.", DATA
    ),
    max_new_failures: int | None = option(
        None,
        "--max-new-failures",
        "Maximum number of rows that are wrong and were clearly better in the baseline; for small sets too.",
        METRICS,
        metavar="N",
        min=0,
    ),
    max_drop: list[str] = option(
        [],
        "--max-drop",
        "Maximum loss against the baseline; a bare number is for all headline metrics. Repeatable.",
        METRICS,
        metavar=_CONDITION,
    ),
    max_rise: list[str] = option(
        [],
        "--max-rise",
        "Maximum rise of a metric that should be low, such as latency_p95=0.2s or cost=10%. Repeatable.",
        METRICS,
        metavar=_CONDITION,
    ),
    max_worse: list[str] = option(
        [],
        "--max-worse",
        "Maximum number of samples whose score is worse than in the baseline; for small sets. Repeatable.",
        METRICS,
        metavar="METRIC=COUNT",
    ),
    cluster: str | None = shared("cluster"),
    max_failed: float = shared("max_failed"),
    inconclusive: str = option(
        "fail",
        "--inconclusive",
        "What `cannot tell` counts as: fail, or pass for a warning only.",
        METRICS,
        metavar="WORD",
    ),
    sequential: bool = option(
        False, "--sequential", "Decide from the rows so far, also of an unfinished run; valid for repeated looks.", DATA
    ),
    metrics_file: list[str] = shared("metrics_file"),
    out: str = shared("out"),
    markdown: str | None = option(None, "--markdown-file --markdown", "Also write Markdown.", OUTPUT, metavar="FILE"),
    junit: str | None = option(None, "--junit", "Also write JUnit XML.", OUTPUT, metavar="FILE"),
    comment: str | None = option(
        None, "--comment", "Also comment on the pull request of the CI job, under this key.", OUTPUT, metavar="KEY"
    ),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Pass or fail a run in CI.

    Exit code 0: passed, 3: failed, 4: cannot tell, by confidence intervals. Without conditions on the command line, those in [gate] and [accept] of ragstone.toml apply. A baseline without a limit: no more rows may fail newly than are fixed, and no headline metric may be significantly worse.
    """
    from ragstone.analysis.gate_conditions import NOT_WORSE, parse_checks, parse_inconclusive

    counts_as = parse_inconclusive("--inconclusive", inconclusive)
    load_metrics_files(metrics_file)
    checks = [*parse_checks("min", least), *parse_checks("max", most)]
    checks += [*parse_checks("max-drop", max_drop), *parse_checks("max-rise", max_rise)]
    checks += parse_checks("max-worse", max_worse)
    checks += parse_checks("max-new-failures", [] if max_new_failures is None else [str(max_new_failures)])
    config, is_of_file = find_config(click.get_current_context().params.get("config")), False
    criteria: list[Criterion] = []
    if config is not None and (config.is_named or not checks):
        criteria = find_criteria(config)
        more, named = _read_conditions(config)
        checks = [*checks, *more]
        if against is None and baseline is None:
            against, baseline = named
            is_of_file = True
    if against and baseline:
        raise UsageError("give either --against RUN or --baseline BRANCH")
    if (against or baseline) and not any(check.is_change for check in checks):
        if sequential:
            raise UsageError("--sequential with a baseline needs --max-drop METRIC=VALUE: the largest allowed drop")
        checks += NOT_WORSE
    old = _find_against(against, is_of_file, out) if against else None
    if checks or not criteria:
        decision, compared = _decide(run, checks, old, baseline, require_baseline, cluster, max_failed, sequential, out)
    else:
        decision, compared = _of_acceptance_only(run, out), None
    decision = replace(_accept(decision, run, criteria, cluster, out), inconclusive=counts_as)
    _write(decision, markdown, junit)
    if comment is not None:
        _comment(decision, run, compared, cluster, comment, out)
    from ragstone.report.gates import gate_dict, gate_report

    if json:
        print_json(gate_dict(decision))
    else:
        console().print(gate_report(decision))
    # The run of an early look may be unfinished, so it is not a baseline.
    if not json and not quiet and (decision.exit_code or not sequential):
        shown = compared.id if baseline and compared else against
        _suggest(decision, run, shown, baseline is not None, out, metrics_file, _overrule(decision, run, compared, out))
    raise click.exceptions.Exit(decision.exit_code)


def _of_acceptance_only(run: str, out: str) -> Gate:
    from ragstone.analysis.gates import Gate

    found = find_run(run, out)
    return Gate(found.name, found.path, None, ())


def _accept(decision: Gate, run: str, criteria: list[Criterion], cluster: str | None, out: str) -> Gate:
    """The decision with the acceptance criteria of the settings file."""
    if not criteria:
        return decision
    if decision.sequential:
        raise UsageError("[accept] of ragstone.toml needs a finished run: leave out --sequential")
    from ragstone.analysis.acceptance import with_acceptance
    from ragstone.analysis.differences import Settings

    return with_acceptance(decision, find_run(run, out), criteria, Settings(cluster=cluster))


def _overrule(decision: Gate, run: str, compared: Run | None, out: str) -> list[tuple[str, str]]:
    """The commands that label the first newly failing row, if such rows fail the gate."""
    failing = next((one.failing for one in decision.checks if one.failing and one.outcome == "fails"), ())
    if compared is None or not failing:
        return []
    from ragstone.analysis.alignment import align

    right, wrong = ((run, "right"), (compared.id, "wrong"))
    labels = [command_line("labels", run=name, set=f"{failing[0]}={word}", out=out) for name, word in (right, wrong)]
    whys = ("overrule a false alarm: your label decides this row, then gate again", "or the old answer was as wrong")
    return [*zip(labels, whys, strict=True)][: 2 if align(compared, find_run(run, out)).by == "id" else 1]


def _suggest(
    decision: Gate,
    run: str,
    compared: str | None,
    of_branch: bool,
    out: str,
    metrics_file: list[str],
    overrule: list[tuple[str, str]],
) -> None:
    if decision.exit_code and compared:
        compare = command_line("compare", compared, run, out=out, metrics_file=metrics_file)
        next_steps((compare, "see what changed"), *overrule)
    elif of_branch:
        return  # the next run is compared with its branch, and a missing baseline says what to do
    elif decision.exit_code:
        next_steps((command_line("diagnose", run, out=out), "see what limits quality"))
    else:
        baseline = command_line("gate", "NEW", against=run, max_new_failures="0", out=out, metrics_file=metrics_file)
        next_steps((baseline, "check the next version against this run"))


def _find_against(name: str, is_of_file: bool, out: str) -> Run:
    """The run to compare with; for an unknown run the message names the option for branches."""
    try:
        return find_run(name, out)
    except (UnknownNameError, StorageError) as error:
        from ragstone.analysis.alignment import is_branch
        from ragstone.storage.places import open_place

        if "://" in name or name.startswith((".", "/")):
            raise
        known = f"{name} is a branch of stored runs:" if is_branch(name, open_place(out)) else "If it is a branch,"
        option = f'write baseline = "{name}" in [gate] of ragstone.toml' if is_of_file else f"use --baseline {name}"
        error.args = (f"{error} {known} {option}.",)
        raise


def _decide(
    run: str,
    checks: list[Check],
    old: Run | None,
    branch: str | None,
    require_baseline: bool,
    cluster: str | None,
    most_failed: float,
    sequential: bool,
    out: str,
) -> tuple[Gate, Run | None]:
    """The decision, and the run that it was compared with."""
    from ragstone.analysis.alignment import describe_baseline, note_of_itself
    from ragstone.analysis.differences import Settings
    from ragstone.analysis.gates import check_gate, check_so_far, check_without_baseline

    if sequential and cluster:
        raise UsageError("--sequential does not support --cluster")
    baseline = _find_baseline(run, checks, branch, sequential, out) if branch else None
    compared = baseline.run if baseline else old
    settings = Settings(cluster=cluster)
    if baseline and compared is None:
        outcome: GateOutcome = "passes" if baseline.is_first and not require_baseline else "cannot tell"
        return check_without_baseline(find_run(run, out), checks, outcome, baseline.note, settings, most_failed), None
    if sequential:
        gate = check_so_far(find_folder(run, out), checks, compared, most_failed)
    else:
        gate = check_gate(find_run(run, out), checks, compared, settings, most_failed)
    note = baseline.note if baseline else describe_baseline(compared) if compared else ""
    itself = note_of_itself(find_folder(run, out), compared)
    return replace(gate, note=". ".join(filter(None, [note, itself]))), compared


def _find_baseline(run: str, checks: list[Check], branch: str, sequential: bool, out: str) -> Baseline:
    from ragstone.analysis.alignment import find_baseline
    from ragstone.storage.places import open_place

    finished = None if sequential else find_run(run, out)
    folder = finished.folder if finished else find_folder(run, out)
    metrics = [check.metric or "*" for check in checks if check.is_change]
    return find_baseline(folder, finished.info if finished else None, branch, open_place(out), metrics)


def _comment(decision: Gate, run: str, compared: Run | None, cluster: str | None, key: str, out: str) -> None:
    """Comments on the pull request; a failure is a note and does not change the decision."""
    from ragstone.analysis.comparison import compare_runs
    from ragstone.analysis.differences import Settings
    from ragstone.notify.pull_request import post_comment
    from ragstone.report.markdown import gate_comment

    comparison = None
    if compared is not None and decision.finished:
        comparison = compare_runs(compared, find_run(run, out), settings=Settings(cluster=cluster))
    remark(post_comment(gate_comment(decision, comparison), key))


def _read_conditions(config: Config) -> tuple[list[Check], tuple[str | None, str | None]]:
    """The conditions, `against` and `baseline` of [gate]; a named file must have some."""
    from ragstone.analysis.gate_conditions import KINDS, read_checks

    table = config.table.get("gate", {})
    if config.is_named and not table and ACCEPT not in config.table:
        raise UsageError(f"{config.path} has no [gate] table")
    for key, kind in (("against", "run"), ("baseline", "branch")):
        if not isinstance(table.get(key), str | None):
            raise UsageError(f"{config.path}: [gate] {key} must be the name of a {kind}, got {table[key]!r}")
    conditions = {key.replace("_", "-"): value for key, value in table.items()}
    return read_checks({key: conditions[key] for key in KINDS if key in conditions}, str(config.path)), (
        table.get("against"),
        table.get("baseline"),
    )


def _write(decision: Gate, markdown: str | None, junit: str | None) -> None:
    from ragstone.report.gates import gate_junit
    from ragstone.report.markdown import gate_markdown

    for path, text in ((markdown, gate_markdown), (junit, gate_junit)):
        if path:
            try:
                Path(path).write_text(text(decision), encoding="utf-8")
            except OSError as error:
                raise StorageError(f"cannot write {path}: {error.strerror}") from error
