"""Terminal, JSON, Markdown, HTML report, notebook and viewer show the same headline metrics, values, causes and samples.

One run, and one comparison of the shipped example's two systems, with the shipped local judge.
"""

import html
import json
import re
import threading
import urllib.request

import pytest

import ragstone
from ragstone.web.app import Viewer
from tests.report.runs import harbour

METRICS = ["ragchecker", "fact_recall", "recall", "ndcg", "map", "token_f1", "rouge_l", "exact_match", "meteor", "ari"]
SHOW = 3


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("one-view")


@pytest.fixture(scope="module")
def runs(store):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAGSTONE_LOCAL_JUDGE", raising=False)
        return [harbour(system, store, METRICS) for system in ("worse", "better")]


@pytest.fixture(scope="module")
def get(store, runs):
    """The body of a page of the viewer over HTTP, once all it waits for is there."""
    viewer = Viewer(str(store), port=0)
    thread = threading.Thread(target=viewer.serve, daemon=True)
    thread.start()

    def ask(path):
        for _ in range(200):
            with urllib.request.urlopen(f"http://127.0.0.1:{viewer.port}{path}", timeout=30) as reply:
                text = reply.read().decode()
            if "data-wait" not in text:
                return text
        raise AssertionError(f"{path} never became ready")

    yield ask
    viewer.stop()
    thread.join(timeout=10)


def plain(markup):
    """The words of some HTML or Markdown; an arrow after the name of a metric is left out."""
    text = html.unescape(re.sub(r"<(small|div)\b.*?</\1>|<[^>]+>", "", markup)).replace("\\", "")
    return text.replace("\xa0", " ").strip(" ↑↓")


def table_rows(markup):
    """The cells of the rows of HTML tables."""
    return [
        [plain(cell) for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)]
        for row in re.findall(r"<tr\b[^>]*>(<th scope=\"row\".*?)</tr>", markup, flags=re.DOTALL)
    ]


def section(markup, name, before=r"<details|</section>"):
    """A section of a page up to what is folded."""
    found = markup[re.search(rf"<section id=\"{name}\"", markup).start() :]
    return found[: re.search(before, found).start()]


