"""A sweep.toml is read with all its mistakes explained."""

import pytest

from ragstone.errors import StorageError, UsageError
from ragstone.sweep import plan as plan_module
from ragstone.sweep.plan import Halving, read_plan
from tests.sweep.conftest import PLAN


def read(home, text):
    (home / "sweep.toml").write_text(text)
    return read_plan(str(home / "sweep.toml"))


def test_a_grid_is_every_combination(home):
    plan = read(home, PLAN + "fixed = 3\n")
    assert [setting.name for setting in plan.settings] == [
        f"skill={skill} style={style}" for skill in (1, 2) for style in ("plain", "long")
    ]
    assert dict(plan.settings[0].parameters) == {"skill": 1, "style": "plain", "fixed": 3}
    assert plan.parameters == ("skill", "style", "fixed")
    assert plan.target == f"{home}/rag.py:answer"
    assert plan.questions == f"{home}/questions.jsonl"
    assert plan.halving == Halving()


def test_options_of_models_and_halving(home):
    more = '[halving]\nalpha = 0.1\nfirst = 5\n[models]\njudge = "local"\nrpm = 60\nbudget = "2usd"\n'
    plan = read(home, PLAN + more)
    assert plan.halving == Halving(0.1, 5)
    assert plan.models == {"judge": "local", "requests_per_minute": 60, "budget": "2usd"}


GRID = PLAN[PLAN.index("[settings]") :]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('objective = "exact_match"', "", "the metric that decides"),
        ('objective = "exact_match"', 'objective = "exact_mach"', "Did you mean exact_match"),
        ('objective = "exact_match"', 'objective = "system.latency"', "halving = false"),
        ('objective = "exact_match"', 'objective = "bleu"', "a metric of single rows"),
        ("objective", "objectiv", "Did you mean objective"),
        ("[system]", "[sistem]", "Did you mean system"),
        ("target", "targt", "Did you mean target"),
        ('target = "rag.py:answer"', "", "needs a target"),
        ('questions = "questions.jsonl"', "", "either questions"),
        ('questions = "questions.jsonl"', 'questions = "a"\ntruth = "b"', "either questions"),
        (GRID, "", "either .settings. with a list"),
        (GRID, "[settings]\nk = [1]\n", "two settings or more"),
        (GRID, "[settings]\nk = []\n", "has no value"),
        (GRID, "[settings]\nquestion = [1, 2]\n", "cannot be a parameter"),
        (GRID, '[settings]\n"a b" = [1, 2]\n', "cannot be a parameter"),
        (GRID, "[settings]\nk = [[1], [2]]\n", "must be a text, a number"),
        (GRID, "[settings]\nk = [1, 1]\n", "are the same"),
        (GRID, "[setting]\nk = 1\n", "two brackets"),
        (GRID, '[[setting]]\nname = "a"\nk = 1\n[[setting]]\nname = "a"\nk = 2\n', "two settings have the name"),
        (GRID, "[settings]\na = [1,2,3,4,5,6,7,8,9]\nb = [1,2,3,4,5,6,7,8,9]\nc = [1,2,3,4,5,6,7]\n", "too many"),
        (GRID, f"{GRID}[halving]\nalpha = 0.9\n", "alpha must be"),
        (GRID, f"{GRID}[halving]\ngrow = 2\n", "Did you mean growth"),
        (GRID, f"{GRID}[halving]\ngrowth = 1\n", "more than 1"),
        (GRID, f"{GRID}[halving]\nfirst = 1\n", "first must be"),
        (GRID, f"{GRID}[models]\njugde = 'x'\n", "Did you mean judge"),
        ("[system]", "[system", "not a TOML file"),
        ("concurrency = 1", 'concurrency = "four"', "concurrency must be a whole number"),
        ("concurrency = 1", "concurrency = true", "concurrency must be a whole number"),
        ("concurrency = 1", "cache = 1", "cache must be true or false"),
        ("[data]", "[data]\nlimit = 0", "limit must be a whole number of 1"),
        ('metrics = ["exact_match", "contains"]', "metrics = 5", "metrics must be a list of names"),
        ('name = "tickets"', "seed = 1.5", "seed must be"),
        (GRID, "[settings]\nk = [1, inf]\n", "must be a text, a number"),
        (GRID, f"{GRID}[halving]\nalpha = 'x'\n", "alpha must be a number"),
    ],
)
def test_mistakes_are_explained(home, before, after, words):
    assert before in PLAN
    with pytest.raises(UsageError, match=words) as error:
        read(home, PLAN.replace(before, after, 1))
    assert "sweep.toml" in str(error.value)


def test_long_values_have_short_names_that_differ(home):
    prompts = [f'"{"Answer in one sentence. " * 9}{end}"' for end in "ab"]
    plan = read(home, PLAN.replace(GRID, f"[settings]\nprompt = [{', '.join(prompts)}]\n"))
    names = [setting.name for setting in plan.settings]
    assert len(set(names)) == 2
    assert max(map(len, names)) < 60
    assert plan.settings[0].parameters["prompt"].endswith("a")


def test_a_missing_file(home):
    with pytest.raises(StorageError, match="No such file"):
        read_plan("nowhere.toml")


def test_settings_are_counted_before_they_are_made(monkeypatch):
    monkeypatch.setattr("ragstone.sweep.plan.product", None)
    grid = {name: list(range(300)) for name in ("a", "b", "c")}
    with pytest.raises(UsageError, match=r"27,000,000 settings are too many; the most is 500"):
        plan_module._expand(grid)
