"""ragstone agree and train: does a metric agree with people, and which one? A judge trained on their labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import DATA, METRICS, OUTPUT, RUNS, argument, load_metrics_files, option, parse_map, shared
from ragstone.cli.output import command_line, console, find_run, next_steps, print_json, write_file
from ragstone.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from ragstone.agreement.judge_check import Calibrated
    from ragstone.agreement.labels import Joined
    from ragstone.agreement.metric_agreement import MixtureFit, Settings

# The shipped labels, for the runs of `ragstone demo`.
DEMO_LABELS = {"demo": "labels.csv", "demo-preferences": "preferences.csv"}
NO_LABELS = "name the file with the human labels: --human labels.csv"
_MOST_LISTED = 20


def agree(
    runs: list[str] = argument("[RUN]...", f"{RUNS} One per system.", []),
    human: list[str] = shared("human"),
    annotator: list[str] = option(
        [],
        "--annotator",
        "Only the preferences of these people: --annotator 'expert_*'. Repeatable.",
        DATA,
        metavar="NAME",
    ),
    metrics: list[str] = shared("metrics"),
    ppi: bool = option(
        False, "--ppi", "Estimate the human label of all rows from labels and one metric (-m).", METRICS
    ),
    slices: list[str] = shared("slice"),
    label_next: int | None = option(
        None, "--label-next", "Choose N rows to label next for --ppi; needs --todo.", OUTPUT, metavar="N", min=1
    ),
    todo: str | None = option(None, "--todo", "File for the rows of --label-next.", OUTPUT, metavar="FILE.csv"),
    mix: str | None = option(
        None, "--mix", "Fit a mixture of the 2 to 4 metrics of -m and save it.", OUTPUT, metavar="FILE.toml"
    ),
    calibrate: bool = shared("calibrate"),
    html: str | None = shared("html"),
    coefficient: str | None = option(
        None, "--coefficient", "Sort by spearman, pearson, kendall or somers.", METRICS, metavar="NAME"
    ),
    level: str = option(
        "dataset", "--level", "Level of correlation: dataset, sample, system, partial, residual or label.", METRICS
    ),
    threshold: float | None = shared("threshold"),
    show: int = shared("show"),
    map: list[str] = shared("map"),
    value: list[str] = shared("value"),
    metrics_file: list[str] = shared("metrics_file"),
    out: str = shared("out"),
    full: bool = shared("full"),
    json: bool = shared("json"),
) -> None:
    """Compare metrics with human labels or preferences to see which one to trust."""
    from ragstone.agreement.judge_check import Calibrated
    from ragstone.stats.ppi import LEAST_LABELS

    load_metrics_files(metrics_file)
    preferences = _preferences(runs, human, metrics, map, value, out, annotator)
    if preferences is not None:
        if ppi or label_next is not None or mix or calibrate:
            raise UsageError(
                "--ppi, --label-next, --mix and --calibrate need labels of single answers, not preferences"
            )
        settings = _make_settings(preferences, coefficient, level, threshold)
        _show_agreement(preferences, settings, show, full, json, (None, html), None)
        return
    if not runs or annotator:
        raise UsageError(
            "name the run with the answers; only preferences (system_a, system_b, label) take --annotator or no run"
        )
    joined = _joined(runs, human, metrics, map, value, out, first=label_next is not None)
    again = {"human": human, "map": map, "value": value, "out": out, "metrics_file": metrics_file}
    if label_next is not None:
        _choose_next(joined, _only_metric(joined, "--label-next"), label_next, todo)
        again["human"] = [*human, todo or ""]
        step = command_line("agree", *runs, "-m", _only_metric(joined, ""), "--ppi", **again)  # type: ignore[arg-type]
        next_steps((step, "after the rows are labelled"))
    elif ppi:
        metric = _only_metric(joined, "--ppi")
        _show_estimates(joined, metric, slices, json)
        if not json:
            step = command_line("agree", *runs, "-m", metric, label_next=40, todo="todo.csv", **again)  # type: ignore[arg-type]
            next_steps((step, "choose rows to label, for a narrower interval"))
    else:
        settings = _make_settings(joined, coefficient, level, threshold)
        calibrated = Calibrated.by_labels(joined) if calibrate else None
        _show_agreement(joined, settings, show, full, json, (mix, html), calibrated)
        if mix and not json:
            made = {"metrics": [f"mixed.{_mixture_name(mix)}"], "metrics_file": [*metrics_file, mix], "out": out}
            next_steps((command_line("run", "DATA", **made), "evaluate with the mixture"))  # type: ignore[arg-type]
        elif not json:
            step = command_line("agree", *runs, "-m", "METRIC", "--ppi", **again)  # type: ignore[arg-type]
            more = (command_line("view", out), "label more answers: keys 1, 2, 3")
            is_few = len(joined.inputs) < LEAST_LABELS
            next_steps(more if is_few else (step, "estimate the human label of all rows"))


def _preferences(
    runs: list[str], human: list[str], metrics: list[str], map: list[str], value: list[str], out: str, people: list[str]
) -> Joined | None:
    """The preferences of the files next to the differences of scores; None if the files have labels of single answers."""
    from ragstone.agreement.labels import parse_words
    from ragstone.agreement.preferences import join_preferences, read_preferences

    read = read_preferences([_find_labels(file) for file in human], parse_words(value), parse_map(map))
    return None if read is None else join_preferences([find_run(name, out) for name in runs], read, metrics, people)


def _joined(
    runs: list[str], human: list[str], metrics: list[str], map: list[str], value: list[str], out: str, first: bool
) -> Joined:
    """The labels of the files or, if none is named, those of the store; the first rows to label may have none yet."""
    from ragstone.agreement.stored_labels import join_stored, read_stored

    stored = [find_run(name, out) for name in runs]
    if human or (first and not read_stored(stored).labels):
        return join_labels(runs, human, metrics, map, value, out)
    return join_stored(stored, metrics)


def labels(
    runs: list[str] = shared("run"),
    csv: str | None = option(
        None, "--csv", "Write the labels of answers as CSV, for `agree --human`.", OUTPUT, metavar="FILE"
    ),
    say: list[str] = option(
        [],
        "--set",
        "Label the answer of a row: q7=right, partly, wrong or skipped; q7=none removes your label. Repeatable.",
        DATA,
        metavar="ROW=LABEL",
    ),
    author: str | None = shared("author"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """List and export the labels that people gave in the viewer, or label rows here.

    `--run` takes only the labels of the answers of a run, also those that were given in another run with the same answer.
    """
    from collections import Counter
    from dataclasses import asdict

    from ragstone.agreement.stored_labels import labels_csv, labels_of_runs
    from ragstone.cli.output import print_table
    from ragstone.storage.human_labels import read_human_labels
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import finished_runs
    from ragstone.views.phrases import one_line

    if say:
        _set_labels(runs, say, author or "", out)
    stored = read_human_labels(open_place(out))
    found = labels_of_runs([find_run(name, out) for name in runs]) if runs else list(stored.labels)
    if csv:
        open_place(csv).write_bytes(labels_csv(found, finished_runs(open_place(out))))
    if json:
        print_json({"labels": [asdict(one) for one in found], "damaged": list(stored.damaged)})
        return
    for words in stored.damaged:
        click.echo(f"cannot read a label: {words}", err=True)
    if not found:
        click.echo(f"no labels in {out}")
        next_steps((command_line("view", out), "label answers on the pages of samples: keys 1, 2, 3"))
        return
    newest = found[-_MOST_LISTED:]
    shown = [(one.time[:16].replace("T", " "), one.author, one.sample_id, one.value, one.note) for one in newest]
    print_table(("time", "author", "sample", "label", "note"), [[one_line(cell, 60) for cell in row] for row in shown])
    counts = Counter(one.author for one in found)
    click.echo("; ".join(f"{one_line(name, 80)}: {count}" for name, count in counts.most_common()))
    if csv:
        click.echo(f"{sum(one.score is not None for one in found)} labels of answers written to {csv}")
    next_steps((command_line("agree", *(runs or ["latest"]), out=out), "compare the judge with these labels"))


def _set_labels(runs: list[str], pairs: list[str], author: str, out: str) -> None:
    """Stores the labels `ROW=LABEL` of answers of a run."""
    from getpass import getuser

    from ragstone.analysis.explain import find_row
    from ragstone.analysis.label_use import sample_key
    from ragstone.analysis.sample_evidence import read_case
    from ragstone.storage.human_labels import ANSWER_VALUES, HumanLabel, remove_label, write_label
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import read_table

    if len(runs) != 1:
        raise UsageError("--set needs the run of the answers: ragstone labels --run RUN --set ROW=right")
    run = find_run(runs[0], out)
    ids = read_table(run.folder.samples, ["id"])["id"]
    chosen = [(find_row(ids, row), value) for row, _, value in (pair.rpartition("=") for pair in pairs)]
    if unknown := {value for _, value in chosen} - {*ANSWER_VALUES, "none"}:
        raise UsageError(f"'{min(unknown)[:40]}' is not a label. Choose from: {', '.join(ANSWER_VALUES)}, none.")
    for row, value in chosen:
        sample = read_case(run, row).sample
        label = HumanLabel(sample_key(sample), "answer", author or getuser(), value, run=run.id, run_name=run.name)
        label = replace(label, sample_id=sample.id, question=sample.question or "", answer=sample.answer or "")
        if value == "none":
            remove_label(open_place(out), label.author, label.key)
        else:
            write_label(open_place(out), label)


def join_labels(
    runs: list[str], human: list[str], metrics: list[str], map: list[str], value: list[str], out: str
) -> Joined:
    """The human labels of the files next to the scores of the runs."""
    from ragstone.agreement.labels import join, read_labels

    labels = read_labels([_find_labels(file) for file in human], value, parse_map(map))
    return join([find_run(name, out) for name in runs], labels, metrics)


def _find_labels(file: str) -> str:
    """A file of labels, or a shipped one by its name."""
    from importlib import resources

    from ragstone.storage.places import open_place

    if file not in DEMO_LABELS or open_place(file).exists():
        return file
    return str(resources.files("ragstone.examples") / "harbour" / DEMO_LABELS[file])


def _make_settings(joined: Joined, coefficient: str | None, level: str, threshold: float | None) -> Settings:
    from ragstone.agreement.metric_agreement import Settings, natural_coefficient
    from ragstone.stats.correlation import COEFFICIENTS, LEVELS

    coefficient = coefficient or natural_coefficient(joined)
    for word, name, known in (("coefficient", coefficient, COEFFICIENTS), ("level", level, LEVELS)):
        if name not in known:
            raise UnknownNameError(word, name, known, f"Choose from: {', '.join(known)}.")
    return Settings(coefficient, level, threshold)  # type: ignore[arg-type]


def _show_agreement(
    joined: Joined,
    settings: Settings,
    show: int,
    full: bool,
    json: bool,
    files: tuple[str | None, str | None],
    calibrated: list[Calibrated] | None,
) -> None:
    from ragstone.agreement.metric_agreement import FEW_METRICS, measure_agreement
    from ragstone.report.agreement import agreement_dict, agreement_report, few_labels, mixture_dict, mixture_report
    from ragstone.report.judges import calibration_dict, calibration_report

    mix, html = files
    every = json or len(joined.metrics) <= FEW_METRICS
    agreement = measure_agreement(joined, replace(settings, full=every), show)
    fit = _fit_mixture(joined, settings, mix) if mix else None
    if html:
        from ragstone.report.html.judge_page import agreement_html

        write_file(agreement_html(agreement, fit, mix or ""), html)
    if json:
        mixture = {"mixture": mixture_dict(fit, mix or "")} if fit else {}
        measured = {} if calibrated is None else {"calibration": [calibration_dict(one) for one in calibrated]}
        print_json({**agreement_dict(agreement), **mixture, **measured})
    else:
        few = "" if full or fit or calibrated or joined.pairs else few_labels(agreement)
        console().print(f"{few} --full shows the tables." if few else agreement_report(agreement, full))
        if fit:
            console().print(mixture_report(fit, settings.coefficient, mix or ""))
        if calibrated:
            console().print(calibration_report(calibrated))


def _fit_mixture(joined: Joined, settings: Settings, file: str) -> MixtureFit:
    from ragstone.agreement.metric_agreement import fit_mixture
    from ragstone.metrics.mixed import write_mixture
    from ragstone.report.agreement import mixture_verdict

    fit = fit_mixture(joined, _mixture_name(file), settings)
    write_mixture(fit.mixture, file, [f"Fitted to {fit.rows} labels by `ragstone agree`.", mixture_verdict(fit)])
    return fit


def _mixture_name(file: str) -> str:
    name = Path(file).stem
    if not file.endswith(".toml") or not name.isidentifier() or name != name.lower():
        raise UsageError(f"--mix {file}: name a file such as ours.toml (lower-case letters, digits and _)")
    return name


def _only_metric(joined: Joined, option: str) -> str:
    if len(joined.metrics) != 1:
        raise UsageError(f"{option} needs exactly one metric: name it with -m. `ragstone agree` ranks the metrics.")
    return str(joined.metrics[0]["metric"])


def _show_estimates(joined: Joined, metric: str, slices: list[str], json: bool) -> None:
    from ragstone.agreement.estimates import estimate_means
    from ragstone.report.estimates import estimates_dict, estimates_report

    estimates = estimate_means(joined, metric, tuple(slices))
    if json:
        print_json(estimates_dict(estimates))
    else:
        console().print(estimates_report(estimates))


def _choose_next(joined: Joined, metric: str, size: int, todo: str | None) -> None:
    from ragstone.agreement.estimates import choose_next, write_next

    if todo is None:
        raise UsageError("--label-next writes a file to label: name it with --todo todo.csv")
    rows = choose_next(joined, metric, size)
    write_next(rows, todo)
    click.echo(f"{len(rows)} rows to label in {todo}. Fill in the column label; do not change round and chance.")


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
