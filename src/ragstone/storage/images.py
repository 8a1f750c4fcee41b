"""Images that data names: a path, an https address or a data URI. Only bytes of a PNG, JPEG, GIF or WebP file are an image.

The data may be hostile. So a path counts only inside the folder of the data, after links are followed. Nothing is fetched
from an address. The type is that of the bytes, not of the name or the data URI. SVG, which can contain scripts, is not read.
"""

from __future__ import annotations

import os
import stat
import struct
from base64 import b64decode
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from ragstone.data.types import Chunk

# 5 MB in base64, and pixels per side: what vision models accept.
MOST_BYTES, MOST_SIDE = 3_750_000, 8_000
_LONGEST_NAME = 100
# A link that was put in place of the file is not followed, and a pipe is not waited for.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
# JPEG segments that have the size.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class ImageError(ValueError):
    """The reason why a text does not lead to an image, in words for people."""


class Picture(NamedTuple):
    """An image that was checked."""

    media: str
    width: int
    height: int
    data: bytes


class Located(str):
    """An image as the data names it, and the folder of the data; without a folder no path is read."""

    __slots__ = ("folder",)
    folder: str

    def __new__(cls, image: str, folder: str | None) -> Self:
        """The image itself is the text."""
        found = super().__new__(cls, image)
        found.folder = folder or ""
        return found


class Pictured(str):
    """The text of a chunk, which may be empty, with its image."""

    __slots__ = ("image",)
    image: str

    def __new__(cls, text: str, image: str) -> Self:
        """The text itself."""
        found = super().__new__(cls, text)
        found.image = image
        return found


def located(chunks: Iterable[Chunk], folder: str | None) -> list[Chunk]:
    """The chunks with images that know the folder of the data."""
    return [replace(one, image=Located(one.image, folder)) if one.image else one for one in chunks]


def texts_with_images(chunks: Iterable[Chunk]) -> list[str]:
    """The texts of chunks, with their images for judges that see them."""
    return [Pictured(chunk.text, chunk.image) if chunk.image else chunk.text for chunk in chunks]


def is_address(image: str) -> bool:
    """Whether an image is somewhere on the web."""
    return image[:8].lower().startswith(("http://", "https://"))


def image_name(image: str) -> str:
    """A short name for people: the path, the address, or the type of the data."""
    if image[:5].lower() == "data:":
        return f"{image[5:].partition(';')[0][:_LONGEST_NAME].partition(',')[0] or 'image'} in the data"
    return image if len(image) <= _LONGEST_NAME else f"{image[:_LONGEST_NAME]}…"


def read_picture(image: str) -> Picture:
    """The bytes of an image with their type and size, or an ImageError."""
    if image[:5].lower() == "data:":
        return _sniffed(_decoded(image))
    if is_address(image):
        raise ImageError(
            f"the image is at {urlsplit(image).hostname or 'an address'}, and nothing is fetched from there"
        )
    return _sniffed(_read_file(image, getattr(image, "folder", "")))


def _decoded(image: str) -> bytes:
    head, _, content = image.partition(",")
    if not head.lower().endswith(";base64"):
        raise ImageError("the image is not base64")
    if len(content) > MOST_BYTES * 4 // 3 + 4 or "…" in content:  # the reader cuts what is too large
        raise ImageError(f"the image is larger than {MOST_BYTES:,} bytes")
    try:
        return b64decode("".join(content.split()), validate=True)
    except ValueError:
        raise ImageError("the image is not valid base64") from None


def _read_file(path: str, folder: str) -> bytes:
    if not folder:
        raise ImageError("the folder of the data is not known, so no image file is read")
    # A path of two slashes may be another machine.
    if path[:2] in ("//", "\\\\", "\\/", "/\\") or "://" in path or path[:5].lower() == "file:":
        raise ImageError("only image files in the folder of the data are read")
    root = os.path.realpath(folder)
    try:
        real = os.path.realpath(os.path.join(root, path))
        if os.path.commonpath([root, real]) != root:
            raise ImageError("the image file is outside the folder of the data")
        with os.fdopen(os.open(real, _FLAGS), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ImageError("the image is not a file")
            return stream.read(MOST_BYTES + 1)
    except (OSError, UnicodeError):
        raise ImageError("the image file does not exist or cannot be read") from None
    except ValueError as error:
        raise error if isinstance(error, ImageError) else ImageError("the image file has an impossible name") from None


def _sniffed(data: bytes) -> Picture:
    if len(data) > MOST_BYTES:
        raise ImageError(f"the image is larger than {MOST_BYTES:,} bytes")
    try:
        found = next(((media, *size) for media, size in _sizes(data)), None)
    except (struct.error, IndexError):
        found = None
    if found is None:
        raise ImageError("the image is not a PNG, JPEG, GIF or WebP file")
    media, width, height = found
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE):
        raise ImageError(f"the image has {width:,} × {height:,} pixels; a side may have {MOST_SIDE:,}")
    return Picture(media, width, height, data)


def _sizes(data: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    """The type of the bytes and the size in their header."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
        yield "image/png", struct.unpack_from(">II", data, 16)
    elif data[:6] in (b"GIF87a", b"GIF89a"):
        yield "image/gif", struct.unpack_from("<HH", data, 6)
    elif data[:3] == b"\xff\xd8\xff":
        yield "image/jpeg", _jpeg_size(data)
    elif data[:4] == b"RIFF" and data[8:15] == b"WEBPVP8":
        yield "image/webp", _webp_size(data)


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while data[at] == 0xFF:
        if data[at + 1] in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    raise IndexError(at)


def _webp_size(data: bytes) -> tuple[int, int]:
    kind = data[15:16]
    if kind == b"X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF
