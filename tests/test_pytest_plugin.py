"""The plugin as a user has it: in a pytest of its own."""

import json
import subprocess
import sys

import pytest

import ragstone
from ragstone.errors import UnknownNameError
from ragstone.pytest_plugin import assert_scores
from tests.oracle.server import OracleServer
from tests.oracle.world import make_samples
from tests.report.runs import harbour

pytest_plugins = ["pytester"]

METRICS = ["fact_recall", "token_f1", "recall@5"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def better(store):
    return harbour("better", store, METRICS)


@pytest.fixture(scope="module")
def worse(store):
    return harbour("worse", store, METRICS)


def story(run, *conditions, **options):
    with pytest.raises(AssertionError) as failed:
        assert_scores(run, *conditions, **options)
    return str(failed.value)


def test_conditions_that_hold(better, worse, store):
    assert_scores(better, "fact_recall >= 0.8", "token_f1 ≥ 0.1", "fact_recall <= 1.0", root=store)
    assert_scores(better, "fact_recall no worse than harbour-worse", root=store)
    assert_scores(better.path, "recall@5 >= 0.5")
    assert_scores(better, f"fact_recall no worse than {worse.path}")


def test_a_failure_shows_the_mean_the_interval_and_the_worst_samples(worse):
    row = worse.summary()["fact_recall"]
    lines = story(worse, "fact_recall >= 0.8", "token_f1 >= 0.01", show=2).splitlines()
    assert lines[0] == "1 of 2 conditions on run harbour-worse does not hold"
    interval = f"{row.ci_low:.3f} to {row.ci_high:.3f}"
    assert lines[1] == f"  ✗ fact_recall >= 0.8: the mean is {row.mean:.3f}, 95 % interval {interval}, 23 rows"
    assert [line.split()[0] for line in lines[2:4]] == ["0.000", "0.000"]
    frame = worse.to_pandas()
    first = frame[frame["fact_recall"] == 0].iloc[0]
    assert first["id"] in lines[2]
    assert first["question"] in lines[2]
    assert lines[4].startswith("  ✓ token_f1 >= 0.01: the mean is ")
    assert lines[5] == f"full report: ragstone report {worse.path}"


def test_a_drop_shows_what_dropped(better, worse, store):
    lines = story(worse, "token_f1 no worse than harbour-better", root=store).splitlines()
    assert "the difference is -" in lines[1]
    assert " → " in lines[2]
    old, new = map(float, lines[2].split()[0:3:2])
    assert old > new


def test_a_tolerance_is_honoured(better, worse, store):
    assert_scores(worse, "token_f1 no worse than harbour-better by more than 0.9", root=store)


def test_certain_asks_for_the_whole_interval(better):
    row = better.summary()["fact_recall"]
    limit = (row.ci_low + row.mean) / 2
    assert_scores(better, f"fact_recall >= {limit}")
    assert "too few" in story(better, f"fact_recall >= {limit}", certain=True)
    assert_scores(better, f"fact_recall >= {row.ci_low - 0.01}", certain=True)


def test_equal_runs_are_no_worse(better, store):
    again = harbour("better", store, METRICS)
    assert_scores(again, f"token_f1 no worse than {better.id}", root=store)


def test_too_many_failed_cells_never_pass(tmp_path, catalogue):
    import ragstone
    from ragstone.registry import metric

    @metric("fragile", family="own", bounds=(0, 1))
    def fragile(answer: str) -> float:
        """A metric that breaks now and then."""
        return 1.0 / (answer != "bad")

    rows = [{"question": "q", "answer": "bad" if number < 3 else "good"} for number in range(20)]
    run = ragstone.evaluate(rows, ["fragile"], tmp_path)
    assert "3 of 20 cells failed" in story(run, "fragile >= 0.1")


def test_what_was_not_computed_does_not_hold(tmp_path):
    import ragstone

    run = ragstone.evaluate([{"question": "q", "answer": "a"}], ["token_f1", "ari"], tmp_path)
    assert "not computed" in story(run, "token_f1 >= 0")


@pytest.mark.parametrize("text", ["token_f1", "token_f1 > 0.5", "token_f1 == 1", ">= 0.5", "token_f1 >= 1.2.3", ""])
def test_what_is_no_condition_is_refused(better, text):
    with pytest.raises(ValueError, match=r"is not a condition|is not a number"):
        assert_scores(better, text)


def test_unknown_names_are_said(better, store):
    with pytest.raises(UnknownNameError, match="ragstone run DATA --name mian"):
        assert_scores(better, "token_f1 no worse than mian", root=store)
    with pytest.raises(UnknownNameError, match="fact_recall"):
        assert_scores(better, "fact_recal >= 0.5")
    with pytest.raises(ValueError, match="needs a condition"):
        assert_scores(better)


def test_hostile_text_stays_on_its_line(tmp_path):
    import ragstone

    run = ragstone.evaluate(
        [{"id": "a\x1b[31m\n\u202e", "question": "q\nx" * 200, "answer": "a", "references": ["b"]}],
        ["token_f1"],
        tmp_path,
    )
    told = story(run, "token_f1 >= 0.5")
    assert len(told.splitlines()) == 4
    assert not {"\x1b", "\u202e"} & set(told)


TESTS = """
from ragstone.pytest_plugin import assert_scores

ROWS = [{"id": f"s{n}", "question": f"Question {n}?", "answer": "a b", "references": ["a b" if n % 2 else "c"]} for n in range(20)]

def test_good(ragstone_runs):
    run = ragstone_runs.evaluate(ROWS, ["token_f1"])
    ragstone_runs.assert_scores(run, "token_f1 >= 0.4", "token_f1 no worse than main")
    assert_scores(run, "token_f1 >= 0.4")

def test_bad(ragstone_runs):
    run = ragstone_runs.evaluate(ROWS, ["token_f1"])
    ragstone_runs.assert_scores(run, "token_f1 >= 0.9")
"""


def make_main(root):
    import ragstone

    rows = [{"id": f"s{n}", "question": f"Question {n}?", "answer": "a b", "references": ["c"]} for n in range(20)]
    ragstone.evaluate(rows, ["token_f1"], root, name="main")


@pytest.mark.parametrize(
    "workers", [pytest.param([], id="alone"), pytest.param(["-n", "2"], id="xdist", marks=pytest.mark.slow)]
)
def test_in_a_project(pytester, workers):
    pytester.makepyfile(TESTS)
    make_main(pytester.path / "ragstone-store")
    result = pytester.runpytest_subprocess(*workers) if workers else pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*1 of 1 condition on run * does not hold", "*✗ token_f1 >= 0.9: the mean is 0.500*"])
    result.stdout.fnmatch_lines(["*0.000  s0  Question 0[?]"])
    # The test's own line is shown, not ours.
    result.stdout.no_fnmatch_line("*raise AssertionError*")
    # Runs of tests do not pile up in the store.
    assert len(list((pytester.path / "ragstone-store" / "runs").iterdir())) == 1


def test_a_root_of_ones_own(pytester):
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nragstone_root = kept\n")
    make_main(pytester.path / "kept")
    pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)
    assert len(list((pytester.path / "kept" / "runs").iterdir())) == 3


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.slow)])
def test_a_root_on_the_command_line_is_relative_to_where_it_was_typed(pytester, monkeypatch, workers):
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nragstone_root = kept\n")
    inner = pytester.mkdir("inner")
    make_main(inner / "beside")
    monkeypatch.chdir(inner)
    run = pytester.runpytest_subprocess if workers else pytester.runpytest_inprocess
    outcome = run("--ragstone-root", "beside", *(("-p", "xdist") if workers else ()), *workers, str(pytester.path))
    outcome.assert_outcomes(passed=1, failed=1)
    assert len(list((inner / "beside" / "runs").iterdir())) == 3
    assert not (pytester.path / "beside").exists()


