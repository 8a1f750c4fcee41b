"""The keyword arguments of 0.1.0 work for one more version, with a warning that says what to write."""

import pytest

import ragstone
from ragstone.testing import FakeLLM

ROWS = [{"id": "1", "question": "When?", "answer": "At nine.", "references": ["nine"], "facts": ["at nine"]}]
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize(
    ("options", "instead"),
    [
        ({"judge": "local", "repeats": 3}, r"judge=ragstone\.Judge\('local', repeats=3\)"),
        ({"embedder": "local", "cache": False}, r"judge=ragstone\.Judge\(embedder='local', cache=False\)"),
        ({"judge": ragstone.Judge(agreement=0.8), "timeout_s": 9}, r"judge=ragstone\.Judge\(…, timeout_s=9\)"),
        ({"matcher": "fuzzy", "concurrency": 2}, r"judge=ragstone\.Judge\(matcher='fuzzy', concurrency=2\)"),
        ({"format": "ragstone"}, r"data=ragstone\.read_dataset\(DATA, format='ragstone'\)"),
        ({"workers": 2}, r'backend="local:2"'),
        ({"note": print}, r'logging\.getLogger\("ragstone"\)'),
    ],
)
def test_older_arguments_warn_and_work(options, instead):
    with pytest.warns(DeprecationWarning, match=instead) as caught:
        run = ragstone.evaluate(ROWS, "token_f1", **options)
    assert caught[0].filename == __file__
    assert run.summary()["token_f1"].n_ok == 1


def test_they_mean_what_they_meant(tmp_path):
    (tmp_path / "a.csv").write_bytes("question,answer,references,contexts\nWann?,Früh,früh,a||b\n".encode("cp1252"))
    notes = []
    with pytest.warns(DeprecationWarning, match=r"encoding='cp1252'.*getLogger"):
        run = ragstone.evaluate(
            tmp_path / "a.csv", "token_f1", encoding="cp1252", split_contexts="||", limit=1, note=notes.append
        )
    assert len(run.samples[0].contexts) == 2
    again = ragstone.read_dataset(tmp_path / "a.csv", encoding="cp1252", split_contexts="||")
    assert again[0] == run.samples[0]
    judge = FakeLLM(lambda request: '{"matches": [1]}')
    with pytest.warns(DeprecationWarning, match="exam=…"):
        judged = ragstone.evaluate(ROWS, "answer_match", judge=judge, exam=False, cache=False)
    assert judged.summary()["answer_match"].mean == 1.0
    with pytest.warns(DeprecationWarning, match=r"^quote\(base_url=…\)"):
        assert ragstone.quote(ROWS, "answer_match", judge="openai/x", base_url="http://127.0.0.1:9/v1").total.calls == 1


def test_names_that_never_were_are_refused():
    with pytest.raises(TypeError, match=r"'repeat'\. Did you mean repeats"):
        ragstone.evaluate(ROWS, repeat=3)
    with pytest.raises(TypeError, match="'workers'"):
        ragstone.quote(ROWS, workers=3)
    with pytest.raises(TypeError, match=r"Judge\(\) .*'judge'"):
        ragstone.Judge(judge="local")
    with pytest.raises(TypeError, match=r"Judge\(\) .*'repeat'. Did you mean repeats"):
        ragstone.Judge(repeat=3)


@pytest.mark.filterwarnings("error")
def test_nothing_is_deprecated_if_it_is_none():
    ragstone.evaluate(ROWS, "token_f1", budget=None, format=None)
