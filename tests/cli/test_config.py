"""ragstone.toml: the defaults of every command."""

import json
from pathlib import Path

import pytest

from ragstone.cli.config import find_config

RUN = ("run", "answers.jsonl", "--json")


@pytest.fixture
def settings(home, monkeypatch):
    monkeypatch.delenv("RAGSTONE_CONFIG", raising=False)
    monkeypatch.delenv("RAGSTONE_ROOT", raising=False)

    def write(text, name="ragstone.toml"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
        return home / name

    return write


def metrics_of(printed):
    assert printed.code == 0, printed.err
    return [row["metric"] for row in json.loads(printed.out)["summary"]]


def test_a_section_is_the_default_of_its_command(cli, settings):
    settings('[run]\nmetrics = ["token_f1"]\nlimit = 2\n')
    printed = cli(*RUN)
    assert metrics_of(printed) == ["token_f1"]
    assert json.loads(printed.out)["summary"][0]["n_ok"] <= 2


def test_the_command_line_wins_over_the_section_and_the_section_over_the_top(cli, settings):
    settings('metrics = "exact_match"\nout = "elsewhere"\n[run]\nmetrics = "token_f1"\n')
    assert metrics_of(cli(*RUN)) == ["token_f1"]
    assert metrics_of(cli(*RUN, "-m", "token_recall")) == ["token_recall"]
    assert json.loads(cli(*RUN).out)["run"].startswith("elsewhere/runs/")


def test_the_environment_wins_over_the_file(cli, settings, monkeypatch):
    settings('out = "elsewhere"\n')
    monkeypatch.setenv("RAGSTONE_ROOT", "from-env")
    assert json.loads(cli(*RUN, "-m", "token_f1").out)["run"].startswith("from-env/runs/")


def test_a_nested_section(cli, settings):
    settings("[truth.show]\nlimit = 1\n[truth.import]\nauthor = 'Ada'\n")
    cli("truth", "import", "answers.jsonl", "harbour")
    shown = json.loads(cli("truth", "show", "harbour", "--json").out)
    assert (shown["author"], len(shown["cases"])) == ("Ada", 1)


def test_a_map_may_be_a_table(cli, settings, home):
    text = (home / "answers.jsonl").read_text().replace('"answer"', '"reply"')
    (home / "odd.jsonl").write_text(text)
    settings("[map]\nanswer = 'reply'\n")
    assert metrics_of(cli("run", "odd.jsonl", "-m", "token_f1", "--json")) == ["token_f1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[map]\n'contexts.page' = 'nowhere'\n", "no chunk has a part 'nowhere'"),
        ("[map]\nansver = 'answer'\n", "unknown field 'ansver'"),
        ("[map]\nanswer = 'question'\nreferences = 'question'\n", "one column to two fields"),
    ],
)
def test_a_wrong_map_of_the_file_says_where_it_is_from(cli, settings, text, words):
    settings(text)
    for command in ("run", "validate"):
        printed = cli(command, "answers.jsonl")
        assert printed.code == 2
        assert words in printed.err
        assert "The mapping is from [map] in ragstone.toml." in printed.err
    settings("[run]\nmap = ['ansver=answer']\n")
    assert "The mapping is from [run] map in ragstone.toml." in cli("run", "answers.jsonl").err
    assert "ragstone.toml" not in cli("run", "answers.jsonl", "--map", "answer=elsewhere").err


def test_a_map_of_the_file_is_not_used_for_files_without_its_columns(cli, settings, home):
    settings("[map]\nquestion = 'asked'\nanswer = 'reply'\nassistant = 'milli'\n")
    printed = cli("run", "answers.jsonl", "-m", "token_f1")
    assert printed.code == 0, printed.err
    text = "question=asked, answer=reply, assistant=milli of [map] in ragstone.toml is not used: answers.jsonl has no such column"
    assert text in " ".join(printed.err.split())
    assert "is not used" not in cli("run", "answers.jsonl", "-m", "token_f1", "--quiet").err
    assert "unknown column 'asked'" in cli("run", "answers.jsonl", "--map", "question=asked").err
    rows = [json.loads(line) for line in (home / "answers.jsonl").read_text().splitlines()]
    (home / "half.jsonl").write_text("\n".join(json.dumps({"reply": row.pop("answer"), **row}) for row in rows))
    printed = cli("validate", "half.jsonl")
    assert (printed.code, "question=asked of [map] in ragstone.toml is not used" in " ".join(printed.err.split())) == (
        0,
        True,
    )
    assert "--map answer=reply" in printed.out
    (home / "truth.csv").write_text("asked,right answer\nWhen?,At nine.\nWhere?,In Graz.\n")
    assert cli("truth", "import", "truth.csv", "hours").code == 0
    assert cli("truth", "check", "truth.csv").code == 0
    (home / "other.csv").write_text("a,b\n1,2\n")
    printed = cli("validate", "other.csv")
    assert "cannot detect the format of other.csv" in printed.err
    assert "The mapping is from" not in printed.err


