"""Images that data names: real bytes inside the data's folder, and nothing else."""

import os

import pytest

from ragstone.storage.images import MOST_BYTES, ImageError, Located, image_name, read_picture
from tests.images import SVG, data_uri, gif, jpeg, png, webp


@pytest.mark.parametrize(
    ("content", "media"),
    [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (gif(), "image/gif"),
        *((webp(kind), "image/webp") for kind in "XL "),
    ],
)
def test_type_and_size_are_those_of_the_bytes(content, media, tmp_path):
    (tmp_path / "a.txt").write_bytes(content)
    for image in (data_uri(content, "image/svg+xml"), Located("a.txt", str(tmp_path))):
        assert read_picture(image)[:3] == (media, 3, 2)


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "data"
    (inside / "charts").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(png())
    (inside / "charts" / "a.png").write_bytes(png())
    (inside / "drawing.svg").write_bytes(SVG)
    (inside / "page.png").write_bytes(b"<html><script>alert(1)</script>")
    (inside / "huge.png").write_bytes(png() + bytes(MOST_BYTES))
    (inside / "out.png").symlink_to(tmp_path / "secret.png")
    (inside / "up").symlink_to(tmp_path)
    (inside / "in.png").symlink_to(inside / "charts" / "a.png")
    os.mkfifo(inside / "pipe.png")
    return inside


@pytest.mark.parametrize("path", ["charts/a.png", "charts/../charts/a.png", "in.png", "{}/charts/a.png"])
def test_paths_inside_the_folder_are_read(folder, path):
    assert read_picture(Located(path.format(folder), str(folder))).width == 3


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../../etc/passwd", "outside the folder"),
        ("../secret.png", "outside the folder"),
        ("/etc/passwd", "outside the folder"),
        ("out.png", "outside the folder"),
        ("up/secret.png", "outside the folder"),
        ("file:///etc/passwd", "only image files in the folder"),
        ("file:charts/a.png", "only image files in the folder"),
        ("ftp://example.org/a.png", "only image files in the folder"),
        ("//example.org/share/a.png", "only image files in the folder"),
        ("\\\\example.org\\share\\a.png", "only image files in the folder"),
        ("http://127.0.0.1:1/a.png", "nothing is fetched"),
        ("HTTPS://user:word@example.org/a.png", "the image is at example.org, and nothing"),
        ("drawing.svg", "not a PNG, JPEG, GIF or WebP"),
        ("page.png", "not a PNG, JPEG, GIF or WebP"),
        ("pipe.png", "not a file"),
        ("charts", "not a file|cannot be read"),
        ("huge.png", "larger than"),
        ("gone.png", "does not exist"),
        ("a\0.png", "impossible name"),
        ("x" * 5000, "does not exist"),
        ("\ud800.png", "does not exist|impossible"),
    ],
)
def test_all_other_paths_are_refused(folder, path, reason):
    with pytest.raises(ImageError, match=reason):
        read_picture(Located(path, str(folder)))


def test_without_a_folder_no_file_is_read(folder):
    for image in (str(folder / "charts" / "a.png"), Located(str(folder / "charts" / "a.png"), None)):
        with pytest.raises(ImageError, match="folder of the data is not known"):
            read_picture(image)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (data_uri(SVG, "image/png"), "not a PNG"),
        (data_uri(SVG, "image/svg+xml"), "not a PNG"),
        ("data:image/svg+xml;utf8,<svg onload='alert(1)'/>", "not base64"),
        ("data:image/png;base64,iVBOR!w0KG", "not valid base64"),
        ("data:image/png;base64,iVBORw0KGgoAAAA", "not valid base64"),
        ("data:image/png;base64,", "not a PNG"),
        (data_uri(png()[:18]), "not a PNG"),
        (data_uri(jpeg()[:12]), "not a PNG"),
        (data_uri(b"\xff\xd8\xff" + bytes(100)), "not a PNG"),
        (data_uri(png(width=100_000)), "100,000 × 2 pixels"),
        (data_uri(gif(width=0)), "0 × 2 pixels"),
        ("data:image/png;base64," + "A" * 100_000_000, "larger than"),
    ],
)
def test_data_that_is_not_an_image(image, reason):
    with pytest.raises(ImageError, match=reason):
        read_picture(image)


def test_a_polyglot_is_only_an_image():
    """A file that is both a GIF and HTML is read as a GIF: its type is never that of the data URI."""
    both = gif() + b"<html><script>alert(1)</script></html>"
    assert read_picture(data_uri(both, "text/html")).media == "image/gif"


def test_names_are_short():
    assert image_name(data_uri(png())) == "image/png in the data"
    assert image_name("charts/a.png") == "charts/a.png"
    assert len(image_name("data:" + "x" * 10_000)) < 200 > len(image_name("x" * 10_000))
