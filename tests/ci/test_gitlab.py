"""The GitLab template: its script runs in a real shell with the variables of its rules."""

import os
import shutil
import string
import subprocess
from importlib import resources

import pytest
import yaml

from tests.ci.runner import ROOT, programs, recorded, recorder
from tests.notify.code_host import gitlab, running_host

HARBOUR = resources.files("ragstone.examples") / "harbour"
JOB = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())[".ragstone"]
HOSTILE = "$(touch pwned)`touch pwned`\"; touch pwned; '"
COMMON = {"CI_DEFAULT_BRANCH": "main", "CI_COMMIT_SHA": "c0ffee"}
MERGE_REQUEST = {
    **COMMON,
    "CI_MERGE_REQUEST_IID": "12",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "CI_COMMIT_REF_NAME": "fix",
}
PUSH = {**COMMON, "CI_COMMIT_BRANCH": "main", "CI_COMMIT_REF_NAME": "main"}


def run_job(folder, path, predefined, **variables):
    """The exit code and the output of the job, without the installation."""
    rule = JOB["rules"][0 if "CI_MERGE_REQUEST_IID" in predefined else 1]
    declared = {**JOB["variables"], **rule["variables"]}
    expanded = {name: string.Template(text).safe_substitute(predefined) for name, text in declared.items()}
    install, *scripts = JOB["script"]
    assert install.startswith("python -m pip install")
    environment = {"PATH": path, "HOME": str(folder), **predefined, **expanded, **variables}
    aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(scripts)],
        cwd=folder,
        env={**environment, **aws, "RAGSTONE_LOCAL_JUDGE": "off"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def test_variables_cannot_become_code(tmp_path):
    path = programs(tmp_path / "bin", ragstone=recorder(4))
    names = ("GATE_DATA", "GATE_METRICS", "GATE_JUDGE", "GATE_MAX_DROP", "GATE_MIN", "GATE_KEY")
    code, log = run_job(tmp_path, path, MERGE_REQUEST, **dict.fromkeys(names, HOSTILE))
    assert code == JOB["allow_failure"]["exit_codes"] == 4, log
    assert not list(tmp_path.glob("pwned"))
    run, gate = recorded(tmp_path)
    assert run[-2:] == ["--", HOSTILE]
    assert run[run.index("--branch") + 1] == "merge-request/12"
    assert gate[gate.index("--baseline") + 1] == "main"
    assert {f"--max-drop={HOSTILE}", f"--min={HOSTILE}"} <= set(gate)
    assert "--comment" not in gate  # there is no token


@pytest.mark.slow
def test_a_branch_and_its_merge_request(tmp_path):
    path = programs(tmp_path / "bin")
    inputs = {"GATE_DATA": "answers.jsonl", "GATE_METRICS": "recall", "GATE_MAX_DROP": "recall=0.02"}
    with running_host() as host:
        host.login = "project-bot"
        shutil.copy(str(HARBOUR / "better.jsonl"), tmp_path / "answers.jsonl")
        code, log = run_job(tmp_path, path, PUSH, **inputs)
        assert code == 0, log
        shutil.copy(str(HARBOUR / "worse.jsonl"), tmp_path / "answers.jsonl")
        code, log = run_job(tmp_path, path, {**MERGE_REQUEST, **gitlab(host)}, **inputs)
    assert code == 3, log
    assert "commit c0ffee" in log
    assert "❌ fails" in host.comments[0]["body"]
    assert (tmp_path / "ragstone-gate.xml").exists()
