import json
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.click_options import make_command
from ragstone.cli.options import argument, option

SEEN: list[dict[str, Any]] = []


def show(
    data: list[str] = argument("DATA...", "Files."),
    text: str = option("x", "--text", "A text."),
    none: str | None = option(None, "--none", "Another text."),
    many: list[str] = option([], "--many", "Texts."),
    rows: int = option(3, "--rows", "A count.", min=1),
    share: float = option(0.5, "--share", "A share.", max=1.0),
    whole: float = option(2, "--whole", "A number."),
    flag: bool = option(False, "--flag", "A switch."),
) -> None:
    SEEN.append(dict(locals()))


app = make_command("show", show, "Tools")


def seen(*arguments):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return SEEN.pop()


def test_values_have_the_types_of_their_options():
    plain = seen("a", "b")
    expected = {"text": "x", "none": None, "many": [], "rows": 3, "share": 0.5, "whole": 2.0, "flag": False}
    assert plain == {"data": ["a", "b"], **expected}
    assert [type(value) for value in plain.values()] == [list, str, type(None), list, int, float, float, bool]
    given = seen(
        "a", "--text", "5", "--many", "1", "--many", "2", "--rows", "7", "--share", "1", "--flag", "--none", ""
    )
    assert (given["text"], given["many"], given["rows"], given["share"]) == ("5", ["1", "2"], 7, 1.0)
    assert given["flag"] is True
    assert given["none"] == ""
    assert type(given["share"]) is float


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a", "--rows", "0"], "--rows"),
        (["a", "--rows", "many"], "--rows"),
        (["a", "--share", "1.5"], "--share"),
        (["a", "--share", "nan"], "--share"),
        ([], "DATA"),
    ],
)
def test_wrong_values_are_refused(arguments, message):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_defaults_out_of_range_are_refused():
    done = CliRunner().invoke(app, ["a"], default_map={"rows": 0})
    assert done.exit_code == 2


def test_a_small_run_loads_no_heavy_package(tmp_path):
    """Holds the time of a start by what it loads: each of these takes between 0.03 and 0.3 s."""
    data = tmp_path / "data.jsonl"
    rows = [
        {"question": "q", "answer": f"the {n}", "references": ["the 1 or 2"], "contexts": ["c 1"]} for n in range(10)
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code = """
import sys
from ragstone.cli import main
try:
    main()
finally:
    print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
    metrics = "exact_match,contains,token_precision,token_recall,token_f1,k_precision"
    arguments = ["run", str(data), "-o", str(tmp_path / "runs"), "-m", metrics, "--json", "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    summary = {row["metric"]: row for row in json.loads(done.stdout)["summary"]}
    # An interval that needs Student's t.
    assert summary["token_f1"]["ci_low"] < summary["token_f1"]["mean"] < summary["token_f1"]["ci_high"]
    loaded = set(done.stderr.split())
    assert not loaded & {
        "scipy",
        "pydantic",
        "pandas",
        "rich",
        "aiohttp",
        "onnxruntime",
        "tokenizers",
        "charset_normalizer",
    }
