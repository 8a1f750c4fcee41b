"""Runs the composite action as GitHub does, without GitHub: every `run` step in a real bash, the cache as a folder."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
# What the conditions of the steps mean; a condition that is not here fails the test.
CONDITIONS = {
    "inputs.package != 'none'": lambda inputs, github: inputs["package"] != "none",
    "inputs.python-version != ''": lambda inputs, github: False,
    "${{ !contains(inputs.store, '://') }}": lambda inputs, github: "://" not in inputs["store"],
    "${{ !contains(inputs.store, '://') && !github.event.pull_request }}": lambda inputs, github: (
        "://" not in inputs["store"] and "pull_request" not in github["event"]
    ),
}


def programs(folder, **scripts):
    """A folder for PATH with `python`, `ragstone` and further programs; a script replaces one of them."""
    folder.mkdir(exist_ok=True)
    package = str(ROOT / "src")
    ours = {
        "python": f'#!/bin/sh\nPYTHONPATH={package} exec {sys.executable} "$@"\n',
        "ragstone": f'#!/bin/sh\nPYTHONPATH={package} exec {sys.executable} -m ragstone "$@"\n',
        **scripts,
    }
    for name, text in ours.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


class Job:
    """One run of the action in a checkout; `cache` is a folder that lives longer."""

    def __init__(self, checkout, temp, path, event, environment=None, cache=None, **inputs):
        self.checkout, self.temp, self.cache = checkout, temp, cache
        shutil.rmtree(temp, ignore_errors=True)
        temp.mkdir()
        self.github = {"event": {"repository": {"default_branch": "main"}, **event}, "base_ref": "", "token": "none"}
        variables = {"GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main", "GITHUB_REF_TYPE": "branch"}
        if number := event.get("pull_request", {}).get("number"):
            self.github["base_ref"] = "main"
            ref = {"GITHUB_REF": f"refs/pull/{number}/merge", "GITHUB_REF_NAME": f"{number}/merge"}
            variables |= {**ref, "GITHUB_HEAD_REF": "main", "GITHUB_BASE_REF": "main"}
        self.environment = {
            "PATH": path,
            "HOME": str(temp),
            "RUNNER_TEMP": str(temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_STEP_SUMMARY": str(temp / "summary.md"),
            "RAGSTONE_LOCAL_JUDGE": "off",
            **variables,
            **(environment or {}),
        }
        declared = {name: self._resolve(str(one.get("default", ""))) for name, one in ACTION["inputs"].items()}
        assert not inputs.keys() - {name.replace("-", "_") for name in declared}
        self.inputs = declared | {name.replace("_", "-"): value for name, value in inputs.items()}
        self.outputs, self.log, self.failed = {}, "", None

    def run(self):
        """All steps, as far as they succeed; returns the exit code of the job."""
        for number, step in enumerate(ACTION["runs"]["steps"]):
            condition = step.get("if")
            if condition and not CONDITIONS[condition](self.inputs, self.github):
                continue
            if "uses" in step:
                self._move_cache(step["uses"])
            elif code := self._run_script(step, number):
                self.failed = step["name"]
                return code
        return 0

    def _run_script(self, step, number):
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        script = self.temp / f"step-{number}.sh"
        script.write_text(step["run"])
        written = self.temp / f"output-{number}"
        written.touch()
        env = {name: self._resolve(text) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.checkout,
            env={**self.environment, **env, "GITHUB_OUTPUT": str(written)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log += done.stdout
        pairs = (line.split("=", 1) for line in written.read_text().splitlines())
        self.outputs |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in pairs}
        return done.returncode

    def _move_cache(self, uses):
        store = self.checkout / self.inputs["store"]
        if uses.startswith("actions/cache/restore@"):
            shutil.rmtree(store, ignore_errors=True)
            if self.cache and self.cache.exists():
                shutil.copytree(self.cache, store)
        elif uses.startswith("actions/cache/save@"):
            shutil.rmtree(self.cache, ignore_errors=True)
            shutil.copytree(store, self.cache)

    def _resolve(self, text):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: self._value(match[1]), text)

    def _value(self, expression):
        """The first of the alternatives that is not empty."""
        for name in expression.split("||"):
            if found := self._look_up(name.strip()):
                return str(found)
        return ""

    def _look_up(self, name):
        if name.startswith("steps."):
            return self.outputs.get(name)
        kind, *keys = name.split(".")
        found = {"github": self.github, "inputs": getattr(self, "inputs", {})}[kind]
        for key in keys:
            found = found.get(key, {})
        return found


def recorder(code=0, outcome="passes"):
    """A `ragstone` that notes its arguments, one JSON list per line, and prints what `run --json` prints."""
    lines = [
        f"#!{sys.executable}",
        "import json, os, sys",
        "open('calls.jsonl', 'a').write(json.dumps(sys.argv[1:]) + '\\n')",
        "if sys.argv[1] == 'run':",
        "    os.makedirs('ragstone-store', exist_ok=True)",
        "    print(json.dumps({'id': '20261116-1'}))",
        "else:",
        f"    open(sys.argv[sys.argv.index('--markdown-file') + 1], 'w').write('### a report: {outcome}\\n')",
        f"    sys.exit({code})",
    ]
    return "\n".join(lines) + "\n"


def recorded(folder):
    """The calls of the recorder."""
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