def test_an_assistant_has_no_column_of_its_own(cli, settings, home):
    settings("[map]\nassistant = 'milli'\n")
    (home / "chat.csv").write_text("chat,role,text\n1,Jo,When?\n1,Milli,At nine.\n2,Al,Where?\n2,Milli,In Graz.\n")
    printed = cli("validate", "chat.csv")
    assert (printed.code, "is not used" in printed.err) == (0, False), printed.err


def test_the_nearest_parent_is_read_and_its_paths_are_its_own(cli, settings, home, monkeypatch):
    settings('out = "store"\n[run]\nmetrics = "token_f1"\n')
    (home / "below").mkdir()
    monkeypatch.chdir(home / "below")
    printed = cli("run", "../answers.jsonl", "--json")
    assert metrics_of(printed) == ["token_f1"]
    assert json.loads(printed.out)["run"].startswith(str(home / "store"))


def test_a_named_file_wins(cli, settings, monkeypatch):
    settings('[run]\nmetrics = "token_f1"\n')
    settings('[run]\nmetrics = "exact_match"\n', "other.toml")
    assert metrics_of(cli(*RUN, "--config", "other.toml")) == ["exact_match"]
    monkeypatch.setenv("RAGSTONE_CONFIG", "other.toml")
    assert metrics_of(cli(*RUN)) == ["exact_match"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[rum]\nlimit = 1\n", ["rum", "Did you mean run"]),
        ("metric = 'token_f1'\n", ["metric", "metrics"]),
        ("[run]\nmetric = 'token_f1'\n", ["[run]", "metric", "metrics"]),
        ("[truth.colect]\nlimit = 1\n", ["colect", "collect"]),
        ("[run]\nlimit = 'two'\n", ["[run] limit", "a whole number", "two"]),
        ("[run]\nlimit = 0\n", ["[run] limit", "at least 1"]),
        ("[run]\nresume = 1\n", ["[run] resume", "true or false"]),
        ("[run]\njudge = 3\n", ["[run] judge", "a text"]),
        ("[compare]\nshow = true\n", ["[compare] show", "a whole number"]),
        ("limit = 'two'\n", ["limit", "a whole number"]),
        ("[run\n", ["not a TOML file"]),
    ],
)
def test_what_is_wrong_is_an_error_in_every_command(cli, settings, text, words):
    settings(text)
    for command in (RUN, ("doctor",)):
        printed = cli(*command)
        assert printed.code == 2
        for word in ["ragstone.toml", *words]:
            assert word in printed.err


def test_a_named_file_that_is_not_there(cli, settings):
    printed = cli("doctor", "--config", "no.toml")
    assert (printed.code, "no.toml" in printed.err) == (1, True)


def test_doctor_shows_the_file_and_no_url(cli, settings):
    settings('base_url = "https://user:secret@host"\n[run]\nlimit = 5\n')
    printed = cli("doctor").out
    assert "ragstone.toml" in printed
    assert "limit" in printed
    assert "secret" not in printed


def test_without_a_file_there_is_none(settings):
    assert find_config() is None


def test_the_example_of_the_docs(cli, settings):
    page = Path(__file__).parents[2] / "docs" / "config.md"
    settings(page.read_text().partition("```toml\n")[2].partition("```")[0])
    printed = cli("doctor")
    assert printed.code == 0, printed.err
    assert "max-new-failures" in printed.out


def test_a_map_of_the_file_may_name_a_part_of_a_mapping(cli, settings, home):
    row = {"question": "When?", "answer": "At nine.", "contexts": [], "retrieval": {"hits": ["It leaves at nine."]}}
    (home / "nested.jsonl").write_text(json.dumps(row))
    settings("[map]\ncontexts = 'retrieval.hits'\n")
    printed = cli("validate", "nested.jsonl", "--json")
    assert (printed.code, "is not used" in printed.err) == (0, False), printed.err
    assert "retrieval" not in json.loads(printed.out)["profile"]["present"]