def first_table(text):
    """The first table of a Markdown page, without its two lines of headings."""
    lines = re.search(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)[0].splitlines()
    return [[plain(cell) for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def terminal_rows(text):
    """The rows of the first table in a terminal."""
    table = text.partition("\nmetric ")[2].partition("explored metrics")[0]
    found = re.findall(r"^  (\S+)\s[↑↓ ]\s+(\S+)\s+(\S+)", table, flags=re.MULTILINE)
    return [list(row) for row in found]


def test_a_comparison(runs, store, get, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    names = [run.id for run in runs]
    told = json.loads(cli("compare", *names, "-o", store, "--json").out)
    terminal = cli("compare", *names, "-o", store, "--show", SHOW).out
    markdown = cli("compare", *names, "-o", store, "--show", SHOW, "--markdown").out
    report = cli("report", *names, "--root", store, "-o", "-").out
    notebook = ragstone.compare(*runs)._repr_html_()
    address = f"/compare/{names[0]}/{names[1]}"
    viewer, twin = get(address), json.loads(get(f"{address}.json"))

    values = {item["metric"]: [f"{item['before']:.3f}", f"{item['after']:.3f}"] for item in told["metrics"]}
    headlines = [[name, *values[name]] for name in told["headlines"]]
    assert 4 <= len(headlines) < len(values)
    assert [[row[0], *row[2:4]] for row in first_table(markdown[markdown.index("| metric") :])] == headlines
    for page in (section(report, "metrics"), notebook.partition("<details")[0], section(viewer, "metrics")):
        assert [row[:3] for row in table_rows(page) if row[0] in values] == headlines
    assert twin["headlines"] == told["headlines"]
    drawn = terminal_rows(terminal)
    assert [row for row in drawn if row[0] in told["headlines"]] == headlines
    # A terminal cannot fold the other metrics: those that differ are shown as well.
    verdicts = {item["metric"]: item["verdict"] for item in told["metrics"]}
    assert {verdicts[row[0]] for row in drawn if row[0] not in told["headlines"]} <= {"better", "worse"}

    causes = [[row["name"], str(row["before"]), str(row["after"])] for row in told["causes"]]
    assert len(causes) > 3
    look = [(row["name"], row["look_before"], row["look_after"]) for row in told["causes"]]
    changes = [
        ", ".join(f"{name} {old} → {new}" for name, old, new in rows if int(old) or int(new)) for rows in (causes, look)
    ]
    line = f"A → B: {'; of rows to look at: '.join(filter(None, changes))}."
    assert line in " ".join(terminal.split())
    assert line in markdown
    for page in (report, notebook, viewer):
        [table] = re.findall(r"<table class=\"moved\">.*?</table>", page, flags=re.DOTALL)
        assert [[row[0], *(cell.split()[0] for cell in row[1:3])] for row in table_rows(table)] == causes
    assert [[row["name"], str(row["before"]), str(row["after"])] for row in twin["causes"]["rows"]] == causes

    losses, gains = ([one["id"] for one in told["changed"] if (one["gain"] < 0) is lost] for lost in (True, False))
    assert len(losses) >= 2
    wanted = [*losses[:SHOW], *gains[:SHOW]]
    whole = cli("compare", *names, "-o", store, "--show", SHOW, "--full").out
    assert re.findall(r"^  [+-]\d\.\d+  (\S+)", whole, flags=re.MULTILINE) == wanted
    assert re.findall(r"^\| (\S+) \|", markdown.partition("**changed most**")[2], flags=re.MULTILINE)[1:] == wanted
    for found in (
        re.findall(r"<summary><span class=\"id\"[^>]*>(.*?)</span>", section(report, "changed", "</section>")),
        [row[0] for row in table_rows(notebook.partition("Samples that changed most")[2])],
        [row["id"] for row in twin["table"]["rows"]],
        [row[0] for row in table_rows(section(viewer, "pairs", "</section>"))],
    ):
        assert [name for name in found if name in losses][:SHOW] == losses[:SHOW] == found[: len(losses)][:SHOW]
    best = json.loads(get(f"{address}.json?sort=gains"))["table"]["rows"]
    assert [row["id"] for row in best[:SHOW]] == gains[:SHOW]
    assert [name for name in re.findall(r"class=\"id\"[^>]*>(.*?)<", report) if name in gains][:SHOW] == gains[:SHOW]


def test_a_run(runs, store, get, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    run = runs[0]
    terminal = cli("show", run.id, "-o", store).out
    markdown = cli("report", run.id, "--root", store, "--markdown", "--worst", SHOW).out
    report = cli("report", run.id, "--root", store, "-o", "-").out
    told = json.loads(cli("diagnose", run.id, "-o", store, "--json").out)
    twin, viewer = json.loads(get(f"/runs/{run.id}.json")), get(f"/runs/{run.id}")

    headlines = [row[:2] for row in table_rows(section(viewer, "metrics"))]
    few = re.findall(r"^(\S+) [↑↓ ]\s+((?:≈ )?\S+)", terminal, flags=re.MULTILINE)
    assert len(few) >= 4
    assert [list(row) for row in few] == [row for row in headlines if row[0] in dict(few)]
    drop = "estimated human score"
    for rows in (
        [[row[0], row[2]] for row in first_table(markdown)],
        [row[:2] for row in table_rows(section(report, "metrics"))],
        [row[:2] for row in table_rows(run._repr_html_().partition("<details")[0])],
        [[one["metric"], one["shown"]] for one in twin["metrics"] if one["metric"] in twin["cards"]],
        [row[:2] for row in table_rows(section(viewer, "metrics"))],
    ):
        assert [list(row) for row in rows if row[0] != drop] == headlines

    [row] = [part for part in get("/runs").split("<tr") if f'href="/runs/{run.id}"' in part]
    listed = {name: plain(cell) for name, cell in re.findall(r'data-label="([^"]+)"[^>]*>([^<]*)</td>', row)}
    shown = {one["metric"]: one["shown"] for one in twin["metrics"]}
    assert {name: cell for name, cell in listed.items() if name in shown} == {
        name: shown[name] for name in listed if name in shown
    }
    assert any(cell.startswith("≈") for cell in listed.values())

    causes = {one["cause"]: (one["main_of"], one["look"], one["samples"]) for one in told["causes"]}
    assert {one["name"]: (one["main"], one["look"], one["samples"]) for one in twin["diagnosis"]["causes"]} == causes
    shown = {row[0].partition("\n")[0]: row for row in table_rows(section(report, "causes", "</section>"))}
    folded = {
        cells[0]: cells
        for cells in re.findall(r"^\| (.+?) \| \w+ \| (\d.*?) \| (\d+) \|", markdown, flags=re.MULTILINE)
    }
    for name, (main, look, samples) in causes.items():
        wrong = f"{main - look} + {look} to look at" if look else str(main)
        assert shown[name][2:5:2] == ["–" if shown[name][1] == "information" else wrong, str(samples)]
        assert folded[name][1:] == (wrong, str(samples))

    worst = [sample.id for sample in run.worst(SHOW)]
    listed = re.search(r"the \d worst samples.*", markdown, flags=re.DOTALL)[0]
    assert re.findall(r"^\| (\w+) \|", listed, flags=re.MULTILINE)[1:] == worst
    assert re.findall(r"<span class=\"id\"[^>]*>(.*?)</span>", section(report, "worst", "</section>"))[:SHOW] == worst
    assert [row["id"] for row in twin["table"]["rows"]][:SHOW] == worst
    assert re.findall(r"<span class=\"id\"[^>]*>(.*?)</span>", run.worst(SHOW)._repr_html_()) == worst
