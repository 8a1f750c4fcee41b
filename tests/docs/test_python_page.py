"""The page about Python: its blocks run one after the other, and print what stands below them."""

import contextlib
import io
import os
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = re.compile(r"^```python\n(.*?)^```\n(?:^```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def _masked(text):
    """Run ids differ each time."""
    return re.sub(r"\d{8}-\d{6}-[0-9a-f]{8}", "20261116-153000-1a2b3c4d", text)


def printed_blocks(text):
    """Each block of code, with what it printed and what the page says."""
    names = {}
    for code, shown in BLOCKS.findall(text):
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(compile(code, "docs/python.md", "exec"), names)
        yield code, _masked(stream.getvalue()), shown


def test_the_page_shows_real_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    for code, printed, shown in printed_blocks(text):
        if os.environ.get("RAGSTONE_WRITE_DOCS"):
            text = text.replace(
                f"```python\n{code}```\n```text\n{shown}```", f"```python\n{code}```\n```text\n{printed}```"
            )
        else:
            assert printed == shown
    if os.environ.get("RAGSTONE_WRITE_DOCS"):
        PAGE.write_text(text)
