"""The cost of a sweep before it starts: no call is made."""

from ragstone.sweep.plan import read_plan, with_options
from ragstone.sweep.sweep_folder import quote_sweep
from tests.sweep.conftest import PLAN, QUESTIONS


def test_a_quote_counts_all_settings_and_calls_nothing(home, calls, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-used-at-all")
    text = PLAN.replace("exact_match", "answer_match").replace('["plain", "long"]', '["plain", "long"]\nstil = [1]')
    (home / "sweep.toml").write_text(text.replace("\nstil = [1]", ""))
    plan = with_options(read_plan(str(home / "sweep.toml")), {"judge": "openai/gpt-4o-mini", "budget": "5usd"})
    quote = quote_sweep(plan, "store")
    assert (quote.settings, quote.questions, quote.system_calls) == (4, QUESTIONS, 4 * QUESTIONS)
    assert quote.judge_calls >= 4 * QUESTIONS
    assert quote.judge_usd > 0
    assert calls() == []
    assert not (home / "store").exists()


def test_settings_that_cannot_be_opened_are_named(home):
    text = PLAN[: PLAN.index("[settings]")] + "[[setting]]\nskill = 1\n[[setting]]\nskil = 2\n"
    (home / "sweep.toml").write_text(text)
    quote = quote_sweep(read_plan(str(home / "sweep.toml")), "store")
    assert quote.system_calls == QUESTIONS
    assert "Did you mean skill" in quote.failed["skil=2"]
