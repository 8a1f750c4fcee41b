"""The viewer is started with the options of the command."""

import pytest


class FakeViewer:
    def __init__(self, *arguments):
        FakeViewer.arguments = arguments
        self.url = "http://127.0.0.1:1"

    def serve(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("flag", ["--name", "--host-name"])
def test_options_reach_the_viewer_and_ctrl_c_is_not_an_error(cli, monkeypatch, flag):
    monkeypatch.setattr("ragstone.web.app.Viewer", FakeViewer)
    printed = cli("view", "my-store", "--port", 0, flag, "rag.example", "--read-only")
    assert printed.code == 0
    assert "http://127.0.0.1:1" in printed.out
    assert FakeViewer.arguments == ("my-store", "127.0.0.1", 0, None, ["rag.example"], True)


def test_the_next_step_depends_on_what_is_there(cli, home, monkeypatch):
    monkeypatch.setattr("ragstone.web.app.Viewer", FakeViewer)
    assert "next: ragstone demo -o store" in cli("view", "store").out
    assert cli("run", "answers.jsonl", "-m", "token_f1", "-o", "store", "-q").code == 0
    assert "next: ragstone report latest --root store" in cli("view", "store").out
    assert cli("report", "latest", "--root", "store", "-q").code == 0


def test_a_run_and_a_sample_are_shown_first(cli, home, monkeypatch):
    monkeypatch.setattr("ragstone.web.app.Viewer", FakeViewer)
    assert cli("run", "answers.jsonl", "-m", "token_f1", "-o", "store", "-q", "--name", "mine").code == 0
    [folder] = (home / "store" / "runs").iterdir()
    assert f"http://127.0.0.1:1/runs/{folder.name} " in cli("view", "store", "--run", "mine").out
    assert f"/runs/{folder.name}/samples/2 " in cli("view", "store", "--run", "latest", "--sample", "2").out
    assert "unknown sample" in cli("view", "store", "--run", "mine", "--sample", "nope").err
    assert "--sample needs --run" in cli("view", "store", "--sample", "2").err


def test_without_a_browser_the_address_is_enough(cli, home, monkeypatch):
    monkeypatch.setattr("ragstone.web.app.Viewer", FakeViewer)
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    monkeypatch.setenv("DISPLAY", ":0")
    printed = cli("view", "store", "--open")
    assert printed.code == 0
    assert "no browser on this machine" in printed.out
