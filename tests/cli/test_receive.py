"""ragstone receive: its options; tests/web/test_receiver.py starts the process."""


def test_mistakes_are_explained(cli, home):
    assert cli("receive").code == 2
    printed = cli("receive", "--to", "spool.jsonl", "--port", "0", "--token", "short")
    assert (printed.code, "at least 8 characters" in printed.err) == (2, True)


def test_a_folder_is_not_a_spool(cli, home):
    (home / "folder").mkdir()
    printed = cli("receive", "--to", "folder", "--port", "0")
    assert printed.code == 1
    assert "cannot write folder" in printed.err
