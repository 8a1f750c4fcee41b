import json


def test_the_folders_of_the_usual_assistants_are_written(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "would be written" in cli("skill", "--dry-run").out
    assert not list(tmp_path.iterdir())
    printed = cli("skill")
    assert printed.code == 0
    assert ".claude/skills/ragstone/SKILL.md: written" in printed.out
    assert {path.name for path in tmp_path.iterdir()} == {".claude", ".agents"}
    assert {row["state"] for row in json.loads(cli("skill", "--json").out)} == {"unchanged"}


def test_files_of_the_user_are_kept(cli, tmp_path):
    assert cli("skill", tmp_path, "--assistant", "cursor").code == 0
    (tmp_path / ".cursor/skills/ragstone/SKILL.md").write_text("mine")
    printed = cli("skill", tmp_path, "--assistant", "cursor")
    assert (printed.code, "--force" in printed.err) == (2, True)
    assert "has other content" in cli("skill", tmp_path, "--assistant", "cursor", "--dry-run").out
    assert "overwritten" in cli("skill", tmp_path, "--assistant", "cursor", "--force").out
