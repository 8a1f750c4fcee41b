"""The GitHub Action: its scripts run in a real bash, on a real repository, with a fake comments API on loopback."""

import shutil
import subprocess
from importlib import resources

import pytest

from tests.ci.runner import ACTION, Job, programs, recorded, recorder
from tests.notify.code_host import github, running_host

HARBOUR = resources.files("ragstone.examples") / "harbour"
PULL_REQUEST = {"pull_request": {"number": 12}}
HOSTILE = "$(touch pwned)`touch pwned`\"; touch pwned; '&& touch pwned #${{ github.token }}"


@pytest.fixture
def checkout(tmp_path):
    """A repository with the answers of the better system."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    shutil.copy(str(HARBOUR / "better.jsonl"), folder / "answers.jsonl")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "answers"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def stub(checkout, tmp_path):
    """Runs the action with a `ragstone` that only notes its arguments."""

    def run(code=0, event=PULL_REQUEST, outcome="passes", **inputs):
        path = programs(tmp_path / "bin", ragstone=recorder(code, outcome))
        job = Job(checkout, tmp_path / "temp", path, event, None, tmp_path / "cache", package="none", **inputs)
        return job, job.run()

    return run


def test_inputs_cannot_become_code(stub, checkout):
    # `key` names a cache and a comment, `store` a folder; both reach the scripts as well.
    names = ("data", "metrics", "judge", "truth", "baseline", "max_drop", "min", "max")
    job, code = stub(**dict.fromkeys(names, HOSTILE), key="a; touch pwned", run_arguments=f"--limit\n{HOSTILE}\n")
    assert code == 0, job.log
    assert not list(checkout.glob("**/pwned"))
    run, gate = recorded(checkout)
    assert run[0] == "run"
    assert run[-2:] == ["--", HOSTILE]
    assert run[run.index("--metrics") + 1] == HOSTILE
    assert run[run.index("--limit") + 1] == HOSTILE
    assert gate[gate.index("--baseline") + 1] == HOSTILE
    assert {f"--max-drop={HOSTILE}", f"--min={HOSTILE}", f"--max={HOSTILE}"} <= set(gate)
    assert gate[-2:] == ["--", "20261116-1"]


def test_lists_have_one_item_per_line(stub, checkout):
    stub(data="a.jsonl\nb c.jsonl\n", max_drop="recall=0.02\n\ntoken_f1=0.05\n", gate_arguments="--max-failed\n0.1")
    run, gate = recorded(checkout)
    assert run[-3:] == ["--", "a.jsonl", "b c.jsonl"]
    assert [word for word in gate if word.startswith("--max-drop")] == [
        "--max-drop=recall=0.02",
        "--max-drop=token_f1=0.05",
    ]
    assert gate[gate.index("--max-failed") + 1] == "0.1"


@pytest.mark.parametrize(
    ("event", "branch", "baseline", "comments"),
    [(PULL_REQUEST, "pull/12", "main", True), ({}, "main", "main", False)],
)
def test_pull_requests_and_pushes(stub, checkout, tmp_path, event, branch, baseline, comments):
    stub(event=event, data="answers.jsonl")
    run, gate = recorded(checkout)
    assert run[run.index("--branch") + 1] == branch
    assert gate[gate.index("--baseline") + 1] == baseline
    assert ("--comment" in gate) is comments
    # Only the runs of branches are kept.
    assert (tmp_path / "cache").exists() is not comments


@pytest.mark.parametrize(
    ("code", "inconclusive", "outcome"),
    [
        (0, "fail", "passes"),
        (3, "", "fails"),
        (3, "pass", "fails"),
        (4, "fail", "cannot tell"),
        (0, "pass", "cannot tell"),
        (2, "pass", None),
    ],
)
def test_exit_codes(stub, checkout, tmp_path, code, inconclusive, outcome):
    job, found = stub(code, data="answers.jsonl", inconclusive=inconclusive, outcome=outcome)
    assert found == code
    # Without the input, ragstone.toml decides.
    given = [word for word in recorded(checkout)[1] if word.startswith("--inconclusive")]
    assert given == ([f"--inconclusive={inconclusive}"] if inconclusive else [])
    assert ("::warning" in job.log) is (outcome == "cannot tell")
    assert job.outputs.get("steps.gate.outputs.outcome") == outcome
    if outcome:
        assert (tmp_path / "temp/summary.md").read_text() == f"### a report: {outcome}\n"
        assert job.outputs["steps.run.outputs.run"] == "20261116-1"
    # A decided gate fails in the last step, after the runs were kept; a mistake fails at once.
    assert job.failed == (None if not code else "Result" if outcome else "Gate")


@pytest.mark.slow
def test_the_install_step(checkout, tmp_path):
    """By default it installs this repository; here without its dependencies, into a folder."""
    settings = {"PIP_TARGET": str(tmp_path / "there"), "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    path = programs(tmp_path / "bin", ragstone=recorder())
    job = Job(checkout, tmp_path / "temp", path, PULL_REQUEST, settings, data="answers.jsonl")
    assert job.run() == 0, job.log
    assert (tmp_path / "there/ragstone/py.typed").exists()


def test_everything_declared_is_used():
    text = str(ACTION["runs"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("where", ["folder", "s3"])
def test_a_branch_and_its_pull_request(checkout, tmp_path, bucket, s3_server, where):
    """A push to main stores the baseline; a pull request gets one comment, which later pushes update."""
    path = programs(tmp_path / "bin")
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1"}
    with running_host() as host:
        variables = {**github(host), **keys, "AWS_ENDPOINT_URL": s3_server}
        token = variables.pop("GITHUB_TOKEN")
        variables.pop("GITHUB_REF")

        def run(event, **more):
            inputs = {
                "data": "answers.jsonl",
                "metrics": "recall,fact_recall",
                "max_drop": "recall=0.02",
                "store": "ragstone-store" if where == "folder" else f"{bucket.url}/evaluations",
                "token": token,
                "package": "none",
            }
            job = Job(checkout, tmp_path / "temp", path, event, variables, tmp_path / "cache", **inputs, **more)
            return job.run(), job.log, (tmp_path / "temp/summary.md").read_text()

        code, log, summary = run({})
        assert code == 0, log
        assert "this is the first run in the store" in summary
        assert host.comments == []

        code, log, summary = run(PULL_REQUEST)
        assert code == 0, log
        assert "the newest of branch main" in summary
        assert len(host.comments) == 1
        assert "✅ passes" in host.comments[0]["body"]

        shutil.copy(str(HARBOUR / "worse.jsonl"), checkout / "answers.jsonl")
        code, log, summary = run(PULL_REQUEST)
        assert code == 3, log
        assert "note: updated the comment on the pull request" in log
        assert len(host.comments) == 1
        assert "❌ fails" in host.comments[0]["body"]
        assert token not in log + summary

        # The pull request changed no baseline: a push to main is compared with the first run.
        code, log, summary = run({})
        assert code == 3, log
        assert "the newest of branch main" in summary
