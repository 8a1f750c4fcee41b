"""The workflow that `ragstone init` writes: its scripts run in a real bash, in a new repository."""

import json
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest
import yaml

from tests.ci.runner import programs
from tests.notify.code_host import github, running_host

HARBOUR = resources.files("ragstone.examples") / "harbour"
FILE = ".github/workflows/ragstone.yml"
# What the conditions of the steps mean, by the event and whether the answers were evaluated.
CONDITIONS = {
    "github.event_name == 'push'": lambda event, evaluated: event == "push",
    "${{ !cancelled() && steps.evaluate.outcome == 'success' }}": lambda event, evaluated: evaluated,
}


def _runs_of(paths):
    """The folder of the runs, before the user's cache folder, which saves time only."""
    runs, cache = paths.split()
    assert cache == "~/.cache/ragstone"
    return runs


class Repository:
    """A repository with the files of `ragstone init`, and the cache of its workflow."""

    def __init__(self, folder, temp, path, variables):
        self.folder, self.temp, self.path, self.variables = folder, temp, path, variables
        self.cache, self.uploads = temp / "cache", temp / "uploads"

    def change(self, old, new):
        file = self.folder / FILE
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new, 1))

    def answer(self, system):
        shutil.copy(str(HARBOUR / f"{system}.jsonl"), self.folder / "answers.jsonl")

    def push(self):
        return self._run("push", {"GITHUB_REF_NAME": "main", "GITHUB_REF": "refs/heads/main"}, "")

    def pull(self, number=12):
        names = {"GITHUB_REF_NAME": f"{number}/merge", "GITHUB_REF": f"refs/pull/{number}/merge"}
        return self._run("pull_request", {**names, "GITHUB_HEAD_REF": "main", "GITHUB_BASE_REF": "main"}, str(number))

    def _run(self, event, names, number):
        """All steps as GitHub runs them; the failed step, the log and the summary."""
        work = self.temp / "runner"
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(self.uploads, ignore_errors=True)
        shutil.rmtree(self.folder / "ragstone-store", ignore_errors=True)
        work.mkdir()
        workflow = yaml.safe_load((self.folder / FILE).read_text())
        assert event in workflow[True]  # YAML reads `on` as true
        self.environment = {
            "PATH": self.path,
            "HOME": str(work),
            "RUNNER_TEMP": str(work),
            "RAGSTONE_LOCAL_JUDGE": "off",
        }
        self.environment |= {"GITHUB_STEP_SUMMARY": str(work / "summary.md"), **names, **self.variables}
        self.environment |= workflow["env"]
        values = {
            "github.event.pull_request.number": number,
            "github.token": self.variables.get("GITHUB_TOKEN", ""),
            "env.RAGSTONE_ROOT": workflow["env"]["RAGSTONE_ROOT"],
            "runner.temp": str(work),
            "github.run_id": "1",
            "github.run_attempt": "1",
        }
        log, failed, evaluated = "", None, False
        for step in workflow["jobs"]["evaluate"]["steps"]:
            condition = step.get("if")
            if condition and not CONDITIONS[condition](event, evaluated):
                continue
            if failed and "cancelled()" not in (condition or ""):
                continue
            fill = lambda text: re.sub(r"\$\{\{ (.+?) \}\}", lambda match: values[match[1]], str(text))  # noqa: E731
            if "uses" in step:
                self._use(step["uses"].split("@")[0], {name: fill(text) for name, text in step.get("with", {}).items()})
                continue
            done = self._bash(step["run"], {name: fill(text) for name, text in step.get("env", {}).items()})
            log += done.stdout
            evaluated = evaluated or (step["name"] == "Evaluate" and done.returncode == 0)
            if done.returncode:
                failed = failed or (step["name"], done.returncode)
        summary = work / "summary.md"
        return failed, log, summary.read_text() if summary.exists() else ""

    def _bash(self, script, env):
        # GitHub's shell if a step names none.
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.folder,
            env={**self.environment, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _use(self, action, inputs):
        if action == "actions/setup-python":
            assert (self.folder / inputs["cache-dependency-path"]).is_file()
        elif action == "actions/cache/restore" and self.cache.exists():
            assert inputs["key"].startswith(inputs["restore-keys"])
            shutil.copytree(self.cache, self.folder / _runs_of(inputs["path"]))
        elif action == "actions/cache/save":
            shutil.rmtree(self.cache, ignore_errors=True)
            shutil.copytree(self.folder / _runs_of(inputs["path"]), self.cache)
        elif action == "actions/upload-artifact":
            self.uploads.mkdir()
            shutil.copy(inputs["path"], self.uploads)


@pytest.fixture
def make_repository(cli, tmp_path, monkeypatch):
    """A repository after `ragstone init`. `pip` is a program that does nothing."""

    def make(**variables):
        folder = tmp_path / "repository"
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.delenv("RAGSTONE_ROOT", raising=False)
        assert cli("init").code == 0
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "begin"]):
            subprocess.run([*git, *words], cwd=folder, check=True)
        path = programs(tmp_path / "bin")
        ours = (tmp_path / "bin/python").read_text()
        skip = '#!/bin/sh\nif [ "$2" = pip ]; then echo "installed $6"; exit 0; fi\n'
        (tmp_path / "bin/python").write_text(ours.replace("#!/bin/sh\n", skip))
        repository = Repository(folder, tmp_path, path, variables)
        repository.change(re.search("RAGSTONE_PACKAGE: .*", (folder / FILE).read_text())[0], "RAGSTONE_PACKAGE: x==1")
        return repository

    return make


