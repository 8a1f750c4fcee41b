"""Parameters of a system are passed by name: to a function, a command, an endpoint, or into its name."""

import sys

import pytest

from ragstone.errors import UsageError
from ragstone.llm.cache import Cache
from tests.llm.systems import answer, using


def asked_with(question, top_k, style="plain"):
    return f"{question} {top_k} {style}"


async def asked_later(question, *, top_k=1):
    return f"{top_k}"


def test_a_function_gets_keyword_arguments():
    assert answer(asked_with, "Q", parameters={"top_k": 4}).text == "Q 4 plain"
    assert answer(asked_later, "Q", parameters={"top_k": 4}).text == "4"
    assert answer(lambda question, **more: str(more), "Q", parameters={"anything": 1}).text == "{'anything': 1}"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"top_q": 4}, "Did you mean top_k"), ({"question": "x"}, "passed with every question")],
)
def test_a_wrong_name_is_an_error_before_the_first_call(parameters, words):
    with pytest.raises(UsageError, match=words):
        answer(asked_with, parameters=parameters)


def test_answers_of_other_parameters_are_not_used(tmp_path):
    options = {"cache": Cache(tmp_path)}
    texts = [answer(asked_with, "Q", parameters={"top_k": k}, **options).text for k in (1, 2, 1)]
    assert texts == ["Q 1 plain", "Q 2 plain", "Q 1 plain"]
    signatures = [using(asked_with, signature, parameters={"top_k": k}) for k in (1, 2)]
    assert len(set(signatures)) == 2


async def signature(system):
    return system.signature


def test_a_command_gets_words_and_variables(tmp_path):
    script = tmp_path / "rag.py"
    script.write_text("import os, sys\nprint(sys.argv[1:], os.environ['RAGSTONE_PARAM_TOP_K'])\n")
    line = f"cmd:{sys.executable} {script} --k {{top_k}} {{style}} {{question}}"
    found = answer(line, "A {style}?", parameters={"top_k": 4, "style": "two words {question}"})
    # A value is one word, and no value is filled a second time.
    assert found.text == "['--k', '4', 'two words {question}', 'A {style}?'] 4"


def test_an_endpoint_gets_fields_of_the_request(loopback, tmp_path):
    base = {"cache": Cache(tmp_path), "parameters": {"top_k": 4, "temperature": 0.5}}
    answer(f"{loopback.url}#rag", **base)
    assert loopback.asked[-1].json["top_k"] == 4
    assert loopback.asked[-1].json["temperature"] == 0.5
    answer(f"{loopback.url}#rag", **{**base, "parameters": {"top_k": 5}})
    answer(f"{loopback.url}#rag", **base)
    assert len(loopback.asked) == 2  # the third is cached


def test_the_name_and_the_template_may_have_a_parameter(loopback, tmp_path):
    (tmp_path / "short.md").write_text("Short: {question}")
    parameters = {"model": "large", "prompt": "short"}
    answer(f"{loopback.url}#{{model}}", "Q", template=tmp_path / "{prompt}.md", parameters=parameters)
    body = loopback.asked[-1].json
    assert (body["model"], body["messages"][0]["content"]) == ("large", "Short: Q")
    assert "prompt" not in body
