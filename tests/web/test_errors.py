"""The check that a path is inside the root."""

from ragstone.storage.places import open_place
from ragstone.web.navigation import is_inside


def test_symlinks_are_followed(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "root-2"
    (root / "here").mkdir(parents=True)
    outside.mkdir()
    (root / "link").symlink_to(outside)
    place = open_place(root)
    assert is_inside(place, place / "here")
    assert not is_inside(place, place / "link")
    assert not is_inside(place, open_place(outside))
    assert not is_inside(place, place)
