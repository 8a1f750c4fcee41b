"""ragstone stress: from a file and a generator to curves on the screen, in a page, and in a run."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from ragstone.cli.output import find_run
from ragstone.data.dataset import samples_table
from ragstone.formats import write_dataset
from ragstone.report.stress import stress_report
from ragstone.stress.beds import ABILITIES
from ragstone.stress.results import contrast_tests, read_stress
from ragstone.stress.run import Setting, prepare
from tests.http.loopback import completion, loopback
from tests.stress.generators import copies, samples

__all__ = ["loopback"]

GENERATORS = """
from tests.stress.generators import copies, detects
def silent(question):
    return ""
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_dataset(samples_table(samples()).to_batches(), "samples.jsonl")
    Path("gen.py").write_text(GENERATORS)
    return tmp_path


def stress(cli, *more, data="samples.jsonl"):
    return cli("stress", data, "--passages", "4", "--rates", "0:1:0.25", *more)


def distinct(beds=ABILITIES):
    """How many different questions with passages there are: equal ones are asked once."""
    prepared = prepare(samples(), Setting(passages=4, rates=(0.0, 0.25, 0.5, 0.75, 1.0), beds=beds))
    return len({(row.question, *(chunk.text for chunk in row.contexts)) for row in prepared.rows})


def test_two_generators_in_one_command(cli, home):
    done = stress(cli, "--system", "gen.py:copies", "--system", "gen.py:detects")
    assert done.code == 0, done.err
    assert re.search(r"rgb.accuracy +1.00 +1.00 +1.00 +1.00 +0.00 +████▁ +1.000 +8", done.out)
    assert re.search(r"rgb.error_detection_rate +0.000 +1.000 +\+1.000 .* B more robust", done.out)
    assert "integration: 8 questions (Maren, Corvina, Thistle, …) left out: one passage" in done.out
    [page] = home.glob("ragstone-store/runs/*/stress.html")
    text = page.read_text()
    assert "function/gen.py:copies" in text
    assert text.count("<polyline") >= 4
    found = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    assert found["tests"][0]["curves"][0]["robustness"]["value"] == pytest.approx(1)


