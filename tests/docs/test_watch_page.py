"""The example of docs/watch.md prints what the page shows."""

from __future__ import annotations

import shlex

import pytest
from tests.docs.test_agreement_page import DOCS, check_shown, shown


@pytest.mark.slow
def test_the_example(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = (DOCS / "watch.md").read_text().split("```python\n")[1:]
    exec(code.partition("```")[0], {})
    ((line, output),) = shown("watch.md").items()
    printed = cli(*shlex.split(line)[1:])
    assert printed.code == 0, printed.err
    check_shown(printed.out, output)