JUDGED = """
import json
from pathlib import Path

def test_judged(ragstone_runs):
    given = json.loads((Path(__file__).parent / "given.json").read_text())
    run = ragstone_runs.evaluate(given["rows"], ["ragchecker.f1"], judge="openai/oracle", base_url=given["url"])
    ragstone_runs.assert_scores(run, "ragchecker.f1 >= 0.01")
"""


@pytest.mark.slow
def test_replies_are_played_again_offline(pytester, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    pytester.makepyfile(JUDGED)
    pytester.makeini("[pytest]\nragstone_cache = replies\n")
    with OracleServer() as server:
        given = {"rows": [sample.row() for sample in make_samples(6, seed=2)], "url": server.base_url}
        (pytester.path / "given.json").write_text(json.dumps(given))
        before = pytester.runpytest_inprocess("--ragstone-offline")
        before.assert_outcomes(failed=1)
        before.stdout.fnmatch_lines(["*cells failed*", "*offline*not in the cache*"])
        pytester.runpytest_inprocess().assert_outcomes(passed=1)
    monkeypatch.delenv("OPENAI_API_KEY")
    pytester.runpytest_inprocess("--ragstone-offline").assert_outcomes(passed=1)


def test_it_is_registered_and_loads_nothing_heavy():
    from importlib.metadata import entry_points

    code = "import ragstone.pytest_plugin, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = ("numpy", "pyarrow", "scipy", "pydantic", "rich", "click", "jinja2", "aiohttp")
    assert not [name for name in loaded if name.split(".")[0] in heavy]
    assert [name for name in loaded if name.startswith("ragstone.")] == [
        "ragstone._version",
        "ragstone.number_format",
        "ragstone.pytest_plugin",
    ]
    [found] = entry_points(group="pytest11", name="ragstone")
    assert found.value == "ragstone.pytest_plugin"


@pytest.mark.slow
@pytest.mark.parametrize(
    "condition",
    [
        "recall@5 no worse than lacking",
        "chrf >= 0.5",
        "token_f1 no worse than nothing",
    ],
)
def test_what_a_run_lacks_is_said_in_a_few_lines(pytester, store, better, condition):
    """The message, not the way through Ragstone's own code."""
    rows = [{"question": "q", "answer": "a", "references": ["a"]}]
    ragstone.evaluate(rows, ["token_f1"], store, name="lacking")
    pytester.makepyfile(f"""
        from ragstone.pytest_plugin import assert_scores

        def test_quality():
            assert_scores({better.path!r}, {condition!r}, root={str(store)!r})
    """)
    output = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").outlines
    assert sum("site-packages" in line or "src/ragstone" in line or ".py:" in line for line in output) <= 2, output
    assert len([line for line in output if line.strip()]) < 15, output
    assert any(line.startswith("E ") for line in output)