def test_attacks_on_the_shipped_example(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli("demo", "attacks", "-q")
    assert done.code == 0, done.err
    assert re.search(r"attack_success +– +0.32 +0.32 +▃▃ +0.320 +25", done.out)
    assert re.search(r"attack_success +0.320 +0.000 +−0.320 .* B more robust", done.out)
    [page] = tmp_path.glob("ragstone-store/runs/*/stress.html")
    text = page.read_text()
    assert "obedient: attacks succeed in 32% of injection, 62% of poison" in text
    assert "<h3>Quality lost</h3>" in text
    assert re.search(r"</span>form</th><td>html_comment</td>", text)
    stored = json.loads(cli("stress", "--run", page.parent.name, "--json").out)["tests"][0]
    assert {group["by"] for group in stored["groups"]} == {"rank", "instruction", "form", "basis"}
    assert stored["losses"][0]["metric"] == "rgb.accuracy"
    # Rows of one question depend on each other, so 220 rows are worth less than as many questions.
    codes = [
        cli("gate", page.parent.name, "--max", "attack_success=0.3", *more).code for more in ((), ("--cluster", "none"))
    ]
    assert codes == [4, 0]


def test_numbers_of_hostile_chunks(cli, home):
    done = stress(cli, "--system", "gen.py:copies", "--bed", "injection", "--hostile", "2", "--json")
    curves = json.loads(done.out)["tests"][0]["curves"]
    assert [point["rate"] for point in curves[0]["points"]] == [0, 2]
    assert "whole numbers from 1" in stress(cli, "--system", "gen.py:copies", "--hostile", "a").err


def test_a_bed_that_is_named_twice_is_built_once(cli, home):
    done = stress(cli, "--system", "gen.py:copies", "--bed", "injection,injection", "--bed", "injection", "--json")
    assert done.code == 0, done.err
    assert [bed["bed"] for bed in json.loads(done.out)["tests"][0]["beds"]] == ["injection"]


def test_quiet_tells_where_it_lies_all_the_same(cli, home):
    done = stress(cli, "--system", "gen.py:copies", "--bed", "noise", "-q")
    assert not done.err
    [run] = home.glob("ragstone-store/runs/*")
    assert f"stored in ragstone-store/runs/{run.name}\n" in done.out
    assert "robustness is over the rates at which a passage contains the answer: 0 to 0.75" in done.out


def test_nothing_is_cut_at_eighty_columns(cli, home):
    done = cli("stress", "samples.jsonl", "--system", "gen.py:copies", "--system", "gen.py:detects", "--json")
    tests = [read_stress(find_run(test["id"], "ragstone-store")) for test in json.loads(done.out)["tests"]]
    screen = Console(width=80, file=io.StringIO())
    screen.print(stress_report(tests, contrast_tests(tests)))
    shown = screen.file.getvalue()
    assert "…" not in shown.replace("Thistle, …", "")
    assert re.search(r"rgb.accuracy +(1.00 +){4}0.00 +████▁ +1.000 +8\n +95 % from +0.68 .*\n +to +1.00 ", shown)
    assert re.search(r"rgb.error_detection_rate +\+1.000 +\+1.000 – \+1.000 +0.008 +8 +B more", shown)


def test_a_stored_one_is_shown_again_without_asking(cli, home):
    stress(cli, "--system", "gen.py:copies", "--name", "mine")
    Path("gen.py").unlink()
    done = cli("stress", "--run", "mine", "--json")
    test = json.loads(done.out)["tests"][0]
    assert [point["mean"] for point in test["curves"][0]["points"]] == [1, 1, 1, 1, 0]
    assert test["beds"][2]["left_out"].values()
    assert cli("view", "--help").code == 0


def test_a_model_over_http_with_our_template(cli, home, loopback):
    def reply(asked):
        text = asked.json["messages"][-1]["content"]
        passages = re.findall(r"^\[\d+\] (.*)$", text, re.M)
        return completion(copies(re.search(r"Question: (.*)", text)[1], passages))

    loopback.handler = reply
    done = stress(cli, "--system", f"{loopback.url}#small", "--bed", "noise,rejection")
    assert done.code == 0, done.err
    assert re.search(r"rgb.accuracy +1.00 +1.00 +1.00 +1.00 +0.00", done.out)
    asked = len(loopback.asked)
    assert asked == distinct(("noise", "rejection"))
    again = stress(cli, "--system", f"{loopback.url}#small", "--bed", "noise,rejection")
    assert len(loopback.asked) == asked
    assert "48 of 48 answers came from the cache" in again.err


def test_a_quote_asks_nobody(cli, home):
    done = stress(cli, "--system", "openai/gpt-4o-mini", "-j", "2", "--quote")
    assert f"{distinct()} calls of openai/gpt-4o-mini for 8 questions in 4 beds, 80 rows in all" in done.out
    assert "usd" in done.out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--system", "gen.py:silent"), "takes only a question"),
        (("--system", "gen.py:copies", "--rates", "a,b"), "write numbers from 0 to 1"),
        (("--system", "gen.py:copies", "--rates", "0:1:0"), "write numbers from 0 to 1"),
        (("--system", "gen.py:copies", "--bed", "noice"), "'noice' is not a test bed"),
        ((), "name the data and the generator"),
    ],
)
def test_what_cannot_be(cli, home, more, words):
    done = stress(cli, *more)
    assert done.code == 2
    assert words in done.err


def rgb_rows():
    """Six questions in RGB's form with few passages of one kind; the last one has no noise."""
    for number in range(6):
        name, right, wrong = f"Ship{number}", f"{30 + number} metres", f"{70 + number} metres"
        yield {
            "id": number,
            "query": f"How long is the {name}?",
            "answer": [right],
            "fakeanswer": wrong,
            "positive": [f"{name} is {right} long.", f"The length of {name}: {right}."],
            "positive_wrong": [f"{name} is {wrong} long.", f"The length of {name}: {wrong}."],
            "negative": [f"{name} is painted red {at}." for at in range(4)] if number < 5 else [],
        }


def test_rgbs_own_files_are_mixed_as_in_rgb_and_show_the_requested_rate(cli, home):
    Path("en_fact.json").write_text("".join(json.dumps(row) + "\n" for row in rgb_rows()))
    done = cli("stress", "en_fact.json", "--system", "gen.py:copies", "--passages", "4", "--rates", "0,0.5,1")
    assert done.code == 0, done.err
    # Without a passage that contains the answer, no answer is right.
    noise = done.out[done.out.index("noise robustness") :]
    assert re.search(r"rgb.accuracy +1.00 +0.00 ", noise)
    # Noise fills up at rate 0 of the noise bed, where positives are few; in the counterfactual bed it does not.
    assert re.search(r"noise, real +0.42 +1 .*\n +noise, requested +0, 0.5 +1 ", noise)
    [run] = home.glob("ragstone-store/runs/*/run.json")
    rows = read_stress(find_run(str(run.parent), "ragstone-store")).rows
    false = rows.beds == "counterfactual"
    assert set(rows.shares[false & (rows.requested == 0)]) == {0}
    assert set(rows.shares[(rows.beds == "noise") & (rows.requested == 1)]) == {1}
    [page] = home.glob("ragstone-store/runs/*/stress.html")
    assert '<th scope="row">noise, requested</th>' in page.read_text()
