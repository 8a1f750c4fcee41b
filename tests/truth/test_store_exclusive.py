"""Exclusive claims on folders."""

from ragstone.storage.places import open_place
from ragstone.truth.store import claiming, is_claimed


def test_only_one_claim_at_a_time(tmp_path):
    folder = open_place(tmp_path / "new")
    with claiming(folder) as first, claiming(folder) as second:
        assert (first, second) == (True, False)
        assert is_claimed(folder)
    assert not is_claimed(folder)


def test_an_empty_folder_is_removed_and_a_full_one_kept(tmp_path):
    with claiming(open_place(tmp_path / "empty")):
        pass
    assert not (tmp_path / "empty").exists()
    with claiming(open_place(tmp_path / "full")):
        (tmp_path / "full" / "content").write_text("x")
    assert (tmp_path / "full" / "content").exists()


def test_a_refused_claim_does_not_end_the_first(tmp_path):
    folder = open_place(tmp_path / "new")
    with claiming(folder):
        with claiming(folder) as second:
            assert not second
        assert is_claimed(folder)