@pytest.mark.slow
def test_as_written_it_passes_and_warns_about_the_example(make_repository):
    repository = make_repository()
    failed, log, summary = repository.push()
    assert failed is None, log
    assert "installed x==1" in log
    assert "::warning title=Ragstone evaluates the shipped example::" in log
    assert "this is the first run in the store" in summary
    assert len(list((repository.cache / "runs").iterdir())) == 1
    assert "Evaluation report" in (repository.uploads / "ragstone-report.html").read_text()
    # Runs are not committed.
    status = subprocess.run(["git", "status", "--porcelain"], cwd=repository.folder, capture_output=True, text=True)
    assert "ragstone-store" not in status.stdout


@pytest.mark.slow
def test_right_answers_in_the_repository_are_used(make_repository):
    repository = make_repository()
    repository.change("RAGSTONE_DATA: answers.example.jsonl", "RAGSTONE_DATA: plain.csv")
    repository.change('RAGSTONE_TRUTH: ""', "RAGSTONE_TRUTH: right.csv")
    (repository.folder / "plain.csv").write_text("question,answer\nWhen does it open?,At nine.\n")
    (repository.folder / "right.csv").write_text("question,references\nWhen does it open?,At ten.\n")
    # The second time, the ground truth is in the store.
    for count in (1, 2):
        failed, log, _ = repository.push()
        assert failed is None, log
        runs = [json.loads((run / "run.json").read_text()) for run in (repository.cache / "runs").iterdir()]
        assert [run["truth"]["name"] for run in runs] == ["right-answers"] * count


def test_a_missing_wheel_is_an_error_that_says_what_to_do(make_repository):
    repository = make_repository()
    repository.change("RAGSTONE_PACKAGE: x==1", "RAGSTONE_PACKAGE: vendor/ragstone-1-py3-none-any.whl")
    failed, log, _ = repository.pull()
    assert failed == ("Install", 1)
    assert "::error title=Ragstone cannot be installed::There is no file vendor/ragstone-1-py3-none-any.whl." in log
    assert not repository.uploads.exists()


@pytest.mark.slow
def test_a_pull_request_is_compared_with_main(make_repository):
    with running_host() as host:
        variables = {name: value for name, value in github(host).items() if name != "GITHUB_REF"}
        repository = make_repository(**variables)
        repository.change("RAGSTONE_DATA: answers.example.jsonl", "RAGSTONE_DATA: answers.jsonl")
        repository.answer("better")
        failed, log, summary = repository.push()
        assert failed is None, log
        assert "::warning" not in log
        assert host.comments == []

        failed, log, summary = repository.pull()
        assert failed is None, log
        assert "the newest of branch main" in summary
        assert "✅ passes" in host.comments[0]["body"]

        repository.answer("worse")
        failed, log, summary = repository.pull()
        assert failed == ("Gate", 3), log
        assert "❌ fails" in summary
        assert len(host.comments) == 1
        assert "❌ fails" in host.comments[0]["body"]
        report = (repository.uploads / "ragstone-report.html").read_text()
        assert "Comparison report" in report
        assert "newly failing" in report
        assert variables["GITHUB_TOKEN"] not in log + summary
        # The pull request was not kept as a baseline.
        assert len(list((repository.cache / "runs").iterdir())) == 1

        # Rows that fail newly decide. A few changed rows cannot decide about means: a warning, as ragstone.toml has it.
        rows = [(HARBOUR / f"{name}.jsonl").read_text().splitlines(keepends=True) for name in ("better", "worse")]
        (repository.folder / "answers.jsonl").write_text("".join([*rows[0][:20], *rows[1][20:]]))
        settings = Path("ragstone.toml")
        settings.write_text(settings.read_text().replace("min = {", "# min = {"))
        assert repository.pull()[0] == ("Gate", 3)
        settings.write_text(settings.read_text().replace("max-new-failures = 0", "max-drop = 0.02"))
        failed, log, summary = repository.pull()
        assert "against main: ❔ cannot tell" in summary
        assert "::warning title=Ragstone cannot tell::" in log
        assert failed is None, log
        settings.write_text(settings.read_text().replace('"pass"', '"fail"'))
        assert repository.pull()[0] == ("Gate", 4)
