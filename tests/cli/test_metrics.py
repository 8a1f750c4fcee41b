"""The catalogue."""

import json
import shlex

import pytest

import ragstone
from ragstone.errors import UsageError
from ragstone.registry.foreign_names import read_systems
from tests.registry.test_foreign_names import EXPECTED


def test_a_metric_says_how_to_compute_it(cli):
    assert "run DATA -m token_f1" in cli("metrics", "token_f1").out


def test_json_has_the_same_metrics_as_the_table(cli):
    cards = json.loads(cli("metrics", "dial", "--json").out)
    table = cli("metrics", "dial").out
    assert cards
    assert all(card["name"] in table for card in cards)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("answer_relevance", "run DATA -m ragas.answer_relevancy --judge MODEL"),
        ("recall@5", "run DATA -m recall@5"),
        ("triad.answer_relevance", "run DATA -m triad.answer_relevance --judge MODEL"),
        ("grade.correctness", "run DATA -m grade.correctness --judge MODEL"),
    ],
)
def test_the_suggested_command_works(cli, home, name, command):
    [line] = [line for line in cli("metrics", name).out.splitlines() if line.startswith("next: ")]
    suggested = line.partition("ragstone ")[2].partition("   (")[0].strip()
    assert suggested.removesuffix(" --embedder MODEL") == command, "an embedder is named where none is installed"
    words = command.replace("DATA", "answers.jsonl").replace("MODEL", "judge.py:ask").split()
    (home / "judge.py").write_text("def ask(prompts):\n    return ['{}' for _ in prompts]\n")
    printed = cli(*words, "--no-cache")
    assert "unknown" not in printed.err
    assert printed.code in (0, 4), printed.err  # the judge or the rows may give no score, but the names are known


# One name for each thing that a name can lead to.
LEADS = {str(lead): name for name, lead in EXPECTED.items()}
WORDS = {
    "DATA": "answers.jsonl",
    "MODEL": "model.py:ask",
    "JUDGE": "model.py:ask",
    "SPEC": "model.py:answer",
    "FILE": "labels.csv",
    "METRIC": "token_f1",
    "NAME": "mine",
    "PATH": "model.py",
    "QRELS": "qrels.txt",
    "RUN": "one",
}


@pytest.fixture
def ready(cli, home):
    """A folder with a run, labels, a model, a generator and TREC's files."""
    (home / "model.py").write_text(
        "def ask(prompts):\n    return ['{}' for _ in prompts]\n\n\ndef answer(question, contexts):\n    return 'At 21:40.'\n"
    )
    (home / "labels.csv").write_text("sample_id,label\na,1\nb,0\n")
    (home / "qrels.txt").write_text("1 0 d1 1\n")
    (home / "results.txt").write_text("1 Q0 d1 1 0.5 mine\n")
    both = {"id": "c", "question": "When and where?", "answer": "21:40, Oskel", "references": ["21:40, Oskel"]}
    both |= {"contexts": ["At 21:40.", "In Oskel."], "metadata": {"needed_answers": ["21:40", "Oskel"]}}
    both |= {"facts": ["at 21:40", "in Oskel"]}
    with (home / "answers.jsonl").open("a") as file:
        file.write(json.dumps(both) + "\n")
    for name in ("one", "two"):
        assert cli("run", "answers.jsonl", "-m", "token_f1", "--name", name, "--no-cache").code == 0
    return home


def suggested(printed):
    """The commands after `next:`, without their purpose."""
    _, _, text = printed.out.rpartition("next:")
    lines = (line.strip().partition("   ")[0] for line in text.splitlines() if line)
    return [shlex.split(line)[1:] for line in lines]


def in_words(command):
    """The command with its placeholders filled in."""
    words = ["results.txt" if word == "RUN" and command[0] == "trec" else WORDS.get(word, word) for word in command]
    words = ["two" if word == "one" and words[at - 1] == "one" else word for at, word in enumerate(words)]
    remote = {"--embedder", "--scorer"} & {*words}
    for flag in remote:
        words[words.index(flag) + 1] = "openai/remote"
    # No test calls a remote model.
    return [*words, "--quote"] if remote else words


def test_every_metric_that_a_name_leads_to_can_be_asked_for(cli, ready):
    named = [target for _, targets in EXPECTED.values() for target in targets if not target.startswith("ragstone ")]
    every = {one for system in read_systems().values() for found in system.names.values() for one in found[-1].metrics}
    wanted = ",".join(sorted({*named, *every}))
    printed = cli("run", "answers.jsonl", "-m", wanted, "--judge", "model.py:ask", "--quote")
    assert printed.code == 0, printed.err


def test_every_command_that_a_name_leads_to_exists(cli, ready):
    every = (one for system in read_systems().values() for found in system.names.values() for one in found[-1].commands)
    for command in sorted(set(every)):
        printed = cli(*in_words(shlex.split(command)[1:]), "--help")
        assert (printed.code, printed.err) == (0, ""), command
        assert printed.out.startswith("Usage:")


@pytest.mark.slow
def test_every_suggested_command_works(cli, ready):
    commands = {tuple(one): name for name in LEADS.values() for one in suggested(cli("metrics", name))}
    assert len(commands) > 100
    broken = {}
    for command, name in sorted(commands.items()):
        printed = cli(*in_words(list(command)), *(["--no-cache"] if command[0] in ("run", "erag", "stress") else []))
        # A model that answers nothing gives no scores (4); labels of two rows are too few to train on.
        if printed.code not in (0, 4) and not (command[0] == "train" and "too few" in printed.err):
            broken[" ".join(command)] = (name, printed.code, printed.err[-300:])
    assert not broken, json.dumps(broken, indent=1)


def test_names_in_python_and_in_the_settings_file(cli, home):
    rows = [{"answer": "At 21:40.", "references": ["21:40"], "contexts": ["The last boat leaves at 21:40."]}]
    scores = ragstone.evaluate(rows, metrics=["K-Precision", "ROUGE-L"], out=home)
    assert {item.metric for item in scores.info.metrics} == {"k_precision", "rouge_l"}
    with pytest.raises(UsageError, match=r"ours is ragas.faithfulness, which differs"):
        ragstone.evaluate(rows, metrics=["FaithfulnessMetric"])
    (home / "ragstone.toml").write_text('metrics = ["EM", "rouge"]\n')
    printed = cli("run", "answers.jsonl")
    assert (printed.code, "say which of rouge_1, rouge_2, rouge_l" in printed.err) == (2, True)


def test_what_a_name_means_is_shown_first(cli):
    printed = cli("metrics", "noise robustness")
    assert printed.out.startswith("'noise robustness' of RGB is a command, not a metric")
    assert suggested(printed) == [["stress", "DATA", "--system", "SPEC", "--bed", "noise"]]
    found = cli("metrics", "readability", "--json")
    assert [card["name"] for card in json.loads(found.out)] == ["ari", "flesch_kincaid", "flesch_ease"]
    assert "ambiguous" in found.err
    assert cli("metrics", "zzz").code == 2
